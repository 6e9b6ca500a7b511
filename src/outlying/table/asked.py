"""What is to be explained, in the words of whoever asks."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from outlying.errors import OptionError, OutlyingError, shown

Where: TypeAlias = Mapping[str, Any]
Wheres: TypeAlias = Where | Iterable[Where]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is to be explained, in the words of whoever asks: by exactly one of these.

    `every` stands for all rows with its values, `marks` for all that a column marks; each of
    `wheres` names one row. `name` tells how errors name an item by its place; None where there is
    only one, which needs no name.
    """

    rows: Sequence[Any] | None = None
    wheres: Sequence[Any] | None = None
    every: Where | None = None
    marks: str | None = None
    index: tuple[Any, ...] | None = None  # the values of one row in the columns of the index
    objects: Sequence[Any] | None = None
    name: Callable[[int], str] | None = None

    @classmethod
    def one(
        cls,
        *,
        row: object,
        where: object,
        object: object,  # noqa: A002
        index: object = None,
    ) -> Asked:
        """Ask for one row or one new object."""
        if sum(given is not None for given in (row, object, where, index)) != 1:
            raise OptionError("name exactly one of row=, index=, object= and where=")
        if index is not None:
            return cls(index=index if isinstance(index, tuple) else (index,))
        if row is not None:
            return cls(rows=[row])
        return cls(wheres=[where]) if where is not None else cls(objects=[object])

    @classmethod
    def many(cls, *, rows: object, where: object, objects: object) -> Asked:
        """Ask for many; one mapping as `where` stands for every row with these values."""
        if sum(given is not None for given in (rows, where, objects)) != 1:
            raise OptionError("name exactly one of rows=, where= and objects=")
        if rows is not None:
            return cls(rows=as_list("rows", rows), name="rows[{}]".format)
        if isinstance(where, Mapping):
            return cls(every=where)
        if where is not None:
            return cls(wheres=as_list("where", where), name="where[{}]".format)
        return cls(objects=as_list("objects", objects), name="objects[{}]".format)

    @contextlib.contextmanager
    def about(self, place: int) -> Iterator[None]:
        """Say of an error which item it is about; its type stays."""
        try:
            yield
        except OutlyingError as error:
            if self.name is not None:
                error.args = (f"{self.name(place)}: {error}",)
            raise


def as_list(name: str, given: object) -> list[Any]:
    """Make a list of what was given for an option that takes several."""
    items = None
    with contextlib.suppress(Exception):  # what cannot be iterated, whatever it raises
        items = iter(cast(Any, given))
    if items is not None and not isinstance(given, (str, bytes, Mapping)):
        return list(items)
    kind = "positions" if name == "rows" else "mappings of column to value"
    raise OptionError(f"{name} is {shown(given)}; allowed: a list or other iterable of {kind}")
