"""Files by the names that users give: one is read or streamed; a list, a folder, a pattern too."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from outlying import sentences as say
from outlying.errors import ColumnError, SourceError
from outlying.parsing import pa
from outlying.parsing.plain import type_texts
from outlying.sources import recognise, registry
from outlying.sources.arrow_arrays import of_texts
from outlying.sources.copies import InputFile, Keys, NotUtf8Error, PrivateCopy
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

Name: TypeAlias = "str | os.PathLike[str]"

_BESIDE_DATABASES = (".wal", "-wal", "-shm", "-journal")
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_LAKES = {
    "_delta_log": "a Delta Lake table; name its own folder",
    ".hoodie": "a Hudi table; open it with an engine that knows Hudi",
}
_WEB_PAGE = re.compile(rb"\s*<(?:!doctype html|html)", re.IGNORECASE)


class Files:
    """All files of one table as they were when they were found; all of one format."""

    def __init__(self, source: str, files: Sequence[InputFile], notes: Sequence[str] = ()) -> None:
        """Remember the state of each file."""
        self.source, self.files, self.notes = source, tuple(files), tuple(notes)
        self.suffix = self.files[0].suffix
        self.keys = tuple(key for key, _ in self.files[0].keys)
        self._states = [file.state() for file in files]

    def unchanged_files(self) -> tuple[InputFile, ...]:
        """Return the files; refuse those that are gone or were written to since."""
        for file, state in zip(self.files, self._states, strict=True):
            check_unchanged(self.source, file, state)
        return self.files


def read(data: Name, **given: Any) -> Table:
    """Read a file by its suffix or by what it holds; `Table.source` is the path as it was given."""
    source = recognise.name_of(data)
    if recognise.is_address(data):
        raise SourceError(
            f"{source}: is an address, not a file; give the path, without {source.split('//')[0]}//"
        )
    if re.search("[\ud800-\udfff]", source):  # how Python holds bytes that are no text
        raise SourceError(f"{source!a}: the name is not valid UTF-8; rename the file")
    file, form = identify(source, recognise.path_of(data))
    options = registry.check_options(given, form.takes, source)
    encoding = options.pop("encoding", None)
    file = file.as_text(encoding) if form.is_text else file
    reader = registry.module(form.read)
    try:
        table: Table = reader.read(file, **options)
    except NotUtf8Error:
        if encoding is not None:
            raise
        file = file.as_guessed()
        table = reader.read(file, **options)
    return dataclasses.replace(table, notes=(*file.notes, *table.notes))


def stream(data: Name | Sequence[Name], **given: Any) -> Feeder:
    """Feed from a file, a list of files, a folder or a pattern."""
    if recognise.is_address(data):
        raise SourceError(
            f"{recognise.name_of(data)}: unknown kind of address; known: postgresql://, spark://, "
            f"{', '.join(f'{name}://' for name in recognise.REMOTE)}; files are given by their "
            "path, without file://"
        )
    if not isinstance(data, (str, os.PathLike)) and any(map(recognise.is_address, data)):
        raise SourceError(
            "the list holds addresses; name files of other machines by one pattern, such as "
            "s3://bucket/folder/*.parquet"
        )
    if isinstance(data, (str, os.PathLike)) and not recognise.are_files(data):
        source = recognise.name_of(data)
        file, form = identify(source, recognise.path_of(data))
        if form.stream is None:
            raise _unknown_kind(source, registry.STREAMED_SUFFIXES)
        files, notes = [file], list[str]()
    else:
        source, files, notes = find(data)
        form = registry.format_of(files[0].suffix)
        if form.is_text:
            files = [identify(file.source, file.path, file)[0] for file in files]
    options = registry.check_options(given, form.takes, source)
    encoding = options.pop("encoding", None)
    if form.is_text:
        files = [file.as_text(encoding, is_whole=False) for file in files]
    notes += dict.fromkeys(note for file in files for note in file.notes)
    feeder: Feeder = registry.module(form.stream).stream(Files(source, files, notes), **options)
    return feeder


# --- one file ------------------------------------------------------------------------------------


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


def check_unchanged(source: str, file: Any, state: object) -> None:
    """Refuse a file, here or on another machine, that is gone or has been written to since."""
    try:
        how = "" if file.state() == state else "has changed since it was first looked at"
    except OSError:
        how = "was there a moment ago and is now gone"
    if how:
        raise SourceError(
            f"{source}: {file.source} {how}; start again when nobody changes the files"
        )


def identify(
    source: str, path: Path, file: InputFile | None = None
) -> tuple[InputFile, registry.Format]:
    """Return a file, unpacked, and its format by its name, or rather by what it holds."""
    check_readable(source, path)
    suffix = registry.suffix_of(path.name, registry.SUFFIXES) or ""
    file = dataclasses.replace(file or InputFile(source, path, ""), suffix=suffix).unpacked()
    head = file.head()
    if _WEB_PAGE.match(head):
        raise file.error("holds a web page, not a table; check the address, or log in first")
    named = registry.format_of(file.suffix) if file.suffix else None
    form = registry.format_by_content(head)
    if named is not None and (form is None or form.is_text):
        return file, named
    if form is None:
        raise _unknown_kind(source, registry.SUFFIXES)
    if form is named:
        return file, form
    note = () if named is None else (say.OTHER_FORMAT.format(form=form.name),)
    return dataclasses.replace(file, suffix=form.endings[0], notes=(*file.notes, *note)), form


def _unknown_kind(name: str, known: Sequence[str]) -> SourceError:
    return SourceError(f"{name}: unknown kind of file; known suffixes: {', '.join(known)}")


# --- several files -------------------------------------------------------------------------------


def find(data: Name | Sequence[Name]) -> tuple[str, list[InputFile], list[str]]:
    """Find the files of a path, pattern or list, which must be one table; leave out empty ones."""
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
    files = [found[path] for path in sorted(found)]
    kinds = {registry.format_of(file.suffix).name: file for file in files}
    if len(kinds) > 1:
        names = " and ".join(file.source for file in list(kinds.values())[:2])
        raise SourceError(
            f"{source}: holds files of several kinds ({names}); name those of one kind with a "
            f"pattern, for example *{files[0].suffix}"
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
    return source, full, [say.EMPTY_FILES[empty > 1].format(count=empty)] if empty else []


def files_read(name: str) -> Iterator[Path | int]:
    """Return all that is read where a command names files, also beside a database; 0 is stdin."""
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
    if isinstance(item, PrivateCopy):
        return [dataclasses.replace(_file(item.path, source=item.source), held=item)]
    name, path = os.fsdecode(item), recognise.path_of(item)
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

    def refuse(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not is_hidden(name)]
        paths = (Path(place, name) for name in names if not is_hidden(name))
        yield from filter(_suffix, paths)


def is_hidden(name: str) -> bool:
    """Return whether engines keep a file or folder of this name for themselves."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _suffix(path: Path) -> str | None:
    return registry.suffix_of(path.name, registry.STREAMED_SUFFIXES)


