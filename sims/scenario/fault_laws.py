"""Laws of faults: when workers, or nodes, fail (malleable17, sections 3.1 and 6.1)."""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from numpy.random import Generator
from pydantic import PrivateAttr, model_validator

from actors.events import Age
from actors.hazards import Faults, exponential_faults, weibull_faults
from policies.maths.renewals import expected_renewals
from sims.durations import YEAR
from sims.errors import InputError, unfit
from sims.tables import Section
from sims.tables.fields import FINITE, Accepts, Duration, Time

if TYPE_CHECKING:
    from sims.readers.failures import FittedLaw

SMALLEST_SHAPE = 0.05
"""Least shape of a Weibull law; the smaller the shape, the more faults follow the last one at
once."""

Fail = Annotated[
    tuple[Time, int],
    Accepts("a finite time from 0 on, and a worker", check=lambda strike: strike[1] >= 0),
]
Strikes = tuple[Fail, ...]
Shape = Annotated[
    float,
    Accepts(
        f"a finite number, {SMALLEST_SHAPE} or above: below, most faults come at once",
        {"ge": SMALLEST_SHAPE, **FINITE},
    ),
]


class Struck(enum.Enum):
    """The units that fail."""

    WORKERS = "workers"
    NODES = "nodes"
    """All workers of a node fail at once; `platform.node` gives their number."""


MEANINGLESS = {
    "age": "has no meaning: faults of this kind come at the times that are given, whatever the age",
    "downtime": "has no meaning: each failure lasts as long as its log says",
}
"""Maps a key to the reason why some kinds of faults do not have it."""


class FaultFields(Section):
    """The keys that all kinds of faults have."""

    of: Struck = Struck.WORKERS
    """Units that fail: `workers`, or whole `nodes`; mtbf and strikes are of these units."""
    downtime: Time = 60.0
    """D: time that a fault keeps a worker DOWN, in the file's unit."""
    detection: Time = 0
    """Time after which the fault of a worker that a run holds is detected, time units; until then
    the run waits, because the scheduler does not know of the fault."""

    _fit: FittedLaw | None = PrivateAttr(None)
    """The fit that this law comes from, if it was fitted to a log."""

    @model_validator(mode="before")
    @classmethod
    def _meant(cls, table: Any) -> Any:
        """Raise ValueError, of an InputError, for a key that has no meaning for this kind of
        faults."""
        for key, reason in MEANINGLESS.items():
            if isinstance(table, Mapping) and key in table and key not in cls.model_fields:
                raise ValueError(InputError("", key, reason, f"{key} left out"))
        return table

    @property
    def laws(self) -> tuple[Any, ...]:
        """The laws that act independently of each other; each is of a kind of FaultFields."""
        return (self,)

    @property
    def fit(self) -> FittedLaw | None:
        """The fit of the law to a log of failures; None: the law was not fitted."""
        return self._fit

    @property
    def starts(self) -> Age:
        """Age of workers, or nodes, at the start."""
        return getattr(self, "age", None) or Age.NEW

    @property
    def down(self) -> float:
        """Probability that a worker, or node, is DOWN at the start."""
        return 0.0

    @property
    def mean_downtime(self) -> float:
        """Mean time that a fault keeps a worker DOWN."""
        return self.downtime

    def expected(self, time: float, starts: Age | None = None) -> float:
        """Return the expected number of faults of one worker, or node, by `time`, without listed
        ones.

        `starts` is the age at the start; default: the law's.
        """
        law = cast(Any, self)
        if isinstance(law, Weibull) and (starts or self.starts) is Age.NEW:
            return expected_renewals(time, law.mtbf, law.shape)
        return self.down + time / float(law.mtbf)

    def mtbf_over(self, since: float, until: float) -> float:
        """Return the mean time between the faults of one worker, or node, from `since` to `until`;
        Young's and Daly's periods use it.

        It differs from the law's mean only where workers are new at the start and the law is a
        Weibull law.
        """
        law = cast(Any, self)
        ageing = isinstance(law, Weibull) and law.shape != 1 and self.starts is Age.NEW
        if not ageing or not since < until < math.inf:
            return float(law.mtbf)
        return (until - since) / (self.expected(until) - self.expected(since))

    def fitted(self, folder: Path) -> FaultFields:
        """Return the law that takes this section's place once logs in `folder` are read.

        Raises InputError where a log cannot be read.
        """
        return self

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Yield (time, worker) of each fault in order of time; at equal times, drawn faults come
        first.

        Raises InputError where a listed fault is of a worker that does not exist.
        """
        strikes: Strikes = getattr(self, "strikes", ())
        for time, worker in strikes:
            if worker >= workers:
                raise unfit(
                    "faults.strikes",
                    f"[{time!r}, {worker!r}] is not accepted",
                    f"a time from 0 on, a worker from 0 to {workers - 1}",
                )
        return _merged(self._drawn(rng, workers), sorted(strikes, key=lambda fault: fault[0]))

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        """Yield the faults that are drawn, not listed."""
        return iter(())


def _merged(drawn: Faults, listed: Iterable[tuple[float, int]]) -> Faults:
    more = deque(listed)
    for fault in drawn:
        while more and more[0][0] < fault[0]:
            yield more.popleft()
        yield fault
    yield from more


class NoFaults(FaultFields):
    """`"none"`: no worker fails."""

    kind: Literal["none"] = "none"

    mtbf: ClassVar[float] = math.inf

    @property
    def laws(self) -> tuple[Any, ...]:
        """The laws that act independently of each other: none."""
        return ()


class ExponentialFaults(FaultFields):
    """`{kind = "exponential", mtbf = 1e6}`: exponential times between the faults of a worker."""

    kind: Literal["exponential"] = "exponential"
    mtbf: Duration = 100 * YEAR
    """mu: mean time between the faults of one worker, in the file's unit."""
    age: Age | None = None
    """Age of the workers at the start: `new` (default) or `stationary`, which are the same here,
    because the rest of an exponential time is exponential."""
    strikes: Strikes = ()
    """[time, worker] of each fault that comes in addition to those drawn."""

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        return exponential_faults(rng, workers, self.mtbf)


class Weibull(FaultFields):
    """`{kind = "weibull", mtbf = 1e6, shape = 0.7}`: Weibull times between the faults of a
    worker."""

    kind: Literal["weibull"] = "weibull"
    mtbf: Duration = 100 * YEAR
    """Mean time between the faults of one worker, in the file's unit."""
    shape: Shape
    """k: shape; below 1, workers fail less often the older they are; 1 is exponential."""
    age: Age | None = None
    """Age of the workers at the start: `new` (default): all have just failed; `stationary`: in the
    middle of their lives, as at an arbitrary moment."""
    strikes: Strikes = ()
    """[time, worker] of each fault that comes in addition to those drawn."""

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        stationary = self.starts is Age.STATIONARY
        return weibull_faults(rng, workers, self.mtbf, self.shape, stationary)


class ListedFaults(FaultFields):
    """`{kind = "list", strikes = [[3.5e6, 14], [7.1e6, 7]]}`: faults listed one by one."""

    kind: Literal["list"] = "list"
    strikes: Strikes
    """[time, worker] of each fault, in any order."""

    mtbf: ClassVar[float] = math.inf
