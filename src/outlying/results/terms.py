"""The words of who asked: Python counts rows from 0 and knows options as arguments, a shell not."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence


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
    does not offer is not hinted at. `everything` shows the findings that are folded.
    """

    first_row: int = 0
    row: str = "row"
    everything: str = "text(all=True)"
    flags: Mapping[str, str] | None = None

    def row_name(self, position: int) -> str:
        """Name a row by its position from 0."""
        return f"{self.row} {position + self.first_row:,}"

    def hints(self, given: Sequence[Hint]) -> list[str]:
        """Write hints as sentences, without those that cannot be followed."""
        named = [(self._setting(hint), hint.effect) for hint in given]
        return [f"{setting} {effect}." for setting, effect in named if setting is not None]

    def _setting(self, hint: Hint) -> str | None:
        name = hint.option if self.flags is None else self.flags.get(hint.option)
        if name is None:
            return None
        if hint.value is None:
            return f"A higher {name}"
        if hint.value is True:
            return f"{name}=True" if self.flags is None else name
        if self.flags is None:
            return f"{name}={json.dumps(hint.value, ensure_ascii=False)}"
        import shlex

        names = [hint.value] if isinstance(hint.value, str) else hint.value or ()
        return " ".join(f"{name} {shlex.quote(item)}" for item in names)


#: What Python says; commands have terms of their own.
PYTHON = Terms()
