"""What runs between two checkpoints under mean semantics (004, Assumption 2)."""

from __future__ import annotations

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from policies.interface.redundancy import Counts, Numbers
from policies.maths.gains import Gain


@define(eq=False)
class RunningMean:
    """A job with r copies progresses by x g(r, t) in the time t since its checkpoint (eq. 5)."""

    gain: Gain
    copies: Counts
    left: Numbers
    factor: float
    """Share times speed augmentation."""
    starts: Numbers
    """When each job computes: now, or after the checkpoint's cost."""
    ended: NDArray[np.bool_] = field(init=False)
    ends: Numbers = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.ended = np.zeros(len(self.left), dtype=bool)
        needs = (self.left / self.factor).tolist()
        pairs = zip(self.copies.tolist(), needs, strict=True)
        times = [self.gain.time(copies, need) for copies, need in pairs]
        self.ends = self.starts + np.array(times, dtype=self.left.dtype)

    def earliest(self) -> float:
        end: float = self.ends.item(self.ends.argmin())
        return end

    def change(self, server: int, now: float) -> None:
        """Nothing: the mean does not depend on any one server."""

    def mark_ended(self, now: float) -> None:
        self.ended |= self.ends <= now

    def lefts(self, now: float) -> Numbers:
        """Work that each copy lacks: all of a job's copies count as equally far."""
        return np.repeat(self._left(now), self.copies)

    def begins(self) -> list[float]:
        starts: list[float] = np.repeat(self.starts, self.copies).tolist()
        return starts

    def _left(self, now: float) -> Numbers:
        pairs = zip(self.copies.tolist(), np.maximum(now - self.starts, 0).tolist(), strict=True)
        work = [self.gain.work(copies, time) for copies, time in pairs]
        left: Numbers = self.left - self.factor * np.array(work, dtype=self.left.dtype)
        return left
