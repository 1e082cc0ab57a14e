"""When workers fail, whatever they run (malleable17, sections 3.1 and 6.1), and what results silent
errors spoil."""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Iterable, Sequence
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, cast

import numpy as np
from attrs import frozen
from numpy.random import Generator
from pydantic import Field, PrivateAttr, SkipValidation

from actors.hazards import Faults, exponential_faults, weibull_faults
from policies.maths.silent_errors import failure_probabilities, rate_probabilities
from sims.durations import YEAR
from sims.errors import InputError, unfit
from sims.scenario.own_code import FORM, own, running
from sims.tables import OneOf, Section
from sims.tables.fields import FINITE, Accepts, Duration, NotNegative, Part, Time

if TYPE_CHECKING:
    from sims.readers.fits import FittedLaw

SMALLEST_SHAPE = 0.05
"""Of Weibull laws: the smaller, the more of the faults follow the last one within no time."""

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
    """What a fault strikes."""

    WORKERS = "workers"
    NODES = "nodes"
    """All workers of a node at once, of which `platform.node` says how many there are."""


class FaultFields(Section):
    """What all kinds of faults have."""

    of: Struck = Struck.WORKERS
    """What fails: `workers`, or whole `nodes`; mtbf and strikes are of them."""
    downtime: Time = 60.0
    """D: how long a fault keeps a worker DOWN, in the file's unit."""
    detection: Time = 0
    """After which time a fault of a worker that a run holds is detected; until then the run waits,
    and nobody knows."""

    _fit: FittedLaw | None = PrivateAttr(None)
    """Where it was fitted."""

    @property
    def laws(self) -> tuple[AnyFault, ...]:
        """Each that strikes by itself."""
        return (cast("AnyFault", self),)

    @property
    def fit(self) -> FittedLaw | None:
        """What fitted it to a log of failures, if anything did."""
        return self._fit

    def fitted(self, folder: Path) -> FaultFields:
        """What takes its place once logs in `folder` are read. Raises InputError."""
        return self

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time; of equal times those drawn first. Raises
        InputError where one strikes a worker that there is not."""
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
        """Those that are not listed."""
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
    def laws(self) -> tuple[AnyFault, ...]:
        """None."""
        return ()


class ExponentialFaults(FaultFields):
    """`{kind = "exponential", mtbf = 1e6}`."""

    kind: Literal["exponential"] = "exponential"
    mtbf: Duration = 100 * YEAR
    """mu: mean time between the faults of one worker, in the file's unit."""
    strikes: Strikes = ()
    """[time, worker] of more faults, beside those drawn."""

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        return exponential_faults(rng, workers, self.mtbf)


class Weibull(FaultFields):
    """`{kind = "weibull", mtbf = 1e6, shape = 0.7}`."""

    kind: Literal["weibull"] = "weibull"
    mtbf: Duration = 100 * YEAR
    """Mean time between the faults of one worker, in the file's unit."""
    shape: Shape
    """k: below 1, the older the safer; 1 is exponential."""
    strikes: Strikes = ()
    """[time, worker] of more faults, beside those drawn."""

    def _drawn(self, rng: Generator, workers: int) -> Faults:
        return weibull_faults(rng, workers, self.mtbf, self.shape)


class ListedFaults(FaultFields):
    """`{kind = "list", strikes = [[3.5e6, 14], [7.1e6, 7]]}`."""

    kind: Literal["list"] = "list"
    strikes: Strikes
    """[time, worker], in any order."""

    mtbf: ClassVar[float] = math.inf


class FittedFaults(FaultFields):
    """`{kind = "fitted", file = "event_trace.tab"}`: a law, fitted to a log of failures."""

    kind: Literal["fitted"] = "fitted"
    file: str
    """A log in FTA form, from the scenario file's folder; `.gz` and `.xz` are unpacked."""
    law: Literal["weibull", "exponential"] = "weibull"
    """Of the times from one failure of a node to its next."""
    platform: int | None = None
    """platform_id whose nodes count; default: all do."""
    component: int | None = None
    """component_id whose events count; default: all do."""

    mtbf: ClassVar[float] = math.inf

    def fitted(self, folder: Path) -> FaultFields:
        """The law itself."""
        from sims.readers.fits import fit_failures

        found = fit_failures(folder / self.file, self.law, self.platform, self.component)
        own = self.model_dump(include={"of", "downtime", "detection"})
        law = Weibull(mtbf=found.mtbf, shape=found.shape, **own)
        law._fit = found
        return law

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Raises InputError: it is not fitted yet."""
        raise unfit(
            "faults.kind",
            "is fitted where a scenario file is read, or a table",
            "holdfast.run of a file, or a table",
        )


AnyFault = ExponentialFaults | Weibull | ListedFaults | FittedFaults


class SeveralFaults(Section):
    """`[[faults]]`: several kinds of faults at once, each of its own law."""

    SHORT = ((list,), "laws")

    kind: Literal["several"] = "several"
    laws: tuple[Annotated[AnyFault, OneOf()], ...]

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker, or its node, of any kind."""
        rate = sum(1 / law.mtbf for law in self.laws)
        return 1 / rate if rate else math.inf

    @property
    def downtime(self) -> float:
        """The longest."""
        return max((law.downtime for law in self.laws), default=0)

    def fitted(self, folder: Path) -> SeveralFaults:
        """See FaultFields."""
        laws = tuple(law.fitted(folder) for law in self.laws)
        return self.model_copy(update={"laws": laws})


