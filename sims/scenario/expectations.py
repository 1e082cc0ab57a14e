"""Expected numbers of faults of a scenario, for its log and for `holdfast check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from numpy.random import default_rng

from actors.events import Age, Struck
from policies.maths.tolerance import ROUNDING
from sims.scenario import Scenario
from sims.scenario.faults import AnyFault, ListedFaults, Lognormal, ReplayedFaults
from sims.scenario.retirement import NeverRetire
from sims.scenario.submissions import Submission
from sims.telling import PARTED, about, amount_of, counted, differ, log_rate

Expected = tuple[int, int, float | None, float, Age, float, tuple[float, ...], float | None]
"""The fields of a FaultsExpected event."""


def expected(scenario: Scenario) -> Iterator[Expected]:
    """Yield, for each law of faults but hangs, the fields of the event FaultsExpected, in their
    order.

    Nothing is yielded unless a law states its age, fits a log or replays one, so that the logs of
    scenarios without ages do not change.
    """
    if not stated(scenario):
        return
    platform = scenario.full_platform
    for number, law in enumerate(scenario.faults.laws):
        if law.hangs:
            continue  # a hang takes no worker DOWN: it is no fault that came
        units = law.struck(platform.count(law.of))
        workers = min(units * platform.unit_size(law.of), platform.size)
        mtbf, shape = law.mtbf if law.mtbf < inf else None, float(getattr(law, "shape", 1))
        listed = tuple(sorted(_listed(scenario, law)))
        spread = _spread(scenario, law) or None
        yield number, workers, mtbf, shape, law.starts, law.down, listed, spread


def _spread(scenario: Scenario, law: AnyFault) -> float:
    """Return the mean number of workers to which faults of nodes spread within their racks, for
    each worker that the law itself strikes.

    Each node counts as much as any other, as a law's share is drawn from all of them.
    """
    platform = scenario.full_platform
    nodes, racks = platform.units(Struck.NODES), platform.units(Struck.RACKS)
    chance = law.spread
    if law.of is not Struck.NODES or isinstance(chance, tuple) or not nodes or not racks:
        return 0.0
    if getattr(law, "units", None) is not None:
        only = law.units_of(len(nodes), default_rng)
        nodes = [nodes[n] for n in only or ()]
    others = sum(len(racks[it.start // len(racks[0])]) - len(it) for it in nodes)
    return chance * others / sum(map(len, nodes))


def stated(scenario: Scenario) -> bool:
    """Return whether expected numbers of faults go into the log: some law states the workers' age
    at the start, fits a log or replays one, and none counts computing time only.

    Where computing time counts, what is expected depends on the run. The log has no place for what
    a lognormal law lets expect, nor for units that wear out.
    """
    laws = scenario.faults.laws
    if any(it.by_computing or isinstance(it, Lognormal) or it.wearing for it in laws):
        return False
    return any(
        getattr(law, "age", None) is not None or isinstance(law, ReplayedFaults)
        for law in scenario.faults.laws
    )


def _listed(scenario: Scenario, law: AnyFault) -> Iterator[float]:
    """Yield the time of each fault that the law lists: once for each worker of the unit (worker,
    node or rack) that fails, in the order of the list."""
    units = scenario.full_platform.units(law.of)
    for time, unit in law.listed:
        if units is None:
            yield time
        elif unit < len(units):  # others are refused where the law begins
            yield from [time] * len(units[unit])


def area_of(scenario: Scenario, submissions: Iterable[Submission]) -> float:
    """Return the processor-time that all jobs take if nothing fails, in workers x time units."""
    workers = scenario.full_platform.able
    each = ((it.span(workers), it.size(workers)) for it in submissions)
    return sum((until - since) * size for (since, until), size in each)


def fault_lines(scenario: Scenario, until: float, area: float | None) -> Iterator[str]:
    """Yield the lines that `check` prints about faults: how many of each law are expected until the
    time `until`, and warnings where that number, or a rate, misleads.

    `area` is the computing time of all workers together until then, in workers x time units; None
    if it is not known, as redundant copies compute more than the jobs' work.
    """
    platform, unit = scenario.full_platform, scenario.times.value
    for law in scenario.faults.laws:
        what = f"{'hangs' if law.hangs else 'faults':11}"
        units, one = law.struck(platform.count(law.of)), law.of.value.removesuffix("s")
        within = f"within {about(until, unit)}"
        listed = sum(time <= until for time, _ in law.listed)
        if law.mtbf == inf:
            known = "listed" if isinstance(law, ListedFaults) else "expected: their rate is unknown"
            yield f"  {what} {listed:,} {known} {within}"
            continue
        passed = until
        if law.by_computing:
            if area is None:
                yield f"  {what} unknown: how long workers compute depends on the copies"
                continue
            # A unit computes for its part of the work of all jobs at most.
            passed = min(area / platform.size, until)
        total, even = platform.count(law.of), passed >= until * (1 - ROUNDING)
        number = _drawn(law, total, until, passed) + listed
        spread = _spread(scenario, law)
        more = f"; each worker struck, {amount_of(spread, 3)} others in its rack" if spread else ""
        worn = sum(it for _, it in law.joining(total, until))
        more = f", and of {worn:,} more that wear out{more}" if worn else more
        more += "; ".join(("", *assumed(scenario, law, even)))
        yield f"  {what} {amount_of(number, 4)} expected {within} of {counted(units, one)}{more}"
        yield from _fit_lines(law, unit)
        yield from _age_lines(law, total, until, passed, within)


def _drawn(law: AnyFault, total: int, until: float, passed: float, age: Age | None = None) -> float:
    """Return the expected number of faults that are drawn until the time `until`, of the units that
    the law strikes from the start and of those that wear out, if none is cured.

    The law is of some of `total` units, and `passed` is the time that counts for each of those by
    then. `age` is their age at the start; None stands for the law's own.
    """
    number = law.struck(total) * law.expected(passed, age)
    return number + sum(
        units * law.expected(passed * (until - since) / until, age)
        for since, units in law.joining(total, until)
    )


def assumed(scenario: Scenario, law: AnyFault, even: bool = False) -> Iterator[str]:
    """Yield what the expected number of the law's faults rests on, as a clause about the units that
    the law strikes; nothing where the number is that of the law whatever happens.

    By calendar, faults are drawn whatever becomes of the units, so that fewer come. Where computing
    time counts, its sum is known as far as nothing fails. Its spread over the units matters, and is
    not known, unless all compute all the time (`even`), or the law is of all workers and its rate
    does not change with their age.
    """
    repair = scenario.repair
    cured = law.cured and repair is not None and any(it.fixes for it in repair.stages)
    retired = repair is not None and not isinstance(repair.retirement, NeverRetire)
    ended = [word for word, holds in (("cured", cured), ("retired", retired)) if holds]
    if law.by_computing:
        everyone = law.of is Struck.WORKERS and not (law.ageing or law.wearing)
        alike = even or (everyone and law.part(scenario.full_platform.size) == 1)
        how = "they compute" if alike else "all compute alike,"
        left = f", and none is {' or '.join(ended)}" if ended else ""
        yield f"if {how} as much as without faults{left}"
        return
    idle = ["idle", "hanging"] if law.hangs else []
    words = [*idle, *(["DOWN"] if _down_at_times(scenario, law) else []), *ended]
    if words:
        *first, last = words
        told = f"{', '.join(first)} or {last}" if first else last
        yield f"fewer where they are {told}"


def _down_at_times(scenario: Scenario, law: AnyFault) -> bool:
    """Return whether a fault of the law may meet a worker that is DOWN: by a fault of another law,
    or of its own but for a replayed log, whose failures do not overlap, or by an owner."""
    replayed = isinstance(law, ReplayedFaults)
    others = (it for it in scenario.faults.laws if it is not law or not replayed)
    failing = any(map(_lasting, others)) or scenario.repair is not None
    # Of a log, only the scenario is known: no file that it names is read for its platform.
    pool = scenario.platform
    sections = (*scenario.workers, *((pool,) if pool else ()))
    owned = scenario.random_workers or (pool and pool.maintenance)
    return failing or bool(owned) or any(not it.unowned for it in sections)


def _lasting(law: AnyFault) -> bool:
    """Return whether a fault of the law may keep a worker DOWN for some time, as far as the
    scenario alone says: a replayed log is not read for it, nor a user's law loaded."""
    if law.hangs:
        return False
    length = None if isinstance(law, ReplayedFaults) else law.downtime
    return length is None or length > 0


