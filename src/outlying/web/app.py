"""The application: API, assets and pages behind one door."""

from __future__ import annotations

import contextlib
import hashlib
import mimetypes
from collections.abc import AsyncIterator
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from outlying.errors import OutlyingError
from outlying.web import api, page_frame, pages
from outlying.web.answers import Answer
from outlying.web.limits import LimitError, NotFoundError, NotReadyError, SlowError
from outlying.web.processes import warm_up
from outlying.web.safety import UNEXPECTED, Door, Safety
from outlying.web.service import Service

_STATUS: dict[type[Exception], int] = {NotFoundError: 404, NotReadyError: 409}


def application(service: Service, door: Door, *, is_local: bool = True) -> ASGIApp:
    """Put the parts together; the door is outermost, so that no answer goes around it.

    `is_local`: readers are at this machine, so that what they open does not leave it.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm_up(service.workspace.folder)
        try:
            yield
        finally:
            service.close()

    app = Starlette(
        routes=[*api.ROUTES, Route("/static/{name}", _asset), *pages.ROUTES],
        exception_handlers={
            OutlyingError: _told,
            HTTPException: _http_error,
            ClientDisconnect: _gone,
            Exception: _unexpected,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.service, app.state.assets, app.state.is_local = service, _assets(), is_local
    return Safety(app, door)


def _assets() -> dict[str, tuple[bytes, str, str]]:
    """Read the files of pages once: no name from an address ever reaches the file system."""
    folder = resources.files("outlying.web") / "static"
    found = {}
    for file in folder.iterdir():
        if file.is_file():
            content = file.read_bytes()
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            found[file.name] = content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return found


async def _asset(request: Request) -> Response:
    found = request.app.state.assets.get(request.path_params["name"])
    if found is None:
        raise NotFoundError("there is no such file")
    content, kind, tag = found
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


async def _told(request: Request, error: Exception) -> Response:
    """Say what went wrong in words, and with the status that fits."""
    status = error.status if isinstance(error, LimitError) else _STATUS.get(type(error), 400)
    said = error.shell_message() if isinstance(error, OutlyingError) else str(error)
    answer = _answer(request, status, said)
    if isinstance(error, SlowError):
        answer.headers["Connection"] = "close"
    return answer


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    answer = _answer(request, status, str(getattr(error, "detail", error)))
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


async def _gone(_: Request, error: Exception) -> Response:  # noqa: ARG001 - as all are called
    """Say nothing where nobody listens: a reader has gone back while a file was sent."""
    return Response(status_code=400)


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Say that something failed, and nothing of how: the log of the server has it."""
    return _answer(request, 500, UNEXPECTED)


def _answer(request: Request, status: int, said: str) -> Response:
    path, is_form = request.url.path, "text/html" in request.headers.get("accept", "")
    is_of_api = path.startswith("/api/") and not (is_form and request.method == "POST")
    if is_of_api or path.endswith(".json"):
        return Answer({"error": said}, status)
    return page_frame.error_page(request, status, said)
