"""Tables as they are compared: types that the user declared, texts read as what they show to be."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import nan
from typing import Any, TypeGuard

import numpy as np

from outlying import sentences as say
from outlying.errors import InfiniteValueError, RowAt
from outlying.options import ColumnType, Options
from outlying.parsing.reading import (
    FORMS,
    MOST_MISFITS,
    Reading,
    Style,
    StyleCount,
    Tally,
    declared_kind,
)
from outlying.parsing.written import CURRENCIES, IN_WORDS, UNITS, DateStyle, NumberStyle, Order
from outlying.table.columns import CategoricalColumn, Column, NumericColumn, not_as_declared
from outlying.table.selection import (
    MOST_ASKED,
    check_width,
    compared,
    is_compared,
    optional_columns,
)
from outlying.table.table import Table, is_part_name
from outlying.table.values import Form, are_keys, printable, text_of, value_of

#: A number as anybody reads it: the note on a column need not say what it is.
_PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?")
_DAY = re.compile(r"\d+([/.-])\d+\1\d+(?!\S)")


def as_declared(table: Table, options: Options) -> Table:
    """Apply the user's types, and refuse infinite values or count them as missing."""
    check_width(sum(1 for _ in compared(table, options)), MOST_ASKED)
    return _finite(as_read(table, options), options)


def as_read(table: Table, options: Options) -> Table:
    """Apply the user's types, and read texts as what they show to be; infinite values stay."""
    declared = dict(options.types)
    unread = {skipped.name for skipped in table.skipped}
    for name in options.named:
        if name not in unread and not is_part_name(name, table.names):
            table.column(name)
    columns, notes = [], list(table.notes)
    knows_types = not all(map(_is_of_texts, table.columns))
    for column in table.columns:
        read, note = column, None
        if column.name in declared or is_compared(column.name, table, options):
            read, note = _as_read(column, declared.get(column.name), knows_types=knows_types)
        columns.append(read)
        if note is not None:
            notes.append(say.COLUMN_WAS.format(column=repr(column.name), said=note))
    return dataclasses.replace(table, columns=tuple(columns), notes=tuple(notes))


def _is_of_texts(column: Column) -> TypeGuard[CategoricalColumn]:
    return not column.is_numeric and column.form == "text" and not column.are_of_numbers


def _as_read(
    column: Column, kind: ColumnType | None, *, knows_types: bool
) -> tuple[Column, str | None]:
    """Read a column as it is declared; texts also as what they show to be, and say so."""
    if not _is_of_texts(column):
        return (column if kind is None else column.retyped(kind)), None
    if kind == "categorical":
        return column, None
    return _read_texts(column, kind, knows_types=knows_types) or (column, None)


def decision_on(
    column: CategoricalColumn, kind: ColumnType | None, *, knows_types: bool = True
) -> Decision | None:
    """Return how the texts of a column in memory are to be read; None: as they are."""
    tally = Tally(declared_kind(kind), knows_types=knows_types)
    texts: tuple[str, ...] = column.labels  # type: ignore[assignment]
    codes = column.codes[column.codes >= 0]
    rows_of = functools.partial(np.bincount, codes, minlength=len(texts))
    tally.add(len(texts), texts.__getitem__, rows_of)
    return decide(tally)


def _read_texts(
    column: CategoricalColumn, kind: ColumnType | None, *, knows_types: bool
) -> tuple[NumericColumn, str | None] | None:
    """Read texts as what they are or were declared to be, and say how; None: they stay texts."""
    decision, declared = decision_on(column, kind, knows_types=knows_types), declared_kind(kind)
    if decision is not None:
        reading = decision.reading
    elif declared is not None:
        reading = Reading.declared(declared)
    else:
        return None
    read = column.parsed(reading)
    if declared is not None and len(wrong := read.unread_rows()):
        row = int(wrong[0])
        raise not_as_declared(column.name, FORMS[declared], column.value(row), RowAt(row))
    return read, None if decision is None else decision.note


