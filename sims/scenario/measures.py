"""What a scenario file may say of how its runs are measured."""

from __future__ import annotations

from attrs import astuple, field, frozen
from attrs.validators import optional

from actors.events import MeasuresDescribed
from actors.runtime import System
from sims.errors import InputError
from sims.metrics.blocks import WEEK, Blocks
from sims.metrics.jobs import BOUND
from sims.scenario.fields import not_negative, positive
from sims.scenario.header import Unit

HOUR = 3600.0


@frozen(kw_only=True)
class ByState:
    """Of one processor, by what it does."""

    busy: float = field(default=0, validator=not_negative)
    """A run holds it."""
    idle: float = field(default=0, validator=not_negative)
    """It is UP and no run holds it."""
    reclaimed: float = field(default=0, validator=not_negative)
    """Its owner has it."""
    down: float = field(default=0, validator=not_negative)
    """It is DOWN."""


@frozen(kw_only=True)
class MeasuresSection:
    """`[measures]`: how runs are measured; their logs say so too."""

    bound: float = field(default=BOUND, validator=positive)
    """Time units below which bounded slowdown takes no job for shorter: 10 s."""
    prices: ByState | None = None
    """Of an hour; default: nothing has a price, and runs have no cost."""
    watts: ByState | None = None
    """Power; default: it is not known, nor is the energy."""
    hour: float | None = field(default=None, validator=optional(positive))
    """Time units in an hour; default: 3600 where the unit is s."""
    block: float | None = field(default=None, validator=optional(positive))
    """Time units in a block: where a scenario has no randomness, intervals are over blocks of its
    time; default: a week where the unit is s, else none are."""
    warm_up: float | None = field(default=None, validator=optional(not_negative))
    """Time units from the start on, of which those intervals leave out the jobs: the machine fills;
    default: a block."""

    def blocks(self, unit: Unit) -> Blocks | None:
        """Over which intervals are; None: no length is known."""
        length = WEEK if self.block is None and unit is Unit.S else self.block
        if length is None:
            return None
        return Blocks(length, length if self.warm_up is None else self.warm_up)

    def tell(self, system: System, unit: Unit) -> None:
        """What the log says of it. Raises InputError where an hour's length is not known."""
        hour = HOUR if self.hour is None and unit is Unit.S else self.hour
        if hour is None and (self.prices or self.watts):
            problem = "missing: prices and watts are of hours, and the unit is a slot"
            raise InputError("scenario", "measures.hour", problem, "slots in an hour")
        rates = (astuple(rates) if rates else () for rates in (self.prices, self.watts))
        system.journal.record(system.origin, MeasuresDescribed, self.bound, hour, *rates)
