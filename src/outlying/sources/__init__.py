"""Whatever holds a table: read into typed columns, or fed batch by batch to passes.

`registry` recognises data and names the module that reads them. Each source yields Arrow record
batches: collected, they are a `table.table.Table`; a larger table is a `passes.Feeder`, which
passes are folded over, here or on a cluster (`spark`). `arrow_arrays` says what Arrow's types mean,
`columns` makes columns of them, `recognise` turns errors of other libraries into ours. `csv`,
`json`, `excel`, `parquet` and `arrow_files` are formats of files; `files`, `copies` and `remote`
find them, and make files of what arrives otherwise; `duckdb`, `databases`, `lazy` (lakes, queries)
and `frames` are the other places where tables are.

This package is the only place that knows of files, engines and dataframe libraries. Arrow is loaded
when it is first used (`parsing.pa`), all others inside the functions that need them: `import
outlying` loads none of them, and a user of one library needs no other. Imports from `parsing`,
`table`, `options` and `errors` only.
"""

from outlying.sources.registry import read

__all__ = ["read"]
