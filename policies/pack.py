"""Implements policies for malleable applications that share a platform (malleable17): they share
the processors out before the start (sections 4 and 5) and redistribute them when applications end
or fail (section 5)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import ClassVar

from attrs import define, field, frozen

from policies.interface.pack import (
    AllocationPolicy,
    AllocationView,
    CandidateView,
    Cause,
    LookAhead,
    RedistributionPolicy,
    RedistributionView,
    Resize,
)


@define(eq=False)
class Share:
    """One application's tentative size (number of processors) while a policy decides, with the time
    `finish` at which it would end on that size."""

    candidate: CandidateView
    size: int
    finish: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.finish = self.candidate.finish(self.size)

    def move(self, size: int) -> None:
        """Set the tentative size to `size` processors, and compute the end that follows."""
        self.size = size
        self.finish = self.candidate.finish(size)


def give_pair(share: Share, available: int, pair: int, look: LookAhead) -> bool:
    """Give the application `pair` more processors if it is improvable with at most `available`
    more, and return whether they were given.

    With LookAhead.ANY an application is improvable if it would end strictly earlier on some larger
    size, with at most `available` more processors and at most its largest useful number. With
    LookAhead.NEXT_PAIR the next pair alone must let it end earlier.
    """
    size = share.size + pair
    most = min(share.size + available, share.candidate.largest)
    if size > most:
        return False
    finish = share.candidate.finish(size)
    if finish < share.finish or (
        look is LookAhead.ANY and _further(share, size + pair, most, pair)
    ):
        share.size, share.finish = size, finish
        return True
    return False


def _further(share: Share, first: int, most: int, pair: int) -> bool:
    finish, bound = share.candidate.finish, share.finish
    return any(finish(size) < bound for size in range(first, most + 1, pair))


def grow(shares: Sequence[Share], available: int, pair: int, look: LookAhead) -> None:
    """Give `available` processors, pair by pair, to whichever application would end last, and
    change `shares` in place (malleable17, Opt-NoRedistrib). Of equal ends the lowest index counts
    as last.

    It stops as soon as the application that would end last is not improvable (see `give_pair`),
    even if processors are left.
    """
    queue = sorted((*_rank(share), at) for at, share in enumerate(shares))
    while queue:
        *_, at = queue.pop()
        longest = shares[at]
        # The loop keeps the longest application until another becomes longer, which saves sorting
        # it in again after every pair.
        behind = queue[-1][:2] if queue else (-inf, 0)
        while _rank(longest) > behind:
            if not give_pair(longest, available, pair, look):
                return
            available -= pair
        insort(queue, (*_rank(longest), at))


def _rank(share: Share) -> tuple[float, int]:
    return share.finish, -share.candidate.index


def changes(shares: Iterable[Share]) -> tuple[Resize, ...]:
    """Return a `Resize` for each application whose tentative size differs from the number of
    processors that it holds."""
    return tuple(
        Resize(share.candidate.index, share.size)
        for share in shares
        if share.size != share.candidate.size
    )


def _smallest(view: AllocationView) -> list[Share]:
    return [Share(application, view.pair) for application in view.applications]


@frozen
class OptNoRedistrib:
    """Allocates optimally for a schedule without redistribution: one pair each, then further pairs
    to the application that would end last, as long as this lets it end earlier (malleable17,
    Theorem 1)."""

    def __call__(self, view: AllocationView) -> Sequence[int]:
        shares = _smallest(view)
        available = view.processors - view.pair * len(shares)
        grow(shares, available, view.pair, LookAhead.ANY)
        return [share.size for share in shares]


@frozen
class GreedySpeedupProfile:
    """Allocates one pair each, then further pairs to the applications whose work they increase
    least (malleable17, section 4).

    The ratio of the works j t^R_j after and before the pair decides; ties go to the lowest index. A
    pair that would not make its application end earlier is not given.
    """

    def __call__(self, view: AllocationView) -> Sequence[int]:
        shares, pair = _smallest(view), view.pair
        ratios = [_ratio(share, pair) for share in shares]
        for _ in range(view.processors // pair - len(shares)):
            at = min(range(len(shares)), key=lambda i: (ratios[i], i))
            if ratios[at] == inf:
                break
            shares[at].move(shares[at].size + pair)
            ratios[at] = _ratio(shares[at], pair)
        return [share.size for share in shares]


def _ratio(share: Share, pair: int) -> float:
    """Return how much one more pair increases the application's work, size x time: the ratio of the
    works after and before. It is inf where the application would not end earlier, or would exceed
    its largest useful size."""
    size = share.size + pair
    if size > share.candidate.largest:
        return inf
    finish = share.candidate.finish(size)
    return size * finish / (share.size * share.finish) if finish < share.finish else inf


CATALOGUE = {
    "none": "no application is ever resized",
    "EndLocal": "at ends only: idle processors to the longest application",
    "EndGreedy": "at ends only: the whole schedule afresh",
    "IteratedGreedy-EndGreedy": "the whole schedule afresh at every fault and end",
    "IteratedGreedy-EndLocal": "afresh at faults, idle processors at ends",
    "ShortestApplicationsFirst-EndGreedy": "from the shortest at faults, afresh at ends",
    "ShortestApplicationsFirst-EndLocal": "from the shortest at faults, idle processors at ends",
}
"""Maps the paper's names of redistribution policies to a line about each."""

ALLOCATIONS: dict[str, AllocationPolicy] = {
    "Opt-NoRedistrib": OptNoRedistrib(),
    "GreedySpeedupProfile": GreedySpeedupProfile(),
}


