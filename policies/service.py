"""Orders in which a master serves workers that wait for program or data."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from policies.interface.service import Waiting


@frozen
class StartedFirst:
    """Messages in progress first, suspended ones before those not begun, the lowest index first of
    each: the default reading of volatile13, and WORLD.md, L3."""

    every_slot = False

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        order = sorted(waiting, key=lambda it: (not it.serving, not it.started, it.index))
        return order[:channels]


@frozen
class LongestFirst:
    """The worker that lacks the most slots of communication first, ties to the lowest index; every
    slot. What differs after nine digits is a tie: sums of decimals differ from what they are on
    paper."""

    every_slot = True

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        return sorted(waiting, key=lambda it: (-float(f"{it.left:.9g}"), it.index))[:channels]


@frozen
class Timetable:
    """An explicit list of workers for each slot (volatile13, Figure 1); none after its end."""

    slots: tuple[tuple[int, ...], ...]
    """slots[t]: indices of the workers to serve in slot t, the first first."""

    every_slot = True

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        listed = self.slots[int(now)] if now < len(self.slots) else ()
        present = {it.index: it for it in waiting}
        return [present[index] for index in listed if index in present][:channels]
