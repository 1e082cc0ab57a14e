"""How execution times depend on workers: one table for moldable jobs (moldable21, section 5.1) and
malleable applications (malleable17, section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from pydantic import TypeAdapter

from actors.events import ApplicationDescribed, PackDescribed, PeriodRule, ProtectionKind
from policies.maths.checkpoint import daly_work, young_period
from policies.maths.speedup import Profile, Table, amdahl, communication, mix, power, roofline
from sims.errors import unfit
from sims.scenario.policy import value_of
from sims.tables import OneOf, Section
from sims.tables.fields import NOT_EMPTY, Count, Duration, Probability, Time, Unacceptable

if TYPE_CHECKING:
    from policies.maths.cosched import Checkpointing, Costs

Sizes = NDArray[np.float64]


LAWS: Mapping[str, Callable[..., Profile]] = {
    "roofline": roofline,
    "communication": communication,
    "amdahl": amdahl,
    "mix": mix,
    "power": power,
}
"""Kind of a formula -> its profile, by w and its own keys."""


class Formula(Section):
    """What every formula scales."""

    work: Duration | None = None
    """w: time on one worker; default, of malleable applications only: 2 m log2 m, m being the
    footprint."""

    def whole(self, footprint: float | None) -> float:
        """w. Raises InputError where there is none."""
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
        """t(p)."""
        own = self.model_dump(exclude={"work"})
        return LAWS[own.pop("kind")](self.whole(footprint), **own)


class Roofline(Formula):
    """`{kind = "roofline", work = 1000, degree = 16}`: w/p up to a degree of parallelism."""

    kind: Literal["roofline"] = "roofline"
    degree: Count
    """The most workers that help."""


class Communication(Formula):
    """`{kind = "communication", work = 1000, cost = 10}`: w/p + (p - 1) c."""

    kind: Literal["communication"] = "communication"
    cost: Time
    """c: time for each worker beyond the first."""


class Amdahl(Formula):
    """`{kind = "amdahl", work = 1000, fraction = 0.1}`: w ((1 - gamma)/p + gamma)."""

    kind: Literal["amdahl"] = "amdahl"
    fraction: Probability
    """gamma: the sequential fraction."""


class Mix(Formula):
    """`{kind = "mix", work = 1000, degree = 64, fraction = 0.1, cost = 10}`: the three above in
    one."""

    kind: Literal["mix"] = "mix"
    degree: Count
    """The most workers that help."""
    fraction: Probability
    """gamma: the sequential fraction."""
    cost: Time
    """c: time for each worker beyond the first."""


class Power(Formula):
    """`{kind = "power", work = 1000, delta = 0.8}`: w / p^delta."""

    kind: Literal["power"] = "power"
    delta: Probability
    """The exponent."""


class Times(Section):
    """`{kind = "table", times = [10, 9, 6]}`: measured times."""

    kind: Literal["table"] = "table"
    times: Annotated[tuple[Duration, ...], NOT_EMPTY]
    """On 1, 2, 3, ... workers; the job never runs on more."""

    def check(self) -> None:
        areas = [count * time for count, time in enumerate(self.times, start=1)]
        if not math.isfinite(sum(areas)):
            raise Unacceptable("times", self.times, "times whose areas, p t(p), are finite")

    def profile(self, footprint: float | None = None) -> Profile:
        """t(p)."""
        return Table(self.times)


class Synthetic(Section):
    """`{kind = "synthetic", fraction = 0.08}`: malleable17, equation 7, of an application's
    footprint."""

    kind: Literal["synthetic"] = "synthetic"
    fraction: Probability = 0.08
    """f: the fraction of the time that is sequential."""


Formulas = Roofline | Communication | Amdahl | Mix | Power | Times
MoldableSpeedup = Annotated[Formulas, OneOf()]
AnySpeedup = Annotated[Synthetic | Formulas, OneOf()]


def durations(speedup: AnySpeedup, footprint: float, sizes: Sizes) -> Sizes:
    """t(p) of an application for each of `sizes`, or as many of them as its table lists. Raises
    InputError where it has no work."""
    if isinstance(speedup, Synthetic):
        from policies.maths.cosched import synthetic_times

        return synthetic_times(footprint, speedup.fraction, sizes)
    if isinstance(speedup, Times):
        sizes = sizes[sizes <= len(speedup.times)]
    profile = speedup.profile(footprint)
    return np.array([profile.time(int(size)) for size in sizes])


@frozen(eq=False, slots=False)
class Application:
    """What a malleable application takes on any number of workers; worked out where somebody asks:
    a thousand of them on 5,000 workers are five million times."""

    footprint: float
    speedup: AnySpeedup
    workers: int
    """P."""

    @cached_property
    def times(self) -> list[float]:
        """t(p) for p = 1 .. P, or as far as its table goes."""
        sizes = np.arange(1, self.workers + 1, dtype=np.float64)
        return list(map(float, durations(self.speedup, self.footprint, sizes)))

    @cached_property
    def work(self) -> float:
        """See policies.maths.speedup.Profile."""
        return float(durations(self.speedup, self.footprint, np.ones(1))[0])

    def time(self, processors: int) -> float:
        """See policies.maths.speedup.Profile: beyond its table, its best time up to there."""
        times = self.times
        return times[processors - 1] if processors <= len(times) else min(times)


# --- as a log tells it ----------------------------------------------------------------------------
#
# A pack's decider reads its costs from there too: whoever has the log alone counts alike.

TABLE = ("kind=table",)


def words(model: AnySpeedup) -> tuple[str, ...]:
    """All its keys that have a value, `key=value`; but for a table's times."""
    if isinstance(model, Times):
        return TABLE
    said = model.model_dump(exclude_none=True)
    return tuple(f"{key}={value}" for key, value in said.items())


