"""What the types of each system become: one module for each system.

Each says of a type which form its values have, or what they are that cannot be compared, and how
they get out: an array that becomes a column (numpy, python, narwhals, text, and duckdb in memory),
or SQL or an expression whose Arrow batches are streamed (duckdb, postgres, sqlite, polars, spark),
which `arrow` reads.
"""
