"""Execution times as functions of the number of workers, for moldable jobs (moldable21, section
5.1) and malleable applications (malleable17, section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from actors.events import ApplicationDescribed, PeriodRule, ProtectionKind
from policies.maths.checkpoint import daly_work, young_period
from policies.maths.speedup import Profile, Table, amdahl, communication, mix, power, roofline
from sims.errors import unfit
from sims.tables import OneOf, Section
from sims.tables.fields import NOT_EMPTY, Count, Duration, Probability, Time, Unacceptable

if TYPE_CHECKING:
    from policies.maths.cosched import Checkpointing, Costs, Link

Sizes = NDArray[np.float64]


LAWS: Mapping[str, Callable[..., Profile]] = {
    "roofline": roofline,
    "communication": communication,
    "amdahl": amdahl,
    "mix": mix,
    "power": power,
}
"""Maps the kind of a formula to the function that makes its profile from w and the formula's own
keys."""


class Formula(Section):
    """The key that every formula has: the work that it divides among workers."""

    work: Duration | None = None
    """w: time on one worker, time units; default, for malleable applications only: 2 m log2 m,
    where m is the footprint."""

    def whole(self, footprint: float | None) -> float:
        """Return the whole work w, the execution time on one worker: the key `work`, or 2 m log2 m
        for a `footprint` m.

        Raises InputError where `work` is not set and the footprint is None or at most 1.
        """
        if self.work is not None:
            return self.work
        if footprint is None:
            raise unfit("speedup.work", "missing", "the time on one worker")
        if footprint <= 1:
            raise unfit(
                "job.footprints",
                f"a footprint of {footprint!r} has no work",
                "more than 1 data unit",
            )
        return 2 * footprint * math.log2(footprint)

    def profile(self, footprint: float | None = None) -> Profile:
        """Return the execution time t(p) as a function of the number of workers p; `footprint`, in
        data units, gives the work where the key `work` does not.

        Raises InputError where neither gives it.
        """
        own = self.model_dump(exclude={"work"})
        return LAWS[own.pop("kind")](self.whole(footprint), **own)


class Roofline(Formula):
    """`{kind = "roofline", work = 1000, degree = 16}`: w/p up to a degree of parallelism."""

    kind: Literal["roofline"] = "roofline"
    degree: Count
    """Largest number of workers that shorten the time."""


class Communication(Formula):
    """`{kind = "communication", work = 1000, cost = 10}`: w/p + (p - 1) c."""

    kind: Literal["communication"] = "communication"
    cost: Time
    """c: time that each worker beyond the first adds, time units."""


class Amdahl(Formula):
    """`{kind = "amdahl", work = 1000, fraction = 0.1}`: w ((1 - gamma)/p + gamma)."""

    kind: Literal["amdahl"] = "amdahl"
    fraction: Probability
    """gamma: sequential fraction of the work."""


class Mix(Formula):
    """`{kind = "mix", work = 1000, degree = 64, fraction = 0.1, cost = 10}`: roofline,
    communication and Amdahl's law combined."""

    kind: Literal["mix"] = "mix"
    degree: Count
    """Largest number of workers that shorten the time."""
    fraction: Probability
    """gamma: sequential fraction of the work."""
    cost: Time
    """c: time that each worker beyond the first adds, time units."""


class Power(Formula):
    """`{kind = "power", work = 1000, delta = 0.8}`: w / p^delta."""

    kind: Literal["power"] = "power"
    delta: Probability
    """Exponent of the number of workers."""


class Times(Section):
    """`{kind = "table", times = [10, 9, 6]}`: measured execution times."""

    kind: Literal["table"] = "table"
    times: Annotated[tuple[Duration, ...], NOT_EMPTY]
    """Execution times on 1, 2, 3, ... workers, time units; the job never runs on more workers than
    listed."""

    def check(self) -> None:
        areas = [count * time for count, time in enumerate(self.times, start=1)]
        if not math.isfinite(sum(areas)):
            raise Unacceptable("times", self.times, "times whose areas, p t(p), are finite")

    def profile(self, footprint: float | None = None) -> Profile:
        """Return the execution time t(p) as a function of the number of workers p, from the table;
        `footprint` is not used."""
        return Table(self.times)


class Synthetic(Section):
    """`{kind = "synthetic", fraction = 0.08}`: the speedup of malleable17, equation 7, which
    depends on an application's footprint."""

    kind: Literal["synthetic"] = "synthetic"
    fraction: Probability = 0.08
    """f: sequential fraction of the time."""


Formulas = Roofline | Communication | Amdahl | Mix | Power | Times
MoldableSpeedup = Annotated[Formulas, OneOf()]
AnySpeedup = Annotated[Synthetic | Formulas, OneOf()]


