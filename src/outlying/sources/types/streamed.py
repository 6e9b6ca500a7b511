"""How a column of a database arrives in Arrow batches, whichever database it is."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from outlying.table.values import Form

if TYPE_CHECKING:
    import pyarrow


@dataclasses.dataclass(frozen=True, slots=True)
class Streamed:
    """The SQL that selects a column, and the form of its values."""

    sql: str
    form: Form
    may_overflow: bool = False
    """Whether whole numbers may be beyond the 64 bits that they are cast to."""

    def type(self, comes: pyarrow.DataType) -> pyarrow.DataType:
        """Return the Arrow type to make of the one that the engine sends."""
        import pyarrow

        if self.form == "duration":
            return pyarrow.duration("us")
        if self.form == "instant":
            return pyarrow.timestamp(comes.unit, "UTC")
        return comes
