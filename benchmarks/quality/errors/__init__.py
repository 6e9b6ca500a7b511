"""Wrong cells as people make them, planted one at a time or in batches, and who finds them.

for case in benchmarks.quality.errors.cases(half="choose", seed=0):
    case.table, case.row, case.column, case.kind, case.name
"""

from benchmarks.quality.errors.copies import ErrorCase, batch, cases, clean, copy

__all__ = ["ErrorCase", "batch", "cases", "clean", "copy"]
