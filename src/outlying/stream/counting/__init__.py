"""Numbers as codes: exact values, or a grid of fine bins (binned kernel density).

What is counted of a column fits the memory whatever the table holds; what bins leave open is told
by `method.distribution.Bounds`.
"""
