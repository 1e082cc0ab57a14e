"""The present placement: what the cluster was told, and what runs because of it."""

from __future__ import annotations

import numpy as np
from attrs import define, field

from actors.redundant.messages import Clone
from actors.redundant.running import Running
from actors.redundant.service import ROUNDING
from policies.interface.redundancy import Counts, Numbers, Sharing


@define(eq=False)
class Placed:
    """All copies between two checkpoints."""

    clone: Clone
    servers: Counts
    """Server of each copy, job after job."""
    first: Counts
    """Number of each job's first copy."""
    running: Running
    runs: tuple[int, ...] | None = field(init=False, default=None)
    """Run of each job's first copy, once somebody has asked for it."""

    @property
    def rotating(self) -> bool:
        """Whether every copy has a share of all servers."""
        return self.clone.allocation.sharing is Sharing.ROTATION

    def left(self, lefts: Numbers, exact: bool) -> Numbers:
        """Work that each job's furthest copy lacks, of what each copy lacks; 0 for jobs that have
        ended, or lack no more than rounding."""
        left: Numbers = np.minimum.reduceat(lefts, self.first)
        rounding = self.clone.sizes * (0 if exact else ROUNDING)
        left[self.running.ended | (left <= rounding)] = 0
        return left
