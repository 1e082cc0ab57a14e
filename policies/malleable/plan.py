"""A plan in the making: tentative sizes, and the greedy step that all heuristics share."""

from __future__ import annotations

import enum
from bisect import insort
from collections.abc import Iterable, Sequence

from attrs import define

from policies.interface.malleable import CandidateView, Resize


class LookAhead(enum.Enum):
    """When an application counts as improvable (003 leaves it open)."""

    ANY = "any"
    """Some number of the available pairs would make it end earlier: the test can see past what a
    redistribution costs at once."""
    NEXT_PAIR = "next-pair"
    """The next pair alone would: closest to the figures of 003."""


@define(eq=False)
class Share:
    """One application's tentative size, and when it would end with it."""

    candidate: CandidateView
    size: int
    finish: float

    def move(self, size: int) -> None:
        """Give it `size` processors instead."""
        self.size = size
        self.finish = self.candidate.finish(size)


def share(candidate: CandidateView, size: int) -> Share:
    """`candidate` with `size` processors."""
    return Share(candidate, size, candidate.finish(size))


def improvable(share: Share, available: int, pair: int, look: LookAhead) -> bool:
    """Whether processors out of `available` would make it end strictly earlier."""
    candidate, finish = share.candidate, share.finish
    most = min(share.size + available, candidate.largest)
    if look is LookAhead.NEXT_PAIR:
        most = min(most, share.size + pair)
    return any(candidate.finish(size) < finish for size in range(share.size + pair, most + 1, pair))


def grow(shares: Sequence[Share], available: int, pair: int, look: LookAhead) -> None:
    """Give pairs to the longest application as long as it is improvable (003, Opt-NoRedistrib).

    Ties go to the lowest index. Stops at the first longest one that is not improvable.
    """
    queue = sorted((_rank(share), at) for at, share in enumerate(shares))
    while queue:
        longest = shares[queue.pop()[1]]
        behind = queue[-1][0] if queue else None
        while behind is None or _rank(longest) > behind:
            if available < pair or not improvable(longest, available, pair, look):
                return
            longest.move(longest.size + pair)
            available -= pair
        insort(queue, (_rank(longest), shares.index(longest)))


def _rank(share: Share) -> tuple[float, int]:
    return share.finish, -share.candidate.index


def changes(shares: Iterable[Share]) -> tuple[Resize, ...]:
    """The sizes that differ from what the applications hold now."""
    return tuple(
        Resize(share.candidate.index, share.size)
        for share in shares
        if share.size != share.candidate.size
    )
