"""Implements the orders in which a master serves workers that wait for their program or data."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from policies.interface.service import Waiting


@frozen
class StartedFirst:
    """Serves messages in progress first, then those of which a part has passed, then those not
    begun; of equals the worker with the lowest index comes first. This is the default reading of
    volatile13."""

    every_slot = False

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        # False sorts before True: workers that hold a channel first, then those with a part
        # received.
        order = sorted(waiting, key=lambda it: (not it.serving, not it.started, it.index))
        return order[:channels]


@frozen
class LongestFirst:
    """Serves first the worker that still needs the most communication time in total, ties to the
    lowest index; the choice is repeated in every slot.

    Times that agree in nine digits are a tie, because sums of decimals differ in floating point
    from their values on paper.
    """

    every_slot = True

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        return sorted(waiting, key=lambda it: (-float(f"{it.left:.9g}"), it.index))[:channels]


@frozen
class Timetable:
    """Serves in slot t the workers that are listed for it and wait, in the order of the list
    (volatile13, Figure 1), and no worker after the list's end."""

    slots: tuple[tuple[int, ...], ...]
    """Indices of the workers to serve in slot t, slots[t], the first of them first."""

    every_slot = True

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        listed = self.slots[int(now)] if now < len(self.slots) else ()
        present = {it.index: it for it in waiting}
        return [present[index] for index in listed if index in present][:channels]
