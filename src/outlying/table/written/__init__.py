"""Texts that are numbers or dates written for people: recognised by all of a column, then read.

Pure functions of distinct texts and how many rows have each, so that a table in memory and a stream
of batches decide alike: `tally` counts styles, `decision` chooses how the column is to be read.
"""
