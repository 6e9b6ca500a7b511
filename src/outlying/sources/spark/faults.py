"""Errors of Spark in plain words: what went wrong, and what to try."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from outlying.errors import MissingExtraError, OutlyingError, SourceError

_LIBRARIES = {"pyspark", "py4j", "grpc"}
_PYTHON = "install it there, or set PYSPARK_PYTHON to a Python that has outlying[spark]"
#: What Spark's text holds, and what is said instead; groups of the pattern fill the braces.
_WORDS = (
    (r"Permission denied: (user.+)", "permission denied ({0}); ask for the right to read it"),
    (r"(\S+?):? \(?Permission denied", "permission denied for {0}; ask for the right to read it"),
    (
        r"TABLE_OR_VIEW_NOT_FOUND",
        "Spark's catalog has no such table; check its name, which may need a schema in front "
        "(schema.table); a path needs a slash in it or an ending such as .parquet",
    ),
    (
        r"PATH_NOT_FOUND\] Path does not exist: (\S+?)\.?(?:\s|$)",
        "there is nothing at {0}; a cluster must find files under the same path on all machines",
    ),
    (
        r"UNABLE_TO_INFER_SCHEMA",
        "there is no file to read; give a folder that holds Parquet files, or one file",
    ),
    (
        r"PARSE_SYNTAX_ERROR",
        "this is no name of a table for Spark; put names with odd characters in backticks, "
        "as in schema.`my table`",
    ),
    (
        r"UNRESOLVED_COLUMN\S* .*?with name (.+?) cannot",
        "there is no column {0} any more; the table has changed, read it again",
    ),
    (
        r"while reading file (\S+?)\.? Could not read footer",
        "{0} is not a Parquet file, or it is damaged",
    ),
    (r"(\S+) is not a Parquet file", "{0} is not a Parquet file, or it is damaged"),
    (
        r"(?:FILE_NOT_EXIST\] \D*?reading file|SparkFileNotFoundException: File) (\S+?)\.?\s",
        "{0} is gone since the table was first looked at, or an executor cannot see it; "
        "read the table again, from a place that all machines share",
    ),
    (
        r"Python in worker has different version:? \(?([\d., ]+?)\)? than that in driver:? "
        r"([\d.]+)",
        "executors run Python {0}, but this is Python {1}; set PYSPARK_PYTHON to a Python of the "
        "same version on all machines",
    ),
    (
        r"No module named '(pyarrow|numpy|pandas|outlying)",
        "Python on the executors has no {0}; " + _PYTHON,
    ),
    (
        r"executors have outlying (\S+), not (\S+)",
        "executors have outlying {0}, but this is {1}; install the same version on all machines",
    ),
    (
        r"PACKAGE_NOT_INSTALLED\] (\w+)",
        "Python on the executors has no {0} that is new enough; " + _PYTHON,
    ),
    (r'Cannot run program "(.*?)"', "executors have no Python called {0}; " + _PYTHON),
    (
        r"spark\.driver\.maxResultSize",
        "the result is larger than the driver may receive; raise spark.driver.maxResultSize",
    ),
    (
        r"JAVA_GATEWAY_EXITED",
        "Java could not start Spark; Spark 4 needs Java 17 or later "
        "(on Debian: apt-get install openjdk-17-jre-headless)",
    ),
    (
        r"stopped SparkContext",
        "the session has ended; either it was stopped, or nothing at the address answers as a "
        "Spark master of the same version",
    ),
    (
        r"All masters are unresponsive|StatusCode\.UNAVAILABLE",
        "Spark does not answer; check the address, and that Spark has the same version there",
    ),
    (
        r"(?i)job group \S+ cancelled|\S* cancelled part of|OPERATION_CANCELED",
        "Spark's work was cancelled",
    ),
    (
        r"Answer from Java side is empty|Error while sending or receiving|Connection refused",
        "the connection to Spark is lost; start a new session",
    ),
)


@contextmanager
def plain_errors(source: str) -> Iterator[None]:
    """Turn errors of Spark into ours, without the stack traces of Java in them."""
    try:
        yield
    except OutlyingError:
        raise
    except Exception as error:
        if type(error).__module__.split(".")[0] not in _LIBRARIES:
            raise
        if isinstance(error, ImportError):
            raise MissingExtraError("Spark", "spark") from None
        raise SourceError(f"{source}: {words(str(error))}") from None


def words(text: str) -> str:
    """Say in plain words what a text of Spark says; what is unknown keeps its useful line."""
    for pattern, said in _WORDS:
        found = re.search(pattern, text)
        if found is not None:
            return said.format(*(re.sub(r"(\d), (\d)", r"\1.\2", it) for it in found.groups()))
    return f"Spark cannot read it: {reason(text)}"


def reason(text: str) -> str:
    """Return the line that tells most: the end of Python's traceback, or Java's first cause."""
    python = re.search(r"Traceback .*?^(\w[\w.]*: .*?)$", text, re.MULTILINE | re.DOTALL)
    if python is not None:
        return python[1]
    lines = [line.strip(": ") for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    first = [line for line in lines if not line.startswith("An error occurred while calling")]
    return _bare((causes[-1:] or first or ["no reason is given"])[0])


def _bare(line: str) -> str:
    """Leave out where it happened, classes of Java and codes."""
    line = re.sub(r"^.*: Lost task .*?\(TID \d+\) \(.*?\): ", "", line)
    line = re.sub(r"^(?:Caused by: )?(?:[\w$]+\.)+[\w$]+: ", "", line)
    return re.sub(r"^\[[\w.]+\] | ?SQLSTATE: \w+;?$", "", line)
