"""Relations between columns, as results tell them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlying

Table = dict[str, Any]


def orders(rows: int = 600, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    quantity, price = rng.integers(1, 9, rows), np.round(rng.lognormal(3, 0.6, rows), 2)
    discount = rng.choice([0.0, 0.05, 0.1, 0.2], rows)
    return {
        "quantity": quantity,
        "price": price,
        "discount": discount,
        "total": np.round(quantity * price * (1 - discount), 2),
        "channel": rng.choice(["web", "shop", "app"], rows),
    }


def test_numbers_that_name_things_are_told_as_names() -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(0, 12, 900)
    zips, cities = 10_000 + 1_111 * places, [f"city {place}" for place in places]
    zips[7] = 14_444 if zips[7] != 14_444 else 15_555
    found = outlying.explain({"zip": zips, "city": cities, "size": rng.normal(size=900)}, row=7)
    headline = found.stories[0].headline
    right = 10_000 + 1_111 * int(cities[7].split()[1])
    sentences = [pair.sentence for pair in found.stories[0].pairs if pair.column == "zip"]
    assert any(f"zip = {zips[7]}, expected {right} where" in text for text in sentences), sentences
    assert headline.expected == (headline.ordinary_at,) * 2
    assert headline.ordinary_at in (right, f"city {(zips[7] - 10_000) // 1_111}")


def test_a_broken_formula_is_told() -> None:
    table = orders()
    table["total"][7] = round(table["total"][7] + 5.2, 2)
    found = outlying.explain(table, row=7)
    story = found.stories[0]
    assert story.exceptional
    assert set(story.columns) == {"quantity", "price", "discount", "total"}
    assert story.headline.given == ("price", "quantity", "discount")
    assert story.headline.detail is not None
    assert story.headline.detail.endswith(
        "expected 26.68 by price x quantity x (1 - discount), as in 599 of 600 rows"
    )
    (relation,) = found.population.relations
    assert (relation.column, relation.kind) == ("total", "formula")
    assert any("One relation between columns was used" in note for note in found.notes)
    assert found.to_dict()["relations"][0]["given"] == ["price", "quantity", "discount"]


def test_a_value_off_a_line_is_told_with_what_is_expected() -> None:
    rng = np.random.default_rng(1)
    height = rng.normal(170, 10, 500).round(1)
    table = {"height": height, "weight": (height - 100 + rng.normal(0, 2, 500)).round(1)}
    table["weight"][3] = table["height"][3] - 100 + 20
    found = outlying.explain(table, row=3)
    assert set(found.stories[0].columns) == {"height", "weight"}
    assert found.exceptional
    details = [pair.detail for story in found.stories for pair in story.pairs]
    assert any(
        detail and "expected" in detail and "given height = " in detail for detail in details
    )


def test_what_a_group_always_does_is_no_error() -> None:
    """Refunds have the other sign: there is nothing odd about one of them."""
    table = orders(2000)
    refund = np.arange(2000) < 40
    table["channel"] = np.where(refund, "refund", table["channel"])
    table["total"] = np.where(refund, table["total"] / 2, table["total"]).round(2)
    found = outlying.explain(table, row=3)
    assert not any("total" in story.columns for story in found.stories if story.exceptional)


def test_what_many_rows_break_is_no_formula() -> None:
    """One stay in twelve was cancelled, and not paid: a state of its own."""
    table = orders(1200)
    table["total"] = np.where(np.arange(1200) % 12 == 3, 0.0, table["total"])
    row = int(np.argmax(np.where(table["total"] == 0, table["price"] * table["quantity"], 0)))
    found = outlying.explain(table, row=row)
    assert not any(item.kind == "formula" for item in found.population.relations)
    assert not any("total" in story.columns for story in found.stories if story.exceptional)


def test_nothing_is_expected_far_beyond_what_was_seen() -> None:
    """The curve of small things says little of the largest one."""
    rng = np.random.default_rng(3)
    size = rng.uniform(1, 10, 800).round(2)
    table = {"size": size, "price": (size**2 + rng.normal(0, 1, 800)).round(2)}
    table["size"][5], table["price"][5] = 60.0, 1000.0
    found = outlying.explain(table, row=5)
    assert not any(
        pair.given for story in found.stories for pair in story.pairs if story.exceptional
    )


def test_without_derived_columns_there_are_no_relations() -> None:
    assert outlying.explain(orders(), row=7, derive=False).population.relations == ()


def test_noise_has_none() -> None:
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=400) for name in "abcdef"}
    assert outlying.explain(table, row=0).population.relations == ()


def test_a_new_object_is_judged_by_the_relations_of_the_table() -> None:
    new = {"quantity": 2, "price": 10.0, "discount": 0.0, "total": 99.0, "channel": "web"}
    found = outlying.explain(orders(), object=new)
    assert found.exceptional
    details = [story.headline.detail or "" for story in found.stories]
    assert any("total = 99, expected 20 by price x quantity" in detail for detail in details)
    fitting = outlying.explain(orders(), object=new | {"total": 20.0})
    assert not fitting.exceptional


def test_a_new_object_breaks_an_order_that_no_row_breaks() -> None:
    rng = np.random.default_rng(5)
    pupils = rng.integers(10, 200, 600)
    table = {"pupils": pupils, "passed": rng.binomial(pupils, rng.uniform(0, 1, 600))}
    found = outlying.explain(table, object={"pupils": 90, "passed": 97})
    assert found.exceptional
    details = [pair.detail or "" for story in found.stories for pair in story.pairs]
    assert any("less than passed = 97, unlike 600 of 600 rows" in detail for detail in details)
    assert not outlying.explain(table, object={"pupils": 90, "passed": 88}).exceptional


def test_of_a_least_a_mean_and_a_greatest_number_two_orders_say_it_all() -> None:
    rng = np.random.default_rng(6)
    mean = rng.normal(15, 5, 600)
    low, high = mean - rng.exponential(3, 600), mean + rng.exponential(3, 600)
    found = outlying.explain({"low": low, "mean": mean, "high": high}, row=0)
    orders_found = [(r.column, *r.given) for r in found.population.relations if r.kind == "order"]
    assert sorted(orders_found) == [("high", "mean"), ("mean", "low")]


@pytest.mark.parametrize("held", [True, False])
def test_rows_that_were_not_drawn_count(
    held: bool, few_drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Things of which no row was drawn are known, and said to be few; formulas hold in all rows."""
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    if not held:
        monkeypatch.setattr("outlying.stream.population.MOST_PAST", 1)
    rows, rng = 3 * few_drawn, np.random.default_rng(1)
    account = np.arange(rows) // 30
    names = np.array([f"A{code:04d}" for code in account], dtype=object)
    names[7:9] = "LAST"
    table = orders(rows) | {"account": names}
    table["fee"] = np.round(np.exp(rng.normal(account % 9, 0.2)), 2)
    frame = pandas.DataFrame(table | {"number": np.arange(rows) * 3})
    memory = outlying.explain(frame, where={"number": 24})
    said = "Only 2 rows have account = LAST: too few"
    assert any(note.startswith(said) for note in memory.notes)
    stream = outlying.explain(duckdb.from_df(frame), where={"number": 24})
    said = said if held else "Of the rows with account = LAST, too few were drawn"
    assert any(note.startswith(said) for note in stream.notes)
    for found in (memory, stream):
        (total,) = (r.sentence for r in found.population.relations if r.kind == "formula")
        assert total.endswith(f"in {rows:,} of {rows:,} rows")


