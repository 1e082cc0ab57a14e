"""Computes an application's times and costs on each number of workers from what the log says of the
application (malleable17, sections 3 and 6.1).

The builders of scenarios compute the same by other code, so that the two check each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, log2
from typing import Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from actors.events import PackDescribed, PeriodRule, ProtectionKind
from policies.maths.checkpoint import daly_work, young_period
from policies.maths.cosched import Checkpointing, Costs, Link, costs, synthetic_times
from policies.maths.speedup import Profile, amdahl, communication, mix, power, roofline
from policies.maths.speedup import Table as TableOfTimes
from sims.audit.facts import ExpectedJob
from sims.audit.law import Broken, Law, possible
from sims.audit.scenario import Given, Table, amount, whole

Times = NDArray[np.float64]


class SharedBandwidth(Protocol):
    """Shared storage, whose bandwidth determines the cost of a checkpoint."""

    bandwidth: float
    each: float
    """Largest bandwidth of one worker."""


@frozen
class GivenPack:
    """Settings that the malleable applications of one platform share."""

    pair: int
    """Number of workers in a group; the sizes of applications are multiples of it."""
    link: Link
    """The network over which applications are redistributed."""
    fatal: bool
    """Whether every fault counts."""
    downtime: float
    """Time for which a fault is expected to keep a worker DOWN."""
    mtbf: float | None
    """Mean time that is expected between the faults of one worker; None: no fault is expected."""
    releases: bool
    """Whether applications promise their workers to others before they end."""


def pack_of(event: PackDescribed, given: Given) -> GivenPack:
    """Return the settings that the applications of a pack share, by the log's head and its
    scenario. Raises Broken for settings that cannot be."""
    pair, link = whole(given.section("job"), "pair", 2), given.section("link")
    possible(pair >= 1 and event.mtbf != 0 and not (event.releases and event.fatal))
    costs = Link(amount(link, "startup"), amount(link, "latency"), amount(link, "unit", 1))
    return GivenPack(pair, costs, event.fatal, event.downtime, event.mtbf, event.releases)


FORMULAS: Mapping[str, tuple[Callable[..., Profile], tuple[str, ...]]] = {
    "roofline": (roofline, ("degree",)),
    "communication": (communication, ("cost",)),
    "amdahl": (amdahl, ("fraction",)),
    "mix": (mix, ("degree", "fraction", "cost")),
    "power": (power, ("delta",)),
}
"""Maps a kind of speedup to its formula and to the keys that it needs beside `work`."""
SYNTHETIC = 0.08
"""Sequential fraction of a synthetic speedup that gives none."""
PERIODS: Mapping[PeriodRule | None, Callable[[Times, Times], Times]] = {
    PeriodRule.YOUNG: young_period,
    PeriodRule.DALY: lambda mtbf, cost: np.vectorize(daly_work, otypes=[float])(mtbf, cost) + cost,
}
"""Maps a rule to its period tau, the checkpoint included."""


def job_costs(
    pack: GivenPack, job: ExpectedJob, workers: int, storage: SharedBandwidth | None
) -> Costs:
    """Return the times and costs of the job, an application of the pack, on every number of workers
    up to `workers` that the pack can give it. `storage` is the shared storage, None if there is
    none.

    Raises Broken for an invalid profile.
    """
    sizes = np.arange(pack.pair, workers + 1, pack.pair, dtype=np.float64)
    times = profile_times(job, sizes)
    expected = _expected(pack, job, storage)
    return costs(times, job.application.footprint, pack.pair, pack.link, expected)


def profile_times(job: ExpectedJob, sizes: Times) -> Times:
    """Return the fault-free execution times t(p) of an application on these numbers of workers p,
    by its speedup in the scenario; where a table gives the times, only for those that it lists.

    Raises Broken for an invalid speedup.
    """
    try:
        return _times(job.speedup, job.application.footprint, sizes)
    except ValueError as refused:
        raise Broken(Law.INPUT, f"{job.speedup} is no speedup: {refused}") from refused


def _times(speedup: Table, footprint: float, sizes: Times) -> Times:
    """Return the execution time for each number of workers in `sizes`, by the speedup's formula or
    table. Raises Broken for a speedup that a scenario would not have."""
    kind = speedup.get("kind", "synthetic")
    if kind == "table":
        listed = speedup.get("times", ())
        timed = isinstance(listed, list) and all(isinstance(it, int | float) for it in listed)
        possible(timed and listed, "a table of {}", listed)
        return _each(TableOfTimes(tuple(listed)), sizes[sizes <= len(listed)])
    if kind == "synthetic":
        fraction = amount(speedup, "fraction", SYNTHETIC)
        possible(fraction <= 1, "a fraction of {}", fraction)
        return synthetic_times(footprint, fraction, sizes)
    possible(isinstance(kind, str) and kind in FORMULAS, "a speedup of kind {}", kind)
    formula, keys = FORMULAS[kind]
    possible(all(key in speedup for key in keys), "{} lacks a key", speedup)
    numbers = {
        key: (whole(speedup, key, 0) if key == "degree" else amount(speedup, key)) for key in keys
    }
    # malleable17, section 6.1: t(1) = 2 m log2 m for a footprint m.
    usual = 0 if "work" in speedup else 2 * footprint * log2(footprint)
    return _each(formula(amount(speedup, "work", usual), **numbers), sizes)


def _each(profile: Profile, sizes: Times) -> Times:
    return np.array([profile.time(int(size)) for size in sizes])


def _stored(storage: SharedBandwidth, size: float, members: Times) -> Times:
    """Return, for each number of `members`, the time in which these together save `size` bytes on
    the shared storage while nobody else uses it."""
    return np.maximum(size / storage.bandwidth, size / (storage.each * members))


def _expected(
    pack: GivenPack, job: ExpectedJob, storage: SharedBandwidth | None
) -> Checkpointing | None:
    """Return the checkpoints and faults that the application's expected times count with; None if
    its log says that neither is expected."""
    application, rules = job.application, job.rules
    if application.rule is PeriodRule.NONE:
        return None
    cost: float | Callable[[Times], Times] | None = rules.cost
    if rules.kind is ProtectionKind.IMAGES and storage is not None:
        cost = partial(_stored, storage, job.asked.stored or 0)
    elif rules.kind is ProtectionKind.IMAGES:
        cost = job.messages.image if job.messages is not None else cost or 0
    mtbf = pack.mtbf if application.mtbf is None else application.mtbf
    mtbf = inf if mtbf is None or application.faultless else mtbf
    # The line of the protection has no period where rounding makes it differ by size.
    fixed, period = application.rule not in PERIODS, job.asked.saving.period
    possible(mtbf > 0 and (not fixed or period is not None), "its period is {}", period)
    closes = rules.kind is ProtectionKind.BUDDIES
    tau = PERIODS.get(application.rule, lambda _, spent: period + spent)
    return Checkpointing(
        mtbf, pack.link.inverse_bandwidth, pack.link.latency, pack.downtime, tau, cost, closes
    )
