"""DuckDB: a private engine for files, and relations that feed passes."""
