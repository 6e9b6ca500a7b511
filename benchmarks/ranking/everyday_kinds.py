"""Everyday tables with clocks, codes, heavy tails and groups, and the cells to change in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.ranking.cases import Array, Floats, Rng
from benchmarks.ranking.group_kinds import Columns, Edit

START = np.datetime64("2024-01-01T00:00:00")
DAY, MINUTE = 86_400, 60


class Drawn(NamedTuple):
    """The columns of a table, what to change, and rows that hold a code on purpose."""

    columns: Columns
    edits: list[Edit]
    coded: Sequence[int] = ()


Kind: TypeAlias = Callable[[Rng, int], Drawn]


def _labels(rng: Rng, rows: int, **shares: float) -> Array:
    weights = np.array(list(shares.values()))
    return np.array(list(shares), dtype=object)[
        rng.choice(len(shares), rows, p=weights / weights.sum())
    ]


def _by(labels: Array, table: dict[str, Any]) -> Array:
    return np.array([table[label] for label in labels])


def _moments(rng: Rng, rows: int, hours: Sequence[float], days: int = 365) -> Array:
    """Draw moments of a year; `hours` are the weights of the hours of a day."""
    weights = np.asarray(hours, dtype=float)
    hour = rng.choice(24, rows, p=weights / weights.sum())
    seconds = rng.integers(0, days, rows) * DAY + hour * 3600 + rng.integers(0, 3600, rows)
    return START + seconds.astype("timedelta64[s]")


def _seconds(numbers: Floats) -> Array:
    return np.round(numbers).astype("timedelta64[s]")


OFFICE = [0] * 7 + [1, 6, 10, 10, 9, 5, 8, 9, 8, 5, 2, 1] + [0] * 5
EVENING = [3, 1, 0.5, 0.3, 0.2, 0.3, 1, 2, 4, 5, 6, 7, 8, 7, 7, 7, 8, 9, 11, 13, 14, 12, 9, 6]


def _draw(rng: Rng, where: Array, count: int = 1) -> list[int]:
    """Draw some of the rows at which something is true."""
    return [int(row) for row in rng.choice(np.flatnonzero(where), count, replace=False)]


def orders(rng: Rng, rows: int) -> Drawn:
    """Draw orders of a web shop: prices by category, a total that follows, days to deliver."""
    kind = _labels(rng, rows, book=5, toy=3, shoes=2, desk=0.4, laptop=0.25)
    price = _by(kind, {"book": 14, "toy": 25, "shoes": 80, "desk": 320, "laptop": 1100}) * np.exp(
        rng.normal(0, 0.3, rows)
    )
    price = (price.round() - 0.01).round(2)
    quantity = np.where(np.isin(kind, ["book", "toy"]), 1 + rng.poisson(0.8, rows), 1)
    shipping = np.where(kind == "desk", 49.0, np.where(price * quantity > 60, 0.0, 4.9))
    ordered = _moments(rng, rows, EVENING)
    shipped = ordered + _seconds(rng.gamma(2.5, 0.5, rows) * DAY)
    total = (price * quantity + shipping).round(2)
    columns = {
        "category": kind,
        "price": price,
        "quantity": quantity.astype(float),
        "shipping": shipping,
        "total": total,
        "payment": _labels(rng, rows, card=6, paypal=3, invoice=1),
        "country": _labels(rng, rows, DE=7, AT=1.5, CH=1, NL=0.5),
        "ordered": ordered,
        "shipped": shipped,
    }
    row = [
        *_draw(rng, kind == "book", 3),
        *_draw(rng, kind == "laptop"),
        *_draw(rng, kind == "desk"),
        *_draw(rng, kind == "toy", 3),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "price", 1499.0, "book at 1,499"),
            Edit(row[1], "quantity", 400.0, "400 books"),
            Edit(row[2], "total", float(total[row[2]]) + 100, "total off"),
            Edit(row[3], "price", 10.99, "laptop at 10.99"),
            Edit(row[4], "shipping", 4.9, "desk shipped for 4.90"),
            Edit(
                row[5],
                "shipped",
                ordered[row[5]] - _seconds(np.array(3 * DAY)),
                "shipped before ordered",
            ),
            Edit(row[6], "price", -float(price[row[6]]), "negative price"),
            Edit(row[7], "country", "D", "country misspelt"),
        ],
    )


def payroll(rng: Rng, rows: int) -> Drawn:
    """Salaries by grade and site, hours by contract, bonus for few."""
    grade = _labels(rng, rows, clerk=5, analyst=4, lead=1.5, director=0.3)
    site = _labels(rng, rows, Lyon=5, Porto=3, Riga=1)
    level = _by(grade, {"clerk": 2400, "analyst": 3600, "lead": 5200, "director": 9500})
    salary = (
        level
        * _by(site, {"Lyon": 1.0, "Porto": 0.7, "Riga": 0.6})
        * np.exp(rng.normal(0, 0.08, rows))
    )
    hours = np.where(rng.random(rows) < 0.8, 40.0, rng.choice([20.0, 30.0], rows))
    pay = (salary * hours / 40).round(2)
    age = np.clip(rng.normal(41, 10, rows), 19, 66).round()
    hired = np.maximum(2024 - rng.exponential(7, rows), 2024 - (age - 18)).astype(int)
    bonus = np.where(rng.random(rows) < 0.15, (pay * rng.uniform(0.1, 0.6, rows)).round(-1), 0.0)
    columns = {
        "grade": grade,
        "site": site,
        "contract_hours": hours,
        "salary": pay,
        "age": age,
        "hired": hired.astype(float),
        "bonus": bonus,
        "sick_days": rng.negative_binomial(0.7, 0.12, rows).astype(float),
        "overtime": np.where(rng.random(rows) < 0.6, 0, rng.gamma(1.5, 4, rows).round(1)),
    }
    row = [
        *_draw(rng, (grade == "clerk") & (site == "Riga"), 2),
        *_draw(rng, grade == "director"),
        *_draw(rng, hours == 20, 2),
        *_draw(rng, grade == "analyst", 3),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "salary", 9100.0, "clerk paid like a director"),
            Edit(row[1], "grade", "clark", "grade misspelt"),
            Edit(row[2], "salary", 950.0, "director at 950"),
            Edit(row[3], "salary", float(pay[row[3]]) * 2.6, "half time, more than full pay"),
            Edit(row[4], "contract_hours", 400.0, "400 hours"),
            Edit(row[5], "age", 4.0, "age 4"),
            Edit(row[6], "hired", 2204.0, "hired in 2204"),
            Edit(row[7], "bonus", 44000.0, "bonus of a year"),
        ],
    )


def sensors(rng: Rng, rows: int) -> Drawn:
    """Weather stations, every hour, with -999 for what was not measured."""
    station = _labels(rng, rows, north=1, valley=1, coast=1, summit=1)
    moments = _moments(rng, rows, [1] * 24)
    day = (moments - START).astype("timedelta64[D]").astype(int)
    hour = (moments - START).astype("timedelta64[h]").astype(int) % 24
    height = _by(station, {"north": 210, "valley": 480, "coast": 8, "summit": 2100}).astype(float)
    warm = (
        16
        - 0.0065 * height
        - 9 * np.cos(2 * np.pi * day / 365)
        - 4 * np.cos(2 * np.pi * (hour - 2) / 24)
    )
    degrees = (warm + rng.normal(0, 2.5, rows)).round(1)
    humidity = np.clip(75 - 1.2 * (degrees - 10) + rng.normal(0, 9, rows), 12, 100).round()
    pressure = (1015 * np.exp(-height / 8400) + rng.normal(0, 7, rows)).round(1)
    rain = np.where(rng.random(rows) < 0.12, rng.gamma(0.7, 2.2, rows), 0).round(1)
    wind = (rng.weibull(1.8, rows) * 4).round(1)
    light = np.where((hour > 6) & (hour < 19), rng.gamma(4, 90, rows), 0).round()
    battery = (12.6 + rng.normal(0, 0.12, rows)).round(2)
    columns = {
        "station": station,
        "time": moments,
        "degrees": degrees,
        "humidity": humidity,
        "pressure": pressure,
        "rain": rain,
        "wind": wind,
        "light": light,
        "battery": battery,
    }
    coded = rng.permutation(rows)[:12]
    for place, code_row in enumerate(coded):
        columns[("degrees", "humidity", "pressure")[place % 3]][code_row] = -999.0
    free = ~np.isin(np.arange(rows), coded)
    summer, winter = free & (day > 170) & (day < 220), free & (day < 30)
    row = [
        *_draw(rng, summer & (station == "valley")),
        *_draw(rng, winter & (station == "summit")),
        *_draw(rng, free & (hour < 3)),
        *_draw(rng, free & (station == "summit") & (hour > 12) & (hour < 17)),
        *_draw(rng, free & (hour > 3) & (hour < 6)),
        *_draw(rng, free & (hour > 6) & (hour < 9), 3),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "degrees", -19.5, "frost in summer"),
            Edit(row[1], "degrees", 26.5, "heat in winter"),
            Edit(row[2], "light", 450.0, "light at night"),
            Edit(row[3], "pressure", 1013.0, "summit at sea level"),
            Edit(row[4], "battery", 1.26, "battery 1.26"),
            Edit(row[5], "humidity", 170.0, "humidity 170"),
            Edit(row[6], "wind", 240.0, "wind 240"),
            Edit(row[7], "rain", 380.0, "rain 380"),
        ],
        [int(r) for r in coded],
    )


def claims(rng: Rng, rows: int) -> Drawn:
    """Insurance claims: heavy tails by cover, delays in days, few rejected."""
    cover = _labels(rng, rows, glass=4, theft=2, water=2, fire=0.4)
    amount = _by(cover, {"glass": 450, "theft": 1800, "water": 2600, "fire": 14000}) * np.exp(
        rng.normal(0, 1, rows) * _by(cover, {"glass": 0.3, "theft": 0.8, "water": 0.9, "fire": 1.0})
    )
    deductible = _by(cover, {"glass": 150.0, "theft": 300.0, "water": 300.0, "fire": 500.0})
    rejected = rng.random(rows) < 0.07
    happened = _moments(rng, rows, [1] * 24).astype("datetime64[D]")
    delay = np.floor(rng.lognormal(1.6, 1.0, rows)).astype(int)
    settle = np.floor(rng.gamma(2, 14, rows)).astype(int)
    reported = happened + delay.astype("timedelta64[D]")
    amount = amount.round(2)
    columns = {
        "cover": cover,
        "amount": amount,
        "deductible": deductible,
        "paid": np.where(rejected, 0.0, np.maximum(amount - deductible, 0)).round(2),
        "status": np.where(rejected, "rejected", "paid").astype(object),
        "happened": happened,
        "reported": reported,
        "closed": reported + settle.astype("timedelta64[D]"),
        "age": np.clip(rng.normal(48, 15, rows), 18, 95).round(),
        "years_insured": np.floor(rng.exponential(6, rows)),
    }
    row = [
        *_draw(rng, cover == "glass", 3),
        *_draw(rng, rejected),
        *_draw(rng, ~rejected & (cover == "water"), 2),
        *_draw(rng, cover == "theft", 2),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "amount", 38000.0, "glass for 38,000"),
            Edit(row[1], "deductible", 1500.0, "deductible of 1,500"),
            Edit(row[2], "age", 481.0, "age 481"),
            Edit(row[3], "paid", 5200.0, "rejected and paid"),
            Edit(row[4], "paid", 0.0, "paid nothing"),
            Edit(
                row[5],
                "reported",
                happened[row[5]] - np.timedelta64(40, "D"),
                "reported before it happened",
            ),
            Edit(row[6], "status", "payed", "status misspelt"),
            Edit(row[7], "years_insured", 205.0, "insured for 205 years"),
        ],
    )


def places(rng: Rng, rows: int) -> Drawn:
    """Draw a gazetteer: populations of a Pareto tail, coordinates by country."""
    boxes = {
        "PT": (37, 42, -9.4, -6.3),
        "PL": (49.2, 54.6, 14.3, 23.9),
        "CL": (-53, -18, -74, -68),
        "NZ": (-46, -35, 167, 178),
        "FI": (60, 69, 21, 31),
    }
    country = _labels(rng, rows, PT=3, PL=4, CL=2, NZ=1, FI=2)
    south, north, west, east = _by(country, boxes).T
    latitude, longitude = rng.uniform(south, north).round(4), rng.uniform(west, east).round(4)
    people = np.floor(400 * (1 + rng.pareto(1.1, rows)))
    area = (people / np.exp(rng.normal(5, 0.8, rows))).round(2)
    zone = _by(
        country,
        {
            "PT": "Europe/Lisbon",
            "PL": "Europe/Warsaw",
            "CL": "America/Santiago",
            "NZ": "Pacific/Auckland",
            "FI": "Europe/Helsinki",
        },
    ).astype(object)
    columns = {
        "country": country,
        "latitude": latitude,
        "longitude": longitude,
        "population": people,
        "area_km2": area,
        "elevation": np.maximum(rng.gamma(1.1, 160, rows), 0).round(),
        "time_zone": zone,
        "founded": np.floor(1990 - rng.gamma(3, 160, rows)),
    }
    row = [
        *_draw(rng, country == "CL", 2),
        *_draw(rng, country == "PT", 2),
        *_draw(rng, country == "FI", 2),
        *_draw(rng, country == "PL", 2),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "latitude", -float(latitude[row[0]]), "sign of the latitude"),
            Edit(row[1], "time_zone", "Europe/Warsaw", "zone of another country"),
            Edit(row[2], "longitude", float(latitude[row[2]]), "longitude is the latitude"),
            Edit(row[3], "elevation", 21800.0, "above Everest"),
            Edit(row[4], "latitude", 6.51, "a digit of the latitude is lost"),
            Edit(row[5], "country", "PT", "wrong country"),
            Edit(row[6], "founded", 13.0, "founded in 13"),
            Edit(row[7], "population", -5.0, "negative population"),
        ],
    )


def clinic(rng: Rng, rows: int) -> Drawn:
    """Visits: body measures by sex and age, a diagnosis that some never have, 0 for not asked."""
    sex = _labels(rng, rows, f=1.1, m=1)
    age = np.where(
        rng.random(rows) < 0.2, rng.uniform(1, 16, rows), np.clip(rng.normal(52, 18, rows), 16, 97)
    ).round()
    grown = np.minimum(age, 16) / 16
    height = (
        np.where(sex == "m", 178, 165) * (0.42 + 0.58 * grown) + rng.normal(0, 6, rows)
    ).round()
    weight = (rng.normal(24, 3.5, rows) * (0.75 + 0.25 * grown) * (height / 100) ** 2).round(1)
    pressure = (100 + 0.45 * age + rng.normal(0, 11, rows)).round()
    diagnosis = _labels(rng, rows, cold=5, back=3, checkup=3, fracture=1, pregnancy=0.6)
    fertile = (sex == "f") & (age > 18) & (age < 45)
    diagnosis = np.where((diagnosis == "pregnancy") & ~fertile, "checkup", diagnosis)
    fever = np.where(
        (diagnosis == "cold") & (rng.random(rows) < 0.5),
        rng.normal(38.4, 0.6, rows),
        rng.normal(36.7, 0.3, rows),
    )
    columns = {
        "sex": sex,
        "age": age,
        "height": height,
        "weight": weight,
        "systolic": pressure,
        "diagnosis": diagnosis,
        "temperature": fever.round(1),
        "arrived": _moments(rng, rows, OFFICE),
        "minutes": np.maximum(rng.gamma(3, 5, rows), 2).round(),
        "cigarettes": np.where(
            rng.random(rows) < 0.8, 0, rng.choice([5, 10, 15, 20, 30], rows)
        ).astype(float),
    }
    adult = age > 20
    row = [
        *_draw(rng, adult, 4),
        *_draw(rng, adult & (sex == "m")),
        *_draw(rng, age < 6),
        *_draw(rng, (age > 30) & (diagnosis == "back"), 2),
    ]
    arrived = columns["arrived"]
    return Drawn(
        columns,
        [
            Edit(row[0], "height", 1.74, "height in metres"),
            Edit(row[1], "temperature", 98.6, "temperature in Fahrenheit"),
            Edit(row[2], "weight", 715.0, "weight without its point"),
            Edit(
                row[3],
                "arrived",
                arrived[row[3]].astype("datetime64[D]") + np.timedelta64(3 * 3600 + 700, "s"),
                "arrived at 3 in the night",
            ),
            Edit(row[4], "diagnosis", "pregnancy", "pregnant man"),
            Edit(row[5], "weight", 81.0, "child of 81 kg"),
            Edit(row[6], "systolic", 12.0, "pressure in cmHg"),
            Edit(row[7], "diagnosis", "bakc", "diagnosis misspelt"),
        ],
    )


def trips(rng: Rng, rows: int) -> Drawn:
    """Taxi rides: fare by distance, speed by hour, tips by card only, some long rides."""
    start = _moments(rng, rows, EVENING)
    far = rng.random(rows) < 0.06
    km = np.where(far, rng.normal(19, 2.5, rows), rng.gamma(2, 1.7, rows) + 0.4).round(1)
    speed = np.clip(rng.normal(19, 4, rows) + 12 * far, 6, 60)
    seconds = km / speed * 3600
    fare = np.where(far, 42.0, 3.5 + 2.1 * km + 0.0075 * seconds).round(1)
    payment = _labels(rng, rows, card=6, cash=4)
    tip = np.where(
        (payment == "card") & (rng.random(rows) < 0.85),
        fare * rng.choice([0.1, 0.15, 0.2], rows),
        0,
    ).round(2)
    end = start + _seconds(seconds)
    columns = {
        "start": start,
        "end": end,
        "km": km,
        "fare": fare,
        "tip": tip,
        "payment": payment,
        "passengers": (1 + rng.binomial(4, 0.12, rows)).astype(float),
        "rate": np.where(far, "airport", "city").astype(object),
        "total": (fare + tip).round(2),
    }
    row = [
        *_draw(rng, far),
        *_draw(rng, ~far, 3),
        *_draw(rng, payment == "cash"),
        *_draw(rng, ~far & (payment == "card"), 3),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "fare", 7.2, "airport for 7.20"),
            Edit(row[1], "fare", 780.0, "city for 780"),
            Edit(row[2], "end", start[row[2]] - _seconds(np.array(900.0)), "ended before it began"),
            Edit(row[3], "end", start[row[3]] + _seconds(np.array(23.5 * 3600)), "a day's ride"),
            Edit(row[4], "tip", 6.4, "tip in cash"),
            Edit(row[5], "km", 0.0, "no distance"),
            Edit(row[6], "passengers", 33.0, "33 passengers"),
            Edit(row[7], "total", float(columns["total"][row[7]]) - 5, "total off"),
        ],
    )


def stock(rng: Rng, rows: int) -> Drawn:
    """Draw a stock: counts with many zeros, prices by kind, 9999 days for never ordered."""
    kind = _labels(rng, rows, screw=5, tool=3, paint=2, machine=0.6)
    cost = (
        _by(kind, {"screw": 0.08, "tool": 18.0, "paint": 11.0, "machine": 640.0})
        * np.exp(rng.normal(0, 0.5, rows))
    ).round(2)
    price = (cost * rng.normal(1.5, 0.06, rows)).round(2)
    held = np.floor(
        rng.lognormal(0, 1, rows)
        * _by(kind, {"screw": 4000, "tool": 30, "paint": 45, "machine": 3})
    )
    held = np.where(rng.random(rows) < 0.15, 0.0, held)
    days = np.floor(rng.gamma(3, 4, rows)) + 1
    coded = rng.permutation(rows)[:15]
    days[coded] = 9999.0
    kilos = _by(kind, {"screw": 0.01, "tool": 1.2, "paint": 5.0, "machine": 80.0}) * np.exp(
        rng.normal(0, 0.4, rows)
    )
    columns = {
        "kind": kind,
        "cost": cost,
        "price": price,
        "held": held,
        "delivery_days": days,
        "kilos": kilos.round(3),
        "bay": _labels(rng, rows, A=3, B=3, C=2, D=1),
        "counted": _moments(rng, rows, OFFICE).astype("datetime64[D]"),
        "reorder_at": np.maximum(
            np.round(
                _by(kind, {"screw": 1000, "tool": 10, "paint": 15, "machine": 1})
                * rng.choice([0.5, 1, 2], rows)
            ),
            1,
        ),
    }
    free = ~np.isin(np.arange(rows), coded)
    row = [
        *_draw(rng, free & (kind == "machine"), 2),
        *_draw(rng, free & (kind == "tool"), 3),
        *_draw(rng, free & (kind == "paint"), 3),
    ]
    return Drawn(
        columns,
        [
            Edit(row[0], "price", 3.2, "machine at 3.20"),
            Edit(row[1], "held", 3800.0, "3,800 machines"),
            Edit(row[2], "price", float(price[row[2]]) * 10, "price times ten"),
            Edit(row[3], "held", -14.0, "negative stock"),
            Edit(row[4], "kilos", 1200.0, "grams for kilos"),
            Edit(row[5], "delivery_days", 400.0, "400 days"),
            Edit(row[6], "bay", "b", "bay in lower case"),
            Edit(row[7], "counted", np.datetime64("2042-05-01"), "counted in the future"),
        ],
        [int(r) for r in coded],
    )


KINDS: dict[str, Kind] = {
    "orders": orders,
    "payroll": payroll,
    "sensors": sensors,
    "claims": claims,
    "places": places,
    "clinic": clinic,
    "trips": trips,
    "stock": stock,
}