@pytest.mark.parametrize("missing", ["total", "price", "channel"])
def test_what_is_missing_breaks_nothing(missing: str) -> None:
    table = orders()
    cells = [None if row == 5 else value for row, value in enumerate(table[missing].tolist())]
    found = outlying.explain(table | {missing: cells}, row=5)
    assert not any(pair.given for pair in found.pairs)


def test_a_stream_knows_the_same_relations(few_drawn: int) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(orders(2 * few_drawn) | {"number": np.arange(2 * few_drawn) * 3})
    frame.loc[11, "total"] += 7
    key = {"number": 33}
    memory, stream = (outlying.explain(data, where=key) for data in (frame, duckdb.from_df(frame)))
    assert [r.sentence for r in stream.population.relations] == [
        r.sentence for r in memory.population.relations
    ]
    assert stream.stories[0].headline.detail == memory.stories[0].headline.detail
    assert stream.strength == pytest.approx(memory.strength, rel=1e-9)
    ranked = outlying.detect(duckdb.from_df(frame), top=5)
    assert 33 in [dict(row.values)["number"] for row in ranked.rows if row.word == "exceptional"]


def test_nothing_is_expected_below_zero_where_nothing_is() -> None:
    rng = np.random.default_rng(3)
    share = rng.uniform(0, 1, 600)
    delay = np.clip(40 * share + rng.normal(0, 3, 600), 0, None)
    share[7], delay[7] = 0.02, 30.0
    found = outlying.explain({"share": share, "delay": delay, "line": ["a", "b", "c"] * 200}, row=7)
    pairs = [pair for story in found.stories for pair in (story.headline, *story.others)]
    ranges = {pair.column: pair.expected for pair in pairs if pair.expected is not None}
    low, high = ranges["delay"]
    assert isinstance(high, float)
    assert low == 0 < high < 20


