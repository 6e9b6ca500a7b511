"""What the docs say works: Python examples run as doctests, commands are checked here."""

from __future__ import annotations

import dataclasses
import pkgutil
import re
import shlex
from pathlib import Path

import click
import pytest
from scripts import make_wording

from outlying import Options, sentences
from outlying.cli import main as cli
from outlying.cli.commands import explain
from outlying.options import BAGGING, Bagging

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "outlying"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Superseded decisions name modules as they were.
NAMING = [
    page
    for page in (ROOT / "CONTRIBUTING.md", *PAGES)
    if "> Superseded by" not in page.read_text("utf-8")
]


def commands() -> list[str]:
    found = [
        line.removeprefix("$ ").strip()
        for page in PAGES
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("$ outlying")
    ]
    return sorted(set(found))


@pytest.mark.parametrize("command", commands())
def test_commands_of_the_docs_are_valid(command: str) -> None:
    words = shlex.split(command.split(">")[0], comments=True)
    words = words[1:] if words[1] in cli.cli.commands else ["detect", *words[1:]]
    known = cli.cli.get_command(click.Context(cli.cli), words[0])
    assert known is not None
    known.make_context(words[0], words[1:])  # raises on an unknown option


def test_commands_were_found() -> None:
    assert len(commands()) >= 8


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_modules_exist(page: Path) -> None:
    homes = "|".join(path.name for path in PACKAGE.iterdir() if path.is_dir())
    pattern = rf"`((?:{homes})/[\w/]*)(?:\.py)?`|`((?:tests|scripts|benchmarks)/[\w./]*)`"
    for module, file in re.findall(pattern, page.read_text("utf-8")):
        path = PACKAGE / module if module else ROOT / file
        assert path.exists() or path.with_suffix(".py").exists(), module or file


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_every_page_is_listed(folder: str) -> None:
    index = (ROOT / folder / "README.md").read_text("utf-8")
    for page in (ROOT / folder).glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index, page.name


def test_every_option_is_documented() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    for name in Options().to_dict():
        assert f"`{name}`" in page


def test_every_option_has_a_flag() -> None:
    flags = {flag for item in explain.params for flag in item.opts}
    singular = {"types": "type"}
    for name in Options().to_dict():
        assert "--" + singular.get(name, name).replace("_", "-") in flags


def test_the_readme_shows_a_result_early() -> None:
    lines = PAGES[0].read_text("utf-8").splitlines()
    assert any("cells are exceptional:" in line for line in lines[:30])
    assert any(line.startswith("![") for line in lines[:45])
    assert len(lines) <= 120


def test_every_option_of_detection_is_documented_and_has_a_flag() -> None:
    page = (ROOT / "docs" / "detect.md").read_text("utf-8")
    command = cli.cli.commands["detect"]
    flags = {flag for item in command.params for flag in item.opts}
    for name in (*BAGGING, "top", "lowest"):
        assert f"`{name}`" in page
        assert f"--{name}" in flags
    for name, value in dataclasses.asdict(Bagging()).items():
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        assert f"| `{name}` | {shown} |" in page


def named_code() -> list[str]:
    """Names such as `method.density.parzen` on the page that maps the paper to functions."""
    page = (ROOT / "docs" / "paper.md").read_text("utf-8")
    names = re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", page)
    return sorted({name for name in names if not name.endswith((".md", ".html", ".csv"))})


@pytest.mark.parametrize("name", named_code())
def test_code_named_for_the_paper_exists(name: str) -> None:
    assert pkgutil.resolve_name(f"outlying.{name}")


def test_code_for_the_paper_was_found() -> None:
    assert len(named_code()) >= 20


def test_the_list_of_sentences_is_what_the_script_makes() -> None:
    page = (ROOT / "docs" / "wording.md").read_text("utf-8")
    made = make_wording.page()
    assert page.split("## Errors")[0] == made.split("## Errors")[0], "run scripts/make_wording.py"
    assert len(page.split("## Errors")[1].splitlines()) > 200
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.html")]
    used = "".join(path.read_text("utf-8") for path in files)
    for name in vars(sentences):
        assert not name.isupper() or re.search(rf"say\.{name}\b|import {name}\b", used), name
