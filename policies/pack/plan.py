"""A plan in the making: tentative sizes, and the greedy step that all heuristics share."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from attrs import define

from policies.interface.pack import CandidateView, LookAhead, Resize


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


def give_pair(share: Share, available: int, pair: int, look: LookAhead) -> bool:
    """Give one more pair if the application is improvable with up to `available` processors.

    Improvable: with some of them, or with the next pair alone (`look`), it would end strictly
    earlier.
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
    """Give pairs to the longest application as long as it is improvable (malleable17,
    Opt-NoRedistrib).

    Ties go to the lowest index. Stops at the first longest one that is not improvable.
    """
    queue = sorted((*_rank(share), at) for at, share in enumerate(shares))
    while queue:
        *_, at = queue.pop()
        longest = shares[at]
        behind = queue[-1][:2] if queue else (NO_APPLICATION, 0)
        while _rank(longest) > behind:
            if not give_pair(longest, available, pair, look):
                return
            available -= pair
        insort(queue, (*_rank(longest), at))


NO_APPLICATION = float("-inf")
"""The end of no application: before all others."""


def _rank(share: Share) -> tuple[float, int]:
    return share.finish, -share.candidate.index


def changes(shares: Iterable[Share]) -> tuple[Resize, ...]:
    """The sizes that differ from what the applications hold now."""
    return tuple(
        Resize(share.candidate.index, share.size)
        for share in shares
        if share.size != share.candidate.size
    )