def test_columns_that_another_formula_speaks_for_are_not_told_as_wrong() -> None:
    """The total and the tax fit each other, so the quantity, the price or the discount is wrong."""
    rng = np.random.default_rng(11)
    quantity, price = 1.0 + rng.integers(0, 8, 1_500), np.round(rng.lognormal(3, 0.6, 1_500), 2)
    discount = rng.choice([0.0, 0.05, 0.1, 0.2], 1_500)
    tax = np.round(0.08 * quantity * price * (1 - discount), 2)
    total = np.round(quantity * price * (1 - discount) + tax, 2)
    table = {"quantity": quantity, "price": price, "discount": discount, "tax": tax}
    table["total"] = total
    row = int(np.argmax(total))
    one = {name: own.copy() for name, own in table.items()}
    one["quantity"][row] += 1
    found = outlying.explain(one, row=row)
    assert found.exceptional
    assert found.stories[0].undecided == ("discount", "price", "quantity")
    said = "ost likely discount, price or quantity is wrong: other relations hold"
    assert said in found.stories[0].sentence
    assert said in str(outlying.detect(one).rows[0].reason)
    other = {name: own.copy() for name, own in table.items()}
    other["total"][row] = round(0.9 * total[row], 2)
    found = outlying.explain(other, row=row)
    assert (found.stories[0].culprit, found.stories[0].undecided) == ("total", ())
    told = [item for item in found.population.relations if item.kind == "fit"]
    assert not any({item.column, *item.given} & {"total", "tax"} for item in told)


def test_a_number_that_names_things_has_levels_of_its_own() -> None:
    rng = np.random.default_rng(0)
    store = np.repeat(np.arange(101, 141), 20)
    sales = np.exp(rng.normal(5, 1, 40)[store - 101] + rng.normal(0, 0.2, 800)).round(2)
    sales[37] *= 6
    table = {"store": store, "sales": sales, "staff": rng.normal(9, 2, 800)}
    found = outlying.explain(table, row=37)
    assert found.exceptional
    assert found.stories[0].headline.given == ("store",)
    assert [item.kind for item in found.population.relations] == ["own kind"]
    assert "store is" not in str(found)  # no range of numbers that name things


