"""Builds that do not fit are never loaded: another version, damaged, other structs."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import outlying
from outlying.kernel import build, tally
from outlying.kernel.library import Kernel, UnfitBuildError

PACKAGE = Path(outlying.__file__).parent


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the present source."""
    try:
        return build.compile_to(tmp_path_factory.mktemp("made") / "kernel.so", ("-O0",))
    except build.BuildError as error:
        pytest.skip(str(error))


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """The same build with its record, to be spoilt."""
    for path in (made, build.record_of(made)):
        shutil.copy(path, tmp_path)
    return tmp_path / made.name


def record(path: Path, identity: str) -> None:
    """Record the bytes of a build, whatever they are."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    build.record_of(path).write_text(f"{found} {identity}\n")


def test_a_build_of_this_code_is_loaded(copy: Path) -> None:
    assert Kernel("generic", copy).level() >= 0


@pytest.mark.parametrize("kept", [0, 100, 0.5, 0.99])
def test_half_a_build_is_not_loaded(copy: Path, kept: float) -> None:
    whole = copy.read_bytes()
    copy.write_bytes(whole[: int(kept if kept >= 1 else kept * len(whole))])
    with pytest.raises(UnfitBuildError, match="damaged"):
        Kernel("generic", copy)


def test_a_build_without_record_is_not_loaded(copy: Path) -> None:
    build.record_of(copy).unlink()
    with pytest.raises(UnfitBuildError, match="no record"):
        Kernel("generic", copy)
    build.record_of(copy).write_bytes(b"\xff\xfe")
    with pytest.raises(UnfitBuildError, match="no record"):
        Kernel("generic", copy)


def test_a_build_of_other_code_is_not_loaded(copy: Path) -> None:
    record(copy, "0.0.9 0123456789abcdef")
    with pytest.raises(UnfitBuildError, match="other code"):
        Kernel("generic", copy)


def test_a_build_that_says_another_version_is_not_loaded(made: Path, tmp_path: Path) -> None:
    flags = ("-O0", "-UIDENTITY", '-DIDENTITY="0.0.9 0123456789abcdef"')
    path = build.compile_to(tmp_path / made.name, flags)
    with pytest.raises(UnfitBuildError, match="other code"):
        Kernel("generic", path)


def test_a_library_that_says_nothing_is_not_loaded(made: Path, tmp_path: Path) -> None:
    source = tmp_path / "other.c"
    source.write_text("int kernel_level(void) { return 3; }\n")
    path = tmp_path / made.name
    command = [*build.compiler(), "-shared", "-fPIC", "-o", str(path), str(source)]
    subprocess.run(command, check=True)
    record(path, build.identity())
    with pytest.raises(UnfitBuildError, match="lacks a symbol"):
        Kernel("generic", path)


def test_what_is_no_library_is_not_loaded(copy: Path) -> None:
    copy.write_text("no library")
    record(copy, build.identity())
    with pytest.raises(UnfitBuildError, match="another system"):
        Kernel("generic", copy)


def test_structs_of_other_sizes_are_not_passed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {struct: ctypes.sizeof(struct) + 8 for struct in (tally.TallyStruct,)}
    monkeypatch.setattr(ctypes, "sizeof", sizes.get)
    with pytest.raises(UnfitBuildError, match="struct tally has another size"):
        Kernel("generic", copy)


def test_all_structs_are_compared() -> None:
    """A struct that is declared elsewhere would be passed without having been compared."""
    texts = {path.name: path.read_text() for path in (PACKAGE / "kernel").glob("*.py")}
    assert [name for name, text in texts.items() if "ctypes.Structure" in text] == ["library.py"]


def test_unfit_builds_are_made_anew(tmp_path: Path) -> None:
    if build.BUILDS.exists():
        shutil.copytree(build.BUILDS, tmp_path, dirs_exist_ok=True)
    try:
        paths = build.built(tmp_path)
    except build.BuildError as error:
        pytest.skip(str(error))
    whole = paths[0].read_bytes()
    paths[0].write_bytes(whole[:5000])
    assert build.built(tmp_path) == paths
    assert build.fault_of(paths[0]) is None


@pytest.mark.parametrize("spoil", ["truncated", "older"])
def test_without_a_fitting_build_numpy_serves(tmp_path: Path, spoil: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "outlying", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "outlying" / "kernel"
    paths = [*folder.glob("builds/*.so")]
    if not paths:
        pytest.skip("nothing was compiled: python -m outlying.kernel")
    for path in paths if spoil == "truncated" else ():
        path.write_bytes(path.read_bytes()[:20_000])
    if spoil == "older":
        (folder / "sweep.c").write_text("/* newer */\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    environment.pop("OUTLYING_KERNEL", None)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "outlying", *arguments]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    reason = {"truncated": "it is damaged", "older": "it was made of other code than this"}[spoil]
    assert f"kernel: NumPy; the compiled one is not used: {reason};" in run("--version")
    (tmp_path / "t.csv").write_text("x\n" + "1\n2\n3\n" * 10 + "90\n")
    assert "x = 90" in run("explain", "t.csv", "--row", "31")
