"""The map of the packages is what the code says."""

from __future__ import annotations

import ast

import pytest
from scripts import make_map

MODULES = make_map.modules(make_map.SOURCE)


def test_the_page_shows_the_map_as_it_is() -> None:
    made, text = make_map.parts(), make_map.PAGE.read_text("utf-8")
    for name in made:
        assert text.count(f"<!-- map: {name} -->") == 1
    assert text == make_map.page(made), "run python scripts/make_map.py"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_holds(name: str) -> None:
    title = MODULES[name].title
    assert title.endswith("."), title


def test_imports_are_told_apart_by_when_they_happen() -> None:
    text = """
import a.b
if TYPE_CHECKING:
    from c import d
try:
    from e import f
except ImportError:
    pass
def work():
    from g import h, i
"""
    found = sorted(make_map.imported(ast.parse(text)))
    assert found == [("a.b", False), ("e.f", False), ("g.h", True), ("g.i", True)]


def test_names_that_import_each_other_are_one_level() -> None:
    graph = {"top": ["a"], "a": ["b"], "b": ["a", "ground"], "ground": []}
    assert make_map.levels(graph) == {"top": 3, "a": 2, "b": 2, "ground": 1}


def test_an_import_in_a_function_may_point_upwards() -> None:
    def module(name: str, imports: list[str], later: list[str]) -> make_map.Module:
        return make_map.Module(name, "", 1, False, frozenset(imports), frozenset(later))

    given = [module("a", [], ["b"]), module("b", ["a"], ["c"]), module("c", [], [])]
    known = make_map.order({item.name: item for item in given})
    assert known.levels == [["a", "c"], ["b"]]
    assert known.upwards == (("a", "b"),)
