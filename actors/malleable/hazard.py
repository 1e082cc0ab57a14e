"""Faults that strike processors at work, or idle ones (003, sections 3.1 and 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from actors.hazards import Hazard
from actors.malleable.messages import Strike
from actors.malleable.processor import Processor


@define(eq=False)
class BuddyHazard(Hazard):
    """Each processor says itself what a fault costs it and its buddy."""

    processors: Sequence[Processor] = field(repr=False)

    def strike(self, processor: int) -> None:
        """See Hazard."""
        self.send(self.processors[processor], Strike())
