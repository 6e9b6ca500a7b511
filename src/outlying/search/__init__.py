"""The model of a table, which judges every row at once; what is told of a row (method 5c to 5e).

A population (in memory or streamed) answers what a pipeline asks. Its attributes become codes and
conditions; a sweep over contexts finds what is rare in rank space, judges tell how far values lie
outside, and their evidence ranks all rows. Pairs of a row are evaluated by all rows of the table.
May import: table, method, kernel.
"""
