"""A model that is kept says what its table says; a file that is none is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.fitted import file as files
from outlying.fitted.file import MARK, POOLED, WITHHELD, KeptModel
from outlying.table.table import Table


def mixed(seed: int, rows: int) -> dict[str, Any]:
    """Return numbers, labels, dates, written amounts, booleans, relations, gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, rows)
    own = rng.normal(group, 1 + group, rows).round(3)
    gaps = np.where(rng.random(rows) < 0.03, np.nan, rng.poisson(4, rows))
    days = rng.integers(0, 400, rows).astype("m8[D]")
    return {
        "own": own,
        "twice": 2 * own + rng.normal(0, 0.1, rows),
        "count": gaps,
        "place": [f"place {k}" for k in (group + rng.integers(0, 2, rows)).tolist()],
        "day": (np.datetime64("2024-01-01") + days).astype("M8[s]"),
        "paid": [f"${x:,.2f}" for x in rng.gamma(2, 500, rows).tolist()],
        "open": (rng.random(rows) < 0.3).tolist(),
        "long": (2**53 + rng.integers(0, 9, rows) * (rng.random(rows) < 0.1)).tolist(),
    }


def odd(seed: int, rows: int) -> dict[str, Any]:
    """Return the same with some wrong cells."""
    found = mixed(seed, rows)
    found["own"][3] = 50.0
    found["twice"][5] += 9
    found["place"][7] = "nowhere"
    found["paid"][9] = "$99,000,000.00"
    found["paid"][11] = "unknown"
    found["own"][13] = np.nan
    return found


def numbers(table: Table, name: str) -> list[float]:
    column = table.column(name)
    assert column.is_numeric
    return [float(number) for number in column.values]


def labels(table: Table, name: str) -> tuple[object, ...]:
    column = table.column(name)
    assert not column.is_numeric
    return column.labels


def record(table: dict[str, Any], row: int) -> dict[str, Any]:
    """Return a row of a table as a new object."""
    own = {name: cells[row] for name, cells in table.items()}
    plain = {
        name: cell.item() if isinstance(cell, np.generic) else cell for name, cell in own.items()
    }
    return {name: None if cell != cell else cell for name, cell in plain.items()}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "base.outlying"
    outlying.Explainer(mixed(1, 1500)).save(path)
    return path


def test_a_model_says_what_its_table_says(model: Path) -> None:
    table, kept = outlying.Explainer(mixed(1, 1500)), outlying.load(model)
    assert np.array_equal(table.strengths(), kept.strengths())
    new = odd(2, 40)
    for row in (0, 3, 5, 7, 9, 20):
        item = record(new, row)
        item["day"] = item["day"].isoformat()
        one, other = (own.explain(object=item).to_dict() for own in (table, kept))
        assert one == other


def test_new_rows_are_judged_alike_by_model_and_table(model: Path) -> None:
    new = odd(2, 2000)
    by_table = outlying.Explainer(new, against=mixed(1, 1500))
    by_model = outlying.Explainer(new, against=model)
    assert np.array_equal(by_table.strengths(), by_model.strengths())
    one, other = (outlying.detect(own).to_dict() for own in (by_table, by_model))
    assert one == other
    found = {item.row for item in outlying.detect(by_model).rows}
    assert {5, 9, 11, 13} <= found


def test_new_rows_are_as_odd_as_new_objects(model: Path) -> None:
    new = odd(2, 60)
    rows, kept = outlying.Explainer(new, against=model), outlying.load(model)
    strengths = rows.strengths()
    for row in (*range(3), 3, 5, 7, 9, *range(20, 40)):
        item = record(new, row)
        item["day"] = item["day"].isoformat()
        one, other = kept.explain(object=item), rows.explain(row=row)
        assert one.stories[0].strength == pytest.approx(other.stories[0].strength, abs=1e-9)
        if other.stories[0].headline.is_finding:
            assert other.stories[0].strength == pytest.approx(strengths[row], abs=1e-9)
        assert [s.headline.column for s in one.stories] == [
            s.headline.column for s in other.stories
        ]