def _file(path: Path, root: Path | None = None, source: str = "") -> InputFile:
    """Describe a file by its name, with the keys that folders below a root give it."""
    suffix = _suffix(path)
    if suffix is None:
        raise _unknown_kind(source or str(path), registry.STREAMED_SUFFIXES)
    pairs = [] if root is None else keys_in(path.relative_to(root).parts[:-1])
    keys = tuple((unquote(key), None if v == _HIVE_NULL else unquote(v)) for key, v in pairs)
    return InputFile(source or str(path), path, suffix, keys=keys)


def keys_in(folders: Iterable[str]) -> list[tuple[str, str]]:
    """Return the keys and values of folders that are called key=value, as they are written."""
    matches = (re.fullmatch(r"([^=]+)=(.*)", folder, re.DOTALL) for folder in folders)
    return [(match[1], match[2]) for match in matches if match is not None]


def type_keys(files: Sequence[Keys]) -> dict[str, pa.Array]:
    """Return the columns that folders give (key=value): an array of a value a file."""
    columns = {key: of_texts([dict(keys)[key] for keys in files]) for key, _ in files[0]}
    return type_texts(columns, ("integer", "date"))


def check_spelling(source: str, names: Iterable[str]) -> None:
    """Refuse names that differ only in case: in several files, hardly two columns are meant."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ColumnError(
                f"{source}: columns {other!r} and {name!r} differ only in case, which cannot "
                "be told apart across several files; rename one of them"
            )
