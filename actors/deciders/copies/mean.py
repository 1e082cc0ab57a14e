"""What runs between two checkpoints under mean semantics (redundancy17, Assumption 2)."""

from __future__ import annotations

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.copies import Counts, Numbers
from policies.maths.gains import Gain


@define(eq=False)
class RunningMean:
    """A job with r copies progresses by x g(r, t) in the time t since its checkpoint (eq. 5)."""

    gain: Gain
    copies: Counts
    left: Numbers
    factor: float
    """Share times speed augmentation."""
    since: float
    """The checkpoint."""
    ended: NDArray[np.bool_] = field(init=False)
    ends: Numbers = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.left), dtype=bool)
        needs = (self.left / self.factor).tolist()
        pairs = zip(self.copies.tolist(), needs, strict=True)
        times = [self.gain.time(copies, need) for copies, need in pairs]
        self.ends = self.since + np.array(times, dtype=self.left.dtype)

    def earliest(self) -> float:
        end: float = self.ends.item(self.ends.argmin())
        return end

    def change(self, worker: int, now: float) -> None:
        """Nothing: the mean does not depend on any one worker."""

    def mark_ended(self, due_by: float) -> None:
        self.ended |= self.ends <= due_by

    def lefts(self, now: float) -> Numbers:
        """Work that each copy lacks: all of a job's copies count as equally far."""
        elapsed = now - self.since
        work = [self.gain.work(copies, elapsed) for copies in self.copies.tolist()]
        left = self.left - self.factor * np.array(work, dtype=self.left.dtype)
        return np.repeat(left, self.copies)
