"""Counts what a log tells in all: jobs, runs, iterations, faults, hangs and repairs.

Few of a log's events are needed for it, and no state: a run of which only these numbers are asked
makes no other events.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from attrs import define, field

from actors.events import (
    Age,
    CopiesSettled,
    End,
    FaultBlamed,
    FaultsDescribed,
    FaultsExpected,
    FaultsFitted,
    HangDetected,
    IterationCompleted,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobsChanged,
    JobsLeftOut,
    JobSubmitted,
    LogDoubted,
    Outcome,
    RepairEnded,
    RepairOutcome,
    ReplicasDropped,
    ReplicasRejoined,
    ReserveCalled,
    RunEnded,
    RunHung,
    ScenarioEnded,
    ScenarioStarted,
    UnitFailed,
    UnitRetired,
    UnitsWornOut,
    WorkerChanged,
    WorkloadEnded,
)
from actors.intervals import count_in
from actors.runtime import Event, Record
from policies.availability import WorkerState
from policies.maths.renewals import expected_renewals
from sims.history.head import Head

if TYPE_CHECKING:
    from sims.scenario import Scenario


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
    head: Head = field(factory=Head, eq=False)
    """The log's scenario: if faults are repaired in it, each fault is an event of its own."""
    some: set[int] = field(factory=set)
    """Numbers of the laws that strike some units only, such as lemons, which were drawn."""
    worn: int = 0
    """Number of units that have come under a law in the course of time."""
    _down_since: dict[int, float] = field(factory=dict)
    """Maps each worker that went DOWN for an unknown time to the time of that change."""

    def read(self, event: Event) -> None:
        """Keep what the head of the log says of faults: how many a law lets expect, and its fit to
        a log; count hangs, and the workers of a unit that goes to repair."""
        match event:
            case UnitFailed():
                self.came += count_in(event.workers)
            case FaultsDescribed():
                self.some.add(event.law)
            case FaultsExpected():
                self.laws.append(event)
            case FaultsFitted():
                self.fits.append(event)
            case _:
                self._count(event)

    def _count(self, event: Event) -> None:
        """Count hangs, and units that wear out."""
        match event:
            case UnitsWornOut():
                self.worn += count_in(event.units)
            case RunHung():
                self.hung += 1
            case HangDetected():
                self.detected += 1

    def change(self, time: float, event: WorkerChanged) -> None:
        """Count a worker's change of state at `time` if a fault made it.

        A fault announces when the worker is back, or the worker is back at the same instant; an
        owner's change does neither. Where faults are repaired, each has an event of its own.
        """
        if self.head.repaired:
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
        fault meets a worker that is DOWN, and none is cured or retired."""
        return sum(_expected(law, time) for law in self.laws)

    def assumed(self) -> tuple[str, ...]:
        """Return what the expected number rests on, as clauses about the workers; none where the
        log does not hold its scenario."""
        scenario = self.head.scenario
        if scenario is None:
            return ()
        from sims.scenario.expectations import assumed  # the scenario is read already

        told = (assumed(scenario, scenario.faults.laws[it.law]) for it in self.laws)
        return tuple(dict.fromkeys(chain.from_iterable(told)))


@define
class Repairs:
    """Counts what repairs, calls of workers and groups of members of a log have done."""

    failed: Counter[int] = field(factory=Counter)
    """Number of faults of units, by the number of the law."""
    blamed: Counter[str] = field(factory=Counter)
    """Number of faults blamed on the unit that they struck (`itself`), on another unit (`another`),
    and on none (`nobody`)."""
    ended: Counter[tuple[int, RepairOutcome]] = field(factory=Counter)
    """Number of repairs by stage and outcome."""
    retired: int = 0
    """Number of units that retired."""
    called: int = 0
    """Number of workers that were called."""
    drops: Counter[str] = field(factory=Counter)
    """Number of times that groups of members have dropped out of runs, and rejoined them."""
    head: Head = field(factory=Head, eq=False)
    """The log's scenario, which says whether anything is repaired and whether workers are
    called."""

    @property
    def described(self) -> bool:
        """Whether anything is repaired, or workers are there to be called."""
        return self.head.repaired or self.head.calls

    def read(self, event: Event) -> None:
        """Count an event about a repair, a call of a worker or a group of members."""
        match event:
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


def _expected(law: FaultsExpected, time: float) -> float:
    listed, each = sum(it <= time for it in law.listed), 0.0
    if law.mtbf is not None and law.age is Age.NEW:
        each = expected_renewals(time, law.mtbf, law.shape)
    elif law.mtbf is not None:
        each = law.down + time / law.mtbf
    return (listed + law.workers * each) * (1 + (law.spread or 0))


OF_REPAIRS: tuple[type[Event], ...] = (
    *(UnitFailed, FaultBlamed, RepairEnded, UnitRetired),
    *(ReserveCalled, ReplicasDropped, ReplicasRejoined, FaultsDescribed),
)
"""Events that all these are counted from."""
DROPS: dict[type[Event], str] = {
    ReplicasDropped: "dropped out",
    ReplicasRejoined: "rejoined",
}
WANTED: frozenset[type[Event]] = frozenset(
    (
        *OF_REPAIRS,
        *(JobSubmitted, JobCompleted, JobKilled, RunEnded, CopiesSettled, IterationCompleted),
        WorkloadEnded,
        *(
            JobsLeftOut,
            JobsChanged,
            LogDoubted,
            ScenarioStarted,
            ScenarioEnded,
            FaultsExpected,
            FaultsFitted,
            UnitsWornOut,
        ),
        *(RunHung, HangDetected),
    )
)
"""Events that a summary is computed from, which are few of a log's."""
FAULTS_TOO = WANTED | {WorkerChanged}
"""Events that a summary is computed from, with the changes of workers from which it counts
faults."""
ARRIVALS: frozenset[type[Event]] = frozenset((JobSubmitted, JobDescribed, JobCompleted))
"""Events from which a summary has the submissions, sizes and completions of jobs, and no more."""


