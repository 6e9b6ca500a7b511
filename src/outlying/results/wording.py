"""Findings in words, in the terms of who asks; the sentences themselves are in the catalogue."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import itertools
import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from outlying import sentences as say
from outlying.table.table import Part
from outlying.table.values import (
    Value,
    lies_between,
    number_text,
    printable,
    quantity_text,
    range_text,
    telling_digits,
    text_of,
)

if TYPE_CHECKING:
    from outlying.results.findings import Findings
    from outlying.results.stories import Pair, Story

#: Below this overall outlierness a value is called common in the whole table.
ORDINARY = 0.5
_MOST_NAMED = 3
_SHORT = 24  # characters of a value that may be said twice
#: Ranges of what is expected are told as one where the gap between them is no longer than this
#: share of both: nobody wants to read of four ranges.
_THIN_GAP = 0.5
_FEW = 0.1  # up to this share of the rows it is "only so many"


# --- in the terms of who asks --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    """What an option would change: `exact=True searches all rows`; no value: a higher one."""

    option: str
    effect: str
    value: bool | str | tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """How rows and options are named by one who asks in Python, or in a shell.

    `flags` are the options of a command; None stands for the arguments of Python. What a command
    does not offer is not hinted at. `header` is how many lines of a file stand above its first row.
    """

    first_row: int = 0
    row: str = "row"
    everything: str = "text(all=True)"
    unusual: str = "unusual=True"
    flags: Mapping[str, str] | None = None
    header: int | None = None

    def row_name(self, position: int) -> str:
        """Name a row by its position from 0, and by its line in the file where that differs."""
        number = position + self.first_row  # without separators, as --row takes it
        if self.header is None:
            return f"{self.row} {number}"
        line = position + 1 + self.header
        return say.ROW_AND_LINE.format(row=self.row, number=number, line=line)

    def hints(self, given: Sequence[Hint]) -> list[str]:
        """Write hints as sentences, without those that cannot be followed."""
        named = [(self._setting(hint), hint.effect) for hint in given]
        return [f"{setting} {effect}." for setting, effect in named if setting is not None]

    def declared(self, column: str, kind: str) -> str:
        """Write how a column is declared to be of a type."""
        if self.flags is None:
            return f"types={json.dumps({column: kind}, ensure_ascii=False)}"
        return f"--type {shlex.quote(f'{column}={kind}')}"

    def _setting(self, hint: Hint) -> str | None:
        name = hint.option if self.flags is None else self.flags.get(hint.option)
        if name is None:
            return None
        if hint.value is None:
            return say.A_HIGHER.format(option=name)
        if self.flags is None:
            shown = True if hint.value is True else json.dumps(hint.value, ensure_ascii=False)
            return f"{name}={shown}"
        if hint.value is True:
            return name
        names = [hint.value] if isinstance(hint.value, str) else hint.value or ()
        return " ".join(f"{name} {shlex.quote(item)}" for item in names)


#: What Python says; commands have terms of their own.
PYTHON = Terms()


# --- figures -------------------------------------------------------------------------------------


def figures(pair: Pair) -> dict[str, tuple[str, float]]:
    """Return the numbers of a pair as people read them, and in full, the most helpful first."""
    return {
        "rarity": (figure(pair.rarity, 4), pair.rarity),
        "outlierness": (f"{pair.outlierness:.3f}", pair.outlierness),
        "group": (f"{pair.group_size:,} ({percent(pair.support)})", pair.group_size),
        "tail": (percent(pair.tail), pair.tail),
        "lift": (figure(pair.lift, 3), pair.lift),
        "overall": (f"{pair.overall_outlierness:.3f}", pair.overall_outlierness),
        "strength": (f"{pair.strength:.2f}", pair.strength),
    }


def figure(number: float, digits: int) -> str:
    """Write a number with so many digits, but never with an exponent: whole parts stay whole."""
    if number >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{number:.{digits}g}"


def percent(share: float) -> str:
    """Write a share in percent, with a digit only where it is needed; all but a few is not all."""
    if 0.995 <= share < 1:
        return f"{min(round(100 * share, 1), 99.9):.1f}%"
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def times(rarity: float) -> str:
    """Write how many times rarer, without false precision."""
    return f"{rarity:,.0f} times" if rarity >= 10 else f"{rarity:.1f} times"


_UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def distance(pair: Pair) -> str:
    """Write how far off no other row is, rounded down; of times in words."""
    reach = pair.reach or 0.0
    if isinstance(pair.value, (dt.date, dt.time, dt.timedelta)):
        for unit, seconds in _UNITS.items():
            if reach >= seconds:
                count = math.floor(reach / seconds)
                return say.DISTANCE.format(count=count, unit=unit, s="" if count == 1 else "s")
        return f"{reach:.2g} seconds"
    step = 10.0 ** (math.floor(math.log10(reach)) - 1)  # two digits will do
    return quantity_text(float(number_text(math.floor(reach / step + 1e-9) * step)))


# --- what was expected ---------------------------------------------------------------------------


def expected_ranges(pair: Pair) -> list[tuple[Any, Any]]:
    """Return the shortest description of what is expected of a number: one range, or two.

    A value beyond all ranges is told what holds them all, but for a negative code such as -999.
    Thin gaps are bridged, and all but the one that the value lies in.
    """
    ranges = _ranges(pair)
    if len(ranges) < 2 or isinstance(pair.value, dt.time):
        return ranges[:2]
    if not lies_between(ranges[0][0], ranges[-1][1], pair.value):
        (low, high), (above, _) = ranges[:2]
        is_code = isinstance(low, int | float) and low == high < 0 <= above  # such as -999
        return [(above if is_code else low, ranges[-1][1])]
    joined = [ranges[0]]
    for low, high in ranges[1:]:
        first, last = joined[-1]
        is_thin = _length(last, low) <= _THIN_GAP * (_length(first, last) + _length(low, high))
        if is_thin and not lies_between(last, low, pair.value):
            joined[-1] = first, high
        else:
            joined.append((low, high))
    while len(joined) > 2:
        gaps = [(one[1], other[0]) for one, other in itertools.pairwise(joined)]
        order = [(lies_between(*gap, pair.value), _length(*gap)) for gap in gaps]
        place = order.index(min(order))
        joined[place : place + 2] = [(joined[place][0], joined[place + 1][1])]
    return joined


def _ranges(pair: Pair) -> list[Any]:
    """Return the ranges that are typical; none begins or ends at the odd value itself."""
    below, above = pair.neighbours
    found: list[Any] = []
    for low, high in (item for item in pair.typical if isinstance(item, tuple)):
        if low == high:
            found.append((low, high))
        elif low == pair.value and above is not None:
            found.append((above, high))
        else:
            found.append((low, below if high == pair.value and below is not None else high))
    return [item for item in found if item != (pair.value, pair.value)] or found


def _length(low: Any, high: Any) -> float:
    try:
        length = high - low
    except TypeError:  # moments beyond the years that Python knows are texts
        return math.inf
    return length.total_seconds() if isinstance(length, dt.timedelta) else float(length)


def typical(pair: Pair, most: int = _MOST_NAMED) -> str:
    """Name what is expected in the group; of categories, others than the row's own."""
    if any(isinstance(item, tuple) for item in pair.typical):
        digits, ranges = _digits(pair), expected_ranges(pair)
        return " or ".join(range_text(*ends, digits, pair.value) for ends in ranges)
    items = [item for item in pair.typical if item != pair.value] or [*pair.typical]
    names = {Part.WEEKDAY: say.WEEKDAYS, Part.MONTH: say.MONTHS}.get(cast(Part, _part_of(pair)))
    runs = [] if names is None else _runs([names.index(str(item)) for item in items], names)
    if names is not None and len(runs) < 3:
        return " or ".join(runs)
    most += len(items) == most + 1  # it is as short to name the last one
    named = [text_of(item) for item in items[:most] if not isinstance(item, tuple)]
    more = len(items) - len(named)
    if more > 0:
        return say.OR_OTHERS.format(named=", ".join(named), count=more)
    return joined(named, "or")


