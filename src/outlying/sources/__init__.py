"""Whatever holds a table, read into typed columns.

This package is the only place that knows of files, engines and dataframe libraries. They are
imported inside the functions that need them: `import outlying` loads none of them, and a user of
one library needs no other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from outlying.table.table import Table


def read(data: object) -> Table:
    """Read a file, a dataframe, a dict of columns or an array; a Table passes through.

    The same table gives the same columns from every source. Raises SourceError for what cannot
    be read and ColumnError for names that are not unique.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        from outlying.sources import files

        return files.read(data)
    if isinstance(data, (np.ndarray, Mapping)):
        from outlying.sources import arrays

        return arrays.read(data)
    from outlying.sources import frames

    return frames.read(data)
