"""Misspellings: found fast as by comparing all labels, and never among numbers and codes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.derived.spelling import Intended, is_slip, misspellings


def distance(first: str, second: str) -> int:
    """The optimal string alignment distance, cell by cell."""
    table = [[max(i, j) if not i or not j else 0 for j in range(len(second) + 1)]
             for i in range(len(first) + 1)]  # fmt: skip
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            differ = first[i - 1] != second[j - 1]
            best = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + differ)
            if i > 1 and j > 1 and first[i - 2 : i] == second[j - 2 : j][::-1]:
                best = min(best, table[i - 2][j - 2] + 1)
            table[i][j] = best
    return table[-1][-1]


def letters(text: str) -> int:
    return sum(char.isalpha() for char in text)


def read_alike(label: str, other: str) -> bool:
    """Whether labels differ in capitals, spaces and marks between letters only."""
    if letters(label) < 2:
        return False
    kept = []
    for text in (label, other):
        spaced = f" {text} "
        text = "".join(
            char
            for place, char in enumerate(spaced)
            if not char.isspace() or (spaced[place - 1] + spaced[place + 1 : place + 2]).isdigit()
        ).rstrip(".")
        kept.append("")
        for place, char in enumerate(text):
            around = text[max(0, place - 1) : place] + text[place + 1 : place + 2]
            is_inside = len(around) == 2 and all(c.isalnum() for c in around)
            is_mark = char in ".,'_/-" and is_inside and not around.isdigit()
            kept[-1] += "" if is_mark else char.casefold()
    return kept[0] == kept[1]


def naive(counts: dict[str, int], most_edits: int = 2) -> dict[str, Intended]:
    """Compare every label with every other."""
    found = {}
    for label, rows in counts.items():
        best = None
        for other, usual in counts.items():
            edits = distance(label, other)
            is_rare = rows <= max(1, usual // 20) and rows + usual >= 5
            if label != other and is_rare and read_alike(label, other):
                edits = 0
            elif not (
                0 < edits <= most_edits
                and is_rare
                and (edits == 1 or usual >= 20)
                and letters(other) >= 5
                and not label.isdigit()
                and is_slip(label, other, edits)
            ):
                continue
            if label != other:
                order = (edits, -usual, other)
                best = order if best is None else min(best, order)
        if best is not None:
            found[label] = Intended(best[2], -best[1])
    return found


WORDS = st.text("abe-1", min_size=4, max_size=8) | st.sampled_from(
    ["chatham", "chathma", "chatam", "springfields", "springfeild", "sprinfeild", "room 12"]
)
COUNTS = st.dictionaries(WORDS, st.sampled_from([1, 2, 4, 5, 40, 100]), max_size=12)


@given(COUNTS)
def test_as_by_comparing_all(counts: dict[str, int]) -> None:
    assert misspellings(counts) == naive(counts)


@given(COUNTS)
def test_by_deletions_the_same_within_one_edit(counts: dict[str, int]) -> None:
    assert misspellings(counts, most_comparisons=-1) == naive(counts, most_edits=1)


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("CHATHMA", "CHATHAM"),
        ("CHATAM", "CHATHAM"),
        ("CHATHAMM", "CHATHAM"),
        ("CH4THAM", "CHATHAM"),
        ("Sprnigfield Road 12", "Springfield Road 12"),
    ],
)
def test_slips(label: str, other: str) -> None:
    assert is_slip(label, other)


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("Room 12", "Room 13"),
        ("Building 2019", "Building 2018"),
        ("Apples", "Apple"),
        ("unknown", "known"),
        ("atypical", "typical"),
        ("Ward A", "Ward B"),
        ("Henry VIII", "Henry VII"),
        ("Latina", "Latino"),
        ("KXBRT", "KXBRQ"),
        ("Springfield 2", "Springfield"),
        ("South Carolina", "North Carolina"),
        ("East Sussex", "West Sussex"),
        ("Import goods", "Export goods"),
        ("Importation", "Exportation"),
        ("Hypotension", "Hypertension"),
        ("Microeconomics", "Macroeconomics"),
        ("\u6771\u4eac\u90fd\u5317\u533a", "\u6771\u4eac\u90fd\u6e2f\u533a"),
        ("Profesora", "Profesor"),
        ("\u0418\u0432\u0430\u043d\u043e\u0432\u0430", "\u0418\u0432\u0430\u043d\u043e\u0432"),
        ("Lampen rot", "Lampe rot"),
        ("Mitarbeiterin", "Mitarbeiter"),
        ("jan.meier@firma.de", "jens.meier@firma.de"),
        ("Gambia", "Zambia"),
        ("Waynesville", "Gainesville"),
    ],
)
def test_words_of_their_own(label: str, other: str) -> None:
    edits = min(distance(label, other), 2)
    assert not is_slip(label, other, edits)
    assert not is_slip(other, label, edits)


@pytest.mark.parametrize(
    ("label", "meant"),
    [("I.T.", "IT"), ("de", "DE"), ("e mail", "e-mail"), ("OBrien", "O'Brien"), ("N. Y.", "NY")],
)
def test_labels_that_read_the_same(label: str, meant: str) -> None:
    assert misspellings({label: 1, meant: 340, "other": 50})[label] == Intended(meant, 340)
    assert label not in misspellings({label: 100, meant: 340})


@pytest.mark.parametrize(
    ("label", "other"), [("A-", "A+"), ("A+", "A"), ("C", "C#"), ("v1.5", "v15"), ("X", "x")]
)
def test_marks_that_count(label: str, other: str) -> None:
    assert misspellings({label: 1, other: 340}) == {}


def test_two_edits_from_a_rare_name_are_chance() -> None:
    assert misspellings({"Springfeilds": 1, "Springfield": 5}) == {}
    assert "Springfeilds" in misspellings({"Springfeilds": 1, "Springfield": 20})


@pytest.mark.parametrize("kind", ["replaced", "added", "left out", "swapped"])
def test_slips_anywhere_in_names_are_found(kind: str) -> None:
    tried = [
        (typo, name)
        for name in ("Amsterdam", "Montevideo", "Saudi Arabia", "Ljubljana", "Coffee Machine")
        for place in range(len(name) - 1)
        if (typo := with_slip(name, place, kind)) != name
    ]
    found = [pair for pair in tried if misspellings({pair[0]: 1, pair[1]: 5})]
    assert len(found) >= 0.8 * len(tried)


def with_slip(name: str, place: int, kind: str) -> str:
    before, char, after = name[:place], name[place], name[place + 1 :]
    return (
        before
        + {
            "replaced": "k" + after,
            "added": char + "k" + after,
            "left out": after,
            "swapped": after[0] + char + after[1:],
        }[kind]
    )
