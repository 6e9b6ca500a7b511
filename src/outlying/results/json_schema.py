"""The JSON contract for machines: a JSON Schema (draft 2020-12) that ships with the package."""

from __future__ import annotations

import json
from typing import Any


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all that is written as JSON: documents, and single JSON lines.

    It is the file `schema.json` beside this module; docs/json.md says the same in words.
    """
    from importlib import resources  # not when the package is imported: it takes long

    file = resources.files("outlying") / "results" / "schema.json"
    return dict(json.loads(file.read_text(encoding="utf-8")))
