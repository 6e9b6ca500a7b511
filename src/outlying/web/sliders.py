"""Options as sliders: a few steps each, said in plain words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from outlying.kernel.tally import MOST_CONDITIONS
from outlying.options import Options
from outlying.web.queries import OptionsQuery

_GROUPS = (5, 10, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)

#: What a form calls a slider: its value is a place on the scale.
PREFIX = "place."


@dataclasses.dataclass(frozen=True, slots=True)
class Slider:
    """An option, the values of its scale, and where it stands."""

    name: str
    label: str
    help: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    place: int

    @property
    def field(self) -> str:
        """The name of its field in a form."""
        return PREFIX + self.name


def sliders(options: Options, rows: int) -> list[Slider]:
    """Return the options that readers change, as they stand."""
    counts = {count: str(count) if count else "none" for count in range(MOST_CONDITIONS + 1)}
    return [
        _slider(
            "min_support",
            "Smallest group to compare with",
            "Small groups show finer detail; large ones are safer ground.",
            _groups(rows),
            options,
            rows,
        ),
        _slider(
            "max_conditions",
            "Most conditions on a group",
            "How narrowly a group may be described. None: only the whole table counts.",
            counts,
            options,
            rows,
        ),
    ]


def _groups(rows: int) -> dict[Any, str]:
    """Return the least numbers of rows, with the usual one, which is None."""
    usual = Options().least_rows(rows)
    counts = [count for count in _GROUPS if count < rows / 2 and count != usual]
    return {None: f"{usual:,.0f} rows, the usual"} | {count: f"{count:,} rows" for count in counts}


def _slider(
    name: str, label: str, words: str, scale: Mapping[Any, str], options: Options, rows: int
) -> Slider:
    """Return a slider; a value off its scale gets a step of its own."""
    value = getattr(options, name)

    def order(step: Any) -> float:
        if name != "min_support":
            return float(step)
        return dataclasses.replace(options, min_support=step).least_rows(rows)

    steps = {**scale, value: scale.get(value, f"{value:g}" if value is not None else "")}
    values = tuple(sorted(steps, key=order))
    texts = tuple(steps[step] for step in values)
    return Slider(name, label, words, values, texts, values.index(value))


def moved(given: Mapping[str, str], options: OptionsQuery, rows: int) -> OptionsQuery:
    """Return the options as the sliders of a form say."""
    found = options.keywords
    for slider in sliders(options.options, rows):
        place = given.get(slider.field, "")
        if place.isascii() and place.isdigit() and int(place) < len(slider.values):
            found[slider.name] = slider.values[int(place)]
    return OptionsQuery.checked(found)


def is_moved(names: Sequence[str]) -> bool:
    """Return whether a form with sliders was sent."""
    return any(name.startswith(PREFIX) for name in names)