def with_object(table: Table, values: Mapping[str, Any], options: Options) -> Table:
    """Add a new object as the last row of a table that is as declared."""
    joined = table.with_object(values, optional_columns(table, options))
    try:
        return _finite(joined, options)
    except InfiniteValueError as error:  # all rows but the last one are known to be finite
        raise InfiniteValueError(error.column, None) from None


def _finite(table: Table, options: Options) -> Table:
    """Refuse infinite values in what is compared, or count them as missing and say so."""
    columns, notes = [], list(table.notes)
    for column in table.columns:
        if is_compared(column.name, table, options):
            column, note = column.without_infinities(as_missing=options.infinite == "missing")
            notes += [] if note is None else [note]
        columns.append(column)
    return dataclasses.replace(table, columns=tuple(columns), notes=tuple(notes))


#: At least this share of the texts has to fit; the rest are wrong cells.
ENOUGH = 0.95
#: So many are enough where the rest are the same few words again and again, without a digit.
ENOUGH_BESIDE_WORDS = 0.8
MOST_WORDS = 3
#: Whole numbers that all have so many digits may be codes.
CODE_DIGITS = 4
MOST_DIGITS = 15
#: Numbers that all have so many digits are codes, even where the source knows no types.
LONG_CODE_DIGITS = 9
#: Numbers of so many rows that begin with 1 and with 9 would not all have the same digits.
CODE_ROWS = 20
#: A number of more digits would have a mark, where thousands have.
THOUSAND_DIGITS = 3

_NAMED = 3  # texts in a note
_ONE_AND_NINE = 1 << 1 | 1 << 9


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """What a column of texts is read as, what does not fit, and what a reader should know."""

    reading: Reading
    note: str  # without the name of the column
    misfits: Mapping[str, int]  # rows by text; where they are more than can be listed, of some
    missing: int  # rows with a word for a missing value, or a text that does not fit
    ends: tuple[float, float]  # the least and the greatest number, where the tally has them


def decide(tally: Tally) -> Decision | None:
    """Return how a column is read; None: as texts. If declared, however little of it fits."""
    if not tally.styles or tally.is_hopeless:
        return None
    numbers = {s: count for s, count in tally.styles.items() if isinstance(s, NumberStyle)}
    dates = {s: count for s, count in tally.styles.items() if isinstance(s, DateStyle)}
    is_declared = tally.declared is not None
    if is_declared:
        numbers, dates = (numbers, {}) if tally.declared == "numeric" else ({}, dates)
    if not _rows(numbers) and not _rows(dates):
        return None
    lengths, has_lengths = _lengths(dates)
    if lengths:  # beside 1h 30m, 45m is a duration, too
        lengths += sum(count.rows for style, count in numbers.items() if style.affix in UNITS)
    is_of_numbers = _rows(numbers) >= max(_rows(dates), lengths)
    if is_of_numbers:
        reading = _number_reading(numbers, is_declared)
    else:
        is_duration = 2 * lengths > _rows(dates)
        reading = (
            Reading("duration", has_lengths=has_lengths) if is_duration else _date_reading(dates)
        )
    reading = dataclasses.replace(reading, is_declared=is_declared)
    fitting = {style: count for style, count in tally.styles.items() if reading.fits(style)}
    unfit = {style: count for style, count in tally.styles.items() if not reading.fits(style)}
    misfits, wrong = _texts(unfit.values()), _rows(unfit)
    are_listed = all(count.texts is not None for count in unfit.values())
    is_sure = are_listed and len(misfits) <= MOST_MISFITS
    if not is_declared and not (is_sure and _is_enough(reading, fitting, wrong, misfits, tally)):
        return None
    unlike = _texts(count for style, count in unfit.items() if reading.is_of_kind(style))
    ends = [count.ends_as(reading) for count in fitting.values() if count.ends]
    return Decision(
        dataclasses.replace(reading, right=_rows(fitting), wrong=wrong),
        _note(reading, fitting, (unlike, misfits - unlike), tally.gaps),
        dict(sorted(misfits.items())),
        tally.gaps.total() + wrong,
        (min((low for low, _ in ends), default=nan), max((high for _, high in ends), default=nan)),
    )


