"""Implements `holdfast chaos`: repeats a scenario, each time with one injected failure.

In each run an agent takes one worker away at one moment: it makes the worker fail, or takes it as
an owner does. Every run must end and pass the audit, which knows what the run's protection has
saved.
"""

from __future__ import annotations

import enum
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Annotated

from attrs import evolve, frozen

from actors.events import End
from actors.runtime import Record, RuntimeFault, stream
from policies.maths.tolerance import SAME
from sims.audit.audit import audit
from sims.campaign.engine import run_many
from sims.cli.progress import tracked
from sims.durations import in_unit
from sims.errors import naming, show
from sims.history.rows import Use
from sims.ledger import account
from sims.options import (
    Overrides,
    Policies,
    ScenarioFile,
    Seed,
    duration,
    option,
    positive_int,
)
from sims.scenario import Scenario, Unit
from sims.scenario.agents import AgentSection
from sims.scenario.faults import NoFaults
from sims.scenario.loader import load, toml
from sims.telling import counted, grid, show_table
from sims.world import run

ONCE = "actors.agents.once"
WORST, SHOWN = 5, 10
"""Numbers of injected failures that are listed: those that cost most, and those that found a
problem."""
ENDLESS_FACTOR = 50
"""Factor on the baseline makespan plus the failure's length after which a run counts as one that
never ends."""


class Injection(enum.Enum):
    """Kind of an injected failure."""

    KILL = "kill"
    """The worker goes DOWN for a while."""
    RECLAIM = "reclaim"
    """The worker's owner takes it back for a while."""


@frozen
class InjectedRun:
    """One run of the scenario with one injected failure: `worker` goes DOWN or is reclaimed at
    `time` for `length` time units. At the time `limit` the run counts as one that never ends."""

    scenario: Scenario
    folder: Path
    injection: Injection
    worker: int
    time: float
    length: float
    limit: float

    @property
    def agent(self) -> AgentSection:
        """The agent that makes the failure happen. Where faults strike units, which are repaired,
        it takes the worker DOWN instead."""
        about = {"worker": self.worker, "time": self.time, "length": self.length, "name": "chaos"}
        if self.injection is Injection.RECLAIM:
            return AgentSection(name=f"{ONCE}:OneAbsence", parameters=about)
        if self.scenario.repair is not None:
            return AgentSection(name=f"{ONCE}:OneAbsence", parameters=about | {"down": True})
        return AgentSection(name=f"{ONCE}:OneFault", parameters=about)

    def injected(self) -> Scenario:
        """Return the scenario with the injected failure in it."""
        agents = (*self.scenario.agents, self.agent)
        return self.scenario.model_copy(update={"agents": agents})

    def settings(self) -> list[str]:
        """Return the settings KEY=VALUE by which `holdfast run --set` injects the failure."""
        agents = (*self.scenario.agents, self.agent)
        return [f"agents={toml([it.model_dump() for it in agents])}"]


@frozen
class TrialOutcome:
    """Outcome of a simulated run with one injected failure, or of the baseline run without any: its
    makespan, the work that it lost, and what is wrong with it."""

    makespan: float
    lost: float
    """Processor-time of work that had to be done again."""
    problems: tuple[str, ...]
    """Laws that the run breaks, or the fact that it never ends; empty if the run ended and passed
    the audit."""
    instants: tuple[float, ...] = ()
    """For the baseline only: the times of its events, and one time between every two."""


def undisturbed(scenario: Scenario, folder: Path) -> TrialOutcome:
    """Run the scenario once without injected failures, with its files in `folder`, and return the
    outcome with the moments at which failures can be injected. Raises what `world.run` raises."""
    records: list[Record] = []
    ending = run(scenario, [records.append], folder)
    instants = moments(records, scenario.times is Unit.SLOT)
    return evolve(_judged(ending.time, records, scenario), instants=instants)


def moments(records: Sequence[Record], whole: bool) -> tuple[float, ...]:
    """Return the times of the events before the last one's, and the middle between every two
    neighbouring times, in order.

    `whole` keeps only whole numbers, for scenarios in slots.
    """
    times = sorted({record.t for record in records})
    found = [times[0]]
    for before, after in pairwise(times):
        between = (before + after) / 2
        if before < between < after:
            found.append(between)
        found.append(after)
    return tuple(time for time in found if time < times[-1] and not (whole and time % 1))


def trials(
    scenario: Scenario, folder: Path, baseline: TrialOutcome, length: float, most: int
) -> list[InjectedRun]:
    """Return a run for each kind of failure, worker and moment of the baseline run; if there are
    more than `most`, as many drawn at random by the scenario's seed.

    Each failure lasts `length`.
    """
    limit = ENDLESS_FACTOR * (baseline.makespan + length)
    found = [
        InjectedRun(scenario, folder, injection, worker, time, length, limit)
        for time in baseline.instants
        for worker in range(scenario.full_platform.size)
        for injection in Injection
    ]
    if len(found) <= most:
        return found
    drawn = stream(scenario.seed, "chaos").choice(len(found), most, replace=False)
    return [found[k] for k in sorted(drawn.tolist())]


def usual_length(scenario: Scenario, baseline: TrialOutcome) -> float:
    """Return how long a failed worker stays away by default: the mean downtime of the scenario's
    faults or, if it is 0 or there are no faults, a tenth of the baseline's makespan, in slots a
    whole number from 1."""
    if not isinstance(scenario.faults, NoFaults) and scenario.faults.mean_downtime:
        return scenario.faults.mean_downtime
    tenth = baseline.makespan / 10
    return max(1, round(tenth)) if scenario.times is Unit.SLOT else tenth or 1


