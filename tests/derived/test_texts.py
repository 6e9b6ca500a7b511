"""Parts of texts, and of keys: what is rare is said, what counts on is not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.derived.derivation import PartDerivation
from outlying.derived.spelling import odd_characters, patterns
from outlying.derived.texts import KeyFacts, TextFacts, key_derivations, text_derivations
from outlying.table.columns import categorical_column


def parts_of(texts: list[str]) -> dict[str, PartDerivation]:
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
        naive_collapsed(naive_pattern(text)) for text in texts
    ]


def naive_collapsed(pattern: str) -> str:
    short = re.sub(r"([Aa9])\1+", r"\1", pattern)
    short = re.sub("A(['\u2019]A)+", "A", short)
    short = re.sub("Aa(-Aa)+", "Aa", short)
    return re.sub("9[Aa] (?=Aa)", "9 ", re.sub("(Aa)+", "Aa", short))


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Sean O'Brien", "Aa Aa"),
        ("Ian McDonald", "Aa Aa"),
        ("Anna Smith-Jones-Lee", "Aa Aa"),
        ("17B Oak Ave", "9 Aa Aa"),
        ("XY-12B", "A-9A"),
    ],
)
def test_parts_of_names_are_names(text: str, pattern: str) -> None:
    assert patterns([text], are_collapsed=True) == [pattern]


def test_a_pattern_of_its_own() -> None:
    parts = parts_of([*(f"AB-{number}" for number in range(1000, 1200)), "AB 12"])
    assert list(parts) == ["code (pattern)"]
    pattern = parts["code (pattern)"]
    column = pattern.column({"code": categorical_column("code", ["AB-1000", "AB 12"])})
    assert [column.value(row) for row in range(2)] == ["AA-9999", "another"]
    assert pattern.said({"code": "AB 12"}) == ("has a rare pattern, AA 99 instead of AA-9999")


def test_codes_that_count_on_have_no_shape() -> None:
    assert not parts_of([f"r{number}" for number in range(5000)])


def test_one_that_occurs_twice() -> None:
    parts = parts_of([*(f"AB-{number}" for number in range(1000, 1200)), "AB-1007"])
    assert list(parts) == ["code (repeated)"]
    assert parts["code (repeated)"].said({"code": "AB-1007"}) == (
        "is the only one that occurs twice"
    )
    assert parts["code (repeated)"].said({"code": "AB-1008"}) is None


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
    assert found.said({"id": 17}) == "is the only one that occurs twice"
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


def amounts(count: int = 500) -> np.ndarray:
    return np.floor(np.random.default_rng(3).choice(50_000, count, replace=False)) + 1.0


def skewed(count: int = 500) -> np.ndarray:
    return np.unique(np.floor(np.random.default_rng(3).lognormal(10, 1.5, count)))


@pytest.mark.parametrize("values", [amounts(), skewed()])
def test_one_wild_value_makes_no_keys_of_amounts(values: np.ndarray) -> None:
    wild = np.array([*values, values[7], 10.0**11])
    assert not list(key_derivations("amount", KeyFacts.of(wild)))


def test_keys_with_a_number_of_their_own_for_each_year() -> None:
    values = np.concatenate([year * 1e6 + np.arange(200.0) for year in (2021, 2022, 2023)])
    (found,) = key_derivations("invoice", KeyFacts.of(np.array([*values, values[7]])))
    assert found.said({"invoice": values[7]}) == "is the only one that occurs twice"


@pytest.mark.parametrize(
    "texts",
    [
        [f"{int(number):05d}" for number in amounts()],
        [f"Went {place * 'very '}well" for place in range(300)],
        [f"{place} Oak Street" for place in range(300)],
    ],
)
def test_texts_that_are_no_keys_may_occur_twice(texts: list[str]) -> None:
    assert not any("repeated" in name for name in parts_of([*texts, texts[7]]))
