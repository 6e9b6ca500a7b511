"""The paper, section by section, in plain NumPy: what `preset="paper"` runs.

Angiulli, Fassetti, Manco, Palopoli, "Outlying Property Detection with Numerical Attributes" (arXiv
1306.3558). Given a population DB and an object o, it finds every minimal pair (E, p): among the
rows DB_E that satisfy the conditions E, as o does, the value o[p] is exceptional. It is slow and
obvious on purpose, and shares formulas with the default search, but no code of it.
"""
