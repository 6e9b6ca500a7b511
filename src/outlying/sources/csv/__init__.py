"""CSV and TSV files, read by DuckDB with its guessing kept within bounds."""
