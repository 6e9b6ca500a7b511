"""A web server on loopback for tests: it serves files in parts, and misbehaves where told to."""

from __future__ import annotations

import base64
import contextlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class Server:
    """What is served, and what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.password: str | None = None
        self.is_compressed = False
        self.authorizations: list[str | None] = []
        self.knows_ranges = True
        self.silent: set[str] = set()
        self.drips: set[str] = set()
        self.breaks_off: set[str] = set()
        self.sent = 0
        self.asked: list[str] = []
        self.address = ""
        self.is_over = threading.Event()

    def at(self, path: str, user: str = "") -> str:
        """Return the address of a file."""
        return f"http://{user}{self.address}/{path}"


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Run a server."""
    state = Server()

    class Handler(_Handler):
        server_state = state

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        web.daemon_threads = True
        web.block_on_close = False
        state.address = f"127.0.0.1:{web.server_address[1]}"
        thread = threading.Thread(target=web.serve_forever, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            state.is_over.set()
            web.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_state: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, *, has_body: bool) -> None:
        state, path = self.server_state, unquote(self.path.split("?")[0].lstrip("/"))
        state.asked.append(f"{self.command} {path} {self.headers.get('Range', '')}".strip())
        state.authorizations.append(self.headers.get("Authorization"))
        if path in state.silent:
            state.is_over.wait(60)
            self.close_connection = True
            return
        if state.password is not None:
            wanted = base64.b64encode(state.password.encode()).decode()
            if self.headers.get("Authorization") != f"Basic {wanted}":
                self._empty(401)
                return
        if path in state.redirects:
            self._empty(302, {"Location": state.redirects[path]})
        elif path not in state.files:
            self._empty(404)
        else:
            self._file(path, state.files[path], has_body)

    def _empty(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, path: str, content: bytes, has_body: bool) -> None:
        state = self.server_state
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked and state.knows_ranges:
            first, last = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
            part = content[first : last + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        else:
            part = content
            self.send_response(200)
        if state.knows_ranges:
            self.send_header("Accept-Ranges", "bytes")
        if state.is_compressed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if not has_body:
            return
        if path in state.drips:
            self._drip(part)
            return
        if path in state.breaks_off:
            part, self.close_connection = part[: len(part) // 2], True
        state.sent += len(part)
        with contextlib.suppress(OSError):
            self.wfile.write(part)

    def _drip(self, part: bytes) -> None:
        with contextlib.suppress(OSError):
            for place in range(len(part)):
                if self.server_state.is_over.wait(0.05):
                    break
                self.wfile.write(part[place : place + 1])
        self.close_connection = True