def _fit_lines(law: AnyFault, unit: str) -> Iterator[str]:
    """Yield lines that compare a law with the log of failures to which it is fitted, or which it
    replays; nothing for any other law. `unit` is the name of the unit of time."""
    fit = law.fit
    if fit is not None:
        of = f"{fit.gaps:,} times between failures of {counted(fit.nodes, 'node')}"
        yield f"  fitted      shape {fit.shape:.4g}, mean {about(fit.mtbf, unit)}, to {of}"
        yield f"  log         {log_rate(fit.mtbf, fit.log_mtbf, unit)}"
        if differ(fit.mtbf, fit.log_mtbf):
            yield f"Warning: faults: {PARTED}."
    if isinstance(law, ReplayedFaults) and differ(law.mtbf, law.log.mtbf):
        own, seen = about(law.log.mtbf, unit), about(law.mtbf, unit)
        yield (
            "Warning: faults: the platforms of the log were observed at different times. A node "
            f"has one failure in {own} of its platform's time, and one in {seen} of the whole log, "
            "which is replayed; faults.platform picks one platform."
        )


def _age_lines(
    law: AnyFault, total: int, until: float, passed: float, within: str
) -> Iterator[str]:
    """Yield a warning line where the law expects clearly different numbers of faults until `until`
    from units that are new at the start and from units in the middle of their lives.

    The law is of some of `total` units, for each of which the time `passed` counts by then, and
    `within` names the time.
    """
    if law.ageing:
        new, old = (_drawn(law, total, until, passed, it) for it in (Age.NEW, Age.STATIONARY))
        if differ(new, old):
            how = f"{within}, {amount_of(new, 4)} faults are expected of units that are all new at"
            how += f" the start, {amount_of(old, 4)} of units in the middle of their lives"
            yield f"Warning: faults.age: {how}; this scenario has {law.starts.value!r}."
