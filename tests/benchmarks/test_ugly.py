"""Files as people have them: read right, or refused with a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ugly.__main__ import outcome
from benchmarks.ugly.cases import Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_outcome(case: Case, tmp_path: Path) -> None:
    is_right, said = outcome(case, tmp_path)
    assert is_right, said
