"""The `[faults]` and `[errors]` sections: when workers fail, whatever they run (malleable17,
sections 3.1 and 6.1), and which results silent errors spoil."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from operator import index
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from attrs import frozen
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, SkipValidation

from actors.events import Struck
from actors.hazards import Faults
from policies.maths.silent_errors import failure_probabilities, rate_probabilities
from sims.errors import InputError
from sims.own_modules import running
from sims.scenario.fault_fields import FaultFields, NoFaults
from sims.scenario.fault_laws import ExponentialFaults, ListedFaults, Lognormal, Weibull
from sims.scenario.fault_logs import FittedFaults, ReplayedFaults
from sims.scenario.own_code import OwnCode, own
from sims.tables import OneOf, Section
from sims.tables.fields import Accepts, Amount, Part, Time

__all__ = [
    "AnyFault",
    "AnyFaults",
    "ErrorSection",
    "ExponentialFaults",
    "Failures",
    "FaultFields",
    "FittedFaults",
    "ListedFaults",
    "Lognormal",
    "NoFaults",
    "OwnFaults",
    "ReplayedFaults",
    "SeveralFaults",
    "Struck",
    "Weibull",
    "placed_laws",
    "together",
]


def together(mtbfs: Iterable[float]) -> float:
    """Return the mean time between faults of any kind, from the mean times between those of each
    kind: the inverse of the summed rates; inf if there are none."""
    each = tuple(mtbfs)
    rate = sum(1 / mtbf for mtbf in each)
    return each[0] if len(each) == 1 else 1 / rate if rate else math.inf


class OwnFaults(FaultFields):
    """A law of faults that a Python program gives as an object, in place of `[faults]` in a
    file."""

    given: SkipValidation[Any]

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker; inf: not known."""
        return float(self.given.mtbf)

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Yield (time, worker) of each fault that the program's object gives, in order of time;
        `workers` is the number of workers."""
        found: Faults = self.given.faults(rng, workers)
        return found


class FaultLaw(Protocol):
    """The interface of a law of faults that a user gives as an object for `[faults]`."""

    @property
    def downtime(self) -> float:
        """Time that a fault keeps a worker DOWN, time units."""

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker, from which Young's and Daly's periods are
        computed; `inf` where it is not known."""

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Yield (time, worker) of each fault, in order of time; it may be endless. Workers are
        numbered from 0 to `workers` - 1, and `rng` is the only source of randomness."""


class NamedFaults(OwnCode, FaultFields):
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: a law of the user's
    own."""

    name: str
    """Name of a class with `faults(rng, workers)`, `mtbf` and `downtime` (`holdfast new
    hazard`)."""
    downtime: Time | None = None  # type: ignore[assignment]  # until the law is loaded
    """D: time that a fault keeps a worker DOWN, time units; default: the law's own."""

    mtbf: ClassVar[float] = math.inf

    def loaded(self, folder: Path, key: str = "faults") -> OwnFaults:
        """Return the section, whose dotted key is `key`, with an object of the user's class as its
        law, whose faults are checked as they are used; the class's module is looked for in `folder`
        first.

        Raises InputError where the class cannot be loaded, or its object has no valid `mtbf` or
        `downtime`.
        """
        place = f"{key}.name"
        law: FaultLaw = own(self.name, self.parameters, folder, place, FaultLaw)
        with running(place, self.name, "numbers `mtbf`, above 0, and `downtime`, from 0"):
            mtbf, downtime = float(law.mtbf), float(law.downtime)
            if not (mtbf > 0 and 0 <= downtime < math.inf):
                raise ValueError(f"mtbf = {mtbf!r}, downtime = {downtime!r}")
        keys = {name: getattr(self, name) for name in FaultFields.model_fields}
        if self.downtime is None:
            keys["downtime"] = downtime
        given = CheckedLaw(law, self.name, place)
        return OwnFaults.model_construct(self.model_fields_set, given=given, **keys)


@frozen
class CheckedLaw:
    """Checks a user's law of faults, of the given `name`, as it is used: an exception that it
    raises, or a value that is no fault, becomes an InputError."""

    law: FaultLaw
    name: str
    key: str
    """Dotted key that names the law."""
    ACCEPTED: ClassVar = "(time, worker) pairs: finite times from 0 that do not fall, and workers"

    @property
    def mtbf(self) -> float:
        """Mean time between the faults of one worker, as the user's law says, time units."""
        return float(self.law.mtbf)

    def faults(self, rng: Generator, workers: int) -> Faults:
        """Yield (time, worker) of each fault of the user's law, after a check.

        Raises InputError for the first value that is no fault, or that is out of order.
        """
        last, accepted = 0.0, f"{self.ACCEPTED} from 0 to {workers - 1}"
        with running(self.key, self.name, accepted):
            found = iter(self.law.faults(rng, workers))
        while True:
            with running(self.key, self.name, accepted):
                if (fault := next(found, None)) is None:
                    return
                time, worker = float(fault[0]), index(fault[1])
                if not (last <= time < math.inf and 0 <= worker < workers):
                    raise ValueError(f"it gave {fault!r:.80}")
            last = time
            yield time, worker


