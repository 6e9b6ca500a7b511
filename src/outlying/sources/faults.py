"""Errors of libraries as errors of ours, in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from outlying.errors import SourceError


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its class where there is none."""
    return str(error).strip().split("\n")[0] or type(error).__name__


@contextlib.contextmanager
def plain_errors(
    source: str, *kinds: type[Exception], reason: Callable[[Exception], str] = first_line
) -> Iterator[None]:
    """Say of errors of these kinds that the source cannot be read, and for what reason."""
    try:
        yield
    except kinds as error:
        raise SourceError(f"{source}: cannot be read: {reason(error)}") from None
