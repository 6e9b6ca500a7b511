"""Whatever holds a table: read into typed columns, or fed batch by batch to passes.

`registry` recognises data and names the module that reads them: into memory as a
`table.table.Table` (arrays, frames, files), or as a stream, a `passes.Feeder` (files, duckdb,
databases, lazy_frames, spark). What the types of each system become is told in `types`, one module
for each; the rules that all share are in `columns`. The formats of files are csv, json, parquet
and what Arrow reads (arrow); `decoding`, `copies` and `remote` make files
of what arrives otherwise.

This package is the only place that knows of files, engines and dataframe libraries. They are
imported inside the functions that need them: `import outlying` loads none of them, and a user of
one library needs no other. Imports from `table`, `options` and `errors` only.
"""

from outlying.sources.registry import read

__all__ = ["read"]
