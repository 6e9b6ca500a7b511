"""What a verify pass is asked, in terms of columns and their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from outlying.sources.types.arrow import Field
from outlying.stream.counting.encodings import Encoding
from outlying.stream.verify.predicates import Conjunction, Predicate, conjunction
from outlying.table.columns import Derivation


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """The question how a column is distributed in a context.

    Asked for "missing", it is only how many rows have a value and how many have none.
    """

    column: str
    kind: Literal["numbers", "labels", "missing"]
    context: Conjunction = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", conjunction(self.context))

    @property
    def known(self) -> Conjunction:
        """The rows of the context that have a value in the column."""
        return conjunction((*self.context, Predicate(self.column, "known")))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnPlan:
    """How a column is read, and how its numbers are encoded where a query asks for them.

    Histograms of numbers are of numbers divided by 2**exponent.
    """

    field: Field
    encoding: Encoding | None = None
    exponent: int = 0
    derivation: Derivation | None = None  # of a derived column, whose parent the field reads
    given: tuple[Field, ...] = ()  # the other columns that it needs

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read for it."""
        return (self.field.name, *(field.name for field in self.given))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class VerifyPlan:
    """All that is asked of a table.

    `counts` are contexts of which to count the rows, `ranges` intervals of which to find the least
    and the greatest number that a row holds.
    """

    columns: Mapping[str, ColumnPlan]
    queries: tuple[Query, ...] = ()
    counts: tuple[Conjunction, ...] = ()
    ranges: tuple[Predicate, ...] = ()