def test_a_number_that_measures_has_no_levels_of_its_own() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 900)
    length = (np.array([190, 217, 196])[kind] + rng.normal(0, 5, 900)).round()
    depth = (np.array([18.3, 14, 18.4])[kind] + rng.normal(0, 0.6, 900)).round(1)
    table = {"length": length.astype(int), "depth": depth, "day": np.arange(900) // 3}
    found = outlying.explain(table, row=5)
    assert not [item for item in found.population.relations if item.kind == "own kind"]


@pytest.mark.parametrize("points", [740, 20])
def test_the_part_of_a_sum_that_is_odd_by_itself_is_the_wrong_one(points: int) -> None:
    rng = np.random.default_rng(0)
    skill = rng.normal(62, 12, 2_000)
    names = ("art", "english", "maths", "physics")
    marks = {n: np.clip(np.round(skill + rng.normal(0, 8, 2_000)), 0, 100) for n in names}
    table = marks | {"average": np.round(sum(marks.values()) / 4, 2)}
    row = int(np.flatnonzero((skill > 70) & (skill < 80))[0])
    table["english"] = np.where(np.arange(2_000) == row, points, table["english"])
    found = outlying.explain(table, row=row)
    assert found.stories[0].culprit == "english"
    assert found.stories[0].undecided == ()


@pytest.mark.parametrize("as_flags", [np.uint8, np.bool_])
def test_columns_of_which_exactly_one_is_1_are_one_category(as_flags: Any) -> None:
    rng = np.random.default_rng(0)
    own = rng.choice(4, 1_000, p=[0.4, 0.3, 0.2, 0.1])
    table: Table = {f"is_{name}": own == place for place, name in enumerate("abcd")}
    table["is_a"][7], table["is_b"][7] = True, True
    table["is_c"][7], table["is_d"][7] = False, False
    table = {name: flags.astype(as_flags) for name, flags in table.items()}
    table["amount"] = rng.gamma(2, 3, 1_000)
    found = outlying.explain(table, row=7)
    (relation,) = found.population.relations
    one = "true" if as_flags is np.bool_ else "1"
    rule = f"exactly one of is_a, is_b, is_c and is_d is {one} in 999 of 1,000 rows"
    assert (relation.kind, relation.sentence) == ("one of", rule)
    assert found.exceptional
    assert found.stories[0].headline.said == f"though {rule}; here is_a and is_b are"
    assert set(found.stories[0].undecided) == {"is_a", "is_b"}


def test_of_two_relations_of_a_column_the_better_one_is_believed() -> None:
    """The larger, the less deep; but a third kind, of which there are few, is large and deep."""
    rng = np.random.default_rng(0)
    kind = rng.choice(3, 600, p=[0.44, 0.5, 0.06])
    table: Table = {
        "kind": np.array(["north", "south", "west"])[kind],
        "size": (np.array([190.0, 217.0, 200.0])[kind] + rng.normal(0, 5, 600)).round(1),
        "depth": (np.array([18.5, 15.0, 18.4])[kind] + rng.normal(0, 0.4, 600)).round(2),
    }
    row = int(np.flatnonzero(kind == 2)[0])
    table["size"][row], table["depth"][row] = 212.0, 19.2

    def odd() -> set[str]:
        found = outlying.explain(table, row=row)
        given = {(item.column, item.given) for item in found.population.relations}
        assert {("depth", ("kind",)), ("depth", ("size",))} <= given
        return {pair.property for story in found.stories for pair in story.pairs}

    assert "depth given size" not in odd()
    table["depth"][row] = 21.0
    assert {"depth given kind", "depth given size"} <= odd()


def test_a_label_that_a_number_does_not_suit_is_the_wrong_one_of_two() -> None:
    """The pay suits the country, and not the currency, which follows from it."""
    rng = np.random.default_rng(0)
    place = rng.choice(5, 1600, p=[0.1, 0.1, 0.25, 0.25, 0.3])
    level = np.array([6.0, 120.0, 20_000.0, 4_000.0, 700.0])[place]
    table: Table = {
        "country": np.array(["PL", "DE", "JP", "US", "UK"])[place],
        "currency": np.array(["PLN", "EUR", "JPY", "USD", "GBP"])[place],
        "pay": np.round(level * rng.lognormal(0, 0.3, 1600)),
    }
    row = int(np.flatnonzero(place == 0)[0])
    table["currency"][row] = "GBP"
    found = outlying.explain(table, row=row)
    assert found.exceptional
    assert found.stories[0].culprit == "currency"
