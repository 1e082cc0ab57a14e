"""Checkpointed states of copies, where a policy does not clone the furthest one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define, field

from policies.interface.redundancy import Counts, Numbers


@define(eq=False)
class OwnStates:
    """For each job the states that its copies have reached, as work that is left, furthest first.

    A job's r copies go on from its r furthest states; a copy for which there is none starts from
    nothing. States that no copy runs are kept: a later checkpoint may run them again.
    """

    states: dict[str, list[float]] = field(init=False, factory=dict)

    def starts(self, names: Sequence[str], sizes: Numbers, copies: Counts) -> Numbers:
        """Work that each copy lacks as it starts, job after job."""
        left: list[float] = []
        for name, size, count in zip(names, sizes.tolist(), copies.tolist(), strict=True):
            known = self.states.setdefault(name, [])
            known.extend([size] * (count - len(known)))
            left += known[:count]
        return np.array(left, dtype=sizes.dtype)

    def keep(
        self, names: Sequence[str], copies: Counts, left: Numbers, ended: Sequence[bool]
    ) -> None:
        """Store how far each copy came; forget the jobs that have ended."""
        values, first = left.tolist(), 0
        for name, count, over in zip(names, copies.tolist(), ended, strict=True):
            known = self.states.pop(name)
            if not over:
                self.states[name] = sorted(values[first : first + count] + known[count:])
            first += count
