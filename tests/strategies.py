"""Shared Hypothesis strategies: tables with ties, gaps, categories, tiny n, huge and tiny units."""

from __future__ import annotations

from hypothesis import strategies as st

Cell = float | str | bool | None
Table = dict[str, list[Cell]]

#: A far smaller number would vanish in the twin's plain squares; scaling is tested on its own.
_LEAST = 1e-6
_UNITS = st.sampled_from([1.0, 1.0, 1e-3, 1e6, 2.54, 1e-120, 1e120])


def _floats(limit: float) -> st.SearchStrategy[float]:
    return st.floats(-limit, limit).map(lambda x: 0.0 if abs(x) < _LEAST else x)


@st.composite
def numbers(draw: st.DrawFn, size: int) -> list[float]:
    """Numbers of several shapes: many ties, clusters, rounded and smooth ones."""
    shape = draw(st.sampled_from(["ties", "clusters", "rounded", "smooth"]))
    if shape == "ties":
        base = st.integers(0, 4).map(float)
    elif shape == "clusters":
        base = st.builds(
            lambda centre, offset: centre + offset,
            st.sampled_from([0.0, 0.0, 50.0, 80.0]),
            _floats(3),
        )
    elif shape == "rounded":
        base = _floats(5).map(lambda x: round(x, 2))
    else:
        base = _floats(1e3)
    unit = draw(_UNITS)
    return [value * unit for value in draw(st.lists(base, min_size=size, max_size=size))]


@st.composite
def numeric_cells(draw: st.DrawFn, size: int) -> list[Cell]:
    """A numeric column, with gaps now and then."""
    values = draw(numbers(size))
    return _with_gaps(draw, list(values))


@st.composite
def label_cells(draw: st.DrawFn, size: int) -> list[Cell]:
    """A categorical column of few labels, with gaps now and then."""
    labels = draw(st.sampled_from([["a", "b"], ["a", "b", "c", "d"], ["x", "y", "ß", "<b>"]]))
    values = draw(st.lists(st.sampled_from(labels), min_size=size, max_size=size))
    return _with_gaps(draw, list(values))


@st.composite
def flag_cells(draw: st.DrawFn, size: int) -> list[Cell]:
    """A boolean column."""
    return list(draw(st.lists(st.booleans(), min_size=size, max_size=size)))


def _with_gaps(draw: st.DrawFn, values: list[Cell]) -> list[Cell]:
    if not draw(st.booleans()):
        return values
    gaps = draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    return [None if gap == 0 else value for value, gap in zip(values, gaps, strict=True)]


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 28, max_columns: int = 4) -> Table:
    """A small mixed table of at least two rows."""
    size = draw(st.integers(2, max_rows))
    kinds = st.sampled_from(["number", "number", "label", "flag"])
    columns: Table = {}
    for place in range(draw(st.integers(1, max_columns))):
        kind = draw(kinds)
        cells = {"number": numeric_cells, "label": label_cells, "flag": flag_cells}[kind]
        columns[f"c{place}"] = draw(cells(size))
    return columns
