"""Moving an application's data to more or fewer processors, one port each (malleable17,
section 3.3)."""

from __future__ import annotations

from attrs import frozen


@frozen
class Link:
    """What a redistribution pays (malleable17, eq. 6)."""

    startup: float = 0.0
    """S, s for each redistribution."""
    latency: float = 0.0
    """beta, s for each message."""
    inverse_bandwidth: float = 1.0
    """1 / bandwidth, s per data unit."""

    def cost(self, footprint: float, before: int, after: int) -> float:
        """RC, in s, from `before` to `after` processors with `footprint` data units in all."""
        message = footprint * self.inverse_bandwidth / (before * after) + self.latency
        return self.startup + round_count(before, after) * message


def round_count(before: int, after: int) -> int:
    """Rounds of messages: the edge-chromatic number of the bipartite graph between those who stay
    and those who come or go, which is its largest degree (König; malleable17, section 3.3.1)."""
    return max(min(before, after), abs(after - before))


def rounds(before: int, after: int) -> list[list[tuple[int, int]]]:
    """A schedule of the messages: rounds of (sender, receiver), each processor once a round.

    Processors are numbered from 0, those who stay first. Growing, who stays sends to who comes;
    shrinking, who goes sends to who stays. The r-th round shifts the pairing by r: the colouring
    that König's theorem promises, for a complete bipartite graph. `round_count` rounds; none where
    `before` equals `after`.
    """
    stay, moving = min(before, after), abs(after - before)
    if not moving:
        return []
    colours = range(max(stay, moving))
    pairings = [_pairing(colour, stay, moving) for colour in colours]
    return pairings if after > before else [[(b, a) for a, b in pairs] for pairs in pairings]


def _pairing(colour: int, stay: int, moving: int) -> list[tuple[int, int]]:
    """(who stays, who moves) in one round."""
    if moving >= stay:
        return [(a, stay + (a + colour) % moving) for a in range(stay)]
    return sorted(((b + colour) % stay, stay + b) for b in range(moving))
