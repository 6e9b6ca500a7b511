"""Texts that are numbers, dates or times: decided here, for every source, and nowhere else.

Texts that are plain by every row (`plain`: whole numbers, decimals, ISO 8601) take a fast path by
Arrow and lose their texts. All others are counted by the style in which they are written
(`reading`, `tally`), and the whole column decides what they mean (`decision`). Both kinds of counts
merge in any order, so that a table in memory and a stream of batches are read alike; `columns`
applies them to a table.
"""
