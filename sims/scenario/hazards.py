"""Hazards that a scenario may add to what its paper has."""

from __future__ import annotations

from attrs import field, frozen

from actors.hazards import SilentErrors
from actors.runtime import System
from sims.scenario.fields import not_negative


@frozen(kw_only=True)
class SilentErrorSection:
    """`[failures]` of an iterative job: silent errors, not in 002; policies do not expect them."""

    rate: float = field(default=0, validator=not_negative)
    """lambda: errors per enrolled worker and slot that an iteration computes."""

    def errors(self, system: System) -> SilentErrors | None:
        """The process, on a stream of its own; None: no errors."""
        return SilentErrors(self.rate, system.stream("silent errors")) if self.rate else None
