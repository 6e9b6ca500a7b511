"""What passes over large tables count, by compiled code or by NumPy: the same whole numbers."""

from __future__ import annotations

import numpy as np

from outlying.kernel.library import Places, compiled

#: A count of all places pays for at least a share of 1/2 as many codes.
_FEW = 2


def count_codes(codes: Places, counts: Places, rows: Places | None = None) -> None:
    """Count whole numbers, all or those of some rows, each in its place of a contiguous array."""
    kernel = compiled()
    if rows is not None and (kernel is None or codes.dtype != np.int64):
        codes, rows = codes.take(rows), None
    if kernel is None:
        if len(codes) * _FEW < len(counts):
            np.add.at(counts, codes, 1)
        else:
            counts += np.bincount(codes, minlength=len(counts))
        return
    own = codes.astype(np.int64, copy=False)
    if rows is None:
        beyond = kernel("count_codes", own, len(own), counts, len(counts))
    else:
        some = rows.astype(np.int64, copy=False)
        beyond = kernel("count_codes_of", own, some, len(some), counts, len(counts))
    if beyond:
        raise IndexError("a code has no place")
