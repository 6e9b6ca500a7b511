"""The paper's examples and experiments, computed again: `python -m benchmarks.paper`.

Everything is computed into plain values first (`examples`, `tables`, `detection`, `timing`,
`unif2`, gathered in `results`); `figures` and `page` only show them.
"""
