"""The monkey: a scenario again and again, each time with one worker killed, or taken back, at one
moment; every run must end, obey the world's laws, and lose nothing that its protection saves."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from attrs import define, field, frozen

from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    End,
    IterationCompleted,
    ProtectionDescribed,
    ProtectionKind,
    RestartedFromScratch,
    RunStarted,
)
from actors.runtime import Event, Record, RuntimeFault, stream
from sims.audit.audit import audit
from sims.ledger import Use, account
from sims.scenario.faults import ListedFaults, NoFaults
from sims.scenario.scenario import Scenario, Unit
from sims.world import run

PATIENCE = 50
"""Times the baseline makespan and the injected failure after which a run counts as one that never
ends."""


class Injection(enum.Enum):
    """What is done to a worker."""

    KILL = "kill"
    """It goes DOWN for a while."""
    RECLAIM = "reclaim"
    """Its owner takes it back for a while."""


@frozen
class InjectedRun:
    """One run with one injected failure."""

    scenario: Scenario
    folder: Path
    injection: Injection
    worker: int
    time: float
    length: float
    limit: float

    def injected(self) -> Scenario:
        """The scenario with the injected failure in it."""
        if self.injection is Injection.RECLAIM:
            span = (self.time, self.time + self.length, self.worker)
            spans = (*self.scenario.reclaims, span)
            return self.scenario.model_copy(update={"reclaims": spans})
        strike, faults = (self.time, self.worker), self.scenario.faults
        if isinstance(faults, NoFaults):
            faults = ListedFaults(strikes=(strike,), downtime=self.length)
        else:
            strikes = (*faults.strikes, strike)
            faults = faults.model_copy(update={"strikes": strikes})
        return self.scenario.model_copy(update={"faults": faults})

    def spelt(self) -> str:
        """The options of `holdfast run` that make the same run."""
        if self.injection is Injection.RECLAIM:
            spans = [*self.scenario.reclaims, (self.time, self.time + self.length, self.worker)]
            return f"--set 'reclaims={[list(span) for span in spans]}'"
        faults = self.injected().faults
        assert not isinstance(faults, NoFaults)
        strikes = f"--set 'faults.strikes={[list(strike) for strike in faults.strikes]}'"
        if not isinstance(self.scenario.faults, NoFaults):
            return strikes
        return f"--set faults.kind=list --set faults.downtime={self.length!r} {strikes}"


@frozen
class TrialOutcome:
    """What came of a trial."""

    makespan: float
    lost: float
    """Processor-time of work that had to be done again."""
    problems: tuple[str, ...]
    """Empty where it ended, and soundly."""


@frozen
class Baseline:
    """The baseline run."""

    makespan: float
    lost: float
    instants: tuple[float, ...]
    """When something happens, and once between."""
    problems: tuple[str, ...]


def undisturbed(scenario: Scenario, folder: Path) -> Baseline:
    """Run it once. Raises what `world.run` raises."""
    records: list[Record] = []
    ending = run(scenario, [records.append], folder)
    whole = scenario.times is Unit.SLOT
    lost = _lost(records, scenario)
    return Baseline(ending.time, lost, moments(records, whole), tuple(_problems(records)))


def moments(records: Sequence[Record], whole: bool) -> tuple[float, ...]:
    """The instants at which something happens before the end, and one between every two; `whole`:
    only whole numbers."""
    times = sorted({record.t for record in records})
    found = [times[0]]
    for before, after in pairwise(times):
        between = (before + after) / 2
        if before < between < after:
            found.append(between)
        found.append(after)
    return tuple(time for time in found if time < times[-1] and not (whole and time % 1))


def trials(
    scenario: Scenario, folder: Path, baseline: Baseline, length: float, most: int
) -> list[InjectedRun]:
    """Every (injected failure, worker, moment), or `most` of them, drawn at random."""
    limit = PATIENCE * (baseline.makespan + length)
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


def usual_length(scenario: Scenario, baseline: Baseline) -> float:
    """How long a failed worker stays away by default: as faults keep it, or a tenth of the run."""
    if not isinstance(scenario.faults, NoFaults) and scenario.faults.downtime:
        return scenario.faults.downtime
    tenth = baseline.makespan / 10
    return max(1, round(tenth)) if scenario.times is Unit.SLOT else tenth or 1


def attempt(trial: InjectedRun) -> TrialOutcome:
    """Run one trial and judge it."""
    records: list[Record] = []
    scenario = trial.injected()
    try:
        ending = run(scenario, [records.append], trial.folder, until=trial.limit)
    except RuntimeFault as fault:
        return TrialOutcome(trial.limit, 0, (f"it does not end: {fault}",))
    problems = list(_problems(records))
    if ending.end is not End.COMPLETED and ending.time >= trial.limit:
        problems.insert(0, f"it has not ended at {trial.limit:g}")
    return TrialOutcome(ending.time, _lost(records, scenario), tuple(problems))


def _problems(records: Sequence[Record]) -> Iterator[str]:
    yield from (str(violation) for violation in audit(iter(records)))
    yield from survivals(records)


def _lost(records: Sequence[Record], scenario: Scenario) -> float:
    return float(account(records, scenario.full_platform.size).total[Use.LOST])


# --- what must survive --------------------------------------------------------------------------


@define
class _Saved:
    """What one job has saved, as fractions of its work."""

    kind: ProtectionKind = ProtectionKind.NONE
    image: float = 0
    """At the master."""
    copies: dict[int, float] = field(factory=dict)
    """With buddies: by the last run of the copy."""
    works: dict[int, float] = field(factory=dict)
    """Whole work of each run."""


def survivals(records: Sequence[Record]) -> Iterator[str]:
    """Runs that begin from less than what was saved and not given up (WORLD.md, P2 and P3)."""
    jobs: dict[str, _Saved] = {}
    for record in records:
        event = record.event
        match event:
            case ProtectionDescribed(job=job, kind=kind):
                jobs[job] = _Saved(kind)
            case RunStarted(job=job):
                yield from _begun(jobs.setdefault(job, _Saved()), event, record)
            case CheckpointTaken(job=job, run=run, done=done):
                _save(jobs[job], run, done)
            case IterationCompleted(job=job):
                jobs[job] = _Saved(jobs[job].kind)
            case _:
                _give_up(jobs, event)


def _give_up(jobs: dict[str, _Saved], event: Event) -> None:
    match event:
        case CheckpointLost(job=job, run=run):
            jobs[job].copies[run] = 0
        case RestartedFromScratch(job=job, run=run):
            jobs[job].image = jobs[job].copies[run] = 0


def _begun(saved: _Saved, event: RunStarted, record: Record) -> Iterator[str]:
    saved.works[event.run] = event.work
    owed = saved.image if saved.kind is ProtectionKind.IMAGES else 0.0
    if event.keeps is not None:
        owed = saved.copies.pop(event.keeps, 0.0)
        saved.copies[event.run] = owed
    if event.work and event.begun < owed * event.work * (1 - 1e-9):
        yield (
            f"run {event.run} of {event.job} begins with {event.begun:g} of {event.work:g} done at "
            f"{record.t:g}, where {owed:.3g} of all was saved (#{record.seq})"
        )


def _save(saved: _Saved, run: int, done: float) -> None:
    fraction = done / saved.works[run]
    if saved.kind is ProtectionKind.IMAGES:
        saved.image = max(saved.image, fraction)
    else:
        saved.copies[run] = fraction