def _lengths(dates: Mapping[DateStyle, StyleCount]) -> tuple[int, bool]:
    """Return how many rows hold a length of time, and whether 9:58 is one, as beside 45:10."""
    lengths = {style: count for style, count in dates.items() if style.form == "duration"}
    long = _rows({style: count for style, count in lengths.items() if style.is_length})
    times = {style: count for style, count in dates.items() if style.form == "time"}
    plain = _rows({style: count for style, count in times.items() if not style.is_twelve_hours})
    if long > max(1, (1 - ENOUGH) * (long + plain)):
        return _rows(lengths) + plain, True
    return _rows(lengths) - long, False


def _rows(counts: Mapping[Any, StyleCount]) -> int:
    return sum(count.rows for count in counts.values())


def _texts(counts: Iterable[StyleCount]) -> Counter[str]:
    """Return the rows of each text, as far as they are listed."""
    return sum((count.texts or Counter() for count in counts), Counter())


def _is_enough(
    reading: Reading,
    fitting: Mapping[Style, StyleCount],
    wrong: int,
    misfits: Collection[str],
    tally: Tally,
) -> bool:
    """Return whether so much fits that the column is no column of texts."""
    right = _rows(fitting)
    has_digits = any(mark.isdigit() for text in misfits for mark in text)
    few_words = len(misfits) <= MOST_WORDS and not has_digits
    enough = ENOUGH_BESIDE_WORDS if few_words else ENOUGH
    if right < 2 or right < enough * (right + wrong):
        return False
    if reading.is_of_dates:
        return True
    return not _are_codes(fitting, bool(wrong), has_digits, knows_types=tally.knows_types)


def _are_codes(
    fitting: Mapping[Style, StyleCount], has_misfits: bool, has_digits: bool, *, knows_types: bool
) -> bool:
    """Return whether whole numbers are codes: written without any mark, and all alike.

    Where a source that knows types holds plain whole numbers as text, somebody wanted it so.
    """
    styles = [style for style in fitting if isinstance(style, NumberStyle)]
    digits = [style.digits for style in styles]
    if not all(digits):
        return False
    rows = {"": 0, "(": 0, "e": 0}
    for style in styles:
        rows[style.notation] += fitting[style].rows
    if rows["("]:  # are negative numbers, beside others
        return not rows[""] and not rows["e"]
    if rows["e"]:
        return rows["e"] > rows[""]
    are_spaced = any(style.is_spaced for style in styles)
    long = sum(fitting[style].rows for style in styles if style.digits > MOST_DIGITS)
    if are_keys(long, sum(rows.values())):
        return True
    if not (has_misfits or are_spaced):
        return knows_types
    are_alike = min(digits) == max(digits) >= CODE_DIGITS
    are_long = min(digits) >= LONG_CODE_DIGITS
    return are_alike and (are_spaced or has_digits or are_long or _fill_a_decade(fitting.values()))


def _fill_a_decade(fitting: Iterable[StyleCount]) -> bool:
    """Return whether numbers of one length begin with 1 as well as 9: amounts would go on."""
    every = StyleCount()
    for count in fitting:
        every.add(count)
    return every.rows >= CODE_ROWS and every.firsts & _ONE_AND_NINE == _ONE_AND_NINE


