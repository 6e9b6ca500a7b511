"""Typed columns: all that the rest of the package ever sees of a table.

Values and how they are written, columns, tables, conditions, which columns take part, which rows
are asked for, row hashes (SplitMix64: Steele, Lea, Flood 2014), and samples drawn by them (bottom-k
sketch: Cohen and Kaplan 2007; systematic sampling). May import: errors, options, parallel.
"""
