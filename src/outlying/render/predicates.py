"""Findings as code: what selects their rows in SQL, pandas and polars, and checks made of it.

A predicate selects the rows that are odd in the same way, in the same group: of a number beyond
what is typical those at least as far out, between common values those in the same gap, else those
with the same value; of an order or a formula those that break it; of another relation, or of what
is derived, those with the same values.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

from outlying.checks import check_choice
from outlying.errors import harmless
from outlying.results.detections import Detection
from outlying.results.findings import Findings
from outlying.results.stories import Pair
from outlying.results.wording import is_beyond, is_mostly_empty
from outlying.table.table import Condition, part_of
from outlying.table.values import Value

Dialect: TypeAlias = Literal["sql", "dbt", "gx", "pandera", "pandas", "polars"]
DIALECTS: tuple[str, ...] = get_args(Dialect)

TestKind: TypeAlias = Literal[
    "equals", "between", "inside", "missing", "known", "less", "less number", "off"
]

_PLAIN = re.compile(r"[^A-Za-z0-9_]+")


@dataclasses.dataclass(frozen=True, slots=True)
class CellTest:
    """What a row must hold in one column: a value, one between two ends, or none, or any.

    Or one that is less than a formula of others, or farther off it than rounding makes it.
    """

    column: str
    kind: TestKind
    low: Value = None  # the value itself, too; of a formula, what is off
    high: Value = None  # None: no end; "inside" is between two ends, and neither of them
    formula: str = ""
    others: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RowPredicate:
    """What selects the rows of a finding, all terms together, and the finding in words."""

    terms: tuple[CellTest, ...]
    said: str

    def written(self, language: Literal["sql", "pandas", "polars"]) -> str:
        """Return the condition in a language: SQL, or Python for a frame that is called `df`."""
        name, write = _LANGUAGES[language]
        parts = [
            _WRITTEN[language][_way(it)].format(
                name(it.column),
                write(it.low),
                write(it.high),
                it.formula.format(*map(name, it.others)),
            )
            for it in self.terms
        ]
        return " AND ".join(parts) if language == "sql" else " & ".join(f"({p})" for p in parts)


def predicates(findings: Findings | Detection | Iterable[Findings]) -> tuple[RowPredicate, ...]:
    """Return what selects the rows of each odd cell; the same is said once."""
    if isinstance(findings, Detection):
        findings = [item.findings for item in findings.rows if item.findings is not None]
    some = [findings] if isinstance(findings, Findings) else findings
    found: dict[tuple[CellTest, ...], str] = {}
    for item in some:
        for cell in item.odd_cells:
            said = " ".join(harmless(cell.story.sentence).split())
            found.setdefault(tuple(_terms(cell.story.headline, item.object)), said)
    return tuple(RowPredicate(terms, said) for terms, said in found.items())


def as_code(
    findings: Findings | Detection | Iterable[Findings],
    dialect: Dialect = "sql",
    *,
    table: str = "data",
) -> str:
    """Return the odd cells as code, or as a check of the model `table` that fails on such rows."""
    check_choice("dialect", dialect, DIALECTS)
    return _FORMS[dialect](predicates(findings), _PLAIN.sub("_", table).strip("_") or "data")


# --- what is odd, as terms -----------------------------------------------------------------------


def _terms(pair: Pair, values: Mapping[str, Value]) -> Iterator[CellTest]:
    """Return the conditions of the group, then what is odd in it."""
    for condition in pair.conditions:
        yield _of_condition(condition, values)
    if pair.breach is not None:
        may_be_nan = any(isinstance(values[name], float) for name in pair.given)
        kind: TestKind = (
            ("less number" if may_be_nan else "less") if pair.breach.off is None else "off"
        )
        yield CellTest(pair.column, kind, pair.breach.off, None, pair.breach.formula, pair.given)
    elif pair.parent is not None or pair.given:
        for name in dict.fromkeys((pair.column, *pair.given)):
            yield _same(name, values)
    else:
        yield _of_property(pair)


def _of_condition(condition: Condition, values: Mapping[str, Value]) -> CellTest:
    name = condition.attribute
    part = part_of(name, values)
    if name not in values and part is not None:
        return _same(part[0], values)
    if condition.kind == "interval":
        if condition.low == condition.high:
            return CellTest(name, "equals", condition.low)
        return CellTest(name, "between", condition.low, condition.high)
    return CellTest(name, "missing" if condition.kind == "missing" else "equals", condition.value)


def _same(name: str, values: Mapping[str, Value]) -> CellTest:
    value = values.get(name)
    return CellTest(name, "missing" if value is None else "equals", value)


def _of_property(pair: Pair) -> CellTest:
    name, value = pair.property, pair.value
    if value is None:
        return CellTest(name, "missing")
    if is_mostly_empty(pair):
        return CellTest(name, "known")
    is_number = bool(pair.typical) and isinstance(pair.typical[0], tuple)
    if not is_number or isinstance(value, (str, dt.time)):
        return CellTest(name, "equals", value)
    if pair.gap is not None:
        return CellTest(name, "inside", *pair.gap)
    if not is_beyond(pair):
        return CellTest(name, "equals", value)
    first: Any = pair.typical[0]
    return CellTest(name, "between", *((None, value) if first[0] > value else (value, None)))


# --- as text: the column {0}, the value or the low end {1}, the high end {2}, a formula {3} -------

_FRAMES = {
    "equals": "{0} == {1}",
    "inside": "({0} > {1}) & ({0} < {2})",
    "between": "({0} >= {1}) & ({0} <= {2})",
    "most": "{0} <= {2}",
    "least": "{0} >= {1}",
    "least number": "{0} >= {1}",
    "less": "{0} < {3}",
    "less number": "{0} < {3}",
    "off": "({0} - ({3})).abs() >= {1}",
}
#: How each language writes each way to test a cell; NaN is greater than all numbers in some.
_WRITTEN: dict[str, dict[str, str]] = {
    "sql": {
        "missing": "{0} IS NULL",
        "known": "{0} IS NOT NULL",
        "equals": "{0} = {1}",
        "inside": "{0} > {1} AND {0} < {2}",
        "between": "{0} BETWEEN {1} AND {2}",
        "most": "{0} <= {2}",
        "least": "{0} >= {1}",
        "least number": "{0} BETWEEN {1} AND 1.7976931348623157e+308",
        "less": "{0} < {3}",
        "less number": "{0} < {3} AND {3} <= 1.7976931348623157e+308",
        "off": "abs({0} - ({3})) BETWEEN {1} AND 1.7976931348623157e+308",
    },
    "pandas": _FRAMES | {"missing": "{0}.isna()", "known": "{0}.notna()"},
    "polars": {
        **_FRAMES,
        "missing": "{0}.is_null()",
        "known": "{0}.is_not_null()",
        "least number": '{0}.is_between({1}, float("inf"))',
        "less number": '({0} < {3}) & ({3} <= float("inf"))',
        "off": '({0} - ({3})).abs().is_between({1}, float("inf"))',
    },
}


def _way(term: CellTest) -> str:
    if term.kind != "between" or (term.low is not None and term.high is not None):
        return term.kind
    if term.low is None:
        return "most"
    return "least number" if isinstance(term.low, float) else "least"


def _sql(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _sql_value(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):  # with an exponent: or it is a decimal, and rounded otherwise
        text = repr(value)
        return text if "e" in text else f"{text}e0"
    if isinstance(value, dt.datetime):
        kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
        return f"{kind} '{value.isoformat(' ')}'"
    if isinstance(value, (dt.date, dt.time)):
        return f"{'DATE' if isinstance(value, dt.date) else 'TIME'} '{value.isoformat()}'"
    if isinstance(value, dt.timedelta):
        return f"INTERVAL '{value // dt.timedelta(microseconds=1)} microseconds'"
    if isinstance(value, str):
        parts = [f"'{part}'" for part in value.replace("'", "''").split("\0")]
        return " || chr(0) || ".join(parts)
    return str(value)


def _pandas_value(value: Value) -> str:
    if isinstance(value, dt.datetime):
        return f'pd.Timestamp("{value.isoformat()}")'
    if isinstance(value, dt.timedelta):
        return f"pd.Timedelta({value // dt.timedelta(microseconds=1)}, unit='us')"
    return repr(value)


def _polars_value(value: Value) -> str:
    if isinstance(value, dt.datetime):
        return f'datetime.datetime.fromisoformat("{value.isoformat()}")'
    return repr(value)


#: How each language names a column, and writes a value.
_LANGUAGES: dict[str, tuple[Callable[[str], str], Callable[[Value], str]]] = {
    "sql": (_sql, _sql_value),
    "pandas": ("df[{!r}]".format, _pandas_value),
    "polars": ("pl.col({!r})".format, _polars_value),
}


# --- as a file -----------------------------------------------------------------------------------


def _as_sql(found: Iterable[RowPredicate], _: str) -> str:
    return "\n\n".join(f"-- {item.said}\n{item.written('sql')}" for item in found)


def _as_dbt(found: Iterable[RowPredicate], table: str) -> str:
    """Write a singular test of dbt, whose templates begin with braces."""
    some = [f"  -- {item.said}\n  ({item.written('sql')})" for item in found]
    where = "\n  or\n".join(some) or "  false"
    select = f"select * from {{{{ ref('{table}') }}}}"  # noqa: S608 - names and values are quoted
    return f"{select}\nwhere\n" + where.replace("{", '{{ "{" }}')


def _as_gx(found: Iterable[RowPredicate], table: str) -> str:
    """Write a suite of expectations of Great Expectations, which fills in braces, too."""
    expectations = []
    for item in found:
        where = item.written("sql").replace("{", "{{").replace("}", "}}")
        query = f"SELECT * FROM {{batch}} WHERE {where}"  # noqa: S608 - as above
        kwargs = {"unexpected_rows_query": query, "description": item.said}
        expectations.append({"type": "unexpected_rows_expectation", "kwargs": kwargs})
    suite = {"name": f"outlying_{table}", "expectations": expectations}
    return json.dumps(suite, indent=2, ensure_ascii=False)


def _as_pandera(found: Iterable[RowPredicate], _: str) -> str:
    some = [
        f"    pa.Check(lambda df: ~({item.written('pandas')}), error={item.said!r}),\n"
        for item in found
    ]
    head = "import datetime\n\nimport pandas as pd\nimport pandera.pandas as pa\n\n"
    return f"{head}schema = pa.DataFrameSchema(checks=[\n{''.join(some)}])"


def _as_pandas(found: Iterable[RowPredicate], _: str) -> str:
    some = [f"# {item.said}\ndf[{item.written('pandas')}]" for item in found]
    return "\n\n".join(["import datetime\n\nimport pandas as pd", *some])


def _as_polars(found: Iterable[RowPredicate], _: str) -> str:
    some = [f"# {item.said}\ndf.filter({item.written('polars')})" for item in found]
    return "\n\n".join(["import datetime\n\nimport polars as pl", *some])


_FORMS: dict[str, Callable[[Iterable[RowPredicate], str], str]] = {
    "sql": _as_sql,
    "dbt": _as_dbt,
    "gx": _as_gx,
    "pandera": _as_pandera,
    "pandas": _as_pandas,
    "polars": _as_polars,
}
