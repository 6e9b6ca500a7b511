"""Parts of texts, and of keys: what is rare is said, what counts on is not."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from outlying.table.columns import categorical_column
from outlying.table.derived.keys import KeyFacts, key_derivations
from outlying.table.derived.shape import odd_characters, patterns
from outlying.table.derived.texts import TextDerivation, TextFacts, text_derivations


def parts_of(texts: list[str]) -> dict[str, TextDerivation]:
    facts = TextFacts.of(categorical_column("code", texts))
    return {each.name: each for each in text_derivations("code", facts)}


def naive_pattern(text: str) -> str:
    def of(char: str) -> str:
        if char.isalpha():
            return "A" if char.isupper() else "a"
        if char.isdigit():
            return "9"
        return " " if char.isspace() or char == "\x1f" else char

    return "".join(map(of, text))


@given(st.lists(st.text(), max_size=8))
def test_patterns_one_after_the_other(texts: list[str]) -> None:
    assert patterns(texts) == [naive_pattern(text) for text in texts]
    assert patterns(texts, are_collapsed=True) == [
        re.sub(r"([Aa9])\1+", r"\1", naive_pattern(text)) for text in texts
    ]


def test_a_pattern_of_its_own() -> None:
    parts = parts_of([*(f"AB-{number}" for number in range(1000, 1200)), "AB 12"])
    assert list(parts) == ["code (pattern)"]
    assert parts["code (pattern)"].parts(["AB-1000", "AB 12"]) == ["AA-9999", "another"]
    assert parts["code (pattern)"].said("AB 12") == (
        "code = AB 12 has a rare pattern, AA 99 instead of AA-9999"
    )


def test_codes_that_count_on_have_no_shape() -> None:
    assert not parts_of([f"r{number}" for number in range(5000)])


def test_one_that_occurs_twice() -> None:
    parts = parts_of([*(f"AB-{number}" for number in range(1000, 1200)), "AB-1007"])
    assert list(parts) == ["code (repeated)"]
    assert parts["code (repeated)"].said("AB-1007") == (
        "code = AB-1007 is the only one that occurs twice"
    )
    assert parts["code (repeated)"].said("AB-1008") is None


def test_labels_that_repeat_have_no_repeated_ones() -> None:
    assert not parts_of(["Adelie", "Gentoo", "Chinstrap"] * 30)


def test_odd_characters() -> None:
    usual = {f"Name {chr(97 + number % 26)}{number}": 1 for number in range(300)}
    assert odd_characters(usual) == frozenset()
    assert odd_characters({**usual, "Jos\ufffd": 1, "P\u0430ul": 1}) == {"\ufffd", "\u0430"}
    greek = {"\u0391\u03bb\u03c6\u03b1": 99, "\u0392\u03ae\u03c4\u03b1": 99}
    assert odd_characters(greek) == frozenset()


def test_keys_that_occur_twice() -> None:
    values = np.append(np.arange(500.0), 17.0)
    (found,) = key_derivations("id", KeyFacts.of(values))
    assert found.said(17) == "id = 17 is the only one that occurs twice"
    assert not list(key_derivations("id", KeyFacts.of(np.arange(500.0))))
    assert not list(key_derivations("age", KeyFacts.of(np.arange(500.0) % 90)))


def test_amounts_that_are_equal_by_chance() -> None:
    """Of 300 numbers up to 50,000 one pair or so is equal: no wonder."""
    rng = np.random.default_rng(1)
    values = np.append(rng.choice(50_000, 299, replace=False).astype(float), 0.0)
    values[-1] = values[0]
    assert not list(key_derivations("amount", KeyFacts.of(values)))


@given(st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(0, 9), max_size=20))
def test_facts_of_parts_of_a_table_are_those_of_all(first: list[int], second: list[int]) -> None:
    one, two = (KeyFacts.of(np.array(some, dtype=float)) for some in (first, second))
    whole = KeyFacts.of(np.array([*second, *first], dtype=float))
    assert one.merged(two).repeated == whole.repeated
    assert one.merged(two).rows == whole.rows
