"""The recipes of docs/recipes.md, as they stand there: scripts, workflows, hooks, commands."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import outlying
from tests.conftest import Run
from tests.tools import tool

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "recipes.md").read_text("utf-8")
ROLES = [path.read_text("utf-8") for path in sorted((ROOT / "docs" / "roles").glob("*.md"))]
#: Commands that find something, which is no error.
FINDS = {"outlying check tonight.csv --against base.outlying --max-exceptional 1%": 1}


def blocks(kind: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    found = [block for page in (PAGE, *ROLES) for block in blocks("console", page)]
    lines = [line.removeprefix("$ ") for block in found for line in block.splitlines()]
    return [line for line in lines if line.startswith("outlying")]


def rows(seed: int, count: int) -> pd.DataFrame:
    """Return readings of six things in two places, of which three are wrong in their own way."""
    rng = np.random.default_rng(seed)
    thing = np.arange(count) % 6
    city = np.where(thing < 3, "Oslo", "Rome")
    heat = np.where(thing < 3, 5.0, 20.0) + rng.normal(0, 1.5, count)
    at = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(count) // 6, "h")
    flag = (city == "Oslo") & (rng.random(count) < 0.4)
    wind = rng.gamma(2, 3, count)
    named = {"id": [f"P{place + 1}" for place in range(count)], "thing": [f"t{k}" for k in thing]}
    return pd.DataFrame(named | {"at": at, "city": city, "heat": heat, "wind": wind, "flag": flag})


@pytest.fixture(scope="module")
def tables() -> dict[str, str]:
    """Return what the recipes read, by name: tables in CSV, and the good and bad nights."""
    base, night = (rows(*size).drop(columns="flag") for size in ((1, 300), (2, 120)))
    night["at"] += pd.Timedelta("30D")
    wrong = night.copy()
    wrong.loc[[7, 11, 20], "heat"] = [99.0, -70.0, 480.0]
    panel = rows(3, 180)
    panel.loc[7, "heat"] = 99.0
    renamed = {
        "payments": {"thing": "account", "heat": "amount", "flag": "fraud"},
        "sensors": {"thing": "sensor"},
        "measurements": {"city": "station"},
        "predictions": {"flag": "wrong"},
        "train": {},
    }
    found = {name: panel.rename(columns=names) for name, names in renamed.items()}
    found |= {
        "test": rows(4, 120),
        "base": base,
        "clean": night,
        "bad": wrong,
        "cut": night.drop(columns="wind"),
    }
    return {name: frame.to_csv(index=False, float_format="%.2f") for name, frame in found.items()}


@pytest.fixture(scope="module")
def model(tables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("model")
    (folder / "base.csv").write_text(tables["base"])
    outlying.Explainer(folder / "base.csv").save(folder / "base.outlying")
    return (folder / "base.outlying").read_bytes()


@pytest.fixture
def night(tables: dict[str, str], model: bytes) -> Callable[[Path, str], None]:
    """Return what writes the model and a night of a kind into a folder."""

    def write(folder: Path, kind: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "base.outlying").write_bytes(model)
        (folder / "tonight.csv").write_text(tables[kind])

    return write


def bash(folder: Path, script: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a script where `outlying` is this one, and `pip` does nothing."""
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    for name, said in (("outlying", f'exec "{sys.executable}" -m outlying "$@"'), ("pip", ":")):
        (tools / name).write_text(f"#!/bin/sh\n{said}\n")
        (tools / name).chmod(stat.S_IRWXU)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    call = ["bash", "-c", script, "bash", *words]
    env = os.environ | {"PATH": path, "PYTHONUTF8": "1"} | env
    return subprocess.run(call, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("kind", "code", "place"),
    [("clean", 0, "passed"), ("bad", 1, "held"), ("cut", 3, "held"), ("none", 2, None)],
)
def test_cron(
    tmp_path: Path, night: Callable[[Path, str], None], kind: str, code: int, place: str | None
) -> None:
    night(tmp_path, "clean" if kind == "none" else kind)
    if kind == "none":
        (tmp_path / "base.outlying").unlink()
    script = tmp_path / "nightly.sh"
    script.write_text(blocks("bash")[0])
    script.chmod(stat.S_IRWXU)
    *times, line = blocks("crontab")[0].strip().split(" ", 5)
    assert len(times) == 5
    if kind in ("cut", "none"):
        done = bash(tmp_path, "./nightly.sh tonight.csv > nightly.log 2>&1")
        assert done.returncode == code
    else:
        done = bash(tmp_path, line.replace("/srv/orders", shlex.quote(str(tmp_path))))
        assert (done.stdout == "") == (code == 0)
    log = (tmp_path / "nightly.log").read_text()
    assert done.stderr == ""
    assert log.endswith(done.stdout)
    left = tmp_path / "tonight.csv"
    assert (left if place is None else tmp_path / place / "tonight.csv").is_file()
    assert left.exists() == (place is None)
    assert (tmp_path / "held" / "odd-tonight.csv").exists() == (code == 1)
    said = {0: "clean: 0 of 120", 1: "findings: 3 of 120", 2: "could not run", 3: "wind"}
    assert said[code] in log


