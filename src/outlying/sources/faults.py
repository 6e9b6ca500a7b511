"""Errors of other libraries become ours, in one place: what cannot be read, and why."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from outlying.errors import OutlyingError, SourceError

Explain: TypeAlias = Callable[[str, Exception], BaseException]
"""Makes our error of the source's name and the library's error; or gives the latter back."""


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its class where there is none."""
    return str(error).strip().split("\n")[0] or type(error).__name__


def unreadable(source: str, error: Exception) -> BaseException:
    """Say that a source cannot be read, with the first line of the library's reason."""
    if isinstance(error, UnicodeEncodeError):
        return SourceError(f"{source!a}: the name is not valid text; rename it")
    return SourceError(f"{source}: cannot be read: {first_line(error)}")


@contextlib.contextmanager
def translate_errors(source: str, *packages: str, explain: Explain = unreadable) -> Iterator[None]:
    """Raise errors of other libraries as ours.

    Taken for theirs is what has a class of one of these packages, what the system raises, and text
    that is not UTF-8; without packages, anything, as wrappers of many backends raise anything.
    """
    try:
        with interrupts():
            yield
    except OutlyingError:
        raise
    except Exception as error:
        if not _is_theirs(error, packages):
            raise
        ours = explain(source, error)
        if ours is error:
            raise
        raise ours from None


def _is_theirs(error: Exception, packages: tuple[str, ...]) -> bool:
    if not packages:
        return not isinstance(error, MemoryError)
    homes = {kind.__module__.partition(".")[0].lstrip("_") for kind in type(error).__mro__}
    return isinstance(error, (OSError, UnicodeError)) or not homes.isdisjoint(packages)


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Raise an interrupt as such where DuckDB has noticed it, and tells it as an error."""
    try:
        yield
    except Exception as error:
        if str(error).startswith(("Query interrupted", "INTERRUPT Error")):
            raise KeyboardInterrupt from None
        raise
