"""A worker process as the server sees it: started, told what to do, listened to, ended."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import Any

from outlying.web import worker
from outlying.web.tasks import Message, Task, WorkerSpec

_LONGEST_FOLDER = 75  # of the 107 bytes that the path of a socket may have
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@functools.cache
def _context() -> ForkServerContext | SpawnContext:
    """Return how processes are started: not by forks of the server, which has threads.

    On Linux a helper has loaded all modules, and is forked instead: that takes milliseconds.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([worker.__name__, "duckdb", "pyarrow.parquet"])
    return context


def warm_up(folder: Path) -> None:
    """Let the helper load all modules before the first process is needed.

    It is reached by a socket in a folder of `multiprocessing`, which nobody removes where the
    server is killed; so the private folder is that folder, and is removed as such.
    """
    if sys.platform == "linux":
        from multiprocessing import forkserver

        _context()
        if len(os.fsencode(folder)) <= _LONGEST_FOLDER:
            config: dict[str, Any] = vars(multiprocessing.current_process())["_config"]
            config["tempdir"] = str(folder)
        forkserver.ensure_running()


class Process:
    """One worker process; what it says arrives on the event loop that it was started from."""

    def __init__(
        self,
        spec: WorkerSpec,
        heard: Callable[[Process, Message], None],
        died: Callable[[Process, str], None],
    ) -> None:
        context = _context()
        self._connection, self._theirs = context.Pipe()
        given = self._theirs, spec
        self._process = context.Process(target=worker.main, args=given, daemon=True)
        self._heard, self._died, self._loop = heard, died, asyncio.get_running_loop()
        self._why = ""
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked."""
        return not self._why

    def run(self, name: str, task: Task) -> None:
        """Let it work on a task."""
        self._send(name, task)

    def cancel(self, name: str) -> None:
        """Let it end a task."""
        self._send(name, None)

    def _send(self, name: str, task: Task | None) -> None:
        with contextlib.suppress(OSError, ValueError):  # it is gone: the listener says so
            self._connection.send((name, task))

    def kill(self, why: str) -> None:
        """End it at once."""
        self._why = self._why or why
        if self._process.pid is not None:
            self._process.kill()

    def stop(self) -> None:
        """End it, and wait until it is gone."""
        self.kill("the server was stopped")
        self._listening.join(1)

    def memory(self) -> int:
        """Return how many bytes of memory it holds; 0 where the system does not tell."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * _PAGE

    def _listen(self) -> None:
        """Start the process, which may take a moment, and pass on what it says."""
        with contextlib.suppress(EOFError, OSError):
            self._process.start()
            self._theirs.close()
            if self._why:
                self._process.kill()
            while True:
                self._call(self._heard, self._connection.recv())
        if self._process.pid is not None:
            self._process.join()
        why = self._why or "its process died; it was killed, or memory ran out"
        self._why = why
        self._call(self._died, why)
        self._connection.close()

    def _call(self, what: Callable[..., None], *given: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(what, self, *given)
