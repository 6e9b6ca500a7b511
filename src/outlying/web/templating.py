"""How pages are written: templates that escape every value, one style sheet, no styles inline."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import outlying
from outlying.render import html
from outlying.render import templating as shared

if TYPE_CHECKING:
    from jinja2 import Environment


def page(template: str, status: int = 200, **context: Any) -> Response:
    """Return a page."""
    text = _environment().get_template(template).render(**context)
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


async def style_sheet(request: Request) -> Response:  # noqa: ARG001 - as all routes are called
    """Send the style of all pages: that of the cards, and what is around them."""
    return Response(_style(), media_type="text/css")


@functools.cache
def _style() -> str:
    return _environment().get_template("page.css").render(cards=html.style_sheet())


@functools.cache
def _environment() -> Environment:
    found = html.with_cards(shared.environment("outlying.web"))
    found.filters["percent_of"] = _percent_of
    script = resources.files("outlying.web") / "static" / "page.js"
    found.globals["version"] = outlying.__version__
    found.globals["assets"] = {
        "style": f"/style.css?{outlying.__version__}",
        "script": f"/static/page.js?{_digest(script.read_bytes())}",
        "icon": "/static/icon.svg",
    }
    return found


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=4).hexdigest()


def _percent_of(number: float, name: str) -> Any:
    """Return a percentage as an attribute that the style sheet knows."""
    from markupsafe import Markup

    step = 1 if name == "heat" else 0.5
    return Markup('data-{}="{:g}"').format(name, round(number / step) * step)