def test_new_rows_are_no_part_of_their_own_yardstick(model: Path) -> None:
    new = odd(2, 30)
    alone = {name: cells[3:4] for name, cells in new.items()}
    many = {name: list(cells[3:4]) * 50 for name, cells in new.items()}
    strengths = [outlying.Explainer(own, against=model).strengths() for own in (alone, many)]
    assert np.allclose(strengths[1], strengths[0][0])


def test_a_large_table_is_kept_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ROWS", 500)
    path = tmp_path / "part.outlying"
    kept = outlying.Explainer(mixed(1, 1500)).save(path)
    assert (kept.table.rows, kept.total) == (500, 1500)
    assert any("500 of 1,500 rows" in note for note in outlying.load(path).table.notes)
    order = np.random.default_rng(0).permutation(1500)
    shuffled = {name: np.asarray(cells)[order] for name, cells in mixed(1, 1500).items()}
    again = outlying.Explainer(shuffled).save(tmp_path / "again.outlying")
    own = [sorted(numbers(t, "own")) for t in (kept.table, again.table)]
    assert own[0] == own[1]


def test_a_stream_is_kept_as_a_table_is(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(mixed(1, 1500))
    frame.to_parquet(tmp_path / "rows.parquet")
    new = odd(2, 50)
    outlying.Explainer(outlying.scan(tmp_path / "rows.parquet")).save(tmp_path / "s.outlying")
    one, other = (
        outlying.Explainer(new, against=base).strengths()
        for base in (tmp_path / "s.outlying", frame)
    )
    assert np.allclose(one, other, atol=1e-9)
    frame_of_new = pd.DataFrame(new)
    frame_of_new.to_parquet(tmp_path / "new.parquet")
    streamed = outlying.Explainer(
        outlying.scan(tmp_path / "new.parquet"), against=tmp_path / "s.outlying"
    )
    assert np.allclose(streamed.strengths(), one, atol=1e-9)


# --- what new rows must be like ------------------------------------------------------------------


def test_columns_that_are_missing_or_of_another_type_are_named(model: Path) -> None:
    new = odd(2, 50)
    del new["own"]
    new["count"] = ["many"] * 50
    with pytest.raises(outlying.ColumnError, match="'count' holds texts such as 'many'") as error:
        outlying.Explainer(new, against=model)
    assert "'own' is missing" in str(error.value)


def test_labels_that_happen_to_be_digits_are_labels(tmp_path: Path) -> None:
    base = {"code": ["A1", "12", "13", "B2"] * 50, "x": np.arange(200.0) % 7}
    new = {"code": [12, 13, 12], "x": [1.0, 2.0, 3.0]}
    found = outlying.Explainer(new, against=base)
    assert [found.table.column("code").value(row) for row in range(3)] == ["12", "13", "12"]


def test_plain_numbers_fit_a_model_that_has_met_a_text() -> None:
    base = {"x": [*map(str, range(299)), "haemolysed"], "y": [*"ab"] * 150}
    new = {"x": [1.0, 2.0, 9000.0], "y": ["a", "b", "a"]}
    found = outlying.detect(outlying.Explainer(new, against=base), unusual=True)
    assert [item.row for item in found.rows if item.findings is not None][:1] == [2]


def test_dates_are_read_as_those_of_the_model() -> None:
    rng = np.random.default_rng(1)
    days = [f"{d:02}/{m:02}/2024" for d, m in rng.integers(1, (29, 13), (300, 2)).tolist()]
    base = {"day": days, "x": rng.normal(size=300)}
    new = {"day": ["05/04/2024", "06/07/2024"], "x": [0.0, 0.1]}
    found = outlying.Explainer(new, against=base).table.column("day").value(0)
    assert str(found)[:10] == "2024-04-05"


def test_options_of_the_model_are_not_chosen_again(model: Path) -> None:
    with pytest.raises(outlying.OptionError, match="exclude was chosen when"):
        outlying.Explainer(odd(2, 50), against=model, exclude=["own"])
    assert outlying.Explainer(odd(2, 50), against=model, top=3).options.top == 3


# --- what is withheld ----------------------------------------------------------------------------


def test_no_value_of_a_withheld_column_is_in_the_file_or_in_answers(tmp_path: Path) -> None:
    path = tmp_path / "red.outlying"
    base = mixed(1, 800)
    outlying.Explainer(base).save(path, redact=["place", "paid"])
    content = path.read_bytes()
    assert not any(text.encode() in content for text in {*base["place"], *base["paid"]})
    new = odd(2, 40)
    found = outlying.Explainer(new, against=path)
    told = found.explain(row=7)
    assert told.stories[0].headline.column == "place"
    for text in (str(told), told.to_json(), told.to_html(), str(found.explain(row=9))):
        assert "nowhere" not in text
        assert "99,000" not in text
    assert WITHHELD in str(told)
    rows = outlying.detect(found, top=10)
    csv = rows.to_frame().to_csv()
    for text in (str(rows), rows.to_json(), csv):
        assert not any(hidden in text for hidden in ("nowhere", "99,000", "99000"))
        assert not any(label in text for label in base["place"])
    new_object = record(new, 7) | {"day": "2024-02-03"}
    assert "nowhere" not in str(outlying.load(path).explain(object=new_object))
    same = found.explain(row=0).object["place"]
    assert same in labels(outlying.load(path).table, "place")  # the same hash


def test_labels_of_few_rows_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "few.outlying"
    base = {"who": ["ann"] * 100 + ["bob"] * 90 + ["cy", "di"] * 5, "x": np.arange(200.0) % 9}
    kept = outlying.Explainer(base).save(path, min_group=20)
    assert labels(kept.table, "who") == (POOLED, "ann", "bob")
    assert b"cy" not in path.read_bytes().replace(b"outlying", b"")
    new = outlying.Explainer({"who": ["ann", "cy", "eve"], "x": [1.0, 2.0, 3.0]}, against=path)
    assert [new.table.column("who").value(row) for row in range(3)] == ["ann", POOLED, POOLED]


# --- files that are none -------------------------------------------------------------------------


def test_what_is_no_model_is_refused(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "none.outlying"
    for content in (b"", b"ARROW1", b"a,b\n1,2\n", b"\x80\x04" * 40):
        path.write_bytes(content)
        with pytest.raises(outlying.SourceError, match=r"not a fitted model|damaged"):
            outlying.load(path)
    with pytest.raises(outlying.SourceError, match="not a fitted model"):
        outlying.load(tmp_path / "not there.outlying")


@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files_are_refused_or_say_the_same(data: st.DataObject, model: Path) -> None:
    content = bytearray(model.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    path = model.parent / "damaged.outlying"
    path.write_bytes(content)
    with contextlib.suppress(outlying.SourceError):  # and nothing else
        assert KeptModel.read(path).table.rows == 1500


def forged(model: Path, change: Any, columns: Any = None) -> Path:
    """Write a model whose document or columns were changed on purpose, with a right checksum."""
    with pa.OSFile(str(model)) as stream:
        batch = pa.ipc.open_file(stream).get_batch(0)
        batch = columns(batch) if columns else batch
        document = json.loads(batch.schema.metadata[MARK])
    change(document)
    document["sum"] = files._checksum(batch)
    schema = batch.schema.with_metadata({MARK: json.dumps(document).encode()})
    path = model.parent / "forged.outlying"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch.replace_schema_metadata(schema.metadata))
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(version=99), "newer version"),
        (lambda d: d.update(rows=3), "number of rows"),
        (lambda d: d.update(total=-1), "number of rows"),
        (lambda d: d["columns"][0].update(form="lambda"), "unknown form"),
        (lambda d: d["columns"][0].update(name=d["columns"][1]["name"]), "one name"),
        (lambda d: d["columns"][0].update(kind="labels"), "no labels"),
        (lambda d: d["columns"].append(dict(d["columns"][0], name="more")), "KeyError|damaged"),
        (lambda d: d["options"].update(max_conditions="many"), "max_conditions"),
        (lambda d: d["options"].update(paper="x"), "damaged"),
        (lambda d: d.update(notes=[1]), "text"),
        (lambda d: d.update(withheld={"columns": 5, "min_group": 0, "key": ""}), "damaged"),
        (lambda d: d["columns"][5]["written"].update(affixes=[1]), "text"),
        (lambda d: d["columns"][5]["written"].update(right="1"), "reading whose right"),
        (lambda d: d.pop("skipped"), "skipped"),
    ],
)
def test_forged_documents_are_refused(model: Path, change: Any, said: str) -> None:
    with pytest.raises(outlying.SourceError, match=said):
        outlying.load(forged(model, change))