def _number_reading(counts: Mapping[NumberStyle, StyleCount], is_declared: bool) -> Reading:
    rows: dict[str, int] = {}
    for style, count in counts.items():
        votes = 0 if style.is_zero else count.rows
        rows[style.affix] = rows.get(style.affix, 0) + votes
    named = [affix for affix in sorted(rows) if affix or not is_declared]
    affix = max(named, key=rows.__getitem__, default="")
    affixes: tuple[str, ...] = (affix,) if affix in ("", "%") else (affix, "")
    scales = {s.scale for s in counts if s.scale and s.affix not in CURRENCIES}
    is_scaled = len(scales) > 1 or ("k" in scales and "" in rows)
    if is_scaled and affix not in CURRENCIES:
        affixes = (*sorted({s.affix for s in counts if s.scale}), "")
    some = {style: count for style, count in counts.items() if style.affix in affixes}
    point = _point(some, affix)
    fits = [style for style in some if style.point in ("", point)]
    is_whole = not any(style.has_decimals or style.either == point for style in fits)
    bound = sum(count.rows for style, count in some.items() if style.has_bound)
    return Reading(
        "integer" if is_whole else "number",
        affixes,
        point,
        has_bounds=2 * bound <= _rows(some),
        is_scaled=is_scaled,
    )


def _point(counts: Mapping[NumberStyle, StyleCount], affix: str) -> str:
    """Return what divides off decimals, as most texts show; in doubt a point, but not of money."""
    sure = {
        mark: sum(count.rows for s, count in counts.items() if s.point == mark) for mark in ".,"
    }
    if any(sure.values()):
        return "," if sure[","] > sure["."] else "."
    in_doubt = {style.either for style in counts}
    return "," if affix in CURRENCIES and "." in in_doubt and "," not in in_doubt else "."


def _date_reading(counts: Mapping[DateStyle, StyleCount]) -> Reading:
    by_form: dict[Form, int] = {}
    for style, count in counts.items():
        kind: Form = style.form if style.form in ("time", "instant") else "datetime"
        by_form[kind] = by_form.get(kind, 0) + count.rows
    kind = max(sorted(by_form), key=by_form.__getitem__)
    order = _order(counts)
    reading = Reading("time" if kind == "time" else "instant", order=order)
    if kind != "datetime":
        return reading
    reading = dataclasses.replace(reading, form="datetime")
    is_day = all(s.form == "date" or s.at_midnight for s in counts if reading.fits(s))
    return dataclasses.replace(reading, form="date" if is_day else "datetime")


def _order(counts: Mapping[DateStyle, StyleCount]) -> Order:
    """Return the order in which most dates make sense.

    Where nothing tells, month and day beside AM and PM, otherwise day and month; but a year of two
    digits first where fewer numbers stand there than in the place of the day.
    """
    rows = dict.fromkeys(IN_WORDS, 0)
    for style, count in counts.items():
        for order in style.orders:
            rows[order] += count.rows
    halves = sum(count.rows for style, count in counts.items() if style.is_twelve_hours)
    is_american = 2 * halves > sum(count.rows for count in counts.values())
    ranked: tuple[Order, ...] = ("mdy", "dmy", "ymd") if is_american else ("dmy", "mdy", "ymd")
    order = max(ranked, key=rows.__getitem__)
    is_open = rows["ymd"] > 0 and rows["ymd"] >= ENOUGH * rows[order]
    return "ymd" if is_open and _is_year_first(counts) else order


def _is_year_first(counts: Mapping[DateStyle, StyleCount]) -> bool:
    """Return whether years come first in dates such as 22-01-04; ISO 8601 had it so."""
    short = StyleCount()
    for style, count in counts.items():
        if "ymd" in style.orders:
            short.add(count)
    firsts, lasts = short.firsts.bit_count(), short.lasts.bit_count()
    return firsts < lasts or (firsts == lasts > 0 and "-" in (short.example or ""))


def _note(
    reading: Reading,
    fitting: Mapping[Style, StyleCount],
    misfits: tuple[Mapping[str, int], Mapping[str, int]],
    gaps: Mapping[str, int],
) -> str:
    """Say how a column is read, what is written unlike the rest, what is none, what is missing."""
    said = [_date_note(reading, fitting) if reading.is_of_dates else _number_note(reading, fitting)]
    for texts, words in zip(misfits, (say.UNLIKE_THE_REST, say.HOLDS_NONE), strict=True):
        if texts and not reading.is_declared:
            said.append(_misfits_note(texts, words, reading.noun))
    if gaps:
        said.append(gaps_note(gaps))
    return "; ".join(said)


