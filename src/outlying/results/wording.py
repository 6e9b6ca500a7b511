"""Findings in words, in the terms of who asks; the sentences themselves are in the catalogue."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from outlying import sentences as say
from outlying.sentences import GLOSSARY as GLOSSARY
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


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    """What an option would change: `exact=True searches all rows`.

    Without a value, a higher one is meant.
    """

    option: str
    effect: str
    value: bool | str | tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """How rows and options are named by one who asks in Python, or in a shell.

    `flags` are the options of a command; None stands for the arguments of Python. What a command
    does not offer is not hinted at. `everything` shows the findings that are folded, `unusual` the
    rows that are merely so. `header` is how many lines of a file stand above its first row, where
    that is known.
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
        import shlex

        return f"--type {shlex.quote(f'{column}={kind}')}"

    def _setting(self, hint: Hint) -> str | None:
        name = hint.option if self.flags is None else self.flags.get(hint.option)
        if name is None:
            return None
        if hint.value is None:
            return say.A_HIGHER.format(option=name)
        if hint.value is True:
            return f"{name}=True" if self.flags is None else name
        if self.flags is None:
            return f"{name}={json.dumps(hint.value, ensure_ascii=False)}"
        import shlex

        names = [hint.value] if isinstance(hint.value, str) else hint.value or ()
        return " ".join(f"{name} {shlex.quote(item)}" for item in names)


#: What Python says; commands have terms of their own.
PYTHON = Terms()


# --- figures -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """One number of a pair: as people read it, and in full."""

    term: str
    text: str
    value: float


def figures(pair: Pair) -> list[Figure]:
    """Return the numbers of a pair, the most helpful first."""
    return [
        Figure("rarity", figure(pair.rarity, 4), pair.rarity),
        Figure("outlierness", f"{pair.outlierness:.3f}", pair.outlierness),
        Figure("group", f"{pair.group_size:,} ({percent(pair.support)})", pair.group_size),
        Figure("tail", percent(pair.tail), pair.tail),
        Figure("lift", figure(pair.lift, 3), pair.lift),
        Figure("overall", f"{pair.overall_outlierness:.3f}", pair.overall_outlierness),
        Figure("strength", f"{pair.strength:.2f}", pair.strength),
    ]


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
                return f"{count:,} {unit}{'' if count == 1 else 's'}"
        return f"{reach:.2g} seconds"
    step = 10.0 ** (math.floor(math.log10(reach)) - 1)  # two digits will do
    return quantity_text(float(number_text(math.floor(reach / step + 1e-9) * step)))


# --- what was expected ---------------------------------------------------------------------------


def expected_ranges(pair: Pair) -> list[tuple[Any, Any]]:
    """Return the shortest description of what is expected of a number: one range, or two.

    Beyond all typical ranges the gaps between them say nothing: what holds them all is told, but
    for a negative code beside numbers that are not. The same goes for thin gaps, and for all gaps
    but the one that the value lies in.
    """
    ranges = _ranges(pair)
    if len(ranges) < 2 or isinstance(pair.value, dt.time):
        return ranges[:2]
    if not lies_between(ranges[0][0], ranges[-1][1], pair.value):
        return [(ranges[_is_code(ranges)][0], ranges[-1][1])]
    joined = [ranges[0]]
    for low, high in ranges[1:]:
        first, last = joined[-1]
        if not lies_between(last, low, pair.value) and _is_thin(first, last, low, high):
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


def _is_thin(first: Any, last: Any, low: Any, high: Any) -> bool:
    """Return whether a gap is short beside what lies on both sides of it."""
    try:
        return bool((low - last) <= _THIN_GAP * ((last - first) + (high - low)))
    except TypeError:  # moments beyond the years that Python knows are texts
        return False


def _is_code(ranges: Sequence[Any]) -> bool:
    """Return whether the lowest of several ranges is one value that stands for unknown: -999."""
    (low, high), (above, _) = ranges[:2]
    return isinstance(low, int | float) and low == high < 0 <= above


def _length(last: Any, low: Any) -> float:
    try:
        gap = low - last
    except TypeError:
        return math.inf
    return gap.total_seconds() if isinstance(gap, dt.timedelta) else float(gap)