def named(name: str, look: LookAhead = LookAhead.ANY) -> RedistributionPolicy:
    """Return the redistribution policy called `name`, of which `look` says when an application is
    improvable. Raises ValueError for a name not in `CATALOGUE`."""
    if name not in CATALOGUE:
        raise ValueError(f"{name!r} is no redistribution policy; accepted: {', '.join(CATALOGUE)}.")
    parts: dict[str, RedistributionPolicy] = {
        "EndLocal": EndLocal(look),
        "EndGreedy": Greedy(),
        "IteratedGreedy": Greedy(),
        "ShortestApplicationsFirst": ShortestApplicationsFirst(look),
    }
    at_fault, _, at_end = name.rpartition("-")
    never = NoRedistribution()
    return Combined(parts.get(at_end, never), parts.get(at_fault, never))


def named_allocation(name: str) -> AllocationPolicy:
    """Return the allocation policy called `name`. Raises ValueError for a name not in
    `ALLOCATIONS`."""
    if name not in ALLOCATIONS:
        known = ", ".join(ALLOCATIONS)
        raise ValueError(f"{name!r} is no allocation policy; accepted: {known}.")
    return ALLOCATIONS[name]


def acts_at_faults(policy: RedistributionPolicy) -> bool:
    """Return whether the policy redistributes at faults; a policy without the attribute
    `acts_at_faults` counts as one that does."""
    return bool(getattr(policy, "acts_at_faults", True))


@frozen
class NoRedistribution:
    """Resizes no application: the reference by which all figures of malleable17 are normalised."""

    acts_at_faults: ClassVar[bool] = False

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        return ()


@frozen
class EndLocal:
    """Gives idle processors, pair by pair, to the application that would end last, as long as this
    lets it end earlier (malleable17, section 5). `look` says whether one pair or several together
    must."""

    look: LookAhead = LookAhead.ANY

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        if view.idle < view.pair:
            return ()
        shares = [Share(candidate, candidate.size) for candidate in view.candidates]
        grow(shares, view.idle, view.pair, self.look)
        return changes(shares)


@frozen
class Greedy:
    """Makes the whole schedule afresh: malleable17's EndGreedy at an end, its IteratedGreedy at a
    fault.

    Every candidate starts at one pair, and pairs go to the application that would end last, as in
    Opt-NoRedistrib. An application whose size comes out unchanged is not redistributed and keeps
    its expected end t^U.
    """

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        shares = [Share(candidate, view.pair) for candidate in view.candidates]
        held = sum(candidate.size for candidate in view.candidates)
        available = view.idle + held - view.pair * len(shares)
        grow(shares, available, view.pair, LookAhead.ANY)
        return changes(shares)


@frozen
class ShortestApplicationsFirst:
    """At a fault, gives the faulty application idle pairs as long as these let it end earlier, then
    pairs taken from the applications that end first (malleable17, section 5).

    A pair is only taken if the application that gives it still ends before the faulty one would
    have. `look` says whether one pair or several together must help.
    """

    look: LookAhead = LookAhead.ANY

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        shares = [Share(candidate, candidate.size) for candidate in view.candidates]
        faulty = next(s for s in shares if s.candidate.index == view.faulty)
        idle = view.idle
        while give_pair(faulty, idle, view.pair, self.look):
            idle -= view.pair
        while self._take(faulty, shares, view.pair):
            pass
        return changes(shares)

    def _take(self, faulty: Share, shares: Sequence[Share], pair: int) -> bool:
        """Move the fewest pairs that help to the faulty application, from the application that ends
        first and can give them, and return True. Return False, and change nothing, if there is
        none."""
        donors = (s for s in shares if s is not faulty and s.size > pair)
        for donor in sorted(donors, key=lambda s: (s.finish, s.candidate.index)):
            for moved in self._amounts(faulty, donor, pair):
                if self._helps(faulty, donor, moved):
                    faulty.move(faulty.size + moved)
                    donor.move(donor.size - moved)
                    return True
        return False

    def _amounts(self, faulty: Share, donor: Share, pair: int) -> Iterator[int]:
        """Return the numbers of processors, ascending, that `donor` can give to the faulty
        application: it keeps a pair, and the faulty one stays within its largest useful size. Under
        LookAhead.NEXT_PAIR one pair is the only amount."""
        most = min(donor.size - pair, faulty.candidate.largest - faulty.size)
        if self.look is LookAhead.NEXT_PAIR:
            most = min(most, pair)
        return iter(range(pair, most + 1, pair))

    @staticmethod
    def _helps(faulty: Share, donor: Share, moved: int) -> bool:
        """Return whether moving `moved` processors from `donor` lets the faulty application end
        earlier than it would now, and the donor still end before that time."""
        late = faulty.finish
        return (
            faulty.candidate.finish(faulty.size + moved) < late
            and donor.candidate.finish(donor.size - moved) < late
        )


@frozen
class Combined:
    """Combines one heuristic for ends and one for faults: the skeleton of malleable17, section 5.

    At a fault nothing is changed unless the faulty application would now end last: otherwise the
    fault does not delay the expected makespan.
    """

    at_end: RedistributionPolicy
    at_fault: RedistributionPolicy

    @property
    def acts_at_faults(self) -> bool:
        """Whether the heuristic for faults can redistribute at all."""
        return acts_at_faults(self.at_fault)

    def __call__(self, view: RedistributionView) -> Sequence[Resize]:
        if view.cause is Cause.END:
            return self.at_end(view) if view.candidates else ()
        faulty = next((c for c in view.candidates if c.index == view.faulty), None)
        if faulty is None or faulty.finish(faulty.size) < view.longest:
            return ()
        return self.at_fault(view)
