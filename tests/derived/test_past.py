"""A row's own past, through results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlying
from outlying.errors import ColumnError


def _sensors(sensors: int = 8, hours: int = 120, seed: int = 0) -> dict[str, Any]:
    """Return readings of every hour, in no order: a level of its own and a slow walk for each."""
    rng = np.random.default_rng(seed)
    own, hour = np.repeat(np.arange(sensors), hours), np.tile(np.arange(hours), sensors)
    walk = rng.normal(0, 0.2, (sensors, hours)).cumsum(axis=1).ravel()
    when = np.datetime64("2024-03-01T00:00") + hour.astype("timedelta64[h]")
    return {
        "sensor": np.array([f"s{code}" for code in own], dtype=object),
        "when": when.astype("datetime64[us]"),
        "celsius": np.round(15 + 3 * rng.normal(size=sensors)[own] + walk, 2),
    }


def _shuffled(table: dict[str, Any], row: int, seed: int = 1) -> tuple[dict[str, Any], int]:
    order = np.random.default_rng(seed).permutation(len(next(iter(table.values()))))
    return {name: own[order] for name, own in table.items()}, int(np.flatnonzero(order == row)[0])


def test_a_jump_is_told_with_its_neighbours_and_they_are_not_blamed() -> None:
    table = _sensors()
    before, after = table["celsius"][[299, 301]]
    table["celsius"][300] = before + 3
    shuffled, row = _shuffled(table, 300)
    explainer = outlying.Explainer(shuffled)
    found = explainer.explain(row=row)
    assert found.exceptional
    headline = found.stories[0].headline
    assert (headline.column, headline.given) == ("celsius", ("sensor", "when"))
    assert f"with {before:g} before and {after:g} after it where sensor = s2" in headline.sentence
    assert found.stories[0].undecided == ()
    (note,) = (note for note in found.notes if note.startswith("Rows were also compared"))
    assert "before and after" in note
    assert "a guess" in note
    for neighbour in (299, 301):
        assert not explainer.explain(row=_shuffled(table, neighbour)[1]).exceptional


def test_nothing_is_compared_in_time_where_that_is_switched_off() -> None:
    table = _sensors()
    for off in ({"entity": None}, {"time": None}, {"entity": "none"}):
        found = outlying.explain(table, row=3, **off)
        kinds = {item.kind for item in found.population.relations}
        assert kinds.isdisjoint({"step", "run", "gap", "season", "first seen"})
        assert not any(note.startswith("Rows were also compared") for note in found.notes)


def test_named_columns_are_not_a_guess() -> None:
    found = outlying.explain(_sensors(), row=3, entity="sensor", time="when")
    assert {item.kind for item in found.population.relations} >= {"step", "run"}
    (note,) = (note for note in found.notes if note.startswith("Rows were also compared"))
    assert "guess" not in note


def test_looking_back_nothing_later_counts() -> None:
    """The same verdict on a row, whatever comes after it."""
    table = _sensors()
    table["celsius"][300] += 3
    whole = outlying.explain(table, row=300, past="before")
    step = next(item for item in whole.population.relations if item.kind == "step")
    assert step.column == "celsius"
    headline = whole.stories[0].headline
    assert " after it" not in (headline.said or "")
    assert any("those before them by when" in note for note in whole.notes)
    later = {name: own.copy() for name, own in table.items()}
    later["celsius"][301:360] += 3  # a new level: not a jump, looked at from both sides
    assert outlying.explain(later, row=300, past="before").exceptional
    assert (
        not outlying.explain(later, row=300).stories[0].headline.given
        or not outlying.explain(later, row=300).exceptional
    )


def test_readings_that_are_stuck() -> None:
    table = _sensors()
    table["celsius"][500:510] = table["celsius"][500]
    found = outlying.explain(table, row=505)
    assert found.exceptional
    assert (
        "unchanged for 10 rows from 2024-03-01 20:00 on (by chance, 4 at most) where sensor = s4"
        in str(found.stories[0].sentence)
    )


def test_the_first_payment_of_an_account_in_a_country() -> None:
    rng = np.random.default_rng(2)
    account = np.repeat(np.arange(40), 30)
    homes = np.array(["DE", "FR", "IT", "ES", "AT", "NG"], dtype=object)
    country = homes[(account + rng.integers(2, size=1_200)) % 5]
    country[1_000] = "NG"
    country[:1] = "NG"
    country[account == 7] = "NG"
    table = {
        "account": np.array([f"A{code}" for code in account], dtype=object),
        "when": np.datetime64("2024-01-01T00:00:00")
        + rng.integers(0, 10**7, 1_200).astype("timedelta64[s]"),
        "country": country,
        "amount": np.round(np.exp(rng.normal(account % 7, 0.3)), 2),
    }
    found = outlying.explain(table, row=1_000)
    assert (
        "country = NG, in no other of the 30 rows where account = A33" in found.stories[0].sentence
    )


def test_a_thing_with_few_rows_is_said() -> None:
    rng = np.random.default_rng(3)
    account = np.concatenate([np.repeat(np.arange(60), 10), [60, 60]])
    table = {
        "account": np.array([f"A{code}" for code in account], dtype=object),
        "amount": np.round(np.exp(rng.normal(account % 9, 0.2)), 2),
    }
    found = outlying.explain(table, row=601)
    assert any(note.startswith("Only 2 rows have account = A60: too few") for note in found.notes)
    new = outlying.explain(table, object={"account": "A99", "amount": 5.0})
    assert any("No other row has account = A99" in note for note in new.notes)


def test_a_thing_of_which_no_time_is_known_is_compared_with_nothing() -> None:
    table = _sensors()
    table["when"][table["sensor"] == "s7"] = np.datetime64("NaT")
    found = outlying.explain(table, row=955, entity="sensor", time="when")
    assert "There is no other row where sensor = s7 to compare it with." in found.notes


def test_a_new_object_is_compared_with_the_last_row_of_its_thing() -> None:
    table = _sensors()
    last = float(table["celsius"][table["sensor"] == "s2"][-1])
    when = table["when"].max() + np.timedelta64(1, "h")
    explainer = outlying.Explainer(table)
    usual = {"sensor": "s2", "when": when.item(), "celsius": round(last + 0.1, 2)}
    assert not explainer.explain(object=usual).exceptional
    odd = explainer.explain(object=usual | {"celsius": round(last - 2.5, 2)})
    assert odd.exceptional
    assert f"with {last:g} before it where sensor = s2" in odd.stories[0].sentence


def test_the_order_of_rows_decides_nothing() -> None:
    table = _sensors(seed=5)
    table["celsius"][77] += 2.5
    shuffled, row = _shuffled(table, 77)
    one, other = outlying.explain(table, row=77), outlying.explain(shuffled, row=row)
    assert one.stories[0].sentence == other.stories[0].sentence
    assert one.stories[0].strength == other.stories[0].strength


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ColumnError, match="unknown column"):
        outlying.explain(_sensors(), row=0, entity="nothing")
    with pytest.raises(ColumnError, match="unknown column"):
        outlying.explain(_sensors(), row=0, time="nothing")
    with pytest.raises(ColumnError, match="holds texts"):
        outlying.explain(_sensors(), row=0, entity="celsius", time="sensor")


def test_noise_has_no_panel() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table: dict[str, Any] = {f"x{k}": rng.normal(size=400) for k in range(3)}
        table["when"] = np.datetime64("2024-01-01") + np.arange(400).astype("timedelta64[h]")
        table["kind"] = np.array(list("abcd"), dtype=object)[rng.integers(4, size=400)]
        relations = outlying.explain(table, row=0).population.relations
        assert {item.kind for item in relations} <= {"gap", "run"}


def test_what_is_expected_is_part_of_the_result() -> None:
    table = _sensors()
    table["celsius"][300] += 3
    headline = outlying.explain(table, row=300).stories[0].headline
    assert headline.expected is not None
    low, high = headline.expected
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < high < table["celsius"][300]
    assert (round(low, 2), round(high, 2)) == (low, high)  # in whole units of the column
    assert headline.to_dict()["expected"] == [low, high]


def _vehicles() -> dict[str, Any]:
    """Return fillings of 20 vehicles, on days of their own."""
    rng = np.random.default_rng(2)
    own = np.repeat(np.arange(20), 50)
    days = np.concatenate([np.sort(rng.choice(600, 50, replace=False)) for _ in range(20)])
    driven = np.concatenate([np.round(rng.gamma(1.2, 250, 50)).cumsum() for _ in range(20)])
    return {
        "vehicle": np.array([f"V{code:02d}" for code in own], dtype=object),
        "day": np.datetime64("2023-01-01") + days.astype("timedelta64[D]"),
        "odometer": rng.integers(0, 90_000, 20)[own] + driven,
        "litres": np.round(rng.normal(45, 9, 1_000), 1),
    }


def test_a_meter_that_goes_back_is_beside_the_row_before() -> None:
    table = _vehicles()
    before = table["odometer"][330]
    table["odometer"][331] = before - 60  # far less than it usually moves
    shuffled, row = _shuffled(table, 331)
    found = outlying.explain(shuffled, row=row)
    assert found.exceptional
    headline = found.stories[0].headline
    assert (headline.column, headline.given) == ("odometer", ("vehicle", "day"))
    said = "in the row before it (in 979 of 980 rows it does not fall) where vehicle = V06"
    assert said in headline.sentence
    (first,) = outlying.detect(shuffled).exceptional
    assert first == row


def test_a_guessed_order_is_said_by_default() -> None:
    table = _sensors()
    table["celsius"][300] += 3
    said = "those before and after them by when within each sensor (a guess: the options entity"
    assert said in " ".join(str(outlying.detect(table)).split())
    assert said in " ".join(str(outlying.explain(table, row=300)).split())
    named = outlying.explain(table, row=300, entity="sensor", time="when")
    assert "a guess" not in str(named)


def test_a_guessed_panel_has_things_that_are_numbers() -> None:
    table = _sensors()
    table["sensor"] = np.array([7 + int(name[1:]) for name in table["sensor"]])
    table["celsius"][300] += 4
    shuffled, row = _shuffled(table, 300)
    found = outlying.explain(shuffled, row=row)
    assert found.exceptional
    assert "where sensor = 9" in found.stories[0].sentence


def test_a_measure_is_no_thing_of_a_guessed_panel() -> None:
    """Readings that follow the day, whatever the age: rows of an age are no thing."""
    rng = np.random.default_rng(0)
    day, age = np.repeat(np.arange(60), 40), np.tile(np.arange(20, 60), 60)
    table = {
        "age": age,
        "when": np.datetime64("2024-03-01") + day.astype("timedelta64[D]"),
        "celsius": (15 + rng.normal(0, 1, 60).cumsum()[day] + rng.normal(0, 0.1, 2400)).round(2),
    }
    found = outlying.explain(table, row=5)
    assert not [note for note in found.notes if "each age" in note]


def test_what_is_always_the_same_for_a_thing_is_expected_however_far_from_others() -> None:
    rng = np.random.default_rng(7)
    who, rates = rng.integers(0, 40, 1400), np.round(rng.normal(40, 9, 40), 1)
    rates[3] = rates.min() - 6
    names, hours = [f"E{code:02d}" for code in who], rng.choice([6.0, 7.0, 8.0, 9.0], 1400)
    found = outlying.detect({"employee": names, "hours": hours, "rate": rates[who]})
    assert found.counts is not None
    assert (found.counts.exceptional, found.counts.unusual) == (0, 0)
