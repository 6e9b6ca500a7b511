"""The OpenAPI document of the API."""

from __future__ import annotations

from typing import Any


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return {"openapi": "3.1.0", "info": {"title": "outlying", "version": "1"}, "paths": {}}
