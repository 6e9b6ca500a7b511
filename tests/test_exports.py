"""The public surface is small and deliberate."""

from __future__ import annotations

import inspect
import subprocess
import sys

import outlying


def test_all_names_exist_and_are_sorted() -> None:
    assert sorted(outlying.__all__) == outlying.__all__
    assert all(hasattr(outlying, name) for name in outlying.__all__)


def test_all_is_what_a_user_can_see() -> None:
    visible = {
        name
        for name, value in vars(outlying).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert visible == set(outlying.__all__) - {"__version__"}


def test_import_loads_no_dataframe_library_and_no_engine() -> None:
    code = (
        "import sys, outlying; "
        "print([m for m in ('pandas', 'polars', 'pyarrow', 'duckdb', 'narwhals', 'click') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_loads_what_explains_when_it_is_first_asked_for() -> None:
    code = (
        "import sys, outlying; "
        "print([m for m in ('search', 'method', 'derived', 'parsing', 'stream') "
        "if f'outlying.{m}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