def typical(pair: Pair, most: int = _MOST_NAMED) -> str:
    """Name what is expected in the group; of categories, others than the row's own."""
    if any(isinstance(item, tuple) for item in pair.typical):
        return " or ".join(_range(item, pair) for item in expected_ranges(pair))
    items = [item for item in pair.typical if item != pair.value] or [*pair.typical]
    most += len(items) == most + 1  # it is as short to name the last one
    named = [text_of(item) for item in items[:most] if not isinstance(item, tuple)]
    more = len(items) - len(named)
    if more > 0:
        return f"{', '.join(named)} or {more:,} others"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def _range(ends: tuple[Any, Any], pair: Pair) -> str:
    return range_text(*ends, _digits(pair), pair.value)


def _expected(pair: Pair) -> str:
    """Say in a few words what was expected in place of a value."""
    if pair.is_finding and pair.gap is not None:
        low, high = _gap_texts(pair.gap, pair)
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
    """Return whether a number lies inside one of the ranges that are typical."""
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


def _gap_texts(gap: tuple[Value, Value], pair: Pair) -> tuple[str, str]:
    digits = _digits(pair)
    return quantity_text(gap[0], digits), quantity_text(gap[1], digits)


# --- findings as sentences -----------------------------------------------------------------------


def sentence(pair: Pair) -> str:
    """Say a pair so that it is understood without knowing about densities."""
    if pair.detail is not None:
        return f"{pair.detail}{_where(pair)}. {_alike(pair)}".rstrip()
    parts = [*_fact(pair), _elsewhere(pair)]
    return " ".join(part for part in parts if part)


def _fact(pair: Pair) -> list[str]:
    """Say what is odd, and how many rows are like that."""
    where, there = _where(pair), " there" if pair.conditions else ""
    if pair.value is None:
        return [_filled(pair)]
    cell = claim(pair)
    if is_mostly_empty(pair):
        others = pair.group_size - 1
        empty = f"{pair.group_size - pair.near:,}"
        told = say.EMPTY_ELSEWHERE
        return [told.format(cell=cell, empty=empty, others=f"{others:,}", where=where)]
    if pair.is_finding and pair.gap is not None:
        low, high = _gap_texts(pair.gap, pair)
        return [say.GAP.format(cell=cell, where=where, there=there, low=low, high=high)]
    if pair.is_finding and _is_inside(pair):
        most = say.MOST_ARE.format(expected=typical(pair))
        return [_rare_inside(pair, cell, where, there), most]
    return [f"{cell}, {_expected(pair)}{where}.", _how_few(pair, there)]


def _rare_inside(pair: Pair, cell: str, where: str, there: str) -> str:
    if not pair.reach:
        return say.FEW_NEAR.format(cell=cell, where=where, there=there)
    told = say.ALONE_WITHIN if pair.near <= 1 else say.FEW_WITHIN
    return told.format(
        cell=cell, where=where, there=there, distance=distance(pair), count=f"{pair.near:,}"
    )


def _how_few(pair: Pair, there: str) -> str:
    """Say how few rows have such a value: by counting, which is clearer than a ratio."""
    if pair.beyond is not None and is_beyond(pair):
        return _counted(pair.beyond, pair.known, _extreme(pair), there)
    if not any(isinstance(item, tuple) for item in pair.typical) and pair.near:
        value = value_text(pair)
        return _counted(pair.near, pair.known, value if len(value) <= _SHORT else "it", there)
    if pair.near == 1 and pair.reach:
        return say.NO_OTHER_WITHIN.format(there=there, distance=distance(pair))
    return say.TIMES_RARER.format(times=times(pair.rarity), there=there)


def _counted(count: int, rows: int, such: str, there: str) -> str:
    if count <= 1:
        return say.NONE_OF_THE_OTHERS.format(others=f"{rows - 1:,}", there=there, such=such)
    told = say.ONLY_SOME if count <= _FEW * rows else say.SOME
    return told.format(count=f"{count:,}", rows=f"{rows:,}", there=there, such=such)


def _extreme(pair: Pair) -> str:
    """Name on which side a value lies outside: large or small, late or early, long or short."""
    high: Any = expected_ranges(pair)[-1][1]
    value: Any = pair.value
    is_high = bool(value > high)
    if isinstance(pair.value, dt.timedelta):
        noun, words = "duration", ("long", "short")
    elif isinstance(pair.value, dt.date):
        noun, words = "date", ("late", "early")
    else:
        noun, words = "value", ("large", "small")
    return say.SUCH_A_VALUE.format(noun=noun, extreme=words[0] if is_high else words[1])


