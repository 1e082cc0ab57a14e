"""What allocation and redistribution policies see."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from policies.interface.pack import Cause
from policies.maths.cosched import Costs


@define(eq=False)
class NewApplication:
    """An application before the start (a `CandidateView`)."""

    index: int
    costs: Costs = field(repr=False)
    size: int = 0

    @property
    def largest(self) -> int:
        return self.costs.largest

    @property
    def most(self) -> int:
        return self.costs.most

    def finish(self, size: int) -> float:
        return self.costs.expected(size, 1.0)


@define(eq=False)
class Candidate:
    """A running application that may be redistributed (a `CandidateView`)."""

    index: int
    size: int
    costs: Costs = field(repr=False)
    start: float
    """When a redistribution could begin: now, or after the recovery from this fault."""
    left: float
    """alpha at that time."""
    expected: float
    """t^U with the present size."""

    @property
    def largest(self) -> int:
        return self.costs.largest

    @property
    def most(self) -> int:
        return self.costs.most

    def finish(self, size: int) -> float:
        if size == self.size:
            return self.expected
        return self.costs.finish(self.start, self.size, size, self.left)


@define(eq=False)
class CandidateAtSpeed(Candidate):
    """A candidate whose members are not of speed 1; its expectations assume its present speed for
    every size."""

    speed: float = 1

    def finish(self, size: int) -> float:
        """All but the start takes longer, or less."""
        if size == self.size:
            return self.expected
        return self.start + (super().finish(size) - self.start) / self.speed


@frozen
class Pack:
    """All applications before the start (an `AllocationView`)."""

    pair: int
    processors: int
    applications: Sequence[NewApplication]


@define
class Occasion:
    """One end or fault (a `RedistributionView`); the candidates are worked out when asked for."""

    now: float
    cause: Cause
    faulty: int | None
    pair: int
    idle: int
    longest: float
    _find: Callable[[], Sequence[Candidate]] = field(repr=False)
    _candidates: Sequence[Candidate] | None = field(init=False, default=None)

    @property
    def candidates(self) -> Sequence[Candidate]:
        if self._candidates is None:
            self._candidates = self._find()
        return self._candidates
