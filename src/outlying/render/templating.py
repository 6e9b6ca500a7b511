"""The Jinja2 environment of all pages: it escapes every value, and refuses undefined names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_SHARED = "outlying.render"


@functools.cache
def environment(package: str = _SHARED) -> Environment:
    """Return the environment with the templates of a package, and those that all pages share."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, _SHARED))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
