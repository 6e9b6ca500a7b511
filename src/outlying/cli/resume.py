"""Results as JSON lines: a header, one line per object, the patterns; and how to continue them.

A file grows beside its final name, each line safe on the disk before the next is begun. Only a run
that would write the same header may continue it; a torn last line is cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from outlying.errors import OutputError
from outlying.options import Options
from outlying.render.files import final_path, is_special, refuse_inputs
from outlying.results.findings import Population, heading
from outlying.results.many import Patterns
from outlying.table.table import Table
from outlying.table.targets import Targets
from outlying.table.values import printable

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]

_NOT_OURS = "it is a link or no ordinary file, and lines are kept there; remove it, or name another"
_MOST_SHOWN = 60
_MOMENT = 2.0  # seconds
#: Parts of the header that are too long to be shown where they differ.
_LONG = {"columns", "skipped_columns", "derived_columns", "fingerprint", "targets", "detection"}
_WORDS = {"fingerprint": "the content of the table", "targets": "the rows or objects to explain"}


def line(content: Mapping[str, Any]) -> str:
    """Write one line: ASCII only, so that no text of a table looks like the end of a line."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False) + "\n"


def header(
    population: Population, options: Options, table: Table | None, targets: Targets, version: str
) -> dict[str, Any]:
    """Describe what the lines answer, as JSON gives it back; a table may be too large to hold."""
    rows = None if targets.rows is None else [row + 1 for row in targets.rows]
    objects = None if table is None or targets.objects is None else _hash_of_objects(targets)
    whole = heading(population, options) | {
        "version": version,
        "fingerprint": None if table is None else fingerprint(table),
        "targets": {"count": len(targets), "rows": rows, "objects": objects},
    }
    return dict(json.loads(line(whole)))


def fingerprint(table: Table) -> str:
    """Return a short text that changes with any value, name or type of a table."""
    digest = hashlib.sha256()
    for column in table.columns:
        labels, cells = column.content()
        digest.update(json.dumps([column.name, column.form, labels]).encode())
        digest.update(np.ascontiguousarray(cells).tobytes())
    skipped = [[item.name, item.reason] for item in table.skipped]
    digest.update(json.dumps([skipped, table.notes]).encode())
    return f"sha256:{digest.hexdigest()}"