AnyFault = (
    ExponentialFaults
    | Weibull
    | Lognormal
    | ListedFaults
    | FittedFaults
    | ReplayedFaults
    | NamedFaults
)


class SeveralFaults(Section):
    """`[[faults]]` or `[[faults.laws]]`: several kinds of faults at once, each with its own law."""

    SHORT = ((list,), "laws")
    TOLD_BY: ClassVar = ("laws",)

    kind: Literal["several"] = "several"
    laws: tuple[Annotated[AnyFault, OneOf()], ...]

    @property
    def mean_downtime(self) -> float:
        """The longest mean downtime of the laws, time units."""
        return max((law.mean_downtime for law in self.laws), default=0)

    def fitted(self, folder: Path) -> SeveralFaults:
        """Return the section with each law fitted to the log that it names, if it names one; logs
        are looked for in `folder`."""
        laws = tuple(law.fitted(folder) for law in self.laws)
        return self.model_copy(update={"laws": laws})

    def loaded(self, folder: Path, key: str = "faults") -> SeveralFaults:
        """Return the section with the user's code that its laws name as objects, which are looked
        for in `folder` first."""
        laws = tuple(law.loaded(folder, f"{key}.laws.{k}") for k, law in enumerate(self.laws))
        return self.model_copy(update={"laws": laws})


AnyFaults = Annotated[
    NoFaults
    | ExponentialFaults
    | Weibull
    | Lognormal
    | ListedFaults
    | FittedFaults
    | ReplayedFaults
    | SeveralFaults
    | NamedFaults,
    OneOf(),
]


def placed_laws(faults: AnyFaults) -> Iterator[tuple[str, AnyFault]]:
    """Yield (dotted key, law) for each law of faults: `faults` for a single one, `faults.laws.K`
    for the K-th of several."""
    for k, law in enumerate(faults.laws):
        yield "faults" if law is faults else f"faults.laws.{k}", law


# --- silent errors --------------------------------------------------------------------------------

MOST_FAILURES = 1_000_000
"""Largest number of failures of one job in a row; each of them is a run."""
Failures = Annotated[
    Annotated[int, Field(ge=0, le=MOST_FAILURES)] | tuple[Annotated[int, Field(ge=0, le=1)], ...],
    Accepts(
        f"a whole number from 0 to {MOST_FAILURES:,}, "
        "or a list of 0 and 1, one for each verification"
    ),
]


class ErrorSection(Section):
    """`[errors]`: silent errors; at most one of these keys. A job's own `failures` take
    precedence."""

    rate: Amount | None = None
    """lambda: errors per worker and time unit of computation (rigid21)."""
    average: Part | None = None
    """q-bar: probability that a run of mean area (rigid jobs) or mean work (others) fails; below
    1."""
    per_work: Amount | None = None
    """lambda: errors per unit of a job's work on one worker (moldable21)."""

    @property
    def given(self) -> dict[str, float]:
        """Maps the key that is set, at most one of `average`, `rate` and `per_work`, to its value;
        empty where there are no silent errors."""
        keys = ((key, getattr(self, key)) for key in ("average", "rate", "per_work"))
        return {key: value for key, value in keys if value is not None}

    def check(self) -> None:
        if len(self.given) > 1:
            raise InputError("", "", f"both {' and '.join(self.given)}", "one of them")

    def probabilities(self, works: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return q_j, the probability that a run of job j ends with a silent error, for each job,
        from their `works`: the area of a rigid job, the time on one worker of another."""
        if self.average is not None:
            return failure_probabilities(works, self.average)
        with np.errstate(over="ignore"):  # with infinitely many errors, runs fail for certain
            return rate_probabilities(works, self.rate or self.per_work or 0.0)

    def per_unit(self, works: NDArray[np.float64]) -> float:
        """Return lambda, the silent errors per unit of a job's work, where `average` or `per_work`
        gives it, the former at the mean of `works`; otherwise 0."""
        if self.average is not None:
            # From q-bar = 1 - e^(-lambda w) at the mean work w.
            return -float(np.log1p(-self.average)) / float(np.mean(works))
        return self.per_work or 0.0