def _filled(pair: Pair) -> str:
    others, empty = pair.group_size - 1, max(pair.near, 1)
    filled = pair.group_size - empty
    told = say.FILLED_ELSEWHERE if filled == others else say.FILLED_IN_MOST
    return told.format(
        column=printable(pair.column),
        others=f"{others:,}",
        filled=f"{filled:,}",
        where=f" where {conditions(pair)}" if pair.conditions else "",
    )


def _where(pair: Pair) -> str:
    if not pair.conditions:
        return ""
    return say.WHERE_ROWS.format(conditions=conditions(pair), rows=f"{pair.known:,}")


def _elsewhere(pair: Pair) -> str:
    """Say that a value is common without the conditions."""
    if not pair.conditions or pair.overall_outlierness >= ORDINARY:
        return ""
    if pair.value is None:
        return say.EMPTY_IS_COMMON_ELSEWHERE
    value = value_text(pair)
    return say.COMMON_ELSEWHERE.format(value=value if len(value) <= _SHORT else "It")


def _alike(pair: Pair) -> str:
    """Say of a value that is one of several odd ones how few there are of them."""
    if pair.given and pair.expected is None:
        return ""  # of labels it is said how many rows agree
    if pair.given:
        others = max(round(pair.tail * pair.known) - 1, 0)
        told = {0: say.NO_OTHER_AS_FAR_OFF, 1: say.ONE_AS_FAR_OFF}.get(
            others, say.OTHERS_AS_FAR_OFF
        )
        return told.format(count=f"{others:,}")
    if pair.near > 1:
        return say.OTHERS_LIKE_IT.format(count=f"{pair.near:,}")
    return say.NO_OTHER_LIKE_IT


def story_sentence(story: Story) -> str:
    """Say a story as its headline tells it, and which column is the odd one."""
    told, hint = story.headline.sentence, hint_of(story)
    if hint:
        return f"{told} {hint[0].upper()}{hint[1:]}."
    if not (story.undecided and story.headline.given):
        return told
    columns = _listed(printable(name, 40) for name in story.undecided)
    return f"{told} {say.NOT_TOGETHER.format(columns=columns)}"


def hint_of(story: Story) -> str:
    """Say which columns may be wrong, if not the one that the headline tells of."""
    if story.undecided and story.headline.given:
        if story.headline.column in story.undecided:
            return ""
        *some, last = (printable(name, 40) for name in story.undecided)
        columns = f"{', '.join(some)} or {last}"
        return say.MAY_BE_WRONG.format(columns=columns)
    if story.culprit == story.headline.column:
        return ""
    return say.MOST_LIKELY.format(column=printable(story.culprit))


def headline(pair: Pair) -> tuple[str, str, str]:
    """Return the odd cell, what was expected instead, and where: a finding in one line."""
    where = say.WHERE.format(conditions=conditions(pair)) if pair.conditions else ""
    if pair.said is not None:
        return cell_of(pair, _SHORT), pair.said, where
    return claim(pair, _SHORT), _expected(pair), where


def line(pair: Pair) -> str:
    """Say a finding in one line."""
    cell, expected, where = headline(pair)
    between = ", " if pair.said is None else joint(pair)
    told = cell if pair.value is None else f"{cell}{between}{expected}"
    return f"{told}{' ' if where else ''}{where}"


def claim(pair: Pair, most: int = 80) -> str:
    """Name what a pair is about, as a title: the cell, or what is odd of it."""
    if pair.detail is not None:
        return pair.detail
    if pair.value is None:
        return say.EMPTY_CELL.format(column=printable(pair.column, most))
    name, value = printable(pair.property, most), printable(value_text(pair), most)
    return say.CELL.format(column=name, value=value)


def cell_of(pair: Pair, most: int = 80) -> str:
    """Name the cell that a derived property comes from."""
    value = printable(quantity_text(pair.parent_value), most)
    return say.CELL.format(column=printable(pair.column, most), value=value)


