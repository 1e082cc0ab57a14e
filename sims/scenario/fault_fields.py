"""Keys that all laws of faults have: the kind of unit that they strike, and the effect of a strike
and its duration."""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from numpy.random import Generator
from pydantic import Field, PrivateAttr, model_validator

from actors.events import Age, Struck
from actors.hazards import Faults
from sims.errors import InputError, unfit
from sims.tables import Section
from sims.tables.fields import Accepts, Time

if TYPE_CHECKING:
    from sims.readers.failures import FittedLaw

Fail = Annotated[
    tuple[Time, int],
    Accepts("a finite time from 0 on, and a worker", check=lambda strike: strike[1] >= 0),
]
Strikes = tuple[Fail, ...]
Outcome = Annotated[int, Field(ge=0, le=1)]
Asked = Annotated[
    Annotated[float, Field(ge=0, le=1)] | tuple[Outcome, ...],
    Accepts("a number from 0 to 1, or a list of 0 and 1, one for each time that it is asked for"),
]


class Effect(enum.Enum):
    """Kind of event that strikes a unit."""

    FAULT = "fault"
    """The unit's workers go DOWN."""
    HANG = "hang"
    """The unit's workers stay UP, with their memory, and the runs of which they are members stop
    advancing until the hang is detected."""


MEANINGLESS = {
    "age": "has no meaning: faults of this kind come at the times that are given, whatever the age",
    "clock": "has no meaning: faults of this kind come at times of the calendar",
    "downtime": "has no meaning: each failure lasts as long as its log says",
    "effect": "has no meaning: the failures of a log keep their nodes DOWN",
}
"""Maps a key to the reason why some kinds of faults do not have it."""