def _hash_of_objects(targets: Targets) -> str:
    digest = hashlib.sha256()
    for item in targets.objects or ():
        digest.update(json.dumps(item).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


class Partial:
    """The lines of a run that is not complete, in a file beside its final name."""

    def __init__(self, target: Path, path: Path, stream: io.FileIO) -> None:
        self.target, self.path, self._stream = target, path, stream
        self.done = 0
        self._is_ours = False  # not before its lines are known to answer what is asked
        self.patterns = Patterns()

    @classmethod
    @contextlib.contextmanager
    def beside(cls, target: str, *, resume: bool, inputs: Sequence[str] = ()) -> Iterator[Partial]:
        """Open the file before the work begins; one without an object is not left behind."""
        final = final_path(target, inputs)
        path = final.with_name(f"{final.name}.partial")
        refuse_inputs(str(path), path, inputs)
        if is_special(final):
            raise OutputError(
                f"cannot write {final}: it is no ordinary file, and lines are kept beside it; "
                "leave -o out and redirect standard output instead"
            )
        with _open_locked(path) as stream:
            partial = cls(final, path, stream)
            if not resume and not partial.is_new:
                raise OutputError(
                    f"{path} holds what an earlier run has finished; nothing is lost: give the "
                    f"same command with --resume to continue it, or delete {path} to start anew"
                )
            try:
                yield partial
            finally:
                partial._remove_if_empty()

    @property
    def is_new(self) -> bool:
        """Whether no earlier run has left anything."""
        return os.fstat(self._stream.fileno()).st_size == 0

    def begin(self, head: Mapping[str, Any], targets: Targets) -> None:
        """Keep the finished objects of an earlier run of the same kind; write the header if new."""
        end = 0
        for number, (content, end_of_line) in enumerate(_whole_lines(self.path)):
            if number == 0:
                _compare(content, head, self.path)
            elif "patterns" in content:
                break
            else:
                self._count(content, number, targets)
            end = end_of_line
        self._is_ours = True
        with self._writing():
            self._stream.truncate(end)
            self._stream.seek(end)
        if end == 0:
            self._write(head)

    def _count(self, content: dict[str, Any], number: int, targets: Targets) -> None:
        try:
            if number > len(targets) or content["row"] != targets.number(number - 1):
                raise ValueError
            self.patterns.add(content)
        except (KeyError, TypeError, ValueError):
            raise _damaged(self.path, number + 1) from None
        self.done += 1

    def add(self, content: dict[str, Any]) -> None:
        """Write one finished object, and be sure that it is on the disk."""
        self._write(content)
        self.patterns.add(content)
        self.done += 1

    def finish(self) -> None:
        """Write the patterns and give the file its final name, before others may write."""
        self._write({"patterns": [item.to_dict() for item in self.patterns.told()]})
        with self._writing():
            if fcntl is None:  # such systems do not rename an open file
                self._stream.close()
            self.path.replace(self.target)

    def _remove_if_empty(self) -> None:
        """Leave no file without an object behind; another run's, made meanwhile, is not ours."""
        with contextlib.suppress(OSError, ValueError):
            is_empty = self.is_new or (self._is_ours and not self.done)
            if is_empty and _is_at(self._stream, self.path):
                self.path.unlink()

    def _write(self, content: Mapping[str, Any]) -> None:
        with self._writing():
            data = line(content).encode("ascii")
            while data:  # a disk that is nearly full takes a part only
                data = data[self._stream.write(data) :]
            os.fsync(self._stream.fileno())

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kept = (
                f"; {self.done:,} finished objects are kept there, and the same command with "
                "--resume continues"
            )
            said = f"cannot write {self.path}: {error.strerror}{kept if self.done else ''}"
            raise OutputError(said) from None


def check_complete(path: Path, head: Mapping[str, Any]) -> None:
    """Make sure that a finished file answers what is asked."""
    last = None
    for number, (content, _) in enumerate(_whole_lines(path)):
        if number == 0:
            _compare(content, head, path)
        last = content
    if last is None or "patterns" not in last:
        raise OutputError(
            f"{path} is there, but it is not a complete result; delete it to start anew"
        )


def _whole_lines(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each whole line with the place where it ends; a torn last one is left out."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}") from None
    end = 0
    with stream:
        for number, raw in enumerate(stream, start=1):
            if not raw.endswith(b"\n"):
                return
            end += len(raw)
            yield _parsed(raw, path, number), end


def _parsed(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise _damaged(path, number)
    return content


def _damaged(path: Path, number: int) -> OutputError:
    return OutputError(
        f"line {number} of {path} is not what a run of outlying writes; delete {path}, or move it "
        "away, to start anew"
    )


def _compare(then: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    """Refuse to continue what answers another question; say what differs."""
    if "schema" not in then:
        raise _damaged(path, 1)
    before, after = ({**head.get("options", {}), **head} for head in (then, now))
    names = dict.fromkeys((*now, *then, *after))
    differ = [name for name in names if name != "options" and before.get(name) != after.get(name)]
    if not differ:
        return
    changes = "; ".join(_change(name, before.get(name), after.get(name)) for name in differ[:5])
    raise OutputError(
        f"{path} belongs to another run: {changes}. Give the command of that run, or delete {path} "
        "to start anew"
    )


def _change(name: str, then: object, now: object) -> str:
    what = name.replace("_", " ")
    if name in _LONG:
        return f"{_WORDS.get(name, f'the {what}')} changed"
    texts = [printable(json.dumps(value), _MOST_SHOWN) for value in (then, now)]
    return f"{what} was {texts[0]}, now {texts[1]}"


@contextlib.contextmanager
def _open_locked(path: Path) -> Iterator[io.FileIO]:
    """Open a file that no other run has open; wait a moment for one to end."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    until = time.monotonic() + _MOMENT
    while True:
        try:
            stream = io.FileIO(os.open(path, flags, 0o666), "r+")
        except OSError as error:
            said = _NOT_OURS if path.is_symlink() else error.strerror
            raise OutputError(f"cannot write {path}: {said}") from None
        with stream:
            state = os.fstat(stream.fileno())
            if path.is_symlink() or not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
                raise OutputError(f"cannot write {path}: {_NOT_OURS}")
            if _is_locked(stream) and _is_at(stream, path):
                yield stream
                return
        if time.monotonic() > until:
            raise OutputError(f"another run is still writing {path}; wait for it or stop it")
        time.sleep(_MOMENT / 20)


def _is_locked(stream: io.FileIO) -> bool:
    """Try to keep others from writing; the lock goes with the processes of a run."""
    try:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_at(stream: io.FileIO, path: Path) -> bool:
    """Return whether an open file still has its name: another run may have finished with it."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.lstat())
    except OSError:
        return False
