"""The injector of errors, the tables it changes, and the files of wrong cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality import errors
from benchmarks.quality.errors import dirty, injector, tables
from benchmarks.quality.errors.csv_table import typed
from benchmarks.quality.errors.tables import Table


def small() -> Table:
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + np.arange(60)
    return {
        "height": rng.normal(170, 10, 60),
        "age": rng.integers(18, 90, 60).astype(np.float64),
        "gap": np.where(np.arange(60) % 3, rng.normal(0, 1, 60), np.nan),
        "town": np.array(["Bath", "York", None, "Ely"] * 15, dtype=object),
        "day": days.astype("datetime64[s]"),
    }


def injected(kind: str, seed: int) -> injector.Wrong:
    wrong = injector.inject(small(), kind, np.random.default_rng(seed))
    assert wrong is not None
    return wrong


def changes(before: Table, after: Table) -> list[tuple[str, int]]:
    """The cells that differ; two empty cells are the same."""
    return [
        (name, row)
        for name in before
        for row, (old, new) in enumerate(zip(before[name], after[name], strict=True))
        if old != new and (injector.is_known(old) or injector.is_known(new))
    ]


@pytest.mark.parametrize("kind", injector.KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_only_the_cells_named_are_changed(kind: str, seed: int) -> None:
    table = small()
    wrong = injected(kind, seed)
    cells = changes(table, wrong.planted(table))
    assert sorted(cells) == sorted((name, wrong.row) for name in wrong.values)
    assert len(cells) == (2 if kind == "swap" else 1)
    assert changes(table, small()) == []  # the table itself stays


@pytest.mark.parametrize("kind", injector.KINDS)
def test_the_same_seed_gives_the_same_error(kind: str) -> None:
    assert injected(kind, 3) == injected(kind, 3)
    assert len({repr(injected(kind, seed)) for seed in range(10)}) > 1


def old_and_new(kind: str, seed: int) -> tuple[str, float, float]:
    wrong = injected(kind, seed)
    ((name, new),) = wrong.values.items()
    return name, small()[name][wrong.row], new


@pytest.mark.parametrize("seed", range(20))
def test_decimals_shift(seed: int) -> None:
    name, old, new = old_and_new("decimal", seed)
    if name == "age":
        assert any(new == np.trunc(old * shift) for shift in injector.SHIFTS)
    else:
        assert np.round(new / old, 9) in injector.SHIFTS


@pytest.mark.parametrize("seed", range(20))
def test_units_are_converted(seed: int) -> None:
    name, old, new = old_and_new("unit", seed)
    values = [*(old * factor for factor in injector.FACTORS), old * 1.8 + 32, (old - 32) / 1.8]
    assert np.abs(np.array(values) - new).min() <= (0.5 if name == "age" else 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_signs_codes_and_labels(seed: int) -> None:
    _, old, new = old_and_new("sign", seed)
    assert new == -old
    assert old_and_new("code", seed)[2] in injector.CODES
    name, label, other = old_and_new("category", seed)
    assert name == "town"
    assert {label, other} < {"Bath", "York", "Ely"}
    name, _, new = old_and_new("stale", seed)
    assert new in small()[name]


@pytest.mark.parametrize("seed", range(5))
def test_swapped_values_change_places(seed: int) -> None:
    wrong, table = injected("swap", seed), small()
    one, other = wrong.values
    assert wrong.values == {one: table[other][wrong.row], other: table[one][wrong.row]}


def test_a_table_without_labels_has_no_wrong_label() -> None:
    table = {"height": small()["height"]}
    rng = np.random.default_rng(0)
    assert injector.inject(table, "category", rng) is None
    assert injector.inject(table, "swap", rng) is None


def test_halves_are_disjoint_and_complete() -> None:
    for module in (tables, dirty):
        assert not set(module.CHOOSE) & set(module.REPORT)
        assert {module.half_of(name) for name in module.CHOOSE} == {"choose"}
        assert {module.half_of(name) for name in module.REPORT} == {"report"}
    assert len(tables.CHOOSE) == len(tables.REPORT) == 8
    assert tables.names() == (*tables.CHOOSE, *tables.REPORT)


@pytest.mark.skipif(bool(tables.lacking()), reason=f"needs {', '.join(tables.lacking())}")
@pytest.mark.parametrize("name", tables.names())
def test_real_tables_with_errors(name: str) -> None:
    table = tables.load(name)
    rows = {len(column) for column in table.values()}
    assert len(rows) == 1
    assert 150 <= rows.pop() <= tables.MOST_ROWS
    for kind in injector.KINDS:
        case = errors.copy(name, kind, 1)
        if case is not None:
            same = all(case.table[key] is table[key] for key in set(table) - set(case.columns))
            assert same
            assert case.half == tables.half_of(name)
    batch = errors.batch(name, 0.02)
    assert sum(not target.truths for target in batch.targets) == len(batch.targets) / 2


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "", "2.5e3"], "f"),
        (["1", "***"], "O"),
        (["022", "1"], "O"),
        (["0", "0.5", "-0.5"], "f"),
        (["1/4/2016", "", "12/31/2017"], "M"),
        (["08/27/2021 12:00:00 AM"], "M"),
        (["2006/05/16"], "M"),
    ],
)
def test_texts_get_a_type(texts: list[str], kind: str) -> None:
    column = typed(texts)
    assert column.dtype.kind == kind
    assert [injector.is_known(value) for value in column] == [bool(text) for text in texts]


def test_wrong_cells_go_into_the_clean_table_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "dirty" / "numeric" / "towns"
    folder.mkdir(parents=True)
    (folder / "clean.csv").write_text("town,size\nBath,1\nYork,2\nEly,3\n", encoding="utf-8")
    lines = "data_row,column,wrong,right\n2,size,two,2\n3,town,Elx,Ely\n1,size,1,1\n"
    (folder / "wrong_cells.csv").write_text(lines, encoding="utf-8")
    clean = dirty.clean_table(tmp_path, "numeric", "towns")
    found = {case.column: case for case in dirty.cases(tmp_path)}
    assert found["size"].table["size"].tolist() == ["1", "two", "3"]
    assert changes(clean, found["town"].table) == [("town", 2)]
    assert found["town"].table["size"].tolist() == [1, 2, 3]


def test_the_hospital_table(shared_data: Path) -> None:
    published, thinned = dirty.hospital(shared_data), dirty.thinned(shared_data, 0)
    assert sum(bool(target.truths) for target in published.targets) == dirty.AS_PUBLISHED
    clean = dirty.clean_table(shared_data, "published", "hospital")
    wrong = {target.row for target in thinned.targets if target.truths}
    assert len(wrong) == dirty.DIRTY_ROWS
    same = [name for name in clean if clean[name].dtype == thinned.table[name].dtype]
    cells = changes({name: clean[name] for name in same}, thinned.table)
    assert cells
    assert {row for _, row in cells} <= wrong
