"""Sharing the processors out before the start (malleable17, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from policies.interface.pack import AllocationView, LookAhead
from policies.pack.plan import Share, grow, share


def _smallest(view: AllocationView) -> list[Share]:
    return [share(application, view.pair) for application in view.applications]


@frozen
class OptNoRedistrib:
    """Optimal without redistribution: a pair each, then pairs to the longest (malleable17,
    Theorem 1)."""

    def __call__(self, view: AllocationView) -> Sequence[int]:
        shares = _smallest(view)
        available = view.processors - view.pair * len(shares)
        grow(shares, available, view.pair, LookAhead.ANY)
        return [share.size for share in shares]


@frozen
class GreedySpeedupProfile:
    """A pair each, then pairs to the applications that they cost the least extra work (malleable17,
    section 4).

    The ratio of the works j t^R_j after and before the pair decides; ties go to the lowest index. A
    pair that would not make its application end earlier is not given.
    """

    def __call__(self, view: AllocationView) -> Sequence[int]:
        shares, pair = _smallest(view), view.pair
        ratios = [_ratio(share, pair) for share in shares]
        for _ in range(view.processors // pair - len(shares)):
            at = min(range(len(shares)), key=lambda i: (ratios[i], i))
            if ratios[at] == NEVER:
                break
            shares[at].move(shares[at].size + pair)
            ratios[at] = _ratio(shares[at], pair)
        return [share.size for share in shares]


NEVER = float("inf")
"""The ratio of a pair that would not make its application end earlier."""


def _ratio(share: Share, pair: int) -> float:
    size = share.size + pair
    if size > share.candidate.largest:
        return NEVER
    finish = share.candidate.finish(size)
    return size * finish / (share.size * share.finish) if finish < share.finish else NEVER
