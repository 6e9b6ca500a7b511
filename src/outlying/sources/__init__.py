"""Whatever holds a table: read into typed columns, or fed batch by batch to passes.

`registry` recognises data and names the module that reads them. Each source yields Arrow record
batches: collected, they are a `table.table.Table`; a larger table is a `passes.Feeder`, which
passes are folded over, here or on a cluster (`spark`).

No other package knows of files, engines and dataframe libraries. Arrow is loaded when it is first
used (`parsing.pa`), all others inside the functions that need them: `import outlying` loads none.
"""

from outlying.sources.registry import read

__all__ = ["read"]
