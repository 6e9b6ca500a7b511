"""Answers in JSON that hold whatever a table holds, halves of characters included."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class Answer(JSONResponse):
    """A JSON answer."""

    def render(self, content: Any) -> bytes:
        """Write the content; what UTF-8 does not have is escaped, as JSON knows it."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")
