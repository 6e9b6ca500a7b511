"""From the evidence against a row to what is told of it (method 5c to 5e).

A property that does not fit the other columns is told in the context in which it does not; one
whose value lies outside, in the group in which it does. Where nothing counts, what is most
surprising in its whole column is given instead, so that there is always an answer.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from outlying.method.measure import MUCH_STRONGER
from outlying.search.model import Evidence, joined
from outlying.search.outside import MISFIT
from outlying.search.scoring import Context
from outlying.table.columns import Mask, Rows


class Claim(NamedTuple):
    """A property of the model that is odd in a context of conditions of the model."""

    property: int
    context: Context
    strength: float


class Claims(NamedTuple):
    """What is to be told of a row: what was found, and the surprise of each property."""

    found: tuple[Claim, ...]
    surprise: tuple[tuple[int, float], ...]  # property and ln rarity, the rarest first


def taken(evidence: Evidence, rows: Rows) -> Evidence:
    """Return the evidence against some rows."""
    fields = (field.name for field in dataclasses.fields(Evidence))
    return Evidence(*(getattr(evidence, name)[rows] for name in fields))


def claims(evidence: Evidence) -> list[Claims]:
    """Return what is to be told of each row."""
    return [_claims(evidence, row) for row in range(len(evidence.outside))]


def _claims(evidence: Evidence, row: int) -> Claims:
    surprise = evidence.surprise[row]
    outside = np.maximum(evidence.outside[row], 0.0)  # less than 0: not outside at all
    misfit = np.maximum(evidence.misfit[row], 0.0)
    strongest = joined(outside, misfit)
    found: dict[tuple[int, Context], Claim] = {}
    for place in np.flatnonzero(outside + misfit > 0).tolist():
        parts = []
        if misfit[place] > 0:
            own = evidence.contexts[row, place]
            parts.append((float(misfit[place]), tuple(sorted(own[own >= 0].tolist()))))
        if outside[place] > 0:
            parts.append((float(outside[place]), _group(evidence, row, place)))
        # The stronger part tells of all that counts; where a value is not much rarer than in its
        # whole column, it needs no context.
        if outside[place] > misfit[place] or surprise[place] + MUCH_STRONGER >= misfit[place]:
            parts.reverse()
        strengths = [float(strongest[place]), parts[-1][0]]
        for strength, (_, context) in zip(strengths, parts, strict=False):
            found.setdefault((place, context), Claim(place, context, strength))
    order = np.argsort(-surprise, kind="stable")
    order = order[surprise[order] > 0]
    rarest = zip(order.tolist(), surprise[order].tolist(), strict=True)
    return Claims(tuple(found.values()), tuple(rarest))


def _group(evidence: Evidence, row: int, place: int) -> Context:
    """Return the group in which a value lies outside: what explains some of it, first of all."""
    if evidence.explained[row, place] < 0 and evidence.group[row, place] == MISFIT:
        own = evidence.contexts[row, place]
        return tuple(sorted(own[own >= 0].tolist()))
    named = evidence.explained[row, place], evidence.group[row, place]
    return next(((int(item),) for item in named if item >= 0), ())


def interleaved(is_first: Mask, first: Evidence, second: Evidence) -> Evidence:
    """Return the evidence against rows of which some are in one place, and some in another."""
    order = np.argsort(np.concatenate([np.flatnonzero(is_first), np.flatnonzero(~is_first)]))
    names = [field.name for field in dataclasses.fields(Evidence)]
    both = ((getattr(first, name), getattr(second, name)) for name in names)
    return Evidence(*(np.concatenate(parts)[order] for parts in both))
