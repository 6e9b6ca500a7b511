"""The injector of errors, the tables it changes, and the files of wrong cells."""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import types
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import OSA

import outlying
from benchmarks.quality import errors, peers
from benchmarks.quality.cases import Answer, Array, Case, Guess, Target
from benchmarks.quality.errors import __main__ as command
from benchmarks.quality.errors import (
    copies,
    dirty,
    examples,
    faint,
    groups,
    habits,
    injector,
    plan,
    run,
    summary,
    tables,
    written,
)
from benchmarks.quality.errors.csv_table import typed
from benchmarks.quality.errors.tables import Table
from benchmarks.quality.ours import Ours, guesses


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


def told(columns: set[str], odd: str) -> Answer:
    return Answer((Guess(frozenset(columns), odd),), claims=True)


def ranked(*columns: str) -> Answer:
    return Answer((), claims=False, ranking=columns)


class Stub:
    """A method that knows its answers beforehand."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def fit(self, case: Case) -> None:
        pass

    def explain(self, target: Target) -> Answer:
        return self._answer


def test_others_name_as_many_columns_as_we_do(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        Ours.name: told({"account", "amount"}, "account"),
        "second": ranked("hour", "amount", "items"),
        "third": ranked("hour", "items", "amount"),
        "silent": Answer((), claims=False),
    }
    stubs = {name: functools.partial(Stub, answer) for name, answer in answers.items()}
    monkeypatch.setattr(run, "methods", lambda: stubs)
    recipe = plan.Recipe(groups.make, ("90 accounts x 60 rows", 0))
    rows = [row for row in run.run_task(run.Task(recipe, tuple(answers))) if not row.is_clean]
    found = summary.figures(rows)["groups"]["90 accounts x 60 rows"]
    assert [found[name].named for name in answers] == [1, 1, 0, 0]
    assert {shares.odd for shares in found.values()} == {0}
    assert [found[name].claims for name in answers] == [1, 0, 0, 0]


def test_a_culprit_is_the_odd_column() -> None:
    rng = np.random.default_rng(0)
    table = {"size": np.append(rng.normal(0, 1, 99), 50.0), "age": rng.normal(0, 1, 100)}
    findings = outlying.explain(table, row=99)
    assert guesses(findings)[0].property == findings.pairs[0].property == "size"
    story = types.SimpleNamespace(culprit="age", columns=("size",))
    blamed = guesses(
        types.SimpleNamespace(pairs=findings.pairs, stories=(story,))  # type: ignore[arg-type]
    )
    assert blamed[0].property == "age"
    assert len(blamed) == min(len(findings.pairs), 5)


@pytest.mark.parametrize("kind", habits.KINDS)
def test_habits_change_one_cell(kind: str) -> None:
    """Nothing but the cell that is named differs from the table with the habit."""
    case = habits.copy("iris", kind, 1, 0)
    assert case is not None
    again = habits.copy("iris", kind, 1, 0)
    assert again is not None
    assert not changes(case.table, again.table)
    (column,) = case.columns
    rng = copies.rng_of(0, "iris", kind, 1)
    usual = habits.with_habit(habits.load("iris"), kind, 1, rng)
    assert changes(usual, case.table) == [(column, case.row)]


@pytest.mark.parametrize("seed", range(20))
def test_a_typo_is_one_edit(seed: int) -> None:
    text = habits.edited("Torgersen", np.random.default_rng(seed))
    assert OSA.distance("Torgersen", text) <= 1


def test_money_has_marks_of_its_currency() -> None:
    assert written.money(451_200, is_euro=False) == "$4,512.00"
    assert written.money(123_451_205, is_euro=True) == "1.234.512,05 €"


@pytest.mark.parametrize("text", ["$4,512.05", "4.512,05 €"])
def test_a_wrong_amount_is_too_large_a_text_or_negative(text: str) -> None:
    made = {written.wrong_amount(text, np.random.default_rng(seed)) for seed in range(60)}
    large = (written.money(factor * 451_205, "€" in text) for factor in written.FACTORS)
    assert made == {f"({text})", *written.TEXTS, *large}


def test_only_numbers_that_can_be_amounts_are_written_as_money() -> None:
    rng = np.random.default_rng(0)
    assert "amount" not in written.with_amounts({"gap": small()["gap"]}, 0, rng)
    table = written.with_amounts(small() | {"fee": np.append(np.arange(59) + 1.5, np.nan)}, 1, rng)
    assert len(table) == len(small()) + 1
    assert all(text is None or text.endswith(" €") for text in table["amount"])


@pytest.mark.parametrize("number", range(2))
def test_dates_follow_the_rows_and_one_is_misread(number: int) -> None:
    table = written.with_dates({}, 400, number, np.random.default_rng(0))
    days = [datetime.datetime.strptime(text, written.FORM) for text in table["invoiced"]]
    assert all((a - b).days <= 6 * written.LATE for a, b in itertools.pairwise(days))
    assert set(table) == {"invoiced", "period" if number else "receipt"}
    for seed in range(40):
        row, text = written.wrong_date(table["invoiced"], np.random.default_rng(seed))
        new, old = datetime.datetime.strptime(text, written.FORM), days[row]
        is_swap = (new.day, new.month, new.year) == (old.month, old.day, old.year)
        assert new != old
        assert is_swap or new.year - old.year in written.YEARS


@pytest.mark.parametrize("kind", groups.SIZES)
def test_amounts_are_wrong_for_their_account_only(kind: str) -> None:
    case = groups.make(kind, 0)
    accounts, amounts = case.table["account"], case.table["amount"]
    low, high = np.quantile(amounts, [0.04, 0.96])
    wrong = [target.row for target in case.targets if target.truths]
    assert len({accounts[row] for row in wrong}) == groups.WRONG
    for row in wrong:
        others = np.log(np.delete(amounts, row)[np.delete(accounts, row) == accounts[row]])
        assert abs(np.log(amounts[row]) - others.mean()) > 5 * others.std()
        assert low <= amounts[row] <= high


@pytest.mark.parametrize("relation", faint.RELATIONS)
@pytest.mark.parametrize("deviations", faint.DEVIATIONS)
def test_faint_stories_lie_as_far_off_as_they_say(relation: str, deviations: int) -> None:
    case = faint.make(relation, deviations, 0)
    values, truth = case.table["value"], case.targets[0].truths[0]
    if relation == "alone":
        middle: Array = np.zeros(case.rows)
    elif relation == "linear":
        middle = np.polyval(np.polyfit(case.table["partner"], values, 1), case.table["partner"])
    else:
        group = case.table["group"]
        middle = np.array([np.median(values[group == label]) for label in group])
    away = np.abs(values - middle) / np.median(np.abs(values - middle)) * 0.6745
    rows = [target.row for target in case.targets]
    np.testing.assert_allclose(away[rows], deviations, rtol=0.25)
    assert truth.property == "value"


@pytest.mark.parametrize("name", examples.NAMES)
def test_examples_hold_what_they_say(name: str) -> None:
    if name == "penguin":
        pytest.importorskip("palmerpenguins")
    case = examples.make(name)
    value = case.table[case.column][case.row]
    assert value in {39.62, 368.0, 37_000.0, "Y"}
    assert name != "night flag" or case.table["hour"][case.row] == 13


def test_robust_z() -> None:
    rng = np.random.default_rng(0)
    table = {
        "size": np.append(rng.normal(0, 1, 999), 8.0),
        "flat": np.append(np.zeros(999), 1.0),
        "town": np.array(["Bath"] * 1000, dtype=object),
    }
    method = peers.RobustZ()
    method.fit(Case("errors", "", "", table, ()))
    answer = method.explain(Target(999, ()))
    assert answer.ranking == ("flat", "size", "town")
    assert answer.claims
    assert not method.explain(Target(0, ())).claims


def test_the_command_writes_a_report_of_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "errors.md"
    words = ["errors", "--short", "--only", "examples", "dirty", "--jobs", "1", "-o", str(output)]
    monkeypatch.setattr("sys.argv", words)
    assert command.main() == 0
    assert "data.gov are left out" in capsys.readouterr().err
    content = json.loads(output.with_suffix(".json").read_text(encoding="utf-8"))
    assert "fever" in content["figures"]["examples"]
    assert not set(content["choose"]) & set(content["report"])
    assert "- report: cars" in output.read_text(encoding="utf-8")
