"""When jobs start and end under a policy: what tests of queues compare."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from actors.deciders.queue import QueueDecider
from actors.events import JobCompleted, ReservationMade, RunEnded, RunStarted, WorkloadEnded
from actors.intervals import count_in
from actors.job import JobOfAttempts
from actors.pool import Pool
from actors.runtime import Record, System
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob, BatchPolicy, Strategy
from policies.maths.speedup import Rigid
from policies.queue.allocation import requested
from policies.queue.estimates import Estimates
from policies.queue.names import order_named
from sims.bench.cases import spawn


@define
class Schedule:
    """Fold: by job."""

    starts: dict[str, float] = field(factory=dict)
    """First starts."""
    ends: dict[str, float] = field(factory=dict)
    promises: list[tuple[str, float, float]] = field(factory=list)
    """(job, start that it is promised, when it was promised)."""

    def __call__(self, record: Record) -> None:
        match record.event:
            case RunStarted(job=job):
                self.starts.setdefault(job, record.t)
            case JobCompleted(job=job):
                self.ends[job] = record.t
            case ReservationMade(job=job, start=start):
                self.promises.append((job, start, record.t))

    @property
    def in_order(self) -> list[float]:
        """Starts, by job."""
        return [self.starts[name] for name in sorted(self.starts)]


@define
class Makespan:
    """The end of the last job: all that a comparison of makespans needs (one event a run)."""

    wants: frozenset[type] = frozenset((WorkloadEnded,))
    value: float = 0.0
    runs: int = 0

    def __call__(self, record: Record) -> None:
        event = record.event
        assert isinstance(event, WorkloadEnded)
        self.value, self.runs = record.t, event.runs


def job(
    index: int, submitted: float, processors: int, time: float, asked: float | None = None, user=""
) -> BatchJob:
    """A rigid job, J0 the first."""
    profile = Rigid(processors, time)
    return BatchJob(index, f"J{index}", profile, 0.0, asked, submitted, user=user)


def queued(rows: str) -> list[BatchJob]:
    """Jobs "submitted processors time", with "asked user" after them or not, and commas between."""
    jobs = []
    for index, row in enumerate(rows.split(",")):
        submitted, processors, time, *more = row.split()
        asked, user = map(int, more[:1]), "".join(more[1:])
        jobs.append(job(index, int(submitted), int(processors), int(time), *asked, user=user))
    return jobs


def schedule(
    processors: int,
    jobs: Sequence[BatchJob],
    strategy: Strategy,
    order: str = "FCFS",
    estimates: Estimates | None = None,
) -> Schedule:
    """Run them all."""
    fold = Schedule()
    system = System(0, [fold], start=0)
    policy = BatchPolicy(order_named(order), strategy, requested, order)
    decider = QueueDecider(policy, estimates=estimates)
    scheduler = system.spawn(Scheduler("scheduler", Pool(processors, False), decider, len(jobs)))
    for it in jobs:
        system.spawn(JobOfAttempts(it.name, it, scheduler))
    system.run()
    return fold


def makespan(
    processors: int,
    jobs: Sequence[BatchJob],
    failures: Sequence[int],
    policy: BatchPolicy,
    seed: int = 0,
) -> Makespan:
    """Makespan and runs of one run; `seed` draws priorities where the order is RANDOM.

    Exact for integer and fractional times. Raises what the runtime raises.
    """
    fold = Makespan()
    system = System(seed, [fold], start=0)
    spawn(system, processors, jobs, failures, policy)
    system.run()
    return fold


def attempts(
    processors: int, jobs: Sequence[BatchJob], failures: Sequence[int], policy: BatchPolicy
) -> list[tuple[str, int, int, float, float]]:
    """(job, run, its processors, start, end) of each run, in the order of their starts."""
    records: list[Record] = []
    system = System(0, [records.append], start=0)
    spawn(system, processors, jobs, failures, policy)
    system.run()
    ends = {(r.event.job, r.event.run): r.t for r in records if isinstance(r.event, RunEnded)}
    started = [(r.t, r.event) for r in records if isinstance(r.event, RunStarted)]
    return [(it.job, it.run, count_in(it.processors), t, ends[it.job, it.run]) for t, it in started]
