"""What the options of all commands are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Command: TypeAlias = Callable[..., None]
Decorator: TypeAlias = Callable[[Command], Command]


def decorated(command: Command, options: Sequence[Decorator]) -> Command:
    """Give a command several options, which its help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command
