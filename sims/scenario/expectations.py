"""How many faults a scenario lets expect: what its log says of that, and what `check` tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from actors.events import Age
from sims.scenario import Scenario
from sims.scenario.faults import AnyFault, ListedFaults, ReplayedFaults, Struck, Weibull
from sims.scenario.workload import Submission, asked_of
from sims.telling import PARTED, about, amount_of, counted, differ, log_rate

Expected = tuple[int, int, float | None, float, Age, float, tuple[float, ...]]
"""The fields of a FaultsExpected."""


def expected(scenario: Scenario) -> Iterator[Expected]:
    """Yield what the log says of each law, where one of them says its age, fits a log or replays
    one: with none of these, logs are what they were before there were ages."""
    if not stated(scenario):
        return
    workers = scenario.full_platform.size
    for number, law in enumerate(scenario.faults.laws):
        mtbf, shape = law.mtbf if law.mtbf < inf else None, float(getattr(law, "shape", 1))
        listed = tuple(sorted(_listed(scenario, law)))
        yield number, workers, mtbf, shape, law.starts, law.down, listed


def stated(scenario: Scenario) -> bool:
    """Return whether a law says its age, fits a log or replays one."""
    return any(
        getattr(law, "age", None) is not None or isinstance(law, ReplayedFaults)
        for law in scenario.faults.laws
    )


def _listed(scenario: Scenario, law: AnyFault) -> Iterator[float]:
    """Yield the time of each listed fault, once for each worker that it strikes."""
    nodes = scenario.full_platform.nodes
    for time, unit in getattr(law, "strikes", ()):
        if law.of is Struck.WORKERS:
            yield time
        elif unit < len(nodes):  # others are refused where the law begins
            yield from [time] * len(nodes[unit])


def work_end(scenario: Scenario, submissions: Iterable[Submission]) -> float:
    """Return when the work ends at the soonest: no job ends before its own time has passed, and all
    workers have no more than all of their time. Speeds are taken for 1; a cap ends it."""
    workers = scenario.full_platform.able
    latest, area = 0.0, 0.0
    for it in submissions:
        since, until = it.span(workers)
        latest, area = max(latest, until), area + (until - since) * asked_of(it.job)
    return min(max(latest, area / workers), scenario.cap)


def fault_lines(scenario: Scenario, until: float) -> Iterator[str]:
    """Yield what `check` tells of each law of faults: how many are expected until then, and where
    that, or a rate, is not what it seems."""
    platform, unit = scenario.full_platform, scenario.times.value
    for law in scenario.faults.laws:
        nodes = law.of is Struck.NODES
        units, one = len(platform.nodes) if nodes else platform.size, "node" if nodes else "worker"
        within = f"within {about(until, unit)}"
        listed = sum(time <= until for time, _ in getattr(law, "strikes", ()))
        if law.mtbf == inf:
            known = "listed" if isinstance(law, ListedFaults) else "expected: their rate is unknown"
            yield f"  faults      {listed:,} {known} {within}"
            continue
        number = units * law.expected(until) + listed
        yield f"  faults      {amount_of(number, 4)} expected {within} of {counted(units, one)}"
        yield from _fit_lines(law, unit)
        yield from _age_lines(law, units, until, within)


def _fit_lines(law: AnyFault, unit: str) -> Iterator[str]:
    """Yield what a fitted law and its log have in common, and what not."""
    fit = law.fit
    if fit is not None:
        of = f"{fit.gaps:,} times between failures of {counted(fit.nodes, 'node')}"
        yield f"  fitted      shape {fit.shape:.4g}, mean {about(fit.mtbf, unit)}, to {of}"
        yield f"  log         {log_rate(fit.mtbf, fit.log_mtbf, unit)}"
        if differ(fit.mtbf, fit.log_mtbf):
            yield f"Warning: faults: {PARTED}."


def _age_lines(law: AnyFault, units: int, until: float, within: str) -> Iterator[str]:
    """Yield a warning where how old workers are at the start makes a difference."""
    if isinstance(law, Weibull):
        new, old = (units * law.expected(until, it) for it in (Age.NEW, Age.STATIONARY))
        if differ(new, old):
            how = f"{within}, {amount_of(new, 4)} faults are expected of units that are all new at"
            how += f" the start, {amount_of(old, 4)} of units in the middle of their lives"
            yield f"Warning: faults.age: {how}; this scenario has {law.starts.value!r}."
