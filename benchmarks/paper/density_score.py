"""The score of one density among the densities of a group: what each cdf of the page shows."""

from __future__ import annotations

import dataclasses

import numpy as np

from outlying.method import measure
from outlying.method.density import Floats
from outlying.reference.formulas import outlierness


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DensityScore:
    """The densities F of a group, sorted and per unit of the attribute, and f_o, the object's."""

    densities: Floats
    at_object: float

    @property
    def mean(self) -> float:
        """The mean of F."""
        return float(np.mean(self.densities))

    @property
    def areas(self) -> tuple[float, float]:
        """The areas above and below G (paper, section 4)."""
        return measure.areas(self.densities, self.at_object)

    @property
    def paper(self) -> float:
        """The outlierness by the paper's measure."""
        return outlierness(self.mean, self.at_object, "paper")

    @property
    def relative(self) -> float:
        """The outlierness free of units."""
        return outlierness(self.mean, self.at_object, "relative")
