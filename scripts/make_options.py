"""Write what is made from the declaration of options: keywords for editors, tables of the docs.

    python scripts/make_options.py

A test makes all of it anew and compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from outlying.checks import Option
from outlying.options import (
    BAGGING,
    COLUMN_OPTIONS,
    CONTEXT_OPTIONS,
    EXPLAIN_OPTIONS,
    PAPER,
    PAPER_OPTIONS,
    READ_OPTIONS,
)
from outlying.sources import registry

ROOT = Path(__file__).resolve().parents[1]
KEYWORDS = ROOT / "src" / "outlying" / "keywords.py"
DOCS = ROOT / "docs"

_PART = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
_HEAD = '''"""The options as keywords that editors know; made by scripts/make_options.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from outlying.options import (
{names}
)
'''
_CLASS = '''

class {name}({base}, total=False):
    """{words}"""

{fields}
'''


def keywords() -> str:
    """Return the module of keywords."""
    reading = [READ_OPTIONS[name] for name in registry.OPTIONS]
    both = [*CONTEXT_OPTIONS.values(), *COLUMN_OPTIONS.values(), *reading]
    explain = [option for option in EXPLAIN_OPTIONS.values() if option not in both]
    found = "".join(
        _CLASS.format(name=name, base=base, words=words, fields="\n".join(map(_field, options)))
        for name, base, words, options in (
            ("TableKeywords", "TypedDict", "Options of reading and comparing a table.", both),
            ("ExplainKeywords", "TableKeywords", "Options of explanations.", explain),
            ("DetectKeywords", "TableKeywords", "Options of detection.", BAGGING.values()),
        )
    )
    declared = (*both, *explain, *BAGGING.values())
    known = set(re.findall(r"\b[A-Z]\w+", "".join(map(_field, declared))))
    aliases = sorted(known - {"Any", "Iterable", "Mapping", "None"})
    return _HEAD.format(names="\n".join(f"    {name}," for name in aliases)) + found


def _field(option: Option) -> str:
    return f"    {option.name}: {option.kind.keyword or option.annotation}"


def tables() -> dict[str, str]:
    """Return the tables of the docs by name."""
    paper = {name: EXPLAIN_OPTIONS[name] for name in ("min_support", "max_conditions")}
    general = [item for name, item in EXPLAIN_OPTIONS.items() if name not in PAPER_OPTIONS]
    return {
        "explain": _table(general),
        "paper": _table([*paper.values(), *PAPER_OPTIONS.values()], PAPER),
        "bagging": _table(BAGGING.values()),
    }


def _table(options: Iterable[Option], defaults: Mapping[str, object] = {}) -> str:
    lines = ["| option | default | what it does |", "| --- | --- | --- |"]
    for option in options:
        default = defaults.get(option.name, option.default)
        is_told = option.name in defaults
        shown = f'"{default}"' if isinstance(default, str) else str(default)
        choices = " or ".join(f'"{word}"' for word in option.kind.choices)
        words = [option.help, "" if is_told else option.docs, f"{choices}." if choices else ""]
        lines.append(f"| `{option.name}` | {shown} | {' '.join(filter(None, words))} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Return each file as it has to be."""
    known = tables()
    found = {KEYWORDS: keywords()}
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text("utf-8")
        if _PART.search(text):
            found[page] = _PART.sub(lambda part: part[1] + known[part[2]] + part[3], text)
    return found


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