def durations(speedup: AnySpeedup, footprint: float, sizes: Sizes) -> Sizes:
    """Return t(p) of an application with this `footprint`, in data units, for each number of
    workers p in `sizes`; where a table gives the times, only for the sizes that it lists.

    Raises InputError where the application has no work.
    """
    if isinstance(speedup, Synthetic):
        from policies.maths.cosched import synthetic_times

        return synthetic_times(footprint, speedup.fraction, sizes)
    if isinstance(speedup, Times):
        sizes = sizes[sizes <= len(speedup.times)]
    profile = speedup.profile(footprint)
    return np.array([profile.time(int(size)) for size in sizes])


@frozen(eq=False, slots=False)
class Application:
    """The execution time of a malleable application with `footprint` data units on 1 to P workers.

    Times are computed on first use: for a thousand applications on 5,000 workers there are five
    million.
    """

    footprint: float
    speedup: AnySpeedup
    workers: int
    """P: number of workers of the platform."""

    @cached_property
    def times(self) -> list[float]:
        """Execution times t(p) for p = 1 .. P, or as far as the application's table goes, in a list
        with that of p at index p - 1."""
        sizes = np.arange(1, self.workers + 1, dtype=np.float64)
        return list(map(float, durations(self.speedup, self.footprint, sizes)))

    @cached_property
    def work(self) -> float:
        """Time on one worker, time units."""
        return float(durations(self.speedup, self.footprint, np.ones(1))[0])

    def time(self, processors: int) -> float:
        """Return the execution time on `processors` workers; for more than its times list, the
        shortest time listed."""
        times = self.times
        return times[processors - 1] if processors <= len(times) else min(times)


@frozen
class Pack:
    """Settings that the malleable applications of one platform share."""

    pair: int
    """Number of workers in a group; the sizes of applications are multiples of it."""
    link: Link
    """The network over which applications are redistributed."""
    fatal: bool
    """Whether every fault counts; if not, malleable17's own rule applies."""
    downtime: float
    """Time for which expectations assume that a fault keeps a worker DOWN."""
    mtbf: float | None
    """Mean time between the faults of one worker that they assume; None: no fault is expected."""
    releases: bool
    """Whether applications promise their workers to others before they end."""


# --- what a pack expects --------------------------------------------------------------------------


def costs_of(
    pack: Pack, application: Application, protection: Checkpointing | None, workers: int
) -> Costs:
    """Return an application's times and costs on every number of workers that the pack can give it:
    the multiples of `pack.pair` up to `workers`. Without `protection` nothing is checkpointed and
    no fault expected."""
    from policies.maths.cosched import costs

    sizes = pack.pair * np.arange(1, workers // pack.pair + 1, dtype=np.float64)
    times = durations(application.speedup, application.footprint, sizes)
    return costs(times, application.footprint, pack.pair, pack.link, protection)


def checkpointing(
    pack: Pack,
    application: ApplicationDescribed,
    work: float | str | None,
    kind: ProtectionKind,
    cost: float | Callable[[Sizes], Sizes] | None,
    image: float | None,
) -> Checkpointing | None:
    """Return the parameters with which an application's expected times count checkpoints and
    faults; None where it takes no checkpoints.

    `work` is the period of its checkpoints where that is a number, and `kind` that of its
    protection. `cost` is C, by size if it depends on the number of workers, None where the pack's
    link gives it; `image` is the time of a checkpoint image on a channel of the master, None where
    images go through none.
    """
    from policies.maths.cosched import Checkpointing

    if application.rule is PeriodRule.NONE:
        return None
    if kind is ProtectionKind.IMAGES:
        cost = (cost or 0) if image is None else image
    mtbf = pack.mtbf if application.mtbf is None else application.mtbf
    link, period = pack.link, _period(application.rule, work)
    # An application that expects no faults has an infinite mean time between failures.
    return Checkpointing(
        math.inf if mtbf is None or application.faultless else mtbf,
        *(link.inverse_bandwidth, link.latency, pack.downtime, period),
        *(cost, kind is ProtectionKind.BUDDIES),
    )


def _period(rule: PeriodRule, work: float | str | None) -> Callable[[Sizes, Sizes], Sizes]:
    """Return tau, the period from one checkpoint's end to the next one's, as a function of MTBF and
    cost of a checkpoint, by this rule; `work` is the period where the rule is FIXED."""
    if rule is PeriodRule.YOUNG:
        return young_period
    if rule is PeriodRule.DALY:
        daly = np.vectorize(daly_work, otypes=[np.float64])
        return lambda mtbf, cost: daly(mtbf, cost) + cost
    # A fixed period counts work only; Daly's formula gives work too, Young's includes the
    # checkpoint.
    assert isinstance(work, float | int)
    return lambda mtbf, cost: work + cost
