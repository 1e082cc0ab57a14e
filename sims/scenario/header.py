"""What all scenarios begin with, how their runs are measured, and what their logs say of both."""

from __future__ import annotations

import enum
import os
from typing import Annotated

from attrs import frozen

from actors.events import MeasuresDescribed
from actors.runtime import System
from sims.errors import InputError
from sims.metrics.blocks import WEEK, Blocks
from sims.metrics.jobs import BOUND
from sims.tables.fields import Accepts, Duration, NotNegative, Time
from sims.tables.section import Section

SEEDS = range(2**64)
"""What a run can begin with: its log has no larger numbers."""
HOUR = 3600.0

Name = Annotated[
    str,
    Accepts(
        "a word or more, without / (logs/NAME.jsonl)",
        check=lambda it: bool(it) and not {"/", "\0", os.sep, os.altsep} & set(it),
    ),
]
PathName = Annotated[
    str, Accepts("a path, or `none`", check=lambda it: bool(it) and "\0" not in it)
]
Seed = Annotated[
    int, Accepts("a whole number, 0 or above, below 2**64", {"ge": 0, "le": SEEDS[-1]})
]


class Unit(enum.Enum):
    """What times are counted in."""

    S = "s"
    """Seconds."""
    SLOT = "slot"
    """Slots of a length of one's own."""


class HeadSection(Section):
    """The keys above the first section of every scenario file."""

    name: Name
    """What the run is called, and by default its log."""
    seed: Seed = 0
    """The run's one seed."""
    log: PathName | None = None
    """Where `holdfast run` writes the log, from the current folder; default: logs/NAME.jsonl;
    `none`: nowhere."""
    unit: Unit | None = None
    """Of every time in the file; default: `slot` where an enrolment policy decides, else `s`."""


@frozen
class Header:
    """The platform in a line."""

    kinds: tuple[str, ...]
    """Of the jobs."""
    policy: str
    processors: int
    """Size of the platform, in workers."""
    workers: tuple[str, ...]
    """Their names where they have some; empty for a numbered pool."""
    unit: str
    """Unit of every time: `s` or `slot`."""


class ByState(Section):
    """Of one processor, by what it does."""

    busy: NotNegative = 0
    """A run holds it."""
    idle: NotNegative = 0
    """It is UP and no run holds it."""
    reclaimed: NotNegative = 0
    """Its owner has it."""
    down: NotNegative = 0
    """It is DOWN."""


class MeasuresSection(Section):
    """`[measures]`: how runs are measured; their logs say so too."""

    bound: Duration = BOUND
    """Time units below which bounded slowdown takes no job for shorter: 10 s."""
    prices: ByState | None = None
    """Of an hour; default: nothing has a price, and runs have no cost."""
    watts: ByState | None = None
    """Power; default: it is not known, nor is the energy."""
    hour: Duration | None = None
    """Time units in an hour; default: 3600 where the unit is s."""
    block: Duration | None = None
    """Time units in a block: where a scenario has no randomness, intervals are over blocks of its
    time; default: a week where the unit is s, else none are."""
    warm_up: Time | None = None
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
        rates = (tuple(it.model_dump().values()) if it else () for it in (self.prices, self.watts))
        system.journal.record(system.origin, MeasuresDescribed, self.bound, hour, *rates)