class OwnFaults(FaultFields):
    """A program's own, in place of what a file says."""

    given: SkipValidation[Any]

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker; inf: nobody knows."""
        return float(self.given.mtbf)

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time."""
        found: Faults = self.given.faults(rng, workers)
        return found


class FaultLaw(Protocol):
    """What strikes workers: `[faults]` as an object, such as those of this module."""

    @property
    def downtime(self) -> float:
        """How long a fault keeps a worker DOWN."""

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker, `inf` where nobody knows: what Young's and
        Daly's periods are worked out from."""

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time."""


class NamedFaults(FaultFields):
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: a law of yours."""

    SHORT = ((str,), "name")
    PATTERN: ClassVar = {"pattern": f"^{FORM.pattern}$"}

    kind: Literal["own"] = "own"
    name: str
    """A class with `faults(rng, workers)`, `mtbf` and `downtime` (`holdfast new hazard`)."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """What its constructor takes."""
    downtime: Time | None = None  # type: ignore[assignment]  # until the law is loaded
    """D: how long a fault keeps a worker DOWN; default: the law's own."""

    mtbf: ClassVar[float] = math.inf

    @classmethod
    def stands_for(cls, value: Any) -> bool:
        """Return whether a text names code, and is no misspelt kind."""
        return FORM.fullmatch(value) is not None

    def loaded(self, folder: Path) -> OwnFaults:
        """Return the law itself, a module of the user's sought in `folder`. Raises InputError."""
        law: FaultLaw = own(self.name, self.parameters, folder, "faults.name", FaultLaw)
        with running("faults.name", self.name, "numbers `mtbf`, above 0, and `downtime`, from 0"):
            mtbf, downtime = float(law.mtbf), float(law.downtime)
            if not (mtbf > 0 and 0 <= downtime < math.inf):
                raise ValueError(f"mtbf = {mtbf!r}, downtime = {downtime!r}")
        return OwnFaults.model_construct(
            given=CheckedLaw(law, self.name),
            of=self.of,
            downtime=downtime if self.downtime is None else self.downtime,
            detection=self.detection,
        )


@frozen
class CheckedLaw:
    """A law of faults that a file names: whatever it raises, or yields that is no fault, is an
    InputError."""

    law: FaultLaw
    name: str
    ACCEPTED: ClassVar = "(time, worker) pairs: finite times from 0 that do not fall, and workers"

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker."""
        return float(self.law.mtbf)

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault."""
        last, accepted = 0.0, f"{self.ACCEPTED} from 0 to {workers - 1}"
        with running("faults.name", self.name, accepted):
            found = iter(self.law.faults(rng, workers))
        while True:
            with running("faults.name", self.name, accepted):
                if (fault := next(found, None)) is None:
                    return
                time, worker = float(fault[0]), index(fault[1])
                if not (last <= time < math.inf and 0 <= worker < workers):
                    raise ValueError(f"it gave {fault!r:.80}")
            last = time
            yield time, worker


AnyFaults = Annotated[
    NoFaults
    | ExponentialFaults
    | Weibull
    | ListedFaults
    | FittedFaults
    | SeveralFaults
    | NamedFaults,
    OneOf(),
]


# --- silent errors --------------------------------------------------------------------------------

MOST_FAILURES = 1_000_000
"""Of one job, in a row: each is a run."""
Failures = Annotated[
    Annotated[int, Field(ge=0, le=MOST_FAILURES)] | tuple[Annotated[int, Field(ge=0, le=1)], ...],
    Accepts(
        f"a whole number from 0 to {MOST_FAILURES:,}, "
        "or a list of 0 and 1, one for each verification"
    ),
]


class ErrorSection(Section):
    """`[errors]`: silent errors; at most one of these. A job's own `failures` comes first."""

    rate: NotNegative | None = None
    """lambda: errors per worker and unit of computing time (rigid21)."""
    average: Part | None = None
    """q-bar: how often a run of mean area (rigid jobs) or mean work (others) fails; below 1."""
    per_work: NotNegative | None = None
    """lambda: errors per unit of a job's work on one worker (moldable21)."""

    @property
    def given(self) -> dict[str, float]:
        """What is said: at most one of them, and its value."""
        said = ((key, getattr(self, key)) for key in ("average", "rate", "per_work"))
        return {key: value for key, value in said if value is not None}

    def check(self) -> None:
        if len(self.given) > 1:
            raise InputError("", "", f"both {' and '.join(self.given)}", "one of them")

    def probabilities(self, works: Sequence[float]) -> list[float]:
        """q_j of each job, by its work: a rigid one's is its area."""
        if self.average is not None:
            return failure_probabilities(works, self.average)
        with np.errstate(over="ignore"):  # infinitely many errors: they fail for certain
            return rate_probabilities(works, self.rate or self.per_work or 0.0)

    def per_unit(self, works: Sequence[float]) -> float:
        """lambda per unit of work, where that is what is given."""
        if self.average is not None:
            return -float(np.log1p(-self.average)) / float(np.mean(works))
        return self.per_work or 0.0