def test_forged_cells_are_refused(model: Path) -> None:
    def unsorted(batch: Any) -> Any:
        place = batch.schema.names.index("3")
        own = batch.column(place)
        labels = pa.array(own.dictionary.to_pylist()[::-1])
        return batch.set_column(place, "3", pa.DictionaryArray.from_arrays(own.indices, labels))

    def endless(batch: Any) -> Any:
        return batch.set_column(0, "0", pa.array(np.full(len(batch), np.inf)))

    for change in (unsorted, endless):
        with pytest.raises(outlying.SourceError, match="damaged"):
            outlying.load(forged(model, lambda _: None, change))


def test_a_table_of_any_names_comes_back(tmp_path: Path) -> None:
    names = ["", "0", "a\nb", "0.texts", "Ω" * 50]
    rng = np.random.default_rng(1)
    table = {name: rng.normal(size=50) for name in names}
    kept = outlying.Explainer(table).save(tmp_path / "names.outlying")
    again = KeptModel.read(tmp_path / "names.outlying")
    assert again.table.names == kept.table.names == names
    for field in dataclasses.fields(Table):
        if field.name != "columns":
            assert getattr(again.table, field.name) == getattr(kept.table, field.name)


def test_the_file_is_the_same_each_time(model: Path, tmp_path: Path) -> None:
    outlying.Explainer(mixed(1, 1500)).save(tmp_path / "again.outlying")
    assert (tmp_path / "again.outlying").read_bytes() == model.read_bytes()


def test_a_model_does_not_take_the_place_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{k % 7},{k % 5}\n" for k in range(60)))
    with pytest.raises(outlying.OutputError, match="same file"):
        outlying.Explainer(path).save(path, inputs=[str(path)])


def test_what_only_goes_on_is_nothing_odd() -> None:
    """Tonight is later than all nights before; that it lasted too long still counts."""

    def nights(first: str, rows: int, key: int, seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        at = np.datetime64(first, "s") + rng.integers(0, 8_000_000, rows).astype("m8[s]")
        until = at + rng.integers(3600, 20_000, rows).astype("m8[s]")
        return {"key": key + np.arange(rows), "at": at, "until": until, "x": rng.normal(size=rows)}

    new = nights("2026-06-01", 200, 9_000, 2)
    new["until"][3] += np.timedelta64(90, "D")
    new["x"][5] = 40.0
    base = outlying.Explainer(nights("2026-01-01", 2000, 1, 1))
    found = outlying.detect(outlying.Explainer(new, against=base))
    assert {item.row for item in found.rows} == {3, 5}
    assert [note for note in found.notes if "goes on" in note] == [
        f"Column {name!r}: it goes on where the model ends, and was not compared."
        for name in ("key", "at", "until")
    ]
