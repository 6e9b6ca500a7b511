"""What an interrupt does while the command line is loaded: it ends it without a traceback.

`outlying` imports this module before all others, as loading them takes most of the time before a
command begins. Where the package is imported by other programs, nothing is changed.
"""

from __future__ import annotations

import os
import signal
import sys


def is_command() -> bool:
    """Return whether this process was started as `outlying` or as `python -m outlying`."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # as long as the package is looked for
        return ("-m", "outlying") in zip(sys.orig_argv, sys.orig_argv[1:], strict=False)
    name, _ = os.path.splitext(os.path.basename(program))  # noqa: PTH119, PTH122 (pathlib is slow)
    return name == "outlying" and program in sys.orig_argv


def begin() -> None:
    """Let interrupts end the process as the system does, unless they are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish() -> None:
    """Let interrupts be raised again, so that a command can clean up."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_command():
    begin()