def _told(told: ApplicationDescribed) -> AnySpeedup:
    """How its time depends on its workers. Raises ValueError for none that `words` would tell
    so."""
    if bool(told.times) is not (told.profile == TABLE):
        raise ValueError(f"{', '.join(told.profile)} with {len(told.times)} times")
    return Times(times=told.times) if told.times else _model(told.profile)


@lru_cache(maxsize=64)  # a pack's applications mostly share one, and reading it takes 0.1 ms
def _model(told: tuple[str, ...]) -> AnySpeedup:
    table = dict(value_of(setting) for setting in told)
    try:
        model: AnySpeedup = TypeAdapter(AnySpeedup).validate_python(table)
    except ValueError as error:
        raise ValueError(f"{', '.join(told) or 'nothing'} is no profile") from error
    if words(model) != told:
        raise ValueError(f"{', '.join(told)} is no whole profile")
    return model


def costs_of(
    pack: PackDescribed, told: ApplicationDescribed, protection: Checkpointing | None, workers: int
) -> Costs:
    """On every number of workers. Raises ValueError for a profile that there is not."""
    from policies.maths.cosched import Link, costs

    sizes = pack.pair * np.arange(1, workers // pack.pair + 1, dtype=np.float64)
    times = durations(_told(told), told.footprint, sizes)
    link = Link(pack.startup, pack.latency, pack.unit)
    return costs(times, told.footprint, pack.pair, link, protection)


def checkpointing(
    pack: PackDescribed,
    told: ApplicationDescribed,
    kind: ProtectionKind,
    cost: float | None,
    image: float | None,
) -> Checkpointing | None:
    """What expectations count with; `cost`: C where it does not depend on the size; `image`: its
    time on a channel, where there is one."""
    from policies.maths.cosched import Checkpointing

    if told.rule is PeriodRule.NONE:
        return None
    if kind is ProtectionKind.IMAGES:
        cost = (cost or 0) if image is None else image
    mtbf = pack.mtbf if told.mtbf is None else told.mtbf
    return Checkpointing(
        math.inf if mtbf is None or told.faultless else mtbf,
        *(pack.unit, pack.latency, pack.downtime, _period(told)),
        *(cost, kind is ProtectionKind.BUDDIES),
    )


def _period(told: ApplicationDescribed) -> Callable[[Sizes, Sizes], Sizes]:
    """tau, the checkpoint included."""
    if told.rule is PeriodRule.YOUNG:
        return young_period
    if told.rule is PeriodRule.DALY:
        daly = np.vectorize(daly_work, otypes=[np.float64])
        return lambda mtbf, cost: daly(mtbf, cost) + cost
    work = told.period
    assert work is not None
    return lambda mtbf, cost: work + cost
