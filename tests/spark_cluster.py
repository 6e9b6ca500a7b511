"""Real Spark for tests: Python for its executors, and a cluster of processes on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOON_READY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for Java that does little


def require_java() -> None:
    """Skip where Spark cannot run."""
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java (scripts/test installs it where that is allowed)")


def executable(path: Path, script: str) -> str:
    """Write a shell script that can be run."""
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def bare_python(path: Path, *before: Path) -> str:
    """Make a Python for executors that finds packages in some folders before any others."""
    libraries = ":".join(map(str, [*before, sysconfig.get_path("purelib"), ROOT, ROOT / "src"]))
    return executable(path, f'PYTHONPATH="{libraries}" exec "{sys.executable}" -S "$@"')


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A standalone master, and workers with one core each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.master = self._start("master.Master", "--port", str(self.port))
        self._wait_for("master.Master-0", "I have been elected leader")

    def add_worker(self) -> None:
        """Start one more worker, and wait until the master knows it."""
        number = len(self.workers)
        given = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / "work"))
        self.workers.append(self._start("worker.Worker", *given, self.url, number=number))
        self._wait_for(f"worker.Worker-{number}", "Successfully registered with master")

    def kill_worker(self, number: int) -> None:
        """Kill a worker by its process id, with the executors it has started."""
        _kill(self.workers[number])

    def stop(self) -> None:
        """End every process."""
        for process in [*self.workers, self.master]:
            _kill(process)

    def _start(self, role: str, *given: str, number: int = 0) -> subprocess.Popen[bytes]:
        import pyspark

        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}"]
        own = ["--host", "127.0.0.1", "--webui-port", "0"]
        settings = {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
        settings["JDK_JAVA_OPTIONS"] = SOON_READY
        with (self.folder / f"{role}-{number}.log").open("wb") as log:
            return subprocess.Popen(
                [*command, *own, *given],
                stdout=log,
                stderr=log,
                env=os.environ | settings | {"SPARK_LOCAL_IP": "127.0.0.1"},
                start_new_session=True,
            )

    def _wait_for(self, log: str, words: str) -> None:
        path = self.folder / f"{log}.log"
        until = time.monotonic() + 60
        while words not in path.read_text(encoding="utf-8", errors="replace"):
            assert time.monotonic() < until, path.read_text(encoding="utf-8", errors="replace")
            time.sleep(0.1)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


@contextlib.contextmanager
def running_cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Run a cluster for a while; all its processes end, whatever happens."""
    require_java()
    cluster = Cluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()


def stop_spark() -> None:
    """Stop the session of this process, if there is one."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()
