"""Which of the screened contexts of a property may be reported: by their estimates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outlying.search import limits
from outlying.search.contexts import lengths
from outlying.search.minimality import ReportedContexts
from outlying.search.screen.bitsets import Places
from outlying.search.screening import Asked, ScreenedProperty
from outlying.table.columns import Mask


class Reporting:
    """Which of the screened contexts of a property may be reported, for several objects at once.

    Where a sample or a quick search decides, those that reach the threshold by their estimates;
    otherwise all that may, as the strongest are computed exactly in the end.
    """

    def __init__(self, asked: Sequence[Asked], some: ScreenedProperty, quick: bool) -> None:
        self.scored = some.scored
        #: The object of each context.
        self.objects: Places = np.repeat(
            some.objects, [here.stop - here.start for here in some.slices]
        )
        self.needed, sample = asked[0].needed, asked[0].sample
        self.is_exact = some.histogram.is_exact and sample.is_whole
        decides = quick or not sample.is_whole or self.is_exact
        #: Rarities from which on a context may reach the threshold, and surely does.
        self.possibly = self.needed * (1 - limits.SAME_RARITY if decides else 1 / limits.MARGIN)
        self.surely = self.needed * (1 - limits.SAME_RARITY if decides else limits.MARGIN)
        self.base = max(len(asked), *(len(asked[number].contexts.own) for number in some.objects))

    def counts(self) -> Mask:
        """Note which contexts reach the threshold and may be reported, shorter ones first."""
        scored, counts = self.scored, np.zeros(len(self.objects), dtype=bool)
        slip = limits.SAME_STRENGTH if self.is_exact else limits.SLIP
        chosen = ReportedContexts(self.base, slip)
        close = np.flatnonzero(scored.rarity >= self.needed / limits.MARGIN)
        conditions = lengths(scored.contexts[close])
        for length in np.unique(conditions).tolist():
            here = close[conditions == length]
            own = scored.contexts[:, scored.contexts.shape[1] - length :]
            own = np.concatenate([self.objects[:, np.newaxis], own], axis=1)
            here = here[chosen.possible(own[here], scored.strengths[here])]
            here = here[scored.rarity[here] >= self.possibly]
            counts[here] = True
            here = here[scored.rarity[here] >= self.surely]
            chosen.learn(own[here], scored.strengths[here])
        return counts
