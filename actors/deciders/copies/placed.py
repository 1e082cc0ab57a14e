"""The present placement: what the policy chose, and what runs because of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define, field

from actors.deciders.copies.running import RunningPlacement
from actors.deciders.copies.work_account import ROUNDING
from policies.interface.copies import CopyAllocation, Counts, Numbers, Sharing


@define(eq=False)
class Placed:
    """All copies between two checkpoints."""

    allocation: CopyAllocation
    names: Sequence[str]
    """Of the jobs that are served."""
    sizes: Numbers
    """Their p_j."""
    workers: Counts
    """Worker of each copy, job after job."""
    first: Counts
    """Number of each job's first copy."""
    running: RunningPlacement
    runs: tuple[int, ...] | None = field(init=False, default=None)
    """Run of each job's first copy, computed when first needed."""
    best: tuple[int, ...] = field(init=False, default=())
    """Run of each job's furthest copy, computed at their end if it is logged."""

    @property
    def rotating(self) -> bool:
        """Whether every copy has a share of all workers."""
        return self.allocation.sharing is Sharing.ROTATION

    def left(self, lefts: Numbers, exact: bool) -> Numbers:
        """Work that each job's furthest copy lacks, of what each copy lacks; 0 for jobs that have
        ended, or lack no more than rounding."""
        left: Numbers = np.minimum.reduceat(lefts, self.first)
        rounding = self.sizes * (0 if exact else ROUNDING)
        left[self.running.ended | (left <= rounding)] = 0
        return left
