"""Relations of numbers against the twin; formulas; and that noise has none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.method import arithmetic
from outlying.method.relations import Fit, Screen, Variable, find, fit
from tests import naive_relations as naive


def columns(seed: int, rows: int, gaps: float) -> list[np.ndarray]:
    """Numbers along lines, curves, products and steps; a few are far off, some are missing."""
    rng = np.random.default_rng(seed)
    x, kind = rng.gamma(3.0, 2.0, rows), rng.integers(4, size=rows)
    found = [
        x,
        np.exp(rng.normal(0.0, 0.5, rows)),
        2 * x + rng.normal(0, 0.4, rows),
        np.where(x < 6, x, 12 - x) + 3.0 * kind + rng.normal(0, 0.3, rows),
        rng.normal(size=rows),
    ]
    found.append(found[0] * found[1] * np.exp(rng.normal(0, 0.05, rows)))
    for column in found:
        column[rng.integers(rows)] *= 10
        column[rng.random(rows) < gaps] = np.nan
    return [*found, kind.astype(np.int32)]


def plain(column: np.ndarray) -> list[float | int | None]:
    if column.dtype.kind == "i":
        return [None if code < 0 else code for code in column.tolist()]
    return [None if np.isnan(value) else value for value in column.tolist()]


tables = st.builds(
    columns,
    seed=st.integers(0, 10**6),
    rows=st.integers(70, 130),
    gaps=st.sampled_from([0.0, 0.03]),
)


@settings(max_examples=12, deadline=None)
@given(table=tables, is_log=st.booleans())
def test_predictors_are_those_that_the_twin_chooses(table: list[np.ndarray], is_log: bool) -> None:
    variables, lists = [Variable(own) for own in table], [plain(own) for own in table]
    found = Screen(variables, is_log=is_log).choose(range(6), set())
    expected = {target: naive.chosen(lists, target, is_log) for target in range(6)}
    assert found == {target: places for target, places in expected.items() if places}


@settings(max_examples=12, deadline=None)
@given(table=tables, is_log=st.booleans(), places=st.permutations(range(7)))
def test_residuals_are_those_of_the_twin(
    table: list[np.ndarray], is_log: bool, places: list[int]
) -> None:
    target, *others = [place for place in places if place < 6][:1] + places[:2]
    others = [place for place in others if place != target]
    variables = [Variable(own) for own in table]
    given_ = [variables[place] for place in others]
    found = fit(variables[target], given_, is_log=is_log)
    assert isinstance(found, Fit)
    expected = naive.fitted(plain(table[target]), [plain(table[place]) for place in others], is_log)
    assert found.explained == pytest.approx(expected.explained, abs=1e-6)
    assert found.exceptions == pytest.approx(expected.exceptions, abs=1e-9)
    assert found.code_length == pytest.approx(expected.code_length, abs=1e-6)
    own = found.residuals(table[target], [table[place] for place in others])
    assert own[~np.isnan(own)] == pytest.approx(expected.residuals, rel=1e-4, abs=1e-4)


def test_noise_has_no_relations() -> None:
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        noise = [rng.normal(size=300), rng.gamma(2, 2, 300), rng.lognormal(0, 1, 300)]
        noise += [np.round(rng.normal(50, 10, 300)), rng.integers(5, size=300).astype(np.int32)]
        found += len(find([Variable(own) for own in noise]))
    assert found == 0


def related(**table: np.ndarray) -> list[str]:
    """Write the relations of a table."""
    names = list(table)
    variables = [Variable(np.asarray(own, dtype=np.float64)) for own in table.values()]
    return [
        f"{names[item.target]} = {item.formula.text([names[place] for place in item.given])}"
        for item in arithmetic.with_exact(variables, find(variables))
        if isinstance(item, arithmetic.ExactRelation)
    ]


def prices(rows: int = 400) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    quantity, price = 1.0 + rng.integers(0, 9, rows), np.round(rng.lognormal(3, 0.7, rows), 2)
    return quantity, price, rng.choice([0, 0.05, 0.1, 0.25], rows)


def test_products_are_recognised() -> None:
    quantity, price, discount = prices()
    total = np.round(quantity * price * (1 - discount), 2)
    total[3] -= 5
    assert related(total=total, quantity=quantity, price=price, discount=discount) == [
        "total = quantity x price x (1 - discount)"
    ]


def test_rates_and_fees_are_recognised_beside_what_explains_as_much() -> None:
    """A price that follows from its product is as good a line as the formula; that is better."""
    quantity, noise, rate = prices(600)
    kind = np.random.default_rng(2).integers(0, 4, 600).astype(np.int32)
    price = np.round(np.array([9.0, 25, 60, 240])[kind] * (1 + noise / noise.max() / 10), 2)
    fee = np.random.default_rng(3).choice([0, 4.9, 9.9], 600)
    for shape, change in (("(1 - {})", 1 - rate), ("(1 + {} / 100)", 1 + rate / 100)):
        columns = {"quantity": quantity, "price": price, "rate": rate, "fee": fee}
        columns["rate"] = rate if "100" not in shape else np.round(100 * rate)
        change = 1 + rate if "100" in shape else change
        for sign, end in ((0, ""), (1, " + fee"), (-1, " - fee")):
            total = np.round(quantity * price * change, 2) + sign * fee
            total[3] += 5
            names = ["total", *columns]
            variables = [Variable(own) for own in (total, *columns.values())]
            found = arithmetic.with_exact(
                [*variables, Variable(kind)], find([*variables, Variable(kind)])
            )
            texts = [
                item.formula.text([names[place] for place in item.given])
                for item in found
                if isinstance(item, arithmetic.ExactRelation) and item.target == 0
            ]
            assert texts == [f"quantity x price x {shape.format('rate')}{end}"]


def test_a_constant_factor_is_recognised() -> None:
    quantity, price, _ = prices()
    tax = np.round(0.19 * quantity * price, 2)
    assert related(tax=tax, quantity=quantity, price=price) == ["tax = 0.19 x quantity x price"]


def test_a_constant_that_is_added_is_recognised() -> None:
    rng = np.random.default_rng(3)
    used, price = np.round(rng.gamma(2, 20, 400), 1), rng.choice([0.9, 2.1, 2.6], 400)
    bill = np.round(used * price + 5, 2)
    bill[3] *= 1.4
    assert related(bill=bill, price=price, used=used) == ["bill = price x used + 5"]
    celsius = np.round(rng.normal(15, 8, 400), 1)
    fahrenheit = np.round(1.8 * celsius + 32, 2)
    assert related(celsius=celsius, fahrenheit=fahrenheit) == ["fahrenheit = 1.8 x celsius + 32"]
    born = np.round(rng.uniform(1950, 2005, 400))
    assert related(age=2024 - born, born=born) == ["age = 2024 - born"]
    cm, kg = np.round(rng.normal(170, 10, 400)), np.round(rng.normal(70, 12, 400), 1)
    index = np.round(kg / (cm / 100) ** 2, 1)
    assert related(cm=cm, index=index, kg=kg) == ["index = 10000 x kg / cm^2"]


def test_sums_and_means_of_many_columns_are_recognised() -> None:
    rng = np.random.default_rng(4)
    parts = {f"m{place}": np.round(rng.gamma(2, 100, 600), 2) for place in range(7)}
    beside = {f"z{place}": rng.normal(0, 10.0**place, 600) for place in range(-2, 3)}
    whole = np.round(sum(parts.values()), 2)
    whole[5] += 50
    names = " + ".join(parts)
    assert related(whole=whole, **parts, **beside) == [f"whole = {names}"]
    mean = np.round(whole / 7, 2)
    assert related(mean=mean, **parts, **beside) == [f"mean = ({names}) / 7"]
    assert related(mean=np.round((parts["m0"] + parts["m1"]) / 2, 2), **parts) == [
        "mean = (m0 + m1) / 2"
    ]


def test_noise_has_no_formulas() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noise = {
            "a": rng.normal(size=300),
            "b": rng.gamma(2, 2, 300),
            "c": rng.lognormal(0, 1, 300),
        }
        noise["d"] = np.round(rng.normal(50, 10, 300))
        noise["e"] = rng.integers(1, 10, size=300).astype(np.float64)
        assert related(**noise) == []


def test_sums_and_differences_are_recognised() -> None:
    rng = np.random.default_rng(2)
    net, fee = np.round(rng.gamma(2, 50, 400), 2), np.round(rng.gamma(2, 30, 400), 2)
    assert related(gross=net + fee, fee=fee, net=net) == ["gross = fee + net"]


def test_what_is_off_by_rounding_is_not_off() -> None:
    quantity, price, discount = prices()
    total = np.round(quantity * price * (1 - discount), 2)
    formula = arithmetic.Formula(4, 1.0, 0.01, 50.0)
    inputs = [quantity, price, discount]
    assert not formula.off(total, inputs).any()
    assert not formula.off(total + 0.004, inputs).any()
    assert formula.off(total + 0.5, inputs) == pytest.approx(np.full(len(total), 0.5), abs=0.011)
    assert formula.residuals(total + 0.5, inputs).min() > arithmetic.BROKEN
    assert formula.residuals(total - 0.5, inputs).max() < -arithmetic.BROKEN


def test_a_category_that_weights_leave_out_makes_no_relation() -> None:
    """All rows of China are far from what is expected of countries: they are no errors."""
    rng = np.random.default_rng(0)
    country = np.repeat(np.arange(100, dtype=np.int32), 12)
    year = np.tile(np.arange(1952.0, 2012.0, 5.0), 100)
    people = rng.uniform(1e6, 3e7, 100)[country] + 1e5 * (year - 1952)
    people += rng.normal(0, 3e5, len(people))
    given = [Variable(country), Variable(year, is_quantity=False)]
    found = fit(Variable(people), given, is_log=False)
    assert found is not None
    assert found.counts
    people[country == 0] *= 100
    found = fit(Variable(people), given, is_log=False)
    assert found is not None
    assert found.exceptions == 1
    assert not found.counts


def test_what_is_usual_in_a_category_is_not_far() -> None:
    """Prices in one town spread four times as far as elsewhere: that is no error of its rows."""
    rng = np.random.default_rng(0)
    size, town = rng.uniform(20, 120, 1200), rng.integers(12, size=1200).astype(np.int32)
    noise = rng.normal(0, 10, 1200)
    price = 3 * size + 20 * town + np.where(town == 0, 4, 1) * noise
    found = fit(Variable(price), [Variable(size), Variable(town)], is_log=False)
    assert found is not None
    far = np.abs(found.residuals(price, [size, town])) > 5
    assert not far[town == 0].any()
    ends = np.subtract(*found.expected([np.full(2, 70.0), np.array([1, 0], dtype=np.int32)])[::-1])
    assert 2 * ends[0] < ends[1] < 5 * ends[0]
    odd = price + np.where(town == 1, 80, 0)
    assert np.median(np.abs(found.residuals(odd, [size, town]))[town == 1]) > 5


def test_a_fit_of_values_without_logarithms_has_a_length() -> None:
    rng = np.random.default_rng(0)
    target, given_ = rng.lognormal(2, 1, 5_000), np.full(5_000, np.nan)
    given_[:80] = rng.normal(size=80)
    target[:80] = given_[:80] - 10
    assert Variable(target).least is not None
    found = fit(Variable(target), [Variable(given_)], is_log=False)
    assert found is not None
    assert np.isfinite(found.code_length)
