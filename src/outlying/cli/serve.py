"""`outlying serve`: the web page."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import click

from outlying.cli.options import Decorator, decorated, source_options, stream_options
from outlying.cli.process import leave_at_once
from outlying.errors import MissingExtraError, OptionError
from outlying.sources import registry

_EXTRA = ("starlette", "uvicorn", "python_multipart", "anyio", "pyarrow")
_LIMITS = {
    "upload": ("MB", "Megabytes of one upload."),
    "rows": ("N", "Rows of one table."),
    "columns": ("N", "Columns of one table."),
    "tables": ("N", "Tables at once."),
    "seconds": ("N", "Seconds of one job."),
    "jobs": ("N", "Jobs that run at once."),
    "waiting": ("N", "Jobs that wait."),
    "memory": ("MB", "Megabytes of memory of one worker process."),
    "connections": ("N", "Connections at once."),
    "pause": ("N", "Seconds for a head, or the next 64 KB, of a request to come."),
}
_DEFAULTS = {
    "upload": 1024,
    "rows": 10_000_000,
    "columns": 2_000,
    "tables": 20,
    "seconds": 600,
    "jobs": 2,
    "waiting": 100,
    "memory": 8192,
    "connections": 512,
    "pause": 30,
}
_SERVING: tuple[Decorator, ...] = (
    click.option("--port", type=click.IntRange(0, 65535), default=0, help="0: any that is free."),
    click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen."),
    click.option("--token", help="What opens the page.  [default: a random one]"),
    click.option("--allow-host", multiple=True, metavar="NAME", help="Another name it goes by."),
    click.option("--no-browser", is_flag=True, help="Do not open a browser."),
)


def _limits(command: Callable[..., None]) -> Callable[..., None]:
    options: tuple[Decorator, ...] = tuple(
        click.option(
            f"--max-{name}",
            type=click.IntRange(1),
            default=_DEFAULTS[name],
            show_default=True,
            metavar=metavar,
            help=words,
        )
        for name, (metavar, words) in _LIMITS.items()
    )
    return decorated(command, options)


def serving_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options that say where and for whom to serve."""
    return decorated(command, _SERVING)


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@serving_options
@_limits
@stream_options
@source_options
def serve(sources: tuple[str, ...], **given: Any) -> None:
    """Open a page in the browser: see a table, find what stands out, click a row, see why.

    SOURCE is whatever `explain` takes; further files can be dropped on the page. The page is for
    this machine alone, unless told otherwise. Ctrl-C ends it.
    """
    limits = {name: given.pop(f"max_{name}") for name in _LIMITS}
    reading = {
        name: given.pop(name) for name in ("engine", "table", "query", "master", *registry.OPTIONS)
    }
    own = {name: value for name, value in reading.items() if value not in (None, "auto")}
    if own and len(sources) != 1:
        flags = " and ".join(f"--{name}" for name in own)
        raise OptionError(f"{flags}: says how one SOURCE is read; there are {len(sources)}")
    run(sources, reading, given, limits)


def run(
    sources: tuple[str, ...],
    reading: dict[str, Any],
    given: dict[str, Any],
    limits: dict[str, int] | None = None,
    path: str = "/",
) -> None:
    """Serve some sources until a signal comes."""
    try:
        from outlying.web.limits import Limits
        from outlying.web.serving import Settings
        from outlying.web.serving import serve as serve_all
        from outlying.web.sourcing import Sourcing
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in _EXTRA:
            raise
        raise MissingExtraError("the web page", "web") from error
    settings = Settings(
        host=given["host"],
        port=given["port"],
        token=given["token"],
        names=given["allow_host"],
        opens_browser=not given["no_browser"],
        path=path,
        limits=dataclasses.replace(Limits(), **(limits or {})),
    )
    settings.check()
    engine = reading.pop("engine", "auto")
    found = [Sourcing.named(source, engine, reading) for source in sources]
    with contextlib.suppress(KeyboardInterrupt):  # how it ends
        serve_all(found, settings, click.echo)
    leave_at_once()
