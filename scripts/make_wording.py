"""Write docs/wording.md: every sentence that people read, from the catalogue and from errors.

    python scripts/make_wording.py

A test makes the page anew and compares.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "outlying"
PAGE = ROOT / "docs" / "wording.md"

_HEAD = """# Which sentences are there?

Every sentence of results, notes and the command line stands in one module,
`src/outlying/sentences.py`; those of errors stand where they are raised, and are collected here.
Gaps are in braces. This page is written by `python scripts/make_wording.py`.

Four nouns are for users: a **finding** tells of an odd cell; **where** names the rows that it is
odd among; what was **expected** there; and the **odd column**. A sentence says the fact, then the
reason, then what to do about it.
"""
_SECTION = re.compile(r"^# --- (.*?) -+$", re.MULTILINE)

#: Parts of messages that have words of their own in a shell.
_PARTS = {"Setting": "{option}", "OptionName": "{option}", "RowAt": "{row}"}
#: What writes a value, and does not name it.
_WRITERS = {
    *dir(builtins),
    *("join", "shown", "printable", "text_of", "quantity_text", "harmless", "strip", "lower"),
}


def sections() -> Iterator[tuple[str, list[str]]]:
    """Return the sections of the catalogue, each with its sentences."""
    text = (SOURCE / "sentences.py").read_text("utf-8")
    _, *parts = _SECTION.split(text)
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        yield title, [said for node in ast.parse(body).body for said in _constants(node)]


def _constants(node: ast.stmt) -> Iterator[str]:
    """Return what a name of the catalogue stands for."""
    if isinstance(node, ast.Assign):
        yield from _texts(ast.literal_eval(node.value))


def _texts(value: str | tuple[str, ...] | dict[str, Any]) -> Iterator[str]:
    """Return the texts of a value, which may be several."""
    if isinstance(value, str):
        yield value
    else:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def errors() -> dict[str, list[str]]:
    """Return the messages of errors by package, as they are raised."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _is_error(node.func):
                parts = [_template(part) for part in node.args]
                kind = getattr(node.func, "id", "")
                if kind == "MissingExtraError":
                    parts[1:] = [f" needs an optional package: pip install '...[{parts[1]}]'"]
                elif kind == "not_allowed":
                    parts = [parts[0], " is {value}; allowed: ", parts[2]]
                elif kind in ("LimitError", "BusyError"):
                    del parts[1:]  # the option that limits it
                said = " ".join("".join(parts).split())
                if len(said.split()) > 2:
                    found.setdefault(package, set()).add(said)
    return {package: sorted(said) for package, said in sorted(found.items())}


def _is_error(function: ast.expr) -> bool:
    """Return whether a call makes an error: a class, or what gives it the name of a file."""
    name = getattr(function, "id", getattr(function, "attr", ""))
    if ast.unparse(function).startswith("_LOG"):
        return False
    return name.endswith("Error") or name in ("error", "changed", "not_allowed")


def _template(node: ast.expr) -> str:
    """Return a text with its gaps in braces."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{_gap(node.value)}}}"
    if isinstance(node, ast.BinOp):
        return _template(node.left) + _template(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _PARTS.get(node.func.id, "{" + _gap(node) + "}")
    return ""


def _gap(node: ast.expr) -> str:
    """Name what fills a gap: a variable, not what writes it."""
    found = (item for item in ast.walk(node) if isinstance(item, (ast.Name, ast.Attribute)))
    names = [item.attr if isinstance(item, ast.Attribute) else item.id for item in found]
    return next((name.strip("_") for name in names if name not in _WRITERS), "...")


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for title, said in sections():
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n" + _listed(said))
    parts.append("## Errors\n")
    parts += [f"### {package}\n\n{_listed(said)}" for package, said in errors().items()]
    return "\n".join(parts)


def _listed(said: list[str]) -> str:
    return "".join(f"- {_escaped(item)}\n" for item in said)


def _escaped(text: str) -> str:
    text = re.sub(r"\{(\w+):[^}]*\}", r"{\1}", text)  # how a number is written is no part of it
    return "`" + text.strip().replace("`", "'") + "`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
