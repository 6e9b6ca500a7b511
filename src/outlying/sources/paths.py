"""The files of a table: one, a list, a folder or a pattern; and what their folders say."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import glob
import gzip
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, cast
from urllib.parse import unquote

from outlying.errors import ColumnError, SourceError
from outlying.parsing.plain import type_texts
from outlying.sources import decoding, recognise, registry
from outlying.sources.arrow_arrays import of_texts
from outlying.sources.copies import PrivateCopy

if TYPE_CHECKING:
    import pyarrow

Name: TypeAlias = "str | os.PathLike[str]"
Keys: TypeAlias = tuple[tuple[str, str | None], ...]

LONGEST_LINE = 2_000_000  # bytes; the engine reads no longer ones

_HEAD = 1 << 16  # bytes that tell what a file holds
_BESIDE_DATABASES = (".wal", "-wal", "-shm", "-journal")
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_LAKES = {
    "_delta_log": "a Delta Lake table; name its own folder",
    ".hoodie": "a Hudi table; open it with an engine that knows Hudi",
}


@dataclasses.dataclass(frozen=True, slots=True)
class InputFile:
    """A file by its name as given, where it is, and how to open it."""

    source: str
    path: Path
    suffix: str
    """How its name ends, compression left out."""
    compressed: bool = False
    """Whether it is a gzip file, which readers of text open as it is; others are unpacked."""
    notes: tuple[str, ...] = ()
    """What a reader of results should know about how it arrived."""
    held: object = None
    """What must live as long as the file is read: a private copy."""
    keys: Keys = ()
    """What folders below the root say of it."""

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.path.stat().st_size

    def open_bytes(self) -> IO[bytes]:
        """Open the file at its first byte of text."""
        return cast(IO[bytes], gzip.open(self.path)) if self.compressed else self.path.open("rb")

    def open_text(self) -> IO[str]:
        """Open the file as text with line ends as they are; wrong bytes are for `check_text`."""
        return io.TextIOWrapper(self.open_bytes(), "utf-8-sig", "replace", newline="")

    def first_lines(self, count: int) -> list[str]:
        """Return the first lines of text; a first line without an end is refused."""
        with self.open_text() as stream:
            lines = [stream.readline(LONGEST_LINE) for _ in range(count)]
        if len(lines[0]) == LONGEST_LINE:
            raise self.error(f"its first line is longer than {LONGEST_LINE:,} characters")
        return [line for line in lines if line]

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.open_bytes() as stream:
            return stream.read(_HEAD)

    def check_text(self) -> None:
        """Refuse text that is not UTF-8, by its first such line."""
        decoding.check_utf8(self.source, self.open_bytes)

    def check_compression(self) -> None:
        """Read a compressed file to its end: an engine may take a cut-off one for complete."""
        if self.compressed:
            for _ in decoding.unpacked(self.source, self.path, "gzip"):
                pass

    def guessed_encoding(self) -> str:
        """Return the encoding of text that is not UTF-8."""
        return decoding.guessed_encoding(self.source, self.open_bytes)

    def as_utf8(self, encoding: str, *, is_guessed: bool) -> InputFile:
        """Copy text as UTF-8, with a note if its encoding was found and not given."""
        chunks = decoding.as_utf8(self.source, self.open_bytes, encoding)
        note = f"taken for {encoding} text; if that is wrong, name its encoding"
        notes = (*self.notes, note) if is_guessed and encoding != "utf-8" else self.notes
        return dataclasses.replace(self.at(PrivateCopy(self.source, chunks)), notes=notes)

    def unpack(self) -> InputFile:
        """Copy what is in a gzip file; others stay as they are."""
        if not self.compressed:
            return self
        return self.at(decoding.unpack(self.source, self.path, "gzip"))

    def at(self, copy: PrivateCopy) -> InputFile:
        """Return the file where a copy of it is."""
        return dataclasses.replace(self, path=copy.path, compressed=False, held=copy)

    def error(self, fault: str) -> SourceError:
        """Make an error that names the file."""
        return SourceError(f"{self.source}: {fault}")


@dataclasses.dataclass(frozen=True, slots=True)
class Files:
    """All files of one table as they were when they were found; all of one kind."""

    source: str
    files: tuple[InputFile, ...]
    notes: tuple[str, ...] = ()
    states: tuple[tuple[int, int], ...] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(_state(file) for file in self.files))

    @property
    def suffix(self) -> str:
        """How their names end, compression left out."""
        return self.files[0].suffix

    @property
    def keys(self) -> tuple[str, ...]:
        """The names that folders give to columns (key=value), from the outermost on."""
        return tuple(key for key, _ in self.files[0].keys)

    @property
    def size(self) -> int:
        """How many bytes they have."""
        return sum(size for size, _ in self.states)

    def typed_keys(self) -> dict[str, pyarrow.Array]:
        """Return the columns that folders give: for each key, an array of a value per file."""
        return type_keys([dict(file.keys) for file in self.files])

    def check_unchanged(self) -> None:
        """Refuse files that are gone or have been written to since they were found."""
        for file, state in zip(self.files, self.states, strict=True):
            try:
                how = "" if _state(file) == state else "has changed since it was first looked at"
            except OSError:
                how = "was there a moment ago and is now gone"
            if how:
                raise SourceError(
                    f"{self.source}: {file.source} {how}; start again when nobody changes the files"
                )


def type_keys(files: Sequence[Mapping[str, str | None]]) -> dict[str, pyarrow.Array]:
    """Type the values that folders give to files: an array for each key."""
    columns = {key: of_texts([keys[key] for keys in files]) for key in files[0]}
    return type_texts(columns, ("integer", "date"))


def _state(file: InputFile) -> tuple[int, int]:
    state = file.path.stat()
    return state.st_size, state.st_mtime_ns


def check_readable(source: str, path: Path) -> None:
    """Refuse what is not there, not a file, empty, or not ours to read."""
    try:
        if path.is_dir():
            raise SourceError(f"{source}: is a folder; give the path of one file in it")
        with path.open("rb") as stream:
            if not stream.read(1):
                raise SourceError(f"{source}: the file is empty")
    except PermissionError:
        raise SourceError(
            f"{source}: no permission to read it; check the rights of the file and of the folders "
            "that it is in"
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise SourceError(f"{source}: no such file; {_hint(path)}") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte in it
        reason = getattr(error, "strerror", None) or error
        raise SourceError(f"{source!a}: cannot be opened: {reason}") from None


def _hint(path: Path) -> str:
    if not path.parent.is_dir():
        return f"the folder {str(path.parent)!r} does not exist"
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    return "did you mean " + " or ".join(map(repr, near)) + "?" if near else "check the path"


# --- several files -------------------------------------------------------------------------------


def find(data: Name | Sequence[Name]) -> Files:
    """Find the files that a path, a pattern or a list of both names."""
    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if not given:
        raise SourceError("the list of files is empty; name at least one file, folder or pattern")
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    source = recognise.name_of(given[0]) + more
    found: dict[Path, InputFile] = {}
    for item in given:
        try:
            found |= {file.path: file for file in _expanded(source, item)}
        except PermissionError as error:
            raise SourceError(
                f"{source}: no permission to read {error.filename}; check the rights of the files "
                "and of the folders that they are in"
            ) from None
    return _checked(source, [found[path] for path in sorted(found)])


def files_read(name: str) -> Iterator[Path | int]:
    """Return all files that are read where a command names a file, a folder or a pattern.

    Standard input is one by its number, what a database keeps beside its file is one, too.
    """
    if name == "-":
        yield 0
        return
    if recognise.is_address(name):
        return
    path = recognise.path_of(name)
    yield from (Path(f"{path}{end}") for end in _BESIDE_DATABASES)
    with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
        for match in [path] if path.exists() else _matches(path):
            yield match
            if recognise.is_delta(match) or recognise.is_iceberg(match):
                yield from match.rglob("*")
            elif match.is_dir():
                yield from _tables_in(match)


def _expanded(source: str, item: Name) -> list[InputFile]:
    """Return the files that a path, a pattern or a folder stands for."""
    if isinstance(item, PrivateCopy):
        return [dataclasses.replace(_file(item.path, source=item.source), held=item)]
    name, path = os.fsdecode(item), recognise.path_of(os.fsdecode(item))
    if path.is_dir():
        return _in_folder(source, path, path)
    if not recognise.is_pattern(name):
        check_readable(name, path)
        return [_file(path)]
    parts = path.parts
    root = Path(*parts[: next(place for place, part in enumerate(parts) if glob.has_magic(part))])
    files: list[InputFile] = []
    for match in _matches(path):
        if not match.is_dir():
            files += [_file(match, root)] if _suffix(match) else []
        elif any(_tables_in(match)):
            files += _in_folder(source, match, root)
    if not files:
        raise SourceError(
            f"{name}: no file matches; a pattern is like data/*.parquet, or data/**/*.csv to look "
            "into folders of folders too"
        )
    return files


def _matches(pattern: Path) -> list[Path]:
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 (a pattern may be absolute)
    return [Path(match) for match in sorted(found)]


def _in_folder(source: str, folder: Path, root: Path) -> list[InputFile]:
    for mark, what in _LAKES.items():
        if (folder / mark).exists():
            raise SourceError(f"{source}: is {what}: its files alone are not the table")
    files = [_file(path, root) for path in _tables_in(folder)]
    if not files:
        raise SourceError(
            f"{source}: the folder {str(folder)!r} holds no table; looked for files that end in "
            f"{', '.join(registry.STREAMED_SUFFIXES)}"
        )
    return files


def _tables_in(folder: Path) -> Iterator[Path]:
    """Return all tables below a folder but those that engines keep for themselves (_x, .x)."""
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not is_hidden(name)]
        paths = (Path(place, name) for name in names if not is_hidden(name))
        yield from filter(_suffix, paths)


def _refuse(error: OSError) -> None:
    raise error


def is_hidden(name: str) -> bool:
    """Return whether engines keep a file or folder of this name for themselves."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _suffix(path: Path) -> str | None:
    return registry.suffix_of(path, registry.STREAMED_SUFFIXES)