def attempt(trial: InjectedRun) -> TrialOutcome:
    """Run the scenario with its injected failure, and return the outcome. Its problems are the laws
    that the audit finds broken, and the fact that the run has not completed at its limit or can
    never end."""
    records: list[Record] = []
    scenario = trial.injected()
    try:
        ending = run(scenario, [records.append], trial.folder, until=trial.limit)
    except RuntimeFault as fault:
        return TrialOutcome(trial.limit, 0, (f"it does not end: {fault}",))
    found = _judged(ending.time, records, scenario)
    if ending.end is End.COMPLETED or ending.time < trial.limit:
        return found
    problem = f"it has not ended at {trial.limit:g}"
    return evolve(found, problems=(problem, *found.problems))


def _judged(end: float, records: Sequence[Record], scenario: Scenario) -> TrialOutcome:
    lost = float(account(records, scenario.full_platform.size).total[Use.LOST])
    return TrialOutcome(end, lost, tuple(map(str, audit(iter(records)))))


# --- the command ------------------------------------------------------------------------------

Found = Sequence[tuple[InjectedRun, TrialOutcome]]


def chaos(
    file: ScenarioFile,
    seed: Seed = None,
    changes: Overrides = None,
    policies: Policies = None,
    length: Annotated[
        float | None,
        option(
            duration,
            "TIME",
            "how long a failed worker stays away; default: faults.downtime, or a tenth of the run",
        ),
    ] = None,
    most: Annotated[
        int, option(positive_int, "N", "number of runs: if more failures are possible, N are drawn")
    ] = 2000,
) -> int:
    """Repeat a scenario with injected failures, one in each run.

    In each run one worker goes DOWN or is RECLAIMED once: at an event of the baseline run, or
    between two events. Each run must end, pass the audit, and recover from all that its protection
    had saved. A run that does not is printed with the command that repeats it.
    """
    asked = load(file, changes or (), seed)
    length = in_unit(length, "--length", lambda: asked.times.value)
    with naming(file):
        baseline = undisturbed(asked, file.parent)
    length = length or usual_length(asked, baseline)
    runs = trials(asked, file.parent, baseline, length, most)
    unit, workers = asked.times.value, asked.full_platform.size
    every = 2 * workers * len(baseline.instants)
    drawn = f"{len(runs):,} of {every:,}, drawn at random"
    which = f"all {every:,}" if len(runs) == every else drawn
    show(
        f"{asked.name}: {counted(workers, 'worker')}, {counted(len(baseline.instants), 'moment')}, "
        f"baseline makespan {baseline.makespan:,.6g} {unit}; "
        f"each injected failure lasts {length:,.6g} {unit}; {which}"
    )
    found = list(tracked(run_many(attempt, runs), runs, "injected failures"))
    _show_costs(baseline, found, unit)
    wrong = [(trial, verdict) for trial, verdict in found if verdict.problems]
    for problem in baseline.problems[:SHOWN]:
        show(f"baseline: {problem}")
    for trial, verdict in wrong[:SHOWN]:
        words = ["holdfast", "run", str(file), "--seed", str(trial.scenario.seed)]
        words += [] if policies is None else ["--policies", str(policies)]
        words += [part for it in (*(changes or ()), *trial.settings()) for part in ("--set", it)]
        show(verdict.problems[0], f"  {shlex.join(words)}")
    if wrong or baseline.problems:
        return 1
    show("every run ends, obeys every law, and keeps what was saved")
    return 0


def _show_costs(baseline: TrialOutcome, found: Found, unit: str) -> None:
    by = {it: [verdict for trial, verdict in found if trial.injection is it] for it in Injection}
    rows = ((it.value, *_row(baseline, verdicts)) for it, verdicts in by.items() if verdicts)
    more = f"more lost, processors x {unit}: mean"
    heads = ("runs", "sound", "makespan: mean", "most", more, "most")
    show_table(grid(("injected failure",), heads, rows))
    show(f"what cost most (baseline: {baseline.makespan:,.6g} {unit})")
    for trial, verdict in sorted(found, key=_cost)[:WORST]:
        where = f"{trial.injection.value} worker {trial.worker} at {trial.time:,.6g} {unit}"
        lost = f"lost {verdict.lost:,.6g} processors x {unit}"
        show(f"  {where}: makespan {verdict.makespan:,.6g} {unit}, {lost}")


def _row(baseline: TrialOutcome, verdicts: Sequence[TrialOutcome]) -> tuple[str, ...]:
    count, sound = len(verdicts), sum(not verdict.problems for verdict in verdicts)
    spans = [it.makespan / baseline.makespan if baseline.makespan else 1 for it in verdicts]
    least = SAME * baseline.makespan  # sums of the same times in another order differ by less
    more = (it.lost - baseline.lost for it in verdicts)
    lost = [it if abs(it) > least else 0.0 for it in more]
    times = f"x {mean(spans):.3f}", f"x {max(spans):.3f}"
    return f"{count:,}", f"{sound:,}", *times, f"{mean(lost):,.4g}", f"{max(lost):,.4g}"


def _cost(pair: tuple[InjectedRun, TrialOutcome]) -> tuple[float, float, float, int]:
    trial, verdict = pair
    return -verdict.makespan, -verdict.lost, trial.time, trial.worker
