"""The paper's examples and experiments, computed again: `outlying paper`.

Everything is computed into plain values first (`examples`, `tables`, `detection`, `timing`,
`unif2`); `figures` and `page` only show them.
"""
