"""Checkpointed states of copies, where a policy does not clone the furthest one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define, field

from policies.interface.copies import Counts, Numbers

Reached = tuple[float, int]
"""Work left, and the run that came so far; -1: nothing is done."""


@define(eq=False)
class OwnStates:
    """For each job the states that its copies have reached, furthest first.

    A job's r copies go on from its r furthest states; a copy for which there is none starts from
    nothing. States that no copy runs are kept: a later checkpoint may run them again.
    """

    states: dict[str, list[Reached]] = field(init=False, factory=dict)

    def starts(self, names: Sequence[str], sizes: Numbers, copies: Counts) -> Numbers:
        """Work that each copy lacks as it starts, job after job."""
        left: list[float] = []
        for name, size, count in zip(names, sizes.tolist(), copies.tolist(), strict=True):
            known = self.states.setdefault(name, [])
            known.extend([(size, -1)] * (count - len(known)))
            left += [lacks for lacks, _ in known[:count]]
        return np.array(left, dtype=sizes.dtype)

    def sources(self, names: Sequence[str], copies: Counts) -> list[int]:
        """The runs that computed those states, likewise."""
        pairs = zip(names, copies.tolist(), strict=True)
        return [run for name, count in pairs for _, run in self.states[name][:count]]

    def keep(
        self, names: Sequence[str], copies: Counts, left: Numbers, runs: Sequence[int]
    ) -> None:
        """Store how far each copy came; `runs`: of each job's first copy."""
        values, first = left.tolist(), 0
        for name, count, run in zip(names, copies.tolist(), runs, strict=True):
            reached = zip(values[first : first + count], range(run, run + count), strict=True)
            known = self.states[name]
            self.states[name] = sorted([*reached, *known[count:]])
            first += count

    def forget(self, name: str) -> None:
        """The job is over."""
        self.states.pop(name, None)
