"""Colours for light and dark, told apart by people with any colour vision (after Okabe and Ito)."""

from __future__ import annotations

from typing import Literal

Theme = Literal["light", "dark"]

#: Texts and marks have a contrast of 4.5 at least against page and paper.
PALETTE: dict[Theme, dict[str, str]] = {
    "light": {
        "ink": "#1b1f24",
        "quiet": "#59626d",
        "line": "#d5dae0",
        "page": "#f6f7f9",
        "paper": "#ffffff",
        "group": "#0072b2",
        "above": "#9cc7e2",
        "below": "#e0c08a",
        "typical": "#dcebf5",
        "mark": "#b34700",
        "hot": "#f7b27e",
    },
    "dark": {
        "ink": "#e8eaed",
        "quiet": "#a3abb5",
        "line": "#3b424b",
        "page": "#15181c",
        "paper": "#1e2329",
        "group": "#56b4e9",
        "above": "#2c6d95",
        "below": "#7a5a1e",
        "typical": "#24394a",
        "mark": "#f0a04b",
        "hot": "#8f4a10",
    },
}