class FaultFields(Section):
    """The keys that all kinds of faults have."""

    of: Struck = Struck.WORKERS
    """Units that fail: `workers`, or whole `nodes` or `racks`; mtbf and strikes are of these
    units."""
    effect: Effect = Effect.FAULT
    """Kind of event that strikes a unit: a `fault`, which takes its workers DOWN, or a `hang`, in
    which they stay UP and their runs stop advancing until it is detected, and are lost then."""
    downtime: Time = 60.0
    """D: time that a fault keeps a worker DOWN, in the file's unit."""
    detection: Time = 0
    """Time after which the fault of a worker that a run holds is detected, time units; until then
    the run waits, because the scheduler does not know of the fault. Of a hang: time after which it
    is detected."""

    spread: Asked = 0.0
    """Probability that the fault of a node also strikes another node of its rack, for each of
    those; or a list of outcomes in the order in which they are asked, 1 for each node that is
    struck, after which none is."""

    curable: bool | None = None
    """Whether a repair that has removed the cause of a fault takes its unit out of this law for
    good; default: it does where the law has a `share`."""

    _fit: FittedLaw | None = PrivateAttr(None)
    """The fit that this law comes from, if it was fitted to a log."""

    @model_validator(mode="before")
    @classmethod
    def _meant(cls, table: Any) -> Any:
        """Refuse a key that has no meaning for this kind of faults, before the table is read;
        return the table unchanged.

        Raises ValueError that holds an InputError, as pydantic's validators have to.
        """
        for key, reason in MEANINGLESS.items():
            if isinstance(table, Mapping) and key in table and key not in cls.model_fields:
                raise ValueError(InputError("", key, reason, f"{key} left out"))
        return table

    def check(self) -> None:
        if self.hangs and self.differs("downtime"):
            problem = "has no meaning: a hang leaves its workers UP"
            raise InputError("", "downtime", problem, "downtime left out")

    @property
    def hangs(self) -> bool:
        """Whether a unit that is struck hangs: its workers stay UP, and its runs stop advancing.
        Otherwise its workers go DOWN."""
        return self.effect is Effect.HANG

    @property
    def laws(self) -> tuple[Any, ...]:
        """The laws that act independently of each other; each is of a kind of FaultFields."""
        return (self,)

    @property
    def listed(self) -> Strikes:
        """Faults that the file lists one by one, as pairs (time, number of the unit), in any
        order."""
        strikes: Strikes = getattr(self, "strikes", ())
        return strikes

    @property
    def by_computing(self) -> bool:
        """Whether, between a unit's faults, only the time counts in which one of its workers
        computes."""
        return getattr(self, "clock", Clock.CALENDAR) is Clock.COMPUTING

    @property
    def cured(self) -> bool:
        """Whether a repair that has removed the cause of a fault takes its unit out of the law for
        good: `curable`, or by default whether the law has a `share`."""
        share = getattr(self, "share", None)
        return self.curable if self.curable is not None else share is not None

    @property
    def fit(self) -> FittedLaw | None:
        """The fit of the law to a log of failures; None where the law was not fitted to one."""
        return self._fit

    @property
    def starts(self) -> Age:
        """Age that the units have at the start: `age`, or new where the law says none. New units
        have just failed; others are in the middle of their lives."""
        return getattr(self, "age", None) or Age.NEW

    @property
    def wearing(self) -> bool:
        """Whether units come under the law in the course of time."""
        return getattr(self, "interval", None) is not None

    @property
    def ages(self) -> bool:
        """Whether the units have an age: listed faults, and a user's own, have only their times."""
        return False

    @property
    def down(self) -> float:
        """Probability that a unit that the law strikes is DOWN at the start: 0 but for replayed
        logs."""
        return 0.0

    @property
    def mean_downtime(self) -> float:
        """Mean time for which a fault keeps a worker DOWN, time units; 0 for hangs."""
        return 0.0 if self.hangs else self.downtime

    def wears(self, total: int) -> tuple[float, int, tuple[tuple[int, ...], ...]] | None:
        """Return how units come under the law in the course of time; None, as only laws of some
        units have that."""
        return None

    def joining(self, total: int, until: float) -> Iterator[tuple[float, int]]:
        """Yield each time at which units come under the law, and how many of `total` do: none."""
        yield from ()

    def units_of(self, total: int, rng: Callable[[], Generator]) -> tuple[int, ...] | None:
        """Return the numbers, ascending, of those of `total` units (workers, nodes or racks, as
        `of` says) that the law strikes; None if it strikes all.

        `rng` makes the random stream from which units are drawn; it is not called where none are.
        """
        return None

    @property
    def names_units(self) -> bool:
        """Whether the scenario gives the numbers of the units that the law strikes."""
        return False

    def part(self, total: int) -> float:
        """Return the fraction of `total` units that the law strikes, from above 0 to 1: all of
        them, unless the kind of law takes `units` or a `share`."""
        return 1

    def struck(self, total: int) -> int:
        """Return how many of `total` units the law strikes: its fraction of them, rounded to the
        nearest whole number, halves up."""
        return math.floor(self.part(total) * total + 0.5)

    def expected(self, time: float, starts: Age | None = None) -> float:
        """Return the expected number of drawn faults, not of listed ones, of one unit that the law
        strikes, in [0, time].

        `starts` is the unit's age at the start; None stands for the law's own. A unit that is DOWN
        at the start counts as one fault.
        """
        if self.ageing and (starts or self.starts) is Age.NEW:
            return self._renewals(time)
        return self.down + time / float(cast(Any, self).mtbf)

    @property
    def ageing(self) -> bool:
        """Whether the rate of a unit's faults changes with its age, the time since its last
        fault."""
        return False

    def _renewals(self, time: float) -> float:
        """Return the expected number of drawn faults in [0, time] of a unit that is new at the
        start; asked of laws whose rate changes with age."""
        return time / float(cast(Any, self).mtbf)

    def mean_of(self, total: int) -> float:
        """Return the mean time between the drawn faults of a unit, averaged over all of `total`
        units, of which the law may strike a part at the start: the law's mean over that fraction;
        inf if it strikes none then."""
        law, part = cast(Any, self), self.part(total)
        if not part:
            return math.inf
        return float(law.mtbf) / part if part < 1 else cast(float, law.mtbf)

    def mtbf_over(self, since: float, until: float) -> float:
        """Return the mean time between the faults of one unit that the law strikes, from `since` to
        `until`; Young's and Daly's periods use it.

        It differs from the law's mean only where units are new at the start, the law's rate changes
        with their age, and the span is finite and not empty.
        """
        law = cast(Any, self)
        ageing = self.ageing and self.starts is Age.NEW
        if not ageing or not since < until < math.inf:
            return float(law.mtbf)
        return (until - since) / (self.expected(until) - self.expected(since))

    def fitted(self, folder: Path) -> FaultFields:
        """Return the law to be used in place of this section: itself, or, where it names a log of
        failures, the law fitted to the log or holding it. The log is looked for in `folder`.

        Raises InputError where a log cannot be read.
        """
        return self

    def loaded(self, folder: Path, key: str = "faults") -> FaultFields:
        """Return the section with the user's code that it names as an object: itself, as most name
        none. `key` is its dotted key, and modules are looked for in `folder` first.

        Raises InputError where the code cannot be loaded.
        """
        return self

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Yield (time, number of the unit) of each fault, drawn with `rng` or listed, in order of
        time; at equal times drawn faults come first. There are `workers` units, numbered from 0.

        Raises InputError where a listed fault is of a unit that does not exist.
        """
        return self.faults_of(None, rng, workers)

    def faults_of(self, units: Sequence[int] | None, rng: Generator, workers: int) -> Faults:
        """Yield (time, number of the unit) of each fault in order of time, as `faults` does, where
        only `units` have drawn faults (None: all of them). There are `workers` units in all,
        numbered from 0.

        Raises InputError where a listed fault is of a unit that does not exist.
        """
        for time, worker in self.listed:
            if worker >= workers:
                raise unfit(
                    "faults.strikes",
                    f"[{time!r}, {worker!r}] is not accepted",
                    f"a time from 0 on, a worker from 0 to {workers - 1}",
                )
        drawn = self._drawn(rng, workers if units is None else len(units))
        if units is not None:
            drawn = ((time, units[k]) for time, k in drawn)
        return _merged(drawn, sorted(self.listed))

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        """Yield (time, number from 0 to `workers` - 1 of the unit) of each fault that is drawn, not
        listed, in order of time."""
        return iter(())


def _merged(drawn: Faults, listed: Iterable[tuple[float, int]]) -> Faults:
    more = deque(listed)
    for fault in drawn:
        while more and more[0][0] < fault[0]:
            yield more.popleft()
        yield fault
    yield from more


class Clock(enum.Enum):
    """Time that counts between the faults of a unit."""

    CALENDAR = "calendar"
    """All time counts."""
    COMPUTING = "computing"
    """Only time counts in which one of the unit's workers computes, at rate 1 whatever the speed:
    no checkpoint, no other part of a run, no suspension."""


class NoFaults(FaultFields):
    """`"none"`: no worker fails."""

    kind: Literal["none"] = "none"

    mtbf: ClassVar[float] = math.inf

    @property
    def laws(self) -> tuple[Any, ...]:
        """The laws that act independently of each other: none."""
        return ()
