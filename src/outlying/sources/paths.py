"""Which files make up a table: one, a list, a folder or a pattern; and what their folders say."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from outlying.errors import ColumnError, SourceError
from outlying.parsing.plain import type_texts
from outlying.sources import compression, registry
from outlying.sources.arrow_arrays import of_texts
from outlying.sources.copies import PrivateCopy
from outlying.sources.files import InputFile, check_readable
from outlying.sources.recognise import (
    is_address,
    is_delta,
    is_iceberg,
    is_pattern,
    name_of,
    path_of,
)

if TYPE_CHECKING:
    import pyarrow

_BESIDE_DATABASES = (".wal", "-wal", "-shm", "-journal")
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"

_LAKES = {
    "_delta_log": "a Delta Lake table; name its own folder",
    ".hoodie": "a Hudi table; open it with an engine that knows Hudi",
}


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """A file as it was when it was found, and the values that folders below the root give it."""

    path: Path
    size: int
    changed: int
    keys: tuple[tuple[str, str | None], ...] = ()
    original: str | None = None
    """What it is a private copy of."""
    held: object = None
    """That copy, which goes with the last reference to it."""

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.original or str(self.path)


@dataclasses.dataclass(frozen=True, slots=True)
class Files:
    """All files of one table, in the order of their names; all of one kind."""

    source: str
    files: tuple[File, ...]
    suffix: str
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The names that folders give to columns (key=value), from the outermost on."""
        return tuple(key for key, _ in self.files[0].keys)

    def check_unchanged(self) -> None:
        """Refuse files that are gone or have been written to since they were found."""
        for file in self.files:
            try:
                now = _found(file.path, ())
            except OSError:
                raise SourceError(
                    f"{self.source}: {file.name} was there a moment ago and is now gone; start "
                    "again when nobody changes the files"
                ) from None
            if (now.size, now.changed) != (file.size, file.changed):
                raise SourceError(
                    f"{self.source}: {file.name} has changed since it was first looked at; start "
                    "again when nobody changes the files"
                )

    def arrived(self, arrive: Callable[[str, Path], InputFile]) -> Files:
        """Return these files as text that engines read, copied where they are not.

        If one has to be copied, all are unpacked, as files of one table are opened in one way.
        """
        found = [arrive(file.name, file.path) for file in self.files]
        notes = tuple(
            dict.fromkeys((*self.notes, *(note for file in found for note in file.notes)))
        )
        if all(file.held is None for file in found):
            return dataclasses.replace(self, notes=notes)
        if self.keys:
            raise SourceError(
                f"{self.source}: files in folders that give keys (key=value) are read where they "
                "are; write them as UTF-8 text, plain or compressed by gzip"
            )
        copies = tuple(_copy(_unpacked(file)) for file in found)
        suffix = self.suffix
        for ending in compression.ENDINGS.values():
            suffix = suffix.removesuffix(ending)
        return Files(self.source, copies, suffix, notes)


def of_file(file: InputFile, notes: tuple[str, ...]) -> Files:
    """Return one file that has arrived already as a table of its own."""
    suffix = file.suffix + (".gz" if file.compressed else "")
    return Files(file.source, (_copy(file),), suffix, notes)


def _unpacked(file: InputFile) -> InputFile:
    if not file.compressed:
        return file
    copy = compression.unpacked(file.source, file.path, "gzip")
    return dataclasses.replace(file, path=copy.path, compressed=False, held=copy)


def _copy(file: InputFile) -> File:
    found = _found(file.path, ())
    return dataclasses.replace(found, original=file.source, held=file.held)


def unknown_kind(name: str) -> SourceError:
    """Make the error of a file that cannot be streamed."""
    known = ", ".join(registry.STREAMED_SUFFIXES)
    return SourceError(f"{name}: unknown kind of file; known suffixes: {known}")


