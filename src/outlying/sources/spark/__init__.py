"""Tables of Apache Spark: every pass runs on the executors, and only one state comes back."""

from outlying.sources.spark.feeder import SparkFeeder
from outlying.sources.spark.session import connected

__all__ = ["SparkFeeder", "connected"]
