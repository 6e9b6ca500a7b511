"""The files: one small table, written in many ugly ways, and what is right for each."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import datetime as dt
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Cells = Sequence[Any]
ROWS = 40


@dataclasses.dataclass(frozen=True)
class Case:
    """A file, and what is right: the values of columns, or words of the refusal."""

    name: str
    file: str
    content: bytes
    right: Mapping[str, Cells] = dataclasses.field(default_factory=dict)
    refusal: str = ""  # words that the error must have
    said: str = ""  # words that a note must have
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


AMOUNTS = [round((-1) ** (n % 5 == 3) * (12.5 + 37.25 * n * n), 2) for n in range(ROWS)]
CITIES = [("Köln", "Zürich", "Århus", "Málaga")[n % 4] for n in range(ROWS)]
DAYS = [dt.date(2023, 1, 1) + dt.timedelta(days=11 * n) for n in range(ROWS)]
MOMENTS = [
    dt.datetime(2023, 1, 1, 6, 30) + dt.timedelta(days=7 * n, minutes=83 * n) for n in range(ROWS)
]
WEIGHTS = [round(2.5 + 0.75 * n, 2) for n in range(ROWS)]


def table(columns: Mapping[str, Cells], delimiter: str = ",", end: str = "\n", **how: Any) -> str:
    """Write a table as delimited text."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, **how)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()


def grouped(number: float, thousands: str, point: str, decimals: int = 2) -> str:
    """Write a number with separators."""
    return f"{number:,.{decimals}f}".translate({ord(","): thousands, ord("."): point})


def _numbers(
    name: str, write: Callable[[float], str], numbers: Cells = AMOUNTS, delimiter: str = ","
) -> Case:
    texts = [write(number) for number in numbers]
    content = table({"amount": texts, "city": CITIES}, delimiter).encode()
    return Case(name, "numbers.csv", content, {"amount": numbers, "city": CITIES}, said="amount")


def numbers() -> Iterator[Case]:
    """Numbers in all styles."""
    whole = [round(amount) for amount in AMOUNTS]
    yield _numbers("1,234.50", lambda x: grouped(x, ",", "."))
    yield _numbers("1 234,50 between semicolons", lambda x: grouped(x, " ", ","), AMOUNTS, ";")
    yield _numbers("1.234,50", lambda x: grouped(x, ".", ","))
    yield _numbers("1'234.50", lambda x: grouped(x, "'", "."))
    yield _numbers("1\u2019234", lambda x: grouped(x, "\u2019", ".", 0), whole)
    yield _numbers("$1,234.50", lambda x: f"{'-' * (x < 0)}${grouped(abs(x), ',', '.')}")
    yield _numbers("1.234,50 €", lambda x: f"{grouped(x, '.', ',')} €")
    yield _numbers("£-1,234.50", lambda x: f"£{grouped(x, ',', '.')}")
    yield _numbers("¥1,234", lambda x: f"¥{grouped(x, ',', '.', 0)}", whole)
    yield _numbers("1,234.50 USD", lambda x: f"{grouped(x, ',', '.')} USD")
    yield _numbers("EUR 1 234,50", lambda x: f"EUR {grouped(x, ' ', ',')}")
    yield _numbers("12.5%", lambda x: f"{x:.1f}%", [n / 2 for n in range(ROWS)])
    yield _numbers("12,5 %", lambda x: grouped(x, "", ",", 1) + " %", [n / 2 for n in range(ROWS)])
    yield _numbers("12.5kg", lambda x: f"{x}kg", WEIGHTS)
    yield _numbers("12.5 °C", lambda x: f"{x} °C", WEIGHTS)
    yield _numbers("3 years", lambda x: f"{x} year{'s' * (x != 1)}", list(range(ROWS)))
    yield _numbers("(1,234.50) for a loss", lambda x: _accounting(x))
    yield _numbers("1,234.50- for a loss", lambda x: grouped(abs(x), ",", ".") + "-" * (x < 0))
    yield _numbers("decimal commas", lambda x: grouped(x, "", ","))
    lakhs = [123_456 * (n + 100) for n in range(ROWS)]
    yield _numbers("12,34,567 (Indian)", _lakhs, lakhs)
    yield _numbers(
        "\u22121 234,5 (Unicode minus)", lambda x: grouped(x, "\u202f", ",").replace("-", "\u2212")
    )
    yield _numbers("+1.5 and -1.5", lambda x: f"{x:+.2f}")


def _accounting(number: float) -> str:
    text = grouped(abs(number), ",", ".")
    return f"({text})" if number < 0 else text