@pytest.mark.parametrize(("kind", "code"), [("clean", 0), ("bad", 1)])
def test_the_action(
    tmp_path: Path, night: Callable[[Path, str], None], kind: str, code: int
) -> None:
    night(tmp_path / "data", kind)
    action = yaml.safe_load(next(block for block in blocks("yaml") if "runs-on" in block))
    assert action[True] == {"push": {"paths": ["data/**"]}}  # YAML 1.1 reads `on` as true
    summary = tmp_path / "summary.md"
    codes: list[int] = []
    said = ""
    for step in action["jobs"]["outlying"]["steps"]:
        if "uses" in step or (step.get("if") == "failure()" and not any(codes)):
            continue
        done = bash(tmp_path, f"set -e\n{step['run']}", GITHUB_STEP_SUMMARY=str(summary))
        codes.append(0 if step.get("continue-on-error") else done.returncode)
        said += done.stdout
        assert done.stderr == ""
    assert max(codes) == code
    assert said.count("::error ") == (4 if code else 0)
    assert ("::notice " in said) == (code == 0)
    assert summary.exists() == bool(code)
    assert not code or "P8" in summary.read_text()


@pytest.mark.parametrize(("kind", "code"), [("clean", 0), ("bad", 1)])
def test_the_hook(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    night: Callable[[Path, str], None],
    kind: str,
    code: int,
) -> None:
    night(tmp_path / "data", kind)
    monkeypatch.chdir(tmp_path)
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    known = {hook["id"]: hook for hook in hooks}
    config = yaml.safe_load(next(block for block in blocks("yaml") if "repos:" in block))
    (used,) = config["repos"][0]["hooks"]
    assert re.search(used["files"], "data/tonight.csv")
    hook = known[used["id"]]
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    name, *words = shlex.split(hook["entry"])
    assert name == "outlying"
    assert run(*words, *used["args"])[0] == code


def test_the_hook_in_pre_commit(tmp_path: Path, night: Callable[[Path, str], None]) -> None:
    pre_commit = shlex.quote(tool("pre-commit"))
    night(tmp_path / "data", "bad")
    manifest = ROOT / ".pre-commit-hooks.yaml"
    (hook,) = yaml.safe_load(manifest.read_text("utf-8"))
    config = yaml.safe_load(next(block for block in blocks("yaml") if "repos:" in block))
    page = tmp_path / "page.yaml"
    page.write_text(yaml.safe_dump(config))
    used = hook | config["repos"][0]["hooks"][0] | {"language": "system"}
    (tmp_path / ".pre-commit-config.yaml").write_text(
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": [used]}]})
    )
    done = bash(tmp_path, f"{pre_commit} validate-manifest {shlex.quote(str(manifest))}")
    assert done.returncode == 0, done.stdout
    done = bash(tmp_path, f"{pre_commit} validate-config page.yaml")
    assert done.returncode == 0, done.stdout
    script = f"git init -q . && git add data && {pre_commit} run"
    done = bash(tmp_path, script, PRE_COMMIT_HOME=str(tmp_path / ".cache"))
    assert done.returncode == 1
    assert "findings: 3 of 120" in done.stdout


def asset_check() -> str:
    return next(block for block in blocks("python") if "dagster" in block)


@pytest.mark.parametrize(("kind", "passed"), [("clean", True), ("bad", False), ("cut", None)])
def test_the_asset_check(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    night: Callable[[Path, str], None],
    kind: str,
    passed: bool | None,
) -> None:
    """Its body, without the orchestrator."""
    night(tmp_path, kind)
    monkeypatch.chdir(tmp_path)
    stand_in: Any = types.ModuleType("dagster")
    stand_in.asset_check = lambda **_: lambda function: function
    stand_in.AssetCheckResult = types.SimpleNamespace
    monkeypatch.setitem(sys.modules, "dagster", stand_in)
    space: dict[str, Any] = {}
    exec(asset_check(), space)  # noqa: S102 - the page is ours
    if passed is None:
        with pytest.raises(ValueError, match=r"cannot be judged: .*wind"):
            space["orders_are_ordinary"]()
        return
    found = space["orders_are_ordinary"]()
    assert found.passed is passed
    assert found.metadata["exceptional"] == (0 if passed else 3)
    assert passed or "P8" in found.metadata["report"]


def test_the_asset_check_in_dagster(tmp_path: Path, night: Callable[[Path, str], None]) -> None:
    python = tool("python")
    body = "found = orders_are_ordinary()\n    print(found.passed, found.description)\n"
    each = f"\nimport os\nfor kind in ('clean', '../bad'):\n    os.chdir(kind)\n    {body}"
    (tmp_path / "asset.py").write_text(asset_check() + each)
    for kind in ("clean", "bad"):
        night(tmp_path / kind, kind)
    call = [python, "-W", "ignore", "asset.py"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search("True tonight.csv: clean.*False tonight.csv: find", done.stdout, re.DOTALL)


def test_commands(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tables: dict[str, str],
) -> None:
    """All of them, in their order, as each may need what one before has written."""
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, content in tables.items():
        Path(f"{name}.csv").write_text(content)
    Path("tonight.csv").write_text(tables["bad"])
    assert len(commands()) > 15
    for command in commands():
        _, *words = shlex.split(command)
        code, out, err = run(*words)
        assert code == FINDS.get(command, 1 if words[0] == "check" and "junit" in words else 0), (
            f"{command}\n{out}{err}"
        )
        file = words[words.index("-o") + 1] if "-o" in words else None
        assert out if file is None else Path(file).stat().st_size, command
    assert "1 more accepted" in Path("check.xml").read_text()