def find(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Files:
    """Find the files that a path, a pattern or a list of both names."""
    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if not given:
        raise SourceError("the list of files is empty; name at least one file, folder or pattern")
    source = _source_of([name_of(item) for item in given])
    found = {file.path: file for item in given for file in _expanded(source, item)}
    return _checked(source, [found[path] for path in sorted(found)])


def files_read(name: str) -> Iterator[Path | int]:
    """Return all files that are read where a command names a file, a folder or a pattern.

    Standard input is one by its number, what a database keeps beside its file is one, too.
    """
    if name == "-":
        yield 0
        return
    if is_address(name):
        return
    path = path_of(name)
    yield from (Path(f"{path}{end}") for end in _BESIDE_DATABASES)
    with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
        for found in [path] if path.exists() else map(Path, _matches(path)):
            yield found
            if is_delta(found) or is_iceberg(found):
                yield from found.rglob("*")
            elif found.is_dir():
                yield from filter(_suffix, _visible(found))


def _source_of(names: list[str]) -> str:
    more = len(names) - 1
    return names[0] if not more else f"{names[0]} and {more} more"


def _expanded(source: str, item: str | os.PathLike[str]) -> list[File]:
    name = os.fsdecode(item)
    if isinstance(item, PrivateCopy):
        return [dataclasses.replace(_found(item.path, ()), original=item.source, held=item)]
    try:
        return _found_at(source, name, path_of(name))
    except PermissionError as error:
        raise SourceError(
            f"{source}: no permission to read {error.filename}; check the rights of the files and "
            "of the folders that they are in"
        ) from None


def _found_at(source: str, name: str, path: Path) -> list[File]:
    if path.is_dir():
        return _in_folder(source, path, path)
    if not is_pattern(name):
        check_readable(name, path)
        return [_found(path, ())]
    root = _root_of(path)
    matches = [Path(match) for match in sorted(_matches(path))]
    files = [file for match in matches for file in _matched(source, match, root)]
    if not files:
        raise SourceError(
            f"{name}: no file matches; a pattern is like data/*.parquet, or data/**/*.csv to look "
            "into folders of folders too"
        )
    return files


def _matches(pattern: Path) -> list[str]:
    return glob.glob(str(pattern), recursive=True)  # noqa: PTH207 (a pattern may be absolute)


def _matched(source: str, path: Path, root: Path) -> list[File]:
    if path.is_dir():
        return _in_folder(source, path, root) if _known(path) else []
    return [_found(path, _keys(path, root))] if _suffix(path) else []


def _known(folder: Path) -> bool:
    return any(_suffix(path) for path in _visible(folder))


def _root_of(pattern: Path) -> Path:
    """Return the folder above the first part of a pattern that has wildcards."""
    parts = pattern.parts
    first = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def _in_folder(source: str, folder: Path, root: Path) -> list[File]:
    for mark, what in _LAKES.items():
        if (folder / mark).exists():
            raise SourceError(f"{source}: is {what}: its files alone are not the table")
    files = [_found(path, _keys(path, root)) for path in _visible(folder) if _suffix(path)]
    if not files:
        raise SourceError(
            f"{source}: the folder {str(folder)!r} holds no table; looked for files that end in "
            f"{', '.join(registry.STREAMED_SUFFIXES)}"
        )
    return files


def _visible(folder: Path) -> Iterable[Path]:
    """Return all files below a folder but those that engines keep for themselves (_x, .x)."""
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not is_hidden(name)]
        yield from (Path(place, name) for name in names if not is_hidden(name))


def _refuse(error: OSError) -> None:
    raise error


def is_hidden(name: str) -> bool:
    """Return whether engines keep a file or folder of this name for themselves."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _suffix(path: Path) -> str | None:
    return registry.suffix_of(path, registry.STREAMED_SUFFIXES)


def _keys(path: Path, root: Path) -> tuple[tuple[str, str | None], ...]:
    pairs = keys_in(path.relative_to(root).parts[:-1])
    return tuple((unquote(key), None if v == HIVE_NULL else unquote(v)) for key, v in pairs)


def keys_in(folders: Iterable[str]) -> list[tuple[str, str]]:
    """Return the keys and values of folders that are called key=value, as they are written."""
    found = (re.fullmatch(r"([^=]+)=(.*)", folder, re.DOTALL) for folder in folders)
    return [(match[1], match[2]) for match in found if match is not None]


def _found(path: Path, keys: tuple[tuple[str, str | None], ...]) -> File:
    state = path.stat()
    return File(path, state.st_size, state.st_mtime_ns, keys)


def _checked(source: str, files: list[File]) -> Files:
    """Refuse files that are no table together; those that are empty are left out, and named."""
    kinds = {suffix: file for file in files if (suffix := _suffix(file.path))}
    for file in files:
        if _suffix(file.path) is None:
            raise unknown_kind(file.name)
    if len(kinds) > 1:
        names = " and ".join(file.name for file in list(kinds.values())[:2])
        raise SourceError(
            f"{source}: holds files of several kinds ({names}); name those of one kind with a "
            f"pattern, for example *{next(iter(kinds))}"
        )
    suffix = next(iter(kinds))
    may_be_empty = registry.format_of(suffix).may_be_empty
    full = [file for file in files if file.size or not may_be_empty] or files
    for file in full:
        check_readable(file.name, file.path)
    _check_keys(source, full)
    empty = len(files) - len(full)
    said = f"{empty} empty file{'s' if empty > 1 else ''} left out"
    return Files(source, tuple(full), suffix, (said,) if empty else ())


def _check_keys(source: str, files: list[File]) -> None:
    first = files[0]
    names = [key for key, _ in first.keys]
    for file in files:
        if [key for key, _ in file.keys] != names:
            raise SourceError(
                f"{source}: the folders of {first.name} and {file.name} do not give the same keys "
                "(key=value); every file of a partitioned table needs the same"
            )


def type_keys(files: Sequence[Mapping[str, str | None]]) -> dict[str, pyarrow.Array]:
    """Type the columns that folders of files give: for each key, an array of a value per file."""
    columns = {key: of_texts([keys[key] for keys in files]) for key in files[0]}
    return type_texts(columns, ("integer", "date"))


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