def _lakhs(number: float) -> str:
    text = str(round(number))
    head, tail = text[:-3], text[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return ",".join([*pairs, tail])


def _texts(name: str, texts: Cells, right: Cells | None = None, said: str = "") -> Case:
    content = table({"code": texts, "weight": WEIGHTS}).encode()
    wanted = {"code": texts if right is None else right, "weight": WEIGHTS}
    return Case(name, "texts.csv", content, wanted, said=said)


def misfits() -> Iterator[Case]:
    """Columns in which not every cell is a number, codes that are none, and what may be either."""
    some = [*AMOUNTS[:7], "n.a.", *AMOUNTS[8:]]
    yield _texts("one n.a. among numbers", some, some, "'n.a.'")
    words = [None if n % 9 == 4 else x for n, x in enumerate(AMOUNTS)]
    yield _texts("NA for missing numbers", ["NA" if x is None else x for x in words], words, "'NA'")
    often = ["unknown" if n % 9 == 4 else x for n, x in enumerate(AMOUNTS)]
    yield _texts("the same word for many numbers", often, often, "'unknown'")
    gaps = [None if n % 9 == 4 else x for n, x in enumerate(AMOUNTS)]
    yield _texts(
        "dashes for missing money", ["-" if x is None else f"${x:,.2f}" for x in gaps], gaps
    )
    pounds = [*(f"{x} kg" for x in WEIGHTS[:-1]), "55 lb"]
    yield _texts("one unit unlike the others", pounds, [*WEIGHTS[:-1], "55 lb"], "'55 lb'")
    yield _texts("two units", [f"{n} {('kg', 'lb')[n % 2]}" for n in range(ROWS)])
    yield _texts("two currencies", [f"{'€$'[n % 2]}{n}" for n in range(ROWS)])
    yield _texts("codes like 007", [f"{n % 30:03d}" for n in range(ROWS)])
    yield _texts(
        "postal codes with leading zeros", [f"{1000 + 731 * (n % 20):05d}" for n in range(ROWS)]
    )
    zips = ["n.a.", *(str(10_007 + 23_017 * n % 89_990) for n in range(1, ROWS))]
    yield _texts("postal codes and one n.a.", zips)
    codes = [f"{1000 + 731 * (n % 20):05d}" for n in range(ROWS)]
    yield Case(
        "postal codes, declared to be numbers",
        "texts.csv",
        table({"code": codes, "weight": WEIGHTS}).encode(),
        {"code": [int(code) for code in codes], "weight": WEIGHTS},
        options={"types": {"code": "numeric"}},
    )
    thirds = [f"{1 + n % 90}.{(137 * n + 101) % 1000:03d}" for n in range(ROWS)]
    yield _texts("1.234, which may be either", thirds, list(map(float, thirds)), "may mark")
    yield _texts("phone numbers", [f"555 {100 + n % 30} {200 + n % 25}" for n in range(ROWS)])
    yield _texts("version numbers", [f"1.{n % 4}.{n % 7}" for n in range(ROWS)])
    yield _texts("ranges like 1-2", [f"{n % 6}-{n % 6 + 1}" for n in range(ROWS)])
    yield _texts("digits of another script", ["١٢٣"[n % 3] for n in range(ROWS)])


def _dates(name: str, style: str, right: Cells = DAYS, said: str = "", **options: Any) -> Case:
    texts = [moment.strftime(style) for moment in right]
    content = table({"when": texts, "weight": WEIGHTS}).encode()
    return Case(
        name, "dates.csv", content, {"when": right, "weight": WEIGHTS}, said=said, options=options
    )


def dates() -> Iterator[Case]:
    """Dates in all styles and orders."""
    yield _dates("13/06/2023", "%d/%m/%Y", said="fits no other order")
    yield _dates("06/13/2023 02:30:00 PM", "%m/%d/%Y %I:%M:%S %p", MOMENTS, "month/day/year")
    yield _dates("06/13/2023 12:00:00 AM", "%m/%d/%Y 12:00:00 AM", said="month/day/year")
    yield _dates("13.06.2023 14:30", "%d.%m.%Y %H:%M", MOMENTS)
    yield _dates("13 Jun 2023", "%d %b %Y")
    yield _dates("June 13, 2023", "%B %d, %Y")
    yield _dates("13-Jun-23", "%d-%b-%y")
    yield _dates("Tue, 13 Jun 2023 14:30:00", "%a, %d %b %Y %H:%M:%S", MOMENTS)
    yield _dates("2023/06/13", "%Y/%m/%d")
    yield _dates("13/06/23", "%d/%m/%y")
    yield _dates("2023-06-13T14:30:00", "%Y-%m-%dT%H:%M:%S", MOMENTS)
    zoned = [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS]
    yield _dates("2023-06-13T14:30:00Z", "%Y-%m-%dT%H:%M:%SZ", zoned)
    early = [dt.date(2023, 1 + n % 12, 1 + n % 11) for n in range(ROWS)]
    yield _dates("01/02/2023, which may be either", "%d/%m/%Y", early, "nothing rules out")
    yield _dates("20230613, declared", "%Y%m%d", types={"when": "datetime"})
    wrong = [day.strftime("%d/%m/%Y") for day in DAYS]
    wrong[5] = "31/02/2023"
    right = [*DAYS[:5], "31/02/2023", *DAYS[6:]]
    content = table({"when": wrong, "weight": WEIGHTS}).encode()
    yield Case(
        "a day that does not exist", "dates.csv", content, {"when": right}, said="31/02/2023"
    )


_PLAIN: dict[str, Cells] = {"city": CITIES, "weight": WEIGHTS}


def _layout(name: str, text: str, encoding: str = "utf-8", **more: Any) -> Case:
    return Case(name, "layout.csv", text.encode(encoding), **{"right": _PLAIN, **more})


def layouts() -> Iterator[Case]:
    """Write other encodings, separators, quotes, lines above and below, names."""
    plain = table(_PLAIN)
    yield Case("a byte order mark", "layout.csv", codecs.BOM_UTF8 + plain.encode(), _PLAIN)
    yield _layout("UTF-16", plain, "utf-16")
    yield _layout("Windows-1252", plain, "cp1252", said="cp1252")
    yield _layout("semicolons", table(_PLAIN, ";"))
    yield _layout("tabs in a .csv", table(_PLAIN, "\t"))
    yield _layout("bars", table(_PLAIN, "|"))
    yield _layout("everything in quotes", table(_PLAIN, quoting=csv.QUOTE_ALL))
    lines = [f'{city}, old town\n"north"' for city in CITIES]
    yield _layout(
        "quotes, commas and line ends in cells",
        table({**_PLAIN, "city": lines}),
        right={**_PLAIN, "city": lines},
    )
    yield _layout("mixed line ends", table(_PLAIN, end="\r\n").replace("\r\n", "\n", 9))
    yield _layout("a delimiter too many at the end", plain.replace("\n", ",\n"))
    yield _layout("blank lines in between", "\n\n" + plain.replace("\nKöln", "\n\nKöln"))
    yield _layout(
        "titles above the table", "Report 2023\nall cities\n\n" + plain, said="Report 2023"
    )
    wide = {**_PLAIN, "amount": AMOUNTS}
    yield _layout(
        "a title with empty cells", "Report 2023,,\n" + table(wide), right=wide, said="Report"
    )
    yield _layout("a footer", plain + "\nSource: city councils\n", said="Source")
    yield _layout(
        "a line with too few fields",
        plain.replace("Zürich,", "Zürich;"),
        right={},
        refusal="correct that line",
    )
    yield _layout(
        "two columns of one name",
        plain.replace("weight", "city"),
        right={},
        refusal="rename one of them",
    )
    yield _layout(
        "an index without a name", table({"": list(range(ROWS)), **_PLAIN}), said="names the rows"
    )
    yield _layout(
        "a row number", table({"nr": list(range(1, ROWS + 1)), **_PLAIN}), said="counts the rows"
    )
    yield Case(
        "gzip under a plain name", "packed.csv", gzip.compress(plain.encode(), mtime=0), _PLAIN
    )
    yield Case("nothing but a header", "layout.csv", b"city,weight\n", refusal="no rows")
    yield Case(
        "a web page",
        "page.csv",
        b"<!DOCTYPE html><html><body>Log in</body></html>",
        refusal="web page",
    )


def others() -> Iterator[Case]:
    """JSON and workbooks."""
    rows = [{"amount": f"{x:,.2f}", "city": c} for x, c in zip(AMOUNTS, CITIES, strict=True)]
    right = {"amount": AMOUNTS, "city": CITIES}
    yield Case("money as texts in JSON", "rows.json", json.dumps(rows).encode(), right)
    mixed: list[dict[str, Any]] = [
        dict(row, amount=x) for row, x in zip(rows, AMOUNTS, strict=True)
    ]
    mixed[4]["amount"] = "n.a."
    wanted = {**right, "amount": [*AMOUNTS[:4], "n.a.", *AMOUNTS[5:]]}
    content = "\n".join(map(json.dumps, mixed)).encode()
    yield Case("numbers and a text in JSON lines", "rows.jsonl", content, wanted, said="'n.a.'")
    yield from workbooks()


def workbooks() -> Iterator[Case]:
    """Sheets as people make them."""
    right: dict[str, Cells] = {"amount": AMOUNTS, "when": MOMENTS}
    cells = [[f"{x:,.2f} €", moment] for x, moment in zip(AMOUNTS, MOMENTS, strict=True)]
    sheet: list[Cells] = [["Report 2023", None], [None, None], ["amount", "when"], *cells]
    yield Case("a workbook with a title and money as text", "sheet.xlsx", workbook(sheet), right)
    mixed = [
        [x if n != 6 else "see note", m]
        for n, (x, m) in enumerate(zip(AMOUNTS, MOMENTS, strict=True))
    ]
    wanted = {**right, "amount": [*AMOUNTS[:6], "see note", *AMOUNTS[7:]]}
    yield Case(
        "a remark among numbers of a workbook",
        "sheet.xlsx",
        workbook([["amount", "when"], *mixed]),
        wanted,
        said="'see note'",
    )
    dotted = [[x, m.strftime("%d.%m.%Y %H:%M")] for x, m in zip(AMOUNTS, MOMENTS, strict=True)]
    yield Case(
        "dates as text in a workbook", "sheet.xlsx", workbook([["amount", "when"], *dotted]), right
    )


def workbook(rows: Sequence[Cells]) -> bytes:
    """Write a sheet."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def cases() -> list[Case]:
    """Return all files."""
    return [*numbers(), *misfits(), *dates(), *layouts(), *others()]
