"""The second pass: counts of all rows in contexts, and histograms of columns there.

An object asks (`questions`) in terms of columns: queries about contexts, which are conjunctions of
predicates (`plan`, `predicates`). The pass tests all predicates of a batch as bitsets, combines
them along a prefix tree (`contexts`), and counts encoded values (`planning`, `histograms`); rows of
small groups are kept instead (`small_groups`). Scores follow from what was counted (`answers`).
"""