def _file(path: Path, root: Path | None = None, source: str = "") -> InputFile:
    """Describe a file by its name, with the keys that folders below a root give it."""
    suffix = _suffix(path)
    if suffix is None:
        raise unknown_kind(source or str(path))
    pairs = [] if root is None else keys_in(path.relative_to(root).parts[:-1])
    keys = tuple((unquote(key), None if v == _HIVE_NULL else unquote(v)) for key, v in pairs)
    is_packed = suffix.endswith(".gz")
    return InputFile(source or str(path), path, suffix.removesuffix(".gz"), is_packed, keys=keys)


def keys_in(folders: Iterable[str]) -> list[tuple[str, str]]:
    """Return the keys and values of folders that are called key=value, as they are written."""
    matches = (re.fullmatch(r"([^=]+)=(.*)", folder, re.DOTALL) for folder in folders)
    return [(match[1], match[2]) for match in matches if match is not None]


def unknown_kind(name: str) -> SourceError:
    """Make the error of a file that cannot be streamed."""
    known = ", ".join(registry.STREAMED_SUFFIXES)
    return SourceError(f"{name}: unknown kind of file; known suffixes: {known}")


def _checked(source: str, files: list[InputFile]) -> Files:
    """Refuse files that are no table together; those that are empty are left out, and named."""
    kinds = {(file.suffix, file.compressed): file for file in files}
    if len(kinds) > 1:
        names = " and ".join(file.source for file in list(kinds.values())[:2])
        raise SourceError(
            f"{source}: holds files of several kinds ({names}); name those of one kind with a "
            f"pattern, for example *{_suffix(files[0].path)}"
        )
    may_be_empty = registry.format_of(files[0].suffix).may_be_empty
    full = [file for file in files if file.size or not may_be_empty] or files
    keys = [key for key, _ in full[0].keys]
    for file in full:
        check_readable(file.source, file.path)
        if [key for key, _ in file.keys] != keys:
            raise SourceError(
                f"{source}: the folders of {full[0].source} and {file.source} do not give the same "
                "keys (key=value); every file of a partitioned table needs the same"
            )
    empty = len(files) - len(full)
    note = f"{empty} empty file{'s' if empty > 1 else ''} left out"
    return Files(source, tuple(full), (note,) if empty else ())


def check_spelling(source: str, names: Sequence[str]) -> None:
    """Refuse names that differ only in case: in several files, hardly two columns are meant."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ColumnError(
                f"{source}: columns {other!r} and {name!r} differ only in case, which cannot "
                "be told apart across several files; rename one of them"
            )
