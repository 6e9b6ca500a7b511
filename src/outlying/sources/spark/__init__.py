"""Tables of Apache Spark: every pass runs on the executors, and only one state comes back."""

from typing import Any

from outlying.sources.spark.feeder import SparkFeeder
from outlying.sources.spark.session import connected

__all__ = ["SparkFeeder", "connected", "stream"]


def stream(data: Any) -> SparkFeeder:
    """Feed from a Spark DataFrame, or from the address of a table on a cluster."""
    return connected(data) if isinstance(data, str) else SparkFeeder(data)
