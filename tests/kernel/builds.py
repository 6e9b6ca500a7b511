"""What the tests of compiled code share: how much is tried, and which builds there are."""

from __future__ import annotations

import os

SANITIZED = "OUTLYING_TEST_SANITIZED"
PORTABLE = "portable"  # without instructions of x86
LESS = 20 if os.environ.get(SANITIZED) else 1  # such a build is slow