def _runs(places: Sequence[int], names: Sequence[str]) -> list[str]:
    """Name days or months that follow each other by the first and the last, in their order."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    if len(runs) > 1 and runs[0][0] == 0 and runs[-1][-1] == len(names) - 1:
        runs[0][:0] = runs.pop()  # from Saturday to Monday
    return [
        f"{names[run[0]]} to {names[run[-1]]}"
        if len(run) > 2
        else joined([names[place] for place in run], "or")
        for run in runs
    ]


def _expected(pair: Pair) -> str:
    """Say in a few words what was expected in place of a value."""
    if pair.is_finding and pair.gap is not None:
        low, high = _gap_texts(pair, pair.gap)
        return say.IN_A_GAP.format(low=low, high=high)
    if pair.value is None:
        return say.EXPECTED_A_VALUE
    if is_mostly_empty(pair):
        return say.EXPECTED_NO_VALUE
    named = typical(pair, 2)
    if len(named) > 2 * _SHORT:
        named = typical(pair, 1)
    if _is_inside(pair):
        return (say.RARE_WITHIN if pair.is_finding else say.WITHIN).format(expected=named)
    return say.EXPECTED.format(expected=named)


def _is_inside(pair: Pair) -> bool:
    return any(lies_between(low, high, pair.value) for low, high in _ranges(pair))


def ordinary_at(pair: Pair) -> Value:
    """Return the nearest value that would be ordinary in place of the odd one; None: none is."""
    if pair.value is None or is_mostly_empty(pair):
        return None
    if pair.parent is not None and pair.expected is None:
        return None  # of what is derived, no value of the column is known
    ranges = [pair.expected] if pair.expected is not None else expected_ranges(pair)
    ends: list[Any] = [end for ends in ranges for end in ends if end is not None]
    others = (item for item in pair.typical if item != pair.value)
    own: Any = pair.value if pair.parent is None else pair.parent_value
    nearest: Any = ends[0] if ends else next(others, None)
    with contextlib.suppress(TypeError):  # moments beyond the years that Python knows are texts
        nearest = min(ends or [nearest], key=lambda end: _length(min(end, own), max(end, own)))
    return cast(Value, nearest)


def is_beyond(pair: Pair) -> bool:
    """Return whether a number lies below or above all that is typical."""
    ranges = _ranges(pair)
    if not ranges or type(pair.value) is not type(ranges[-1][1]):
        return False  # a moment beyond the years that Python knows is a text
    return not lies_between(ranges[0][0], ranges[-1][1], pair.value)


def is_mostly_empty(pair: Pair) -> bool:
    """Return whether a value is odd because most rows of the group have none."""
    return pair.typical == ("missing",) and pair.value not in (None, "missing")


def _digits(pair: Pair) -> int:
    ends: list[Any] = [*(pair.gap or ())]
    for item in pair.typical:
        ends += item if isinstance(item, tuple) else (item,)
    return telling_digits(pair.value, ends)


def _gap_texts(pair: Pair, gap: tuple[Value, Value]) -> list[str]:
    return [quantity_text(end, _digits(pair)) for end in gap]


# --- findings as sentences -----------------------------------------------------------------------


def sentence(pair: Pair) -> str:
    """Say a pair so that it is understood without knowing about densities."""
    where = f" {say.WHERE.format(conditions=conditions(pair))}" if pair.conditions else ""
    there = " there" if where else ""
    if pair.detail is not None:
        parts = [f"{pair.detail}{where}.", "" if pair.given else _alike(pair)]
    else:
        parts = [_fact(pair, where, there), _elsewhere(pair)]
    return " ".join(part for part in parts if part)


def _fact(pair: Pair, where: str, there: str) -> str:
    """Say what is odd, and how many rows are like that."""
    cell, others, near = claim(pair), pair.group_size - 1, max(pair.near, 1)
    if pair.value is None:
        filled, column = pair.group_size - near, printable(pair.column)
        text = say.FILLED_ELSEWHERE if filled == others else say.FILLED_IN_MOST
        return text.format(column=column, others=others, filled=filled, where=where)
    if is_mostly_empty(pair):
        empty = pair.group_size - pair.near
        return say.EMPTY_ELSEWHERE.format(cell=cell, empty=empty, others=others, where=where)
    with_rows = where
    if where:
        told = say.WHERE_ROWS.format(conditions=conditions(pair), rows=pair.known)
        with_rows = f" {told}"
    if pair.is_finding and pair.gap is not None:
        low, high = _gap_texts(pair, pair.gap)
        return say.GAP.format(cell=cell, where=with_rows, there=there, low=low, high=high)
    if pair.is_finding and _is_inside(pair):
        text = say.ALONE_WITHIN if pair.near <= 1 else say.FEW_WITHIN
        rare = (text if pair.reach else say.FEW_NEAR).format(
            cell=cell,
            where=with_rows,
            there=there,
            distance=distance(pair) if pair.reach else "",
            count=pair.near,
        )
        return f"{rare} {say.MOST_ARE.format(expected=typical(pair))}"
    counted = _counted(pair, there)
    where = where if counted else with_rows  # how many rows there are is said once
    return f"{cell}, {_expected(pair)}{where}. {counted or _how_rare(pair, there)}"


def _counted(pair: Pair, there: str) -> str:
    """Count the rows of this category, or as far out, which is clearer than a ratio; if it is."""
    if pair.beyond is not None and is_beyond(pair):
        count, such = pair.beyond, _extreme(pair)
    elif pair.near and not any(isinstance(item, tuple) for item in pair.typical):
        count, such = pair.near, _again(pair)
    else:
        return ""
    if count <= 1:
        return say.NONE_OF_THE_OTHERS.format(others=pair.known - 1, there=there, such=such)
    text = say.ONLY_SOME if count <= _FEW * pair.known else say.SOME
    return text.format(count=count, rows=pair.known, there=there, such=such)


def _how_rare(pair: Pair, there: str) -> str:
    if pair.near == 1 and pair.reach:
        return say.NO_OTHER_WITHIN.format(there=there, distance=distance(pair))
    return say.TIMES_RARER.format(times=times(pair.rarity), there=there)


def _extreme(pair: Pair) -> str:
    """Name on which side a value lies outside: large or small, late or early, long or short."""
    high: Any = expected_ranges(pair)[-1][1]
    value: Any = pair.value
    noun = "value"
    if isinstance(pair.value, (dt.timedelta, dt.date)):
        noun = "duration" if isinstance(pair.value, dt.timedelta) else "date"
    return say.SUCH_A_VALUE.format(noun=noun, extreme=say.EXTREMES[noun][bool(value > high)])


def _again(pair: Pair) -> str:
    """Name the value a second time, if it is short."""
    value = value_text(pair)
    return value if len(value) <= _SHORT else "it"


def _elsewhere(pair: Pair) -> str:
    """Say that a value is common without the conditions."""
    if not pair.conditions or pair.overall_outlierness >= ORDINARY:
        return ""
    if pair.value is None:
        return say.EMPTY_IS_COMMON_ELSEWHERE
    return say.COMMON_ELSEWHERE.format(value=_again(pair))


def _alike(pair: Pair) -> str:
    """Say of a value that is one of several odd ones how few there are of them."""
    return say.OTHERS_LIKE_IT.format(count=pair.near) if pair.near > 1 else say.NO_OTHER_LIKE_IT


def story_sentence(story: Story) -> str:
    """Say a story as its headline tells it, and which column is the odd one."""
    told, hint = story.headline.sentence, hint_of(story)
    if hint:
        return f"{told} {hint[0].upper()}{hint[1:]}."
    if not (story.undecided and story.headline.given):
        return told
    columns = joined([printable(name, 40) for name in story.undecided])
    return f"{told} {say.NOT_TOGETHER.format(columns=columns)}"


def hint_of(story: Story) -> str:
    """Say which columns may be wrong, if not the one that the headline tells of."""
    if story.undecided and story.headline.given:
        if story.headline.column in story.undecided:
            return ""
        columns = joined([printable(name, 40) for name in story.undecided], "or")
        return say.MAY_BE_WRONG.format(columns=columns)
    if story.culprit == story.headline.column:
        return ""
    return say.MOST_LIKELY.format(column=printable(story.culprit))


def headline(pair: Pair) -> tuple[str, str, str]:
    """Return the odd cell, what was expected instead, and where: a finding in one line."""
    where = say.WHERE.format(conditions=conditions(pair)) if pair.conditions else pair.group
    if pair.said is not None:
        meant = None if pair.given or pair.expected is None else text_of(pair.expected[0])
        said = pair.said if meant is None else say.EXPECTED.format(expected=printable(meant, 60))
        return cell_of(pair, _SHORT), said, where
    return claim(pair, _SHORT), _expected(pair), where


def line(pair: Pair) -> str:
    """Say a finding in one line."""
    cell, expected, where = headline(pair)
    between = ", " if pair.said is None else joint(pair)
    told = cell if pair.value is None else f"{cell}{between}{pair.said or expected}"
    return f"{told}{' ' if where else ''}{where}"


def where_else(first: Pair, pair: Pair) -> str:
    """Say where else the cell of a finding is odd; empty of another cell, or of all rows."""
    (cell, _, _), (same, expected, where) = headline(first), headline(pair)
    return f"{where} ({expected})" if where and same == cell else ""


def claim(pair: Pair, most: int = 80) -> str:
    """Name what a pair is about, as a title: the cell, or what is odd of it."""
    if pair.detail is not None:
        return pair.detail
    if pair.value is None:
        return say.EMPTY_CELL.format(column=printable(pair.column, most))
    part, value = _part_of(pair), printable(value_text(pair), most)
    if part is None:
        return say.CELL.format(column=printable(pair.property, most), value=value)
    if part is Part.HOUR:  # which the moment itself shows
        return cell_of(pair, most)
    return say.CELL_AND_PART.format(
        column=printable(pair.column, most),
        value=printable(quantity_text(pair.parent_value), most),
        part=say.PARTS[part.value].format(value=value, s="" if value == "1" else "s"),
    )


def cell_of(pair: Pair, most: int = 80) -> str:
    """Name the cell that a derived property comes from: a number that is a name as it is."""
    expected = pair.expected or ()
    is_name = any(isinstance(item, int | str) for item in expected)
    own = pair.parent_value
    said = text_of(own) if is_name else quantity_text(own, beside=expected)
    value = pair.as_written or said
    return say.CELL.format(column=printable(pair.column, most), value=printable(value, most))


def joint(pair: Pair) -> str:
    """Return what joins a cell and what is said of it: a relation says what is expected."""
    return ", " if pair.given else " "


def value_text(pair: Pair) -> str:
    """Write the row's value with as many digits as tell it from what is typical."""
    if pair.as_written is not None and pair.parent is None:
        return printable(pair.as_written)
    ends = [end for item in pair.typical if isinstance(item, tuple) for end in item]
    digits = _digits(pair)
    return quantity_text(pair.value, digits, ends) if ends else text_of(pair.value, digits)


