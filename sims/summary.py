"""The summary of a run: a few numbers from its events, in memory or from a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from attrs import define, field

from actors.events import (
    Age,
    CopiesSettled,
    End,
    FaultBlamed,
    FaultsExpected,
    FaultsFitted,
    HangDetected,
    IterationCompleted,
    JobCompleted,
    JobKilled,
    JobsChanged,
    JobsLeftOut,
    JobSubmitted,
    LogDoubted,
    Outcome,
    RepairDescribed,
    RepairEnded,
    RepairOutcome,
    ReplicasDropped,
    ReplicasRejoined,
    ReserveCalled,
    ReserveDescribed,
    RunEnded,
    RunHung,
    ScenarioEnded,
    ScenarioStarted,
    UnitFailed,
    UnitRetired,
    WorkerChanged,
)
from actors.intervals import count_in
from actors.runtime import Event, Record
from policies.availability import WorkerState
from policies.maths.renewals import expected_renewals
from sims.telling import (
    PARTED,
    about,
    amount_of,
    counted,
    differ,
    in_units,
    log_rate,
    title_of,
    units,
)


@define
class Faults:
    """Counts the faults and hangs of a run, and computes how many faults the log's laws let
    expect."""

    laws: list[FaultsExpected] = field(factory=list)
    """Laws as the log describes them; empty: the log does not describe expected faults."""
    fits: list[FaultsFitted] = field(factory=list)
    counted: bool = False
    """Whether the fold receives all changes of workers, which counting needs."""
    came: int = 0
    """Number of workers that faults took DOWN; a fault of a worker that is DOWN already does not
    count."""
    hung: int = 0
    """Number of hangs of runs: a hang of a run that hangs already does not count."""
    detected: int = 0
    """Number of hangs that were detected; the other runs ended before, or the log does."""
    repaired: bool = False
    """Whether faults are repaired: then each is an event of its own."""
    _down_since: dict[int, float] = field(factory=dict)
    """Maps each worker that went DOWN for an unknown time to the time of that change."""

    def read(self, event: Event) -> None:
        """Keep what the head of the log says of faults: how many a law lets expect, its fit to a
        log, that faults are repaired; count hangs, and the workers of a unit that goes to
        repair."""
        match event:
            case RepairDescribed():
                self.repaired = True
            case UnitFailed():
                self.came += count_in(event.workers)
            case FaultsExpected():
                self.laws.append(event)
            case FaultsFitted():
                self.fits.append(event)
            case RunHung():
                self.hung += 1
            case HangDetected():
                self.detected += 1

    def change(self, time: float, event: WorkerChanged) -> None:
        """Count a worker's change of state at `time` if a fault made it.

        A fault announces when the worker is back, or the worker is back at the same instant; an
        owner's change does neither. Where faults are repaired, each has an event of its own.
        """
        if self.repaired:
            return
        if event.state is WorkerState.DOWN:
            if event.until is not None:
                self.came += 1
            else:
                self._down_since[event.worker] = time
        elif self._down_since.pop(event.worker, None) == time:
            self.came += 1

    def expected(self, time: float) -> float:
        """Return the number of faults that the laws let expect from the start up to `time`, if no
        fault meets a worker that is DOWN."""
        return sum(_expected(law, time) for law in self.laws)

    def as_json(self, time: float) -> dict[str, float] | None:
        """Return as plain data for JSON the number of faults that the laws let expect up to `time`
        (`expected`), and the number of workers that faults have taken DOWN in the log so far
        (`came`). None where the log does not describe expected faults, or changes of workers are
        not read."""
        if not (self.laws and self.counted):
            return None
        return {"expected": self.expected(time), "came": self.came}

    def rows(self, time: float, unit: str) -> Iterator[tuple[str, str]]:
        """Yield the expected and the counted faults up to `time`, and the hangs, for people, as
        pairs of a name and a text."""
        if self.laws and self.counted:
            yield "faults", f"{amount_of(self.expected(time), 4)} expected, {self.came:,} came"
        for fit in self.fits:
            if fit.log_mtbf is not None:
                law = f"a fitted law, shape {fit.shape:.4g}, mean {about(fit.mtbf, unit)}"
                yield "  fitted", f"{law}; in its log {log_rate(fit.mtbf, fit.log_mtbf, unit)}"
                if differ(fit.mtbf, fit.log_mtbf):
                    yield "warning", PARTED
        if self.hung:
            yield "hangs", f"{self.hung:,} came, {self.detected:,} detected"


@define
class Repairs:
    """Counts what the repairs, the reserve and the replicas of a log have done."""

    failed: Counter[int] = field(factory=Counter)
    """Number of faults of units, by the number of the law."""
    blamed: Counter[str] = field(factory=Counter)
    """Number of faults blamed on what they struck, on others, and on nobody."""
    ended: Counter[tuple[int, RepairOutcome]] = field(factory=Counter)
    """Number of repairs by stage and outcome."""
    retired: int = 0
    """Number of units that retired."""
    called: int = 0
    """Number of workers of the reserve that were called."""
    drops: Counter[str] = field(factory=Counter)
    """Number of times that replicas have dropped out of runs, and rejoined them."""
    described: bool = False
    """Whether anything is repaired, or there is a reserve."""

    def read(self, event: Event) -> None:
        """Count an event about a repair, the reserve or replicas."""
        match event:
            case RepairDescribed() | ReserveDescribed():
                self.described = True
            case UnitFailed():
                self.failed[event.law] += 1
            case FaultBlamed(workers=struck, blamed=blamed):
                how = "nobody" if blamed is None else "itself" if blamed == struck else "another"
                self.blamed[how] += 1
            case RepairEnded():
                self.ended[event.stage, event.outcome] += 1
            case UnitRetired():
                self.retired += 1
            case ReserveCalled():
                self.called += 1
            case ReplicasDropped() | ReplicasRejoined():
                self.drops[DROPS[type(event)]] += 1

    def as_json(self) -> dict[str, object]:
        """Return the counts as plain data for JSON; empty where nothing is repaired, and no job has
        replicas."""
        drops: dict[str, object] = {"replicas": dict(self.drops)} if self.drops else {}
        if not self.described:
            return drops
        stages = range(1 + max((stage for stage, _ in self.ended), default=-1))
        by_stage = [{it.value: self.ended[stage, it] for it in RepairOutcome} for stage in stages]
        laws = range(1 + max(self.failed, default=-1))
        numbers = {
            "faults": [self.failed[law] for law in laws],
            "blamed": dict(self.blamed),
            "stages": by_stage,
            "retired": self.retired,
            "called": self.called,
        }
        return {"repairs": numbers, **drops}

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the counts for people, as pairs of a name and a text."""
        if self.drops:
            clauses = (f"{how} {counted(it, 'time')}" for how, it in self.drops.items())
            yield "replicas", ", ".join(clauses)
        if self.failed:
            laws = sorted(self.failed.items())
            by_law = f" ({', '.join(f'{count:,} of law {law}' for law, count in laws)})"
            total = sum(self.failed.values())
            yield "faults", f"{total:,} of what was not in repair{by_law if laws[1:] else ''}"
        if self.blamed:
            yield "blamed", ", ".join(f"{count:,} on {how}" for how, count in self.blamed.items())
        for stage in sorted({stage for stage, _ in self.ended}):
            counts = ((it, self.ended[stage, it]) for it in RepairOutcome)
            words = (f"{count:,} {it.value.replace('-', ' ')}" for it, count in counts if count)
            yield f"repairs {stage + 1}", ", ".join(words)
        if self.retired:
            yield "retired", f"{counted(self.retired, 'unit')}"
        if self.called:
            yield "reserve", f"{counted(self.called, 'worker')} called"


