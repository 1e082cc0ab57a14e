"""Redistributing processors when applications end or fail (malleable17, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from attrs import frozen

from policies.interface.pack import (
    Cause,
    LookAhead,
    RedistributionPolicy,
    RedistributionView,
    Resize,
)
from policies.pack.plan import Share, changes, give_pair, grow, share


def acts_at_faults(policy: RedistributionPolicy) -> bool:
    """Whether it redistributes at faults, as far as it says."""
    return bool(getattr(policy, "acts_at_faults", True))


@frozen
class NoRedistribution:
    """No application is resized: the reference that all figures of malleable17 are normalised
    by."""

    acts_at_faults: ClassVar[bool] = False

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        return ()


@frozen
class EndLocal:
    """Idle processors go, pair by pair, to the longest application."""

    look: LookAhead = LookAhead.ANY

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        if view.idle < view.pair:
            return ()
        shares = [share(candidate, candidate.size) for candidate in view.candidates]
        grow(shares, view.idle, view.pair, self.look)
        return changes(shares)


@frozen
class Greedy:
    """EndGreedy at an end, IteratedGreedy at a fault: the whole schedule afresh.

    Every candidate starts at one pair, as in Opt-NoRedistrib; a size that comes out unchanged
    costs nothing and keeps its t^U.
    """

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        shares = [share(candidate, view.pair) for candidate in view.candidates]
        held = sum(candidate.size for candidate in view.candidates)
        available = view.idle + held - view.pair * len(shares)
        grow(shares, available, view.pair, LookAhead.ANY)
        return changes(shares)


@frozen
class ShortestApplicationsFirst:
    """Idle pairs to the faulty application, then pairs of those that end first."""

    look: LookAhead = LookAhead.ANY

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        shares = [share(candidate, candidate.size) for candidate in view.candidates]
        faulty = next(s for s in shares if s.candidate.index == view.faulty)
        idle = view.idle
        while give_pair(faulty, idle, view.pair, self.look):
            idle -= view.pair
        while self._take(faulty, shares, view.pair):
            pass
        return changes(shares)

    def _take(self, faulty: Share, shares: Sequence[Share], pair: int) -> bool:
        """Move the fewest pairs that help from the first donor that can; False: there is none."""
        donors = (s for s in shares if s is not faulty and s.size > pair)
        for donor in sorted(donors, key=lambda s: (s.finish, s.candidate.index)):
            for moved in self._amounts(faulty, donor, pair):
                if self._helps(faulty, donor, moved):
                    faulty.move(faulty.size + moved)
                    donor.move(donor.size - moved)
                    return True
        return False

    def _amounts(self, faulty: Share, donor: Share, pair: int) -> Iterator[int]:
        """What `donor` can give and still keep a pair."""
        most = min(donor.size - pair, faulty.candidate.largest - faulty.size)
        if self.look is LookAhead.NEXT_PAIR:
            most = min(most, pair)
        return iter(range(pair, most + 1, pair))

    @staticmethod
    def _helps(faulty: Share, donor: Share, moved: int) -> bool:
        """The faulty one ends earlier, and the donor earlier than the faulty one does now."""
        late = faulty.finish
        return (
            faulty.candidate.finish(faulty.size + moved) < late
            and donor.candidate.finish(donor.size - moved) < late
        )


@frozen
class Combined:
    """One heuristic for ends and one for faults: the skeleton of malleable17, section 5.

    At a fault nothing is tried unless the faulty application is the longest: the makespan expected
    before is still the best one.
    """

    at_end: RedistributionPolicy
    at_fault: RedistributionPolicy

    @property
    def acts_at_faults(self) -> bool:
        """Its heuristic for faults does."""
        return acts_at_faults(self.at_fault)

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        if view.cause is Cause.END:
            return self.at_end(view) if view.candidates else ()
        faulty = next((c for c in view.candidates if c.index == view.faulty), None)
        if faulty is None or faulty.finish(faulty.size) < view.longest:
            return ()
        return self.at_fault(view)
