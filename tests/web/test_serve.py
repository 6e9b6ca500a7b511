"""The command: what it needs, and what it refuses."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from outlying.cli.main import cli
from outlying.errors import MissingExtraError, OptionError


def test_without_the_extra_the_command_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("outlying.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'outlying\[web\]'"):
        CliRunner().invoke(cli, ["serve"], catch_exceptions=False)


def test_options_of_one_source_need_one_source() -> None:
    with pytest.raises(OptionError, match="--table"):
        CliRunner().invoke(cli, ["serve", "a", "b", "--table", "t"], catch_exceptions=False)
