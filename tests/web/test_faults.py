"""Errors that nobody foresaw: fenced in like any answer, told plainly, logged with all details."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn

from outlying.web import pages
from outlying.web.api import application
from outlying.web.safety import POLICY, Credentials

TOKEN = "long enough, at last"  # noqa: S105
SECRET = "the secret of row 7"  # noqa: S105


@contextlib.contextmanager
def running(service: Any, credentials_of: Any = Credentials.of) -> Iterator[httpx.Client]:
    """Serve in a thread of this process, where faults can be made."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        app = application(service, credentials_of(TOKEN, ["127.0.0.1"], port))
        config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            address = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=address, headers=headers, timeout=30) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


class Broken:
    """A service that fails at whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(SECRET)

    def close(self) -> None:
        """Nothing is open."""


class BrokenCredentials(Credentials):
    """Credentials that fail at every request."""

    __slots__ = ()

    def at(self, server: object) -> Credentials:
        raise RuntimeError(SECRET)


def is_fenced(answer: httpx.Response) -> bool:
    headers = answer.headers
    names = "x-content-type-options", "x-frame-options", "referrer-policy", "permissions-policy"
    return (
        headers["content-security-policy"] == POLICY
        and headers["cache-control"] == "no-store"
        and all(name in headers for name in names)
    )


@pytest.mark.parametrize("path", ["/", "/t/patients", "/api/v1/tables", "/index.json"])
def test_a_fault_is_told_plainly_and_logged(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    with running(Broken()) as client:
        answer = client.get(path, headers={"Accept": "text/html"})
        assert client.get("/openapi.json").status_code == 200  # it lives on
    assert answer.status_code == 500
    assert is_fenced(answer)
    assert "something unexpected happened" in answer.text
    assert SECRET not in answer.text
    assert "Traceback" not in answer.text
    if path.startswith("/api") or path.endswith(".json"):
        assert set(answer.json()) == {"error"}
    else:
        assert "<h1>That did not work</h1>" in answer.text
    logged = capfd.readouterr().err
    assert SECRET in logged
    assert "Traceback" in logged


@pytest.mark.parametrize("path", ["/", "/api/v1/tables"])
def test_a_fault_of_the_door_is_fenced_in_too(path: str, capfd: pytest.CaptureFixture[str]) -> None:
    def credentials(*given: Any) -> Credentials:
        found = Credentials.of(*given)
        fields = dataclasses.fields(found)
        return BrokenCredentials(**{field.name: getattr(found, field.name) for field in fields})

    with running(SimpleNamespace(), credentials) as client:
        answer = client.get(path)
    assert answer.status_code == 500
    assert is_fenced(answer)
    assert SECRET not in answer.text
    assert SECRET in capfd.readouterr().err


def test_a_fault_of_the_error_page_is_fenced_in_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: Any) -> Any:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(pages, "error_page", failing)
    with running(Broken()) as client:
        answer = client.get("/")
    assert answer.status_code == 500
    assert is_fenced(answer)
    assert answer.text.startswith("Something unexpected happened")
    assert SECRET in capfd.readouterr().err


def test_a_reader_who_leaves_during_an_upload_is_no_fault(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The connection is closed after half of a file; the server says nothing, and lives on."""
    limits = SimpleNamespace(upload=1, pause=30)
    service = SimpleNamespace(expecting=contextlib.nullcontext, list=list, limits=limits)
    service.folder = tmp_path
    with running(service) as client:
        address = client.base_url
        with socket.create_connection((address.host, address.port or 0)) as leaving:
            form = b"multipart/form-data; boundary=x"
            head = [
                b"POST /api/v1/tables HTTP/1.1",
                b"Host: 127.0.0.1:%d" % (address.port or 0),
                b"Authorization: Bearer " + TOKEN.encode(),
                b"Content-Type: " + form,
                b"Content-Length: 5000",
            ]
            leaving.sendall(b"\r\n".join([*head, b"", b"--x\r\n"]))
            time.sleep(0.2)
        time.sleep(0.3)
        assert client.get("/index.json").json() == {"tables": []}
    assert capfd.readouterr().err == ""
