"""Parquet files, read by DuckDB, or by Arrow itself where both agree on the types."""
