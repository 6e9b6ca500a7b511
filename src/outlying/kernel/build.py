"""Compile the kernel with the system's C compiler: `python -m outlying.kernel`.

On x86-64 Linux there are three builds, the best of which is chosen at load; elsewhere one.
None of them may reorder or fuse operations: results do not depend on the build. Every build says
which version and source it was made of, and a record beside it what its bytes are: what is older,
damaged or of another hand is never loaded. Nothing of the
package is imported here, so that the installation can run this, too; and nothing that takes time,
as names are asked for whenever a build is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

#: Nowhere, where modules were sent to another machine as text.
FOLDER = Path(__file__).parent if "__file__" in globals() else Path(os.devnull)
BUILDS = FOLDER / "builds"  # not beside the modules: they are no extension modules
GENERIC = "generic"
#: Builds for x86-64, and the level of processor that they need.
LEVELS = {"x86-64-v2": 2, "x86-64-v3": 3, "x86-64-v4": 4}
#: The last one counts bits of several words at once.
_MORE = {"x86-64-v4": ("-mavx512vpopcntdq", "-mprefer-vector-width=512")}
#: No operation is reordered or fused; nobody looks at flags or traps of the processor.
_EXACT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
FLAGS = ("-std=c11", "-O3", *_EXACT, "-fPIC", "-shared")
SANITIZED = ("-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined")


class BuildError(Exception):
    """There is no compiler, or it failed."""


def main(folder: Path = BUILDS) -> int:
    """Compile, or say why not."""
    try:
        for path in built(folder):
            sys.stdout.write(f"{path}\n")
    except BuildError as error:
        sys.stderr.write(f"the kernel was not compiled: {error}\n")
        return 1
    return 0


def built(folder: Path = BUILDS) -> list[Path]:
    """Return all builds for this system, made anew where they are not of this source.

    Old compilers do not know the levels of x86-64: then there is one build.
    """
    try:
        return [_made(name, folder) for name in names()]
    except BuildError:
        if names() == (GENERIC,):
            raise
        return [_made(GENERIC, folder)]


def names() -> tuple[str, ...]:
    """Return the builds that this system gets."""
    import sysconfig

    return tuple(LEVELS) if sysconfig.get_platform() == "linux-x86_64" else (GENERIC,)


def path_of(name: str, folder: Path = BUILDS) -> Path:
    """Return where a build is, with the platform in its name."""
    import sysconfig

    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return folder / f"kernel_{platform}_{name}{'.dll' if os.name == 'nt' else '.so'}"


def identity() -> str:
    """Return the version of the package and a hash of its C code, of which a build is made."""
    import hashlib
    import re

    version = re.search(r'^__version__ = "(.+)"', (FOLDER.parent / "__init__.py").read_text(), re.M)
    code = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.[ch]")):
        code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{version[1] if version else 'unknown'} {code.hexdigest()[:16]}"


def record_of(path: Path) -> Path:
    """Return where it is recorded what the bytes of a build are, and of which code."""
    return path.with_name(f"{path.name}.sha256")


def fault_of(path: Path) -> str | None:
    """Say what is wrong with a build that is there, from its bytes; None: nothing."""
    try:
        recorded = record_of(path).read_text().strip()
        if recorded == _record(path):
            return None
    except (OSError, UnicodeDecodeError):
        return "it has no record beside it"
    is_current = recorded.endswith(f" {identity()}")
    return "it is damaged" if is_current else "it was made of other code than this"


def _record(path: Path) -> str:
    import hashlib

    return f"{hashlib.sha256(path.read_bytes()).hexdigest()} {identity()}"


def compiler() -> list[str]:
    """Return the command of the C compiler."""
    import shlex
    import shutil

    own = os.environ.get("CC", "")
    if own:
        return shlex.split(own)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise BuildError("there is no C compiler (cc, gcc, clang); CC can name one")


def compile_to(path: Path, flags: Sequence[str]) -> Path:
    """Compile the source; the file appears whole or not at all, and is not taken unrecorded."""
    import subprocess
    import tempfile

    command = compiler()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".kernel-") as folder:
        made = Path(folder) / path.name
        named = f'-DIDENTITY="{identity()}"'
        sources = map(str, sorted(FOLDER.glob("*.c")))
        arguments = [*command, *FLAGS, named, *flags, "-o", str(made), *sources, "-lm"]
        try:
            run = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be run: {error}") from error
        if run.returncode:
            raise BuildError(f"{' '.join(command)} failed: {run.stderr.strip()}")
        record = _record(made)
        made.replace(path)
        record_of(made).write_text(f"{record}\n")
        record_of(made).replace(record_of(path))
    return path


def _made(name: str, folder: Path) -> Path:
    path = path_of(name, folder)
    if path.exists() and fault_of(path) is None:
        return path
    return compile_to(path, flags_of(name))


def flags_of(name: str) -> tuple[str, ...]:
    """Return what the compiler is told of the processor that a build is for."""
    return () if name == GENERIC else (f"-march={name}", *_MORE.get(name, ()))