ENDS: frozenset[type[Event]] = frozenset((JobCompleted, JobKilled, IterationCompleted))
"""Events from which a summary has the ends of jobs and iterations, and no more."""


class Latest(dict[str, float]):
    """A stand-in for a summary's times by job, which come in ascending order: it has their number
    and the last one alone."""

    count = 0

    def __setitem__(self, job: str, time: float) -> None:
        self.count += 1
        super().__setitem__("", time)

    def __len__(self) -> int:
        return self.count


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
    sizes: dict[str, float] = field(factory=dict)
    """Maps a job to its work; empty unless `JobDescribed` is among the events that it reads."""
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
    copies: int | None = None
    """Number of copies that have ended, runs on kept members counted as one; None where not all
    jobs are done."""
    wants: frozenset[type[Event]] = WANTED
    """Events that the summary reads. Faults are counted only where WorkerChanged, which may be most
    of a run's events, is one of them."""

    @classmethod
    def brief(cls, wants: frozenset[type[Event]] = WANTED) -> Summary:
        """Return a summary whose memory does not grow with the number of jobs: of their times it
        has only how many there are, and the last one."""
        return cls(submitted=Latest(), completed=Latest(), killed=Latest(), wants=wants)

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
            case WorkloadEnded():
                self.copies = event.runs
            case _:
                self._read_rare(event)

    def _read_rare(self, event: Event) -> None:
        match event:
            case JobDescribed():
                self.sizes[event.job] = event.work
            case IterationCompleted():
                self.iterations += 1
            case CopiesSettled():
                completed = sum(run is not None for run in event.completed)
                self.outcomes[Outcome.COMPLETED] += completed
                self.outcomes[Outcome.CANCELLED] += sum(event.copies) - completed
            case ScenarioEnded():
                self.end = event.end
            case _:
                self._read_head(event)
                self.faults.read(event)
                self.repairs.read(event)

    def _read_head(self, event: Event) -> None:
        """Keep what the head of the log says of the scenario and its workload."""
        match event:
            case ScenarioStarted():
                self.started = event
                if self.faults.head.given is None:
                    self._read_scenario(Head(event.text))
            case JobsLeftOut():
                self.left_out[event.reason] = event.jobs
            case JobsChanged():
                self.changed[event.how] = event.jobs
            case LogDoubted():
                self.doubts.append(event.doubt)

    def use_scenario(self, scenario: Scenario) -> None:
        """Use the scenario itself in place of its text in the log's first line: a sink that wants
        only some events gets this line without the text."""
        self._read_scenario(Head(given=scenario))

    def _read_scenario(self, head: Head) -> None:
        self.faults.head = self.repairs.head = head

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
    def came(self) -> int | None:
        """Number of faults: of units where faults are repaired, else of workers that they took
        DOWN; None where the latter are not counted."""
        if self.faults.head.repaired:
            return sum(self.repairs.failed.values())
        return self.faults.came if self.faults.counted else None

    @property
    def lemon_faults(self) -> int | None:
        """Number of faults by laws that strike some units only, such as lemons; None where faults
        are not repaired, so that the log does not say whose they are."""
        if not self.faults.head.repaired:
            return None
        some = self.faults.some | self.faults.head.laws_of_some
        return sum(count for law, count in self.repairs.failed.items() if law in some)

    @property
    def selections(self) -> int | None:
        """Number of times that workers were chosen for a job after its first start; None where not
        all jobs are done."""
        return None if self.copies is None else self.copies - len(self.submitted)

    @property
    def depleted(self) -> bool | None:
        """Whether the run ended because too few workers were left that had not retired; None where
        the log stops before the end."""
        return None if self.end is None else self.end is End.DEPLETED

    @property
    def flowtimes(self) -> list[float]:
        """Completion minus submission of each completed job, in order of submission."""
        done = self.completed
        return [done[job] - then for job, then in self.submitted.items() if job in done]

    @property
    def unit(self) -> str:
        """Unit of all times: `s` or `slot`; empty where the log does not tell."""
        return self.started.unit if self.started else ""
