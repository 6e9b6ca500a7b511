"""Typed columns: all that the rest of the package ever sees of a table.

Values and how they are written, columns, tables, conditions, which columns take part, which rows
are asked for, row hashes, and samples drawn by them. May import: errors, options, parallel.
"""