def _expected(law: FaultsExpected, time: float) -> float:
    listed, each = sum(it <= time for it in law.listed), 0.0
    if law.mtbf is not None and law.age is Age.NEW:
        each = expected_renewals(time, law.mtbf, law.shape)
    elif law.mtbf is not None:
        each = law.down + time / law.mtbf
    return (listed + law.workers * each) * (1 + (law.spread or 0))


OF_REPAIRS: tuple[type[Event], ...] = (
    *(RepairDescribed, ReserveDescribed, UnitFailed, FaultBlamed, RepairEnded, UnitRetired),
    *(ReserveCalled, ReplicasDropped, ReplicasRejoined),
)
"""Events that repairs, the reserve and replicas are counted from."""
DROPS: dict[type[Event], str] = {
    ReplicasDropped: "dropped out",
    ReplicasRejoined: "rejoined",
}
WANTED: frozenset[type[Event]] = frozenset(
    (
        *OF_REPAIRS,
        *(JobSubmitted, JobCompleted, JobKilled, RunEnded, CopiesSettled, IterationCompleted),
        *(
            JobsLeftOut,
            JobsChanged,
            LogDoubted,
            ScenarioStarted,
            ScenarioEnded,
            FaultsExpected,
            FaultsFitted,
        ),
        *(RunHung, HangDetected),
    )
)
"""Events that a summary is computed from, which are few of a log's."""


