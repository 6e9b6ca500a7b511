"""Limits and tolerances of the search: how much is drawn, screened, computed exactly and kept.

Read as `limits.NAME` when they are needed, so that a test or a benchmark can set another value.
"""

from __future__ import annotations

# --- rows of large tables -------------------------------------------------------------------------

#: Tables of more rows are screened by a sample of this many.
SCREENED = 2048
#: What is near the object is counted among this many, and intervals are found by them.
NEARBY = 16_384
#: Of the rows that a context must keep, at least this share of the drawn ones: a sample may miss
#: a few.
SPARE = 0.9
#: Of a context, at least so many rows must have been drawn to estimate what is typical there; of
#: three conditions and more, so many for each. Smaller groups are read from the table itself.
LEAST_SCREENED = 20
#: So many small groups of an object are read.
MOST_SMALL = 8

# --- contexts that are screened -------------------------------------------------------------------

#: Contexts of up to so many conditions are all screened.
PAIRS = 2
#: Those of three conditions, too, if no more than these keep enough rows.
MOST_TRIPLES = 2000
#: Beyond, the strongest contexts of each property are extended: the width of the beam search.
BEAM = 15
#: In tables of more columns, pairs of conditions are screened from the most promising on, so many
#: for all properties together.
WIDE = 100
MOST_PAIRS = 2_000_000
#: So many contexts are extended at once: memory is bounded.
MOST_EXTENDED = 500_000

# --- pairs that are computed exactly --------------------------------------------------------------

#: An estimate decides alone if it is off the threshold by more than this factor.
MARGIN = 1.1
#: An estimated strength may be off by this where it decides what is much stronger.
SLIP = 0.25
#: So many contexts near the threshold are computed exactly, for all properties together.
MOST_LOOKS = 2000
#: So many times as many pairs as asked for, where only a sample was screened.
MOST_VERIFIED = 4
#: Pairs are computed exactly until the estimates of the rest are weaker by this.
SLACK = 0.5
#: So many contexts of a property are computed exactly where none reaches the threshold.
CLOSEST = 3

# --- what objects share ---------------------------------------------------------------------------

#: Conditions whose rows are kept as bits, and these times rows.
MOST_CONDITIONS = 4096
MOST_MARKS = 200_000_000
#: Bytes of masks of all rows, and again of profiles.
MOST_BYTES = 64_000_000
#: Bytes of contexts by value.
MOST_MEMBERS = 8_000_000
#: Contexts that are kept as one property sees them.
MOST_GROUPS = 100_000

# --- tolerances -----------------------------------------------------------------------------------

#: What rounding may add to a number of rows that is a share of all.
SAME_ROWS = 1e-9
#: Rarities closer than this (relatively) are the same rarity.
SAME_RARITY = 1e-12
#: Strengths closer than this are the same strength.
SAME_STRENGTH = 1e-9
#: Estimated strengths count in an order up to so many decimals; see method.measure.DECIMALS.
ESTIMATED_DECIMALS = 4