def joint(pair: Pair) -> str:
    """Return what joins a cell and what is said of it: a relation says what is expected."""
    return ", " if pair.given else " "


def value_text(pair: Pair) -> str:
    """Write the row's value with as many digits as tell it from what is typical."""
    is_number = any(isinstance(item, tuple) for item in pair.typical)
    return (quantity_text if is_number else text_of)(pair.value, _digits(pair))


def conditions(pair: Pair) -> str:
    """Write the conditions of a context as a list."""
    return _listed(str(condition) for condition in pair.conditions)


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def standing(pair: Pair) -> str:
    """Say how many other rows are as odd; nothing where rows are not judged."""
    if pair.rank is None:
        return ""
    judged, count = pair.rank.judged, pair.rank.as_strong
    is_drawn = judged < rows_of(pair) - 1
    compared = say.OF_THE_DRAWN.format(rows=f"{judged:,}") if is_drawn else ""
    told = {0: say.NO_OTHER_AS_ODD, 1: say.ONE_AS_ODD}.get(count, say.OTHERS_AS_ODD)
    return told.format(count=f"{count:,}", compared=compared)


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
    name, part = _part(column)
    if is_empty:
        return say.EMPTY.format(what=printable(name, 40))
    if part in _OF_PARTS:
        return _OF_PARTS[part].format(what=printable(name, 40))
    if not others:
        return say.UNUSUAL.format(what=_thing(column))
    what = _thing(column)
    things = [_thing(name) for name in others]
    fitted = _the(things[0]) if len(things) == 1 else _listed(things)
    told = say.DO_NOT_FIT if _is_plural(what) else say.DOES_NOT_FIT
    return told.format(what=what.capitalize() if _is_word(what) else what, others=fitted)


def story_kind(story: Story) -> str:
    """Say what kind of finding a story is, by its headline."""
    pair = story.headline
    name = pair.column if pair.given or pair.value is None else pair.property
    return kind_of(name, pair.others, is_empty=pair.value is None)


def _part(name: str) -> tuple[str, Part | None]:
    for part in Part:
        parent = name.removesuffix(part.name_of(""))
        if parent and parent != name:
            return parent, part
    return name, None


def _thing(name: str) -> str:
    """Name a column, or a part of one: the hour of the timestamp."""
    parent, part = _part(name)
    shown = printable(parent, 40)
    return shown if part is None else f"{part.value} of {shown}"


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
    source, rows = printable(people.source), f"{people.rows:,}"
    if findings.row is not None:
        row = terms.row_name(findings.row)
        named = f", {key_of(findings.key)}," if findings.key else ""
        return say.ROW_OF.format(row=f"{row[0].upper()}{row[1:]}{named}", source=source, rows=rows)
    if findings.key:
        return say.ROW_WITH.format(key=key_of(findings.key), source=source, rows=rows)
    return say.NEW_ROW.format(source=source, rows=rows)


def key_of(key: Sequence[tuple[str, Value]]) -> str:
    """Write the values by which a row is known."""
    pairs = ((printable(name, 40) if name.strip() else "name", text_of(v)) for name, v in key)
    return " and ".join(f"{name} = {printable(text, 60)}" for name, text in pairs)


def short_name(key: Sequence[tuple[str, Value]]) -> str:
    """Write the values alone by which a row is known, for lists."""
    return ", ".join(printable(text_of(value), 40) for _, value in key)


def title(findings: Findings) -> str:
    """Say how many cells are odd; or that none is, and how many rows have more to tell."""
    cells = findings.odd_cells
    if cells and findings.exceptional:
        count = sum(cell.exceptional for cell in cells)
        return say.ONE_CELL if count == 1 else say.SOME_CELLS.format(count=f"{count:,}")
    if cells:
        count = len(cells)
        return (
            say.ONE_UNUSUAL_CELL
            if count == 1
            else say.SOME_UNUSUAL_CELLS.format(count=f"{count:,}")
        )
    if not findings.stories or not findings.stories[0].as_strong:
        return say.NOTHING_STANDS_OUT
    said = standing(findings.stories[0].headline)
    return say.NOTHING_BESIDE_OTHERS.format(standing=said)


def verdict(pair: Pair) -> str:
    """Judge a pair in a word or two."""
    if pair.exceptional:
        return "exceptional"
    return "unusual" if pair.unusual else "weak"
