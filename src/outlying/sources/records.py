"""JSON: an array of objects, or one object after another (JSON lines).

Read with Python's own parser rather than the engine's. The engine guesses a schema, and its guess
turns objects with many or similar keys into one column of maps, renames keys that differ only in
case and, depending on its version, fails on long whole numbers; here every key is a column and
every number exact. Texts that are all dates or times in ISO 8601 are read as such.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from outlying.errors import ColumnError, SourceError
from outlying.sources.columns import Reading, read_form, table_of
from outlying.sources.objects import read_objects
from outlying.sources.text import TextFile, check_text
from outlying.table import Table
from outlying.values import Form, number_of
