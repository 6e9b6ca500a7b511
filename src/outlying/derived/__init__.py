"""Derived columns: what a column says beside its values, as columns of their own.

The hour of a moment, the pattern of a code, whether a label looks misspelt: each is a column that
is computed from another one, its *parent*, and named after it, `when (hour)`. It takes part as
property and as condition like any other, but no value is the context of its own part. What is found
on it is blamed on the parent's cell.

*Facts* are counted on the whole table, in memory or by a pass (mergeable in any order). A
*derivation* holds what follows from them, and computes its column from any rows of its parent.
"""
