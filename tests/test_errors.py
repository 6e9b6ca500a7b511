"""Errors have fields, and are said in the words of whoever reads them."""

from __future__ import annotations

import pickle

import pytest

import outlying
from outlying import OptionError, OutlyingError
from outlying.errors import (
    INFINITE_AS_MISSING,
    InfiniteValueError,
    MissingExtraError,
    NoMemoryError,
    RowAt,
    Setting,
)


def test_python_and_the_shell_have_their_own_words() -> None:
    error = InfiniteValueError("price", 4)
    assert str(error) == (
        "column 'price' has an infinite value in row 4 (counted from 0); correct it, leave the "
        'column out with exclude=, or treat infinite values as missing with infinite="missing"'
    )
    assert error.shell_message() == (
        "column 'price' has an infinite value in data row 5; correct it, leave the column out with "
        "--exclude, or treat infinite values as missing with --infinite missing"
    )
    assert (error.column, error.row) == ("price", 4)
    assert error.settings == (Setting("exclude"), INFINITE_AS_MISSING)


def test_a_wrong_value_is_in_the_error() -> None:
    with pytest.raises(OptionError) as caught:
        outlying.Options.of(top=0)
    assert (caught.value.got, caught.value.allowed) == (0, "a whole number, at least 1")


def test_text_of_a_table_that_looks_like_an_option_stays_as_it_is() -> None:
    """Words are never replaced in a finished sentence: a column may be called exclude=."""
    error = InfiniteValueError("with exclude= row 4 (counted from 0)", 4)
    assert "column 'with exclude= row 4 (counted from 0)' has" in error.shell_message()


@pytest.mark.parametrize(
    "error",
    [
        InfiniteValueError("a", None, "in some row"),
        MissingExtraError("x", "y"),
        NoMemoryError("; 3 are done"),
        OptionError("a ", RowAt(2), " b ", Setting("allow_external", True)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_whole_from_another_process(error: OutlyingError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert (type(again), again.args, again.__dict__) == (type(error), error.args, error.__dict__)
    assert again.shell_message() == error.shell_message()