def conditions(pair: Pair) -> str:
    """Write the conditions of a context as a list."""
    return joined([str(condition) for condition in pair.conditions])


def joined(words: Sequence[str], last: str = "and") -> str:
    """Write words as a list."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]


def standing(pair: Pair) -> str:
    """Say how many other rows are as odd; nothing where rows are not judged."""
    if pair.rank is None:
        return ""
    judged, count = pair.rank.judged, pair.rank.as_strong
    is_drawn = judged < rows_of(pair) - 1
    compared = say.OF_THE_DRAWN.format(rows=judged) if is_drawn else ""
    text = {0: say.NO_OTHER_AS_ODD, 1: say.ONE_AS_ODD}.get(count, say.OTHERS_AS_ODD)
    return text.format(count=count, compared=compared)


def members(pair: Pair) -> str:
    """Name the rows that the property is compared with, shortly."""
    if not pair.conditions:
        return everyone(pair, pair.known)
    known = "" if pair.known == pair.group_size else f" and {printable(pair.property)} is filled"
    return f"{pair.known:,} rows where {conditions(pair)}{known}"


def everyone(pair: Pair, known: int) -> str:
    """Name the rows of the whole table that have the property."""
    if known == rows_of(pair):
        return f"all {known:,} rows"
    return f"the {known:,} rows where {printable(pair.property)} is filled"


def rows_of(pair: Pair) -> int:
    """Count the rows of the whole table."""
    return round(pair.group_size / pair.support)


# --- kinds of findings, in a few words -----------------------------------------------------------

_OF_PARTS = {
    Part.SPELLING: say.MISSPELT,
    Part.PATTERN: say.ODDLY_WRITTEN,
    Part.WRITTEN: say.ODDLY_WRITTEN,
    Part.CHARACTERS: say.ODD_CHARACTERS,
    Part.REPEATED: say.REPEATED,
}


def kind_of(column: str, others: Sequence[str], *, is_empty: bool = False) -> str:
    """Say what kind of finding it is: "Unusual salary", "Currency does not fit the country"."""
    name, part = _split(column)
    if is_empty or part in _OF_PARTS:
        kind = say.EMPTY if is_empty else _OF_PARTS[cast(Part, part)]
        return kind.format(what=printable(name, 40))
    what = _thing(column)
    if not others:
        return say.UNUSUAL.format(what=what)
    things = [_thing(name) for name in others]
    fitted = _the(things[0]) if len(things) == 1 else joined(things)
    kind = say.DO_NOT_FIT if _is_plural(what) else say.DOES_NOT_FIT
    return kind.format(what=what.capitalize() if _is_word(what) else what, others=fitted)


def story_kind(story: Story) -> str:
    """Say what kind of finding a story is, by its headline."""
    pair = story.headline
    name = pair.column if pair.given or pair.value is None else pair.property
    return kind_of(name, pair.others, is_empty=pair.value is None)


def _part_of(pair: Pair) -> Part | None:
    """Return which part of a cell is the property: the month of a date, the length of a text."""
    if pair.parent is None or pair.given:
        return None
    return next((part for part in Part if pair.property == part.name_of(pair.parent)), None)


def _split(name: str) -> tuple[str, Part | None]:
    for part in Part:
        parent = name.removesuffix(part.name_of(""))
        if parent and parent != name:
            return parent, part
    return name, None


def _thing(name: str) -> str:
    """Name a column, or a part of one: the hour of the timestamp."""
    parent, part = _split(name)
    shown = printable(parent, 40)
    what = say.NUMBER_OF_WORDS if part is Part.WORDS else part and part.value
    return f"{what} of {shown}" if what else shown


def _the(name: str) -> str:
    is_noun = _is_word(name.split(" ")[0]) and not name.endswith("ed")  # hired, updated
    return f"the {name}" if is_noun else name


def _is_word(name: str) -> bool:
    """Return whether a name is a word of its own, and no code."""
    return len(name) > 2 and name.replace(" ", "").isalpha() and name.islower()


def _is_plural(name: str) -> bool:
    return _is_word(name) and name.endswith("s") and not name.endswith(("ss", "us", "is", "as"))


# --- rows and their names ------------------------------------------------------------------------


def name_of(findings: Findings, terms: Terms = PYTHON) -> str:
    """Name what is explained, and what it was compared with."""
    people = findings.population
    text, row = say.NEW_ROW, ""
    key = key_of(findings.key) if findings.key else ""
    if findings.row is not None:
        named = terms.row_name(findings.row)
        text = say.ROW_OF
        row = f"{named[0].upper()}{named[1:]}" + (f", {key}," if key else "")
    elif key:
        text = say.ROW_WITH
    return text.format(row=row, key=key, source=printable(people.source), rows=people.rows)


def key_of(key: Iterable[tuple[str, Value]]) -> str:
    """Write the values by which a row is known."""
    pairs = ((printable(name, 40) if name.strip() else "name", text_of(v)) for name, v in key)
    return " and ".join(f"{name} = {printable(text, 60)}" for name, text in pairs)


def short_name(key: Iterable[tuple[str, Value]]) -> str:
    """Write the values alone by which a row is known, for lists."""
    return ", ".join(printable(text_of(value), 40) for _, value in key)


def title(findings: Findings) -> str:
    """Say how many cells are odd; or that none is, and how many rows have more to tell."""
    cells = findings.odd_cells
    if cells:
        count = sum(cell.exceptional for cell in cells)
        one, some = say.ONE_CELL, say.SOME_CELLS
        if not count:
            count, one, some = len(cells), say.ONE_UNUSUAL_CELL, say.SOME_UNUSUAL_CELLS
        return one if count == 1 else some.format(count=count)
    if not findings.stories or not findings.stories[0].as_strong:
        return say.NOTHING_STANDS_OUT
    return say.NOTHING_BESIDE_OTHERS.format(standing=standing(findings.stories[0].headline))
