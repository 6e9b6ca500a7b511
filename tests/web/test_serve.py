"""The command: what it needs, and what it refuses."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from outlying.cli.main import cli
from outlying.errors import MissingExtraError, OptionError, SourceError


def test_without_the_extra_the_command_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("outlying.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install '.*\[web\]'"):
        CliRunner().invoke(cli, ["serve"], catch_exceptions=False)


def test_options_of_one_source_need_one_source() -> None:
    with pytest.raises(OptionError, match="--table"):
        CliRunner().invoke(cli, ["serve", "a", "b", "--table", "t"], catch_exceptions=False)


def test_a_file_that_is_not_there_is_told_before_anything_is_served(tmp_path: Path) -> None:
    missing = str(tmp_path / "nope.csv")
    with pytest.raises(SourceError, match=r"nope\.csv: no such file"):
        CliRunner().invoke(cli, ["serve", missing, "--no-browser"], catch_exceptions=False)
    command = [sys.executable, "-m", "outlying", "serve", missing, "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such file; check the path" in done.stderr


def test_a_page_explains_a_row_also_where_no_rows_like_it_are_found() -> None:
    from outlying.web import row_pages

    async def refused(*_: Any) -> None:
        raise OptionError("filter: no")

    headline = SimpleNamespace(property="a", conditions=())
    story = SimpleNamespace(stands_out=True, headline=headline)
    job: Any = SimpleNamespace(explained=[SimpleNamespace(stories=[story])])
    entry: Any = SimpleNamespace(id="t", columns=[SimpleNamespace(name="a")])
    service = SimpleNamespace(twins=refused)
    request: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(service=service)))
    assert asyncio.run(row_pages._twins(request, entry, job)) == {}
