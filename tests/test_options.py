from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripts import make_options

from outlying import OptionError, Options
from outlying.cli.commands import explain
from outlying.keywords import ExplainKeywords
from outlying.options import EXPLAIN_OPTIONS, PaperOptions
from outlying.web.api import described

OPENAPI = described()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"min_support": 0}, "above 0, below 1"),
        ({"min_support": 1.5}, "a number of rows"),
        ({"min_support": "much"}, "'much'"),
        ({"min_outlierness": float("nan"), "preset": "paper"}, "nan"),
        ({"min_outlierness": True, "preset": "paper"}, "True"),
        ({"max_conditions": -1}, "at least 0"),
        ({"max_conditions": 2.5}, "whole number"),
        ({"top": 0}, "at least 1"),
        ({"seed": -3, "preset": "paper"}, "at least 0"),
        ({"measure": "shap", "preset": "paper"}, "'relative' or 'paper'"),
        ({"scales": "two", "preset": "paper"}, "'several' or 'one'"),
        ({"interval": "all", "preset": "paper"}, "'run' or 'span'"),
        ({"bandwidth": "wide", "preset": "paper"}, "'fixed' or 'adaptive'"),
        ({"bandwidth": "adaptive"}, 'add preset="paper", or leave bandwidth out'),
        ({"seed": None}, 'add preset="paper"'),
        ({"search": "exhaustive"}, 'no longer an option: all rows are judged at once; preset="pap'),
        ({"minimality": "strict", "preset": "paper"}, "leave minimality out"),
        ({"infinite": "drop"}, "'error' or 'missing'"),
        ({"discretise": "equal", "preset": "paper"}, "'equi-width' or 'equi-depth'"),
        ({"bins": 1, "discretise": "equi-width", "preset": "paper"}, "at least 2"),
        ({"bins": 7, "preset": "paper"}, "nothing is cut into bins"),
        ({"columns": "age"}, "list of column names"),
        ({"columns": []}, "leave it out"),
        ({"columns": [1]}, "1"),
        ({"exclude": 7}, "list of column names"),
        ({"types": {"zip": "text"}}, "'numeric' or 'categorical'"),
        ({"types": ["zip"]}, "mapping"),
        ({"min_suport": 0.2}, "did you mean 'min_support'"),
    ],
)
def test_wrong_options_say_what_is_allowed(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=None) as caught:
        Options.of(**given)
    assert said in str(caught.value)
    assert next(iter(given))[:5] in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"min_support": 0.0}, "--min-support is 0.0; allowed: a share of the rows (above 0,"),
        ({"types": {"x": "text"}}, "--type gives 'text' for column 'x'; allowed: 'numeric' or"),
        ({"columns": [1]}, "--columns holds 1; allowed"),
        ({"bandwidth": "adaptive"}, "add --preset paper, or leave --bandwidth out"),
    ],
)
def test_in_the_shell_wrong_options_are_flags(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        Options.of(**given)
    assert said in caught.value.shell_message()
    assert "None" not in caught.value.shell_message()
    assert "--" not in str(caught.value)


def test_options_are_frozen_values() -> None:
    options = Options.of(columns=["b", "a"], types={"a": "categorical"}, top=3)
    assert options == Options.of(columns=("b", "a"), types={"a": "categorical"}, top=3)
    assert pickle.loads(pickle.dumps(options)) == options  # noqa: S301
    with pytest.raises(AttributeError):
        options.top = 5  # type: ignore[misc]
    assert options.to_dict()["types"] == {"a": "categorical"}


def test_the_papers_settings_are_one_switch() -> None:
    paper = Options.of(preset="paper")
    assert paper == Options.of(preset="paper")
    assert paper.paper == PaperOptions()
    assert Options.of(preset="paper", seed=4).paper == PaperOptions(seed=4)
    assert Options.of(**paper.to_dict()) == paper
    assert Options.of(**Options().to_dict()) == Options()
    assert (paper.min_support, paper.max_conditions) == (0.2, 3)
    assert Options.of(preset="paper", max_conditions=2).max_conditions == 2
    with pytest.raises(OptionError, match="preset is 'fast'; allowed: 'paper'"):
        Options.of(preset="fast")


def test_support_is_a_share_or_a_number_of_rows() -> None:
    assert Options().least_rows(10_000) == 30
    assert Options().least_rows(100) == 10
    assert [Options().least_rows(10_000, conditions) for conditions in (2, 3, 4)] == [30, 90, 120]
    assert Options.of(min_support=0.1).least_rows(1000, 4) == 100
    assert Options.of(min_support=50).least_rows(1000, 4) == 50


@pytest.mark.parametrize("path", make_options.pages(), ids=lambda path: path.name)
def test_what_is_made_from_the_declaration_is_as_it_has_to_be(path: Path) -> None:
    made = make_options.pages()[path]
    assert path.read_text("utf-8") == made, "run python scripts/make_options.py"


def test_every_option_is_declared_once_and_reaches_everyone() -> None:
    """Flags, fields of addresses, keywords and schemas come from one declaration."""
    flags = {flag for item in explain.params for flag in (*item.opts, *item.secondary_opts)}
    for name, option in EXPLAIN_OPTIONS.items():
        assert option.flag in flags
        assert ExplainKeywords.__annotations__[name]
        assert option.name in OPENAPI["components"]["schemas"]["Options"]["properties"]
        if option.default not in (None, ()):
            texts = option.kind.write(option.default)
            assert option.kind.read(name, texts) == option.default
            assert option.kind.check(name, option.default) == option.default


def test_the_help_of_a_command_is_in_groups() -> None:
    assert "The paper's method:" not in CliRunner().invoke(explain, ["--help"]).output
    shown = CliRunner().invoke(explain, ["--help-all"]).output
    places = [shown.index(f"\n{name}:") for name in ("Which rows", "How strict", "Columns")]
    paper = shown.index("\nThe paper's method:")
    assert places == sorted(places)
    assert shown.index("--bandwidth") > paper > shown.index("--max-conditions")
    assert "--references" not in shown
