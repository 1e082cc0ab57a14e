"""The monkey: a scenario again and again, each time with one worker killed, or taken back, at one
moment; every run must end and pass the audit, which knows what its protection has saved."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from attrs import frozen

from actors.events import End
from actors.runtime import Record, RuntimeFault, stream
from sims.audit.audit import audit
from sims.ledger import Use, account
from sims.scenario.faults import (
    AnyFaults,
    ExponentialFaults,
    ListedFaults,
    NoFaults,
    SeveralFaults,
    Struck,
    Weibull,
)
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
            assert isinstance(faults, ExponentialFaults | Weibull | ListedFaults)
            strikes = (*faults.strikes, strike)
            faults = faults.model_copy(update={"strikes": strikes})
        return self.scenario.model_copy(update={"faults": faults})

    def spelt(self) -> str:
        """The options of `holdfast run` that make the same run."""
        if self.injection is Injection.RECLAIM:
            spans = [*self.scenario.reclaims, (self.time, self.time + self.length, self.worker)]
            return f"--set 'reclaims={[list(span) for span in spans]}'"
        faults = self.injected().faults
        assert isinstance(faults, ExponentialFaults | Weibull | ListedFaults)
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
    return Baseline(ending.time, lost, moments(records, whole), _problems(records))


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
        if injection is Injection.RECLAIM or _takes_more(scenario.faults)
    ]
    if len(found) <= most:
        return found
    drawn = stream(scenario.seed, "chaos").choice(len(found), most, replace=False)
    return [found[k] for k in sorted(drawn.tolist())]


def _takes_more(faults: AnyFaults) -> bool:
    """Whether one more fault of a worker can be listed beside them."""
    return not isinstance(faults, SeveralFaults) and faults.of is Struck.WORKERS


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
    problems = _problems(records)
    if ending.end is not End.COMPLETED and ending.time >= trial.limit:
        problems = (f"it has not ended at {trial.limit:g}", *problems)
    return TrialOutcome(ending.time, _lost(records, scenario), problems)


def _problems(records: Sequence[Record]) -> tuple[str, ...]:
    return tuple(str(violation) for violation in audit(iter(records)))


def _lost(records: Sequence[Record], scenario: Scenario) -> float:
    return float(account(records, scenario.full_platform.size).total[Use.LOST])
