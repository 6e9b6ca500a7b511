"""The first pass: what all rows hold, a sample of them (a bottom-k sketch), rows that are named.

Everything is kept by row hashes and in counts that can be merged, so that neither the order of rows
nor where a table is cut makes a difference.
"""