def gaps_note(gaps: Mapping[str, int]) -> str:
    """Say which words are read as missing, and how often."""
    said = (
        say.GAP_WORD[count > 1].format(word=repr(word) if word else say.BLANK, rows=count)
        for word, count in sorted(gaps.items())
    )
    return say.GAPS[len(gaps) > 1].format(words=", ".join(said))


def _misfits_note(misfits: Mapping[str, int], words: tuple[str, str], noun: str) -> str:
    """Say which texts do not fit: those of the most rows first."""
    rows = sum(misfits.values())
    ranked = sorted(misfits, key=lambda text: (-misfits[text], text))
    named = ", ".join(f"'{printable(text)}'" for text in ranked[:_NAMED])
    more = say.SHARED_MORE.format(count=len(ranked) - _NAMED) if len(ranked) > _NAMED else ""
    said = words[rows > 1].format(rows=rows, noun=noun)
    return say.MISFITS.format(rows=said, texts=f"{named}{more}")


def _number_note(reading: Reading, fitting: Mapping[Style, StyleCount]) -> str:
    examples = [s.example for style, s in fitting.items() if style is not None and s.example]
    # one with more marks shows more
    shown = max(
        sorted(examples), key=lambda it: (sum(not c.isdigit() for c in it.strip()), len(it))
    )
    said = say.READ_AS.format(what="numbers")
    if not _PLAIN_NUMBER.fullmatch(shown.strip()):
        value = f"{reading.numbers([shown])[0]:,.15g}"
        said = say.FOR_EXAMPLE.format(read=said, text=printable(shown), value=value)
    styles = [style for style in fitting if isinstance(style, NumberStyle)]
    bounds = {s: c for s, c in fitting.items() if isinstance(s, NumberStyle) and s.has_bound}
    if bounds:
        rows, text = _rows(bounds), printable(_first(bounds.values()))
        said += f"; {say.BOUNDS[rows > 1].format(rows=rows, text=text)}"
    return f"{said}; {say.POINTS_IN_DOUBT}" if _are_in_doubt(styles, reading.point) else said


def _are_in_doubt(styles: Sequence[NumberStyle], point: str) -> bool:
    """Return whether points may mark thousands: three digits follow each, and nothing tells."""
    has_marks = any(style.either == "." for style in styles)
    are_sure = any(style.point or style.digits > THOUSAND_DIGITS for style in styles)
    return point == "." and has_marks and not are_sure


def _date_note(reading: Reading, fitting: Mapping[Style, StyleCount]) -> str:
    if reading.form == "duration":
        return _read_as("durations", reading, _first(fitting.values()))
    dates = {s: count for s, count in fitting.items() if isinstance(s, DateStyle)}
    ordered = {s: count for s, count in dates.items() if s.orders}
    what = f"{reading.noun}s"
    if not ordered:
        return _read_as(what, reading, _first(dates.values()))
    order = IN_WORDS[reading.order]
    rivals = [
        other
        for other in IN_WORDS
        if other != reading.order and all(other in s.orders for s in ordered)
    ]
    if rivals:
        read = _read_as(order, reading, _first(ordered.values()))
        return say.READ_IN_DOUBT.format(read=read, other=IN_WORDS[rivals[0]])
    fewest = min(len(s.orders) for s in ordered)
    example = printable(_first(count for s, count in ordered.items() if len(s.orders) == fewest))
    day = _DAY.match(example)
    example, sign = (day[0], day[1]) if day else (example, "/")
    return say.READ_BY_ORDER.format(order=order.replace("/", sign), example=example)


def _first(count: Iterable[StyleCount]) -> str:
    return min(each.example or "" for each in count)


def _read_as(what: str, reading: Reading, example: str) -> str:
    read = say.READ_AS.format(what=what)
    value = text_of(value_of(reading.form, float(reading.numbers([example])[0])))
    return say.FOR_EXAMPLE.format(read=read, text=printable(example), value=value)