@define
class Summary:
    """Collects the summary of a run: call it with each record, then read its numbers."""

    started: ScenarioStarted | None = None
    end: End | None = None
    """How the run ended; None: the log stops before the run's end."""
    time: float = 0
    """Virtual time of the last record."""
    events: int = 0
    submitted: dict[str, float] = field(factory=dict)
    """Maps a job to the time of its submission."""
    completed: dict[str, float] = field(factory=dict)
    """Maps a job to the time of its completion."""
    killed: dict[str, float] = field(factory=dict)
    """Maps a job to the time at which it was cancelled because it had reached the user's
    estimate."""
    iterations: int = 0
    left_out: dict[str, int] = field(factory=dict)
    """Number of jobs of a workload left out for each reason."""
    changed: dict[str, int] = field(factory=dict)
    """Number of jobs of a workload changed before the run, for each kind of change."""
    doubts: list[str] = field(factory=list)
    """Signs that the log of jobs, or what is said of its machine, is not what it seems."""
    outcomes: Counter[Outcome] = field(factory=Counter)
    """Number of runs for each way in which a run can end."""
    faults: Faults = field(factory=Faults)
    repairs: Repairs = field(factory=Repairs)
    wants: frozenset[type[Event]] = WANTED
    """Events that the summary reads; faults are counted only where WorkerChanged, which may be most
    of a run's events, is one of them."""

    def __attrs_post_init__(self) -> None:
        self.faults.counted = WorkerChanged in self.wants

    def __call__(self, record: Record) -> None:
        self.time, self.events = record.t, record.seq + 1
        match event := record.event:
            case JobSubmitted():
                self.submitted[event.job] = record.t
            case RunEnded():
                self.outcomes[event.outcome] += 1
            case JobCompleted():
                self.completed[event.job] = record.t
            case JobKilled():
                self.killed[event.job] = record.t
            case WorkerChanged():
                self.faults.change(record.t, event)
            case _:
                self._read_rare(event)

    def _read_rare(self, event: Event) -> None:
        match event:
            case IterationCompleted():
                self.iterations += 1
            case CopiesSettled():
                completed = sum(run is not None for run in event.completed)
                self.outcomes[Outcome.COMPLETED] += completed
                self.outcomes[Outcome.CANCELLED] += sum(event.copies) - completed
            case JobsLeftOut():
                self.left_out[event.reason] = event.jobs
            case JobsChanged():
                self.changed[event.how] = event.jobs
            case LogDoubted():
                self.doubts.append(event.doubt)
            case ScenarioStarted():
                self.started = event
            case ScenarioEnded():
                self.end = event.end
            case _:
                self.faults.read(event)
                self.repairs.read(event)

    @property
    def makespan(self) -> float | None:
        """Time at which the last job was completed or killed; None where a job is left."""
        gone = len(self.completed) + len(self.killed)
        if not gone or gone != len(self.submitted):
            return None
        return max(chain(self.completed.values(), self.killed.values()))

    @property
    def struck(self) -> int:
        """Number of times that faults or silent errors took a run, or a group of its members, or
        made it hang."""
        lost = self.outcomes[Outcome.LOST] + self.outcomes[Outcome.FAILED]
        return lost + self.faults.hung + self.repairs.drops[DROPS[ReplicasDropped]]

    @property
    def flowtimes(self) -> list[float]:
        """Completion minus submission of each completed job, in order of submission."""
        done = self.completed
        return [done[job] - then for job, then in self.submitted.items() if job in done]

    def as_json(self) -> dict[str, object]:
        """Return the summary as data, with the keys that `--json` prints."""
        started = self.started
        whole = {it: getattr(started, it, None) for it in ("scenario", "seed", "policy", "unit")}
        lists = {it: list(getattr(started, it, ())) for it in ("kinds", "settings")}
        return {
            **whole,
            **lists,
            "makespan": self.makespan,
            "iterations": self.iterations,
            "jobs": len(self.submitted),
            "left_out": self.left_out,
            "changed": self.changed,
            **({"doubtful": self.doubts} if self.doubts else {}),
            "killed": len(self.killed),
            "completed": self.end is End.COMPLETED,
            "end": self.end.value if self.end else None,
            "runs": {outcome.value: self.outcomes[outcome] for outcome in Outcome},
            "events": self.events,
            "faults": self.faults.as_json(self.time),
            "hangs": {"came": self.faults.hung, "detected": self.faults.detected},
            **self.repairs.as_json(),
        }

    @property
    def unit(self) -> str:
        """Unit of all times: `s` or `slot`; empty where the log does not tell."""
        return self.started.unit if self.started else ""

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the summary for people, as pairs of a name and a text."""
        yield "end", self.end.value if self.end else "interrupted: the log stops early"
        makespan = self.makespan
        yield "makespan", "not reached" if makespan is None else _exactly(makespan, self.unit)
        killed = f", {len(self.killed):,} killed" if self.killed else ""
        yield "jobs", f"{len(self.completed):,} of {len(self.submitted):,} completed{killed}"
        if self.iterations:
            yield "iterations", f"{self.iterations:,}"
        runs = (f"{self.outcomes[it]:,} {it.value}" for it in Outcome if self.outcomes[it])
        yield "runs", ", ".join(runs) or "none ended"
        yield from self.faults.rows(self.time, self.unit)
        yield from self.repairs.rows()
        yield "events", f"{self.events:,}"
        yield from (("left out", f"{jobs:,}: {why}") for why, jobs in self.left_out.items())
        yield from (("changed", f"{jobs:,}: {how}") for how, jobs in self.changed.items())
        yield from (("doubtful", doubt) for doubt in self.doubts)

    @property
    def title(self) -> str:
        """One line that names the scenario, the seed and the policy of the run."""
        return title_of(self.started) if self.started else "?"

    def lines(self) -> list[str]:
        """Return the summary as lines for people."""
        return [self.title, *map(line_of, self.rows())]


def line_of(row: tuple[str, str]) -> str:
    """Return a row of the summary, a pair of a name and a text, as one line."""
    return "  {:<12}{}".format(*row)


def _exactly(time: float, unit: str) -> str:
    """Return a time in its larger units and as a plain number: `89 d 2 h 8 min 12 s (7,697,292
    s)`."""
    words, whole = in_units(time, unit), counted(time, unit, units(unit))
    return words if words == whole else f"{words} ({whole})"
