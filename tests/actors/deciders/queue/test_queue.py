"""The scheduler and its jobs in small worlds."""

import pytest

from actors.deciders.queue import QueueDecider
from actors.events import (
    BatchOpened,
    JobCompleted,
    JobKilled,
    ReservationDropped,
    ReservationMade,
    RunStarted,
    ShelfOpened,
    WorkloadEnded,
)
from actors.hazards import Hazard
from actors.job import JobOfAttempts
from actors.pool import Pool, compact
from actors.runtime import ActorFailed, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker, WorkerRegistry
from actors.worker_messages import Fail
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.speedup import Rigid, Table
from policies.queue.allocation import requested
from policies.queue.batches import Exact
from policies.queue.lists import Reading, RList, Shelves
from policies.queue.orders import first_come, longest_time


def world(
    jobs,
    strategy,
    processors=4,
    failures=None,
    order=first_come,
    rule=requested,
    kill=(),
    faults=(),
    downtime=2,
):
    records: list[Record] = []
    system = System(0, [records.append], start=0)
    policy = BatchPolicy(order, strategy, rule, "mine")
    pool = Pool(processors, numbered=True, changing=bool(faults), take=compact)
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy), len(jobs)))
    for job in jobs:
        limit = job.estimate if job.index in kill else None
        failed = (failures or {}).get(job.index, 0)
        system.spawn(JobOfAttempts(job.name, job, scheduler, limit, failed))
    if faults:
        workers = WorkerRegistry(system, lambda n: Worker(f"worker {n}", n, scheduler))
        system.spawn(Hazard("hazard", iter(faults), workers, Fail(downtime)))
    system.run()
    return records


def job(index: int, processors: int, time: float, **more) -> BatchJob:
    return BatchJob(index, "abcdefg"[index], Rigid(processors, time), **more)


def starts(records) -> list[tuple[str, float, str]]:
    return [
        (r.event.job, r.t, r.event.processors) for r in records if isinstance(r.event, RunStarted)
    ]


def of(records, kind):
    return [r for r in records if isinstance(r.event, kind)]


def test_a_job_that_outlives_its_estimate_is_not_killed_unless_asked() -> None:
    jobs = [job(0, 4, 10, estimate=4), job(1, 2, 1)]
    patient = world(jobs, RList(1, Reading.EASY))
    assert [(r.event.job, r.t) for r in of(patient, JobCompleted)] == [("a", 10), ("b", 11)]
    strict = world(jobs, RList(1, Reading.EASY), kill={0})
    assert [(r.event.job, r.t) for r in of(strict, JobKilled)] == [("a", 4)]
    assert [(r.event.job, r.t) for r in of(strict, JobCompleted)] == [("b", 5)]
    assert of(strict, WorkloadEnded)[0].event == WorkloadEnded(1, 1, 2)


def test_reservations_believe_the_estimate() -> None:
    """c ends before the estimated end of a, so it may pass b; the truth would have refused it."""
    jobs = [job(0, 2, 3, estimate=10), job(1, 4, 1), job(2, 2, 8)]
    assert [s[:2] for s in starts(world(jobs, RList(1, Reading.EASY)))] == [
        ("a", 0),
        ("c", 0),
        ("b", 8),
    ]


def test_kept_reservations_are_recorded_and_honoured_over_a_better_job_that_failed() -> None:
    jobs = [job(0, 1, 6), job(1, 3, 5), job(2, 2, 4)]
    records = world(jobs, RList(1, Reading.KEPT), 3, {0: 1, 2: 2}, longest_time)
    assert of(records, ReservationMade)
    assert ("b", 6, "0-2") in starts(records)


def told(records: list[Record]) -> list[tuple[float, str, float | None]]:
    """(when, whom, promised for when; None: nothing any more)."""
    both = of(records, ReservationMade | ReservationDropped)
    return [(r.t, r.event.job, getattr(r.event, "start", None)) for r in both]


def test_a_promise_is_reported_once_and_again_when_it_moves() -> None:
    """c, d and e come while b waits and change nothing; that a ends early does."""
    jobs = [job(0, 2, 3, estimate=8), job(1, 4, 1), job(2, 2, 6)]
    jobs += [job(3, 3, 1, submitted=1), job(4, 3, 1, submitted=2)]
    records = world(jobs, RList(1, Reading.EASY))
    assert told(records) == [(0, "b", 8), (3, "b", 6), (6, "d", 7), (7, "e", 8)]
    assert [s[:2] for s in starts(records)] == [("a", 0), ("c", 0), ("b", 6), ("d", 7), ("e", 8)]


def test_an_overdue_start_leads_to_no_new_reservation() -> None:
    """b was promised 2, when a should have ended; c, d and e come and go meanwhile."""
    jobs = [job(0, 2, 9, estimate=2), job(1, 4, 1)]
    jobs += [job(k, 2, 1, submitted=k) for k in (2, 3, 4)]
    assert told(world(jobs, RList(1, Reading.EASY)))[0] == (0, "b", 2)
    assert [t for t, name, _ in told(world(jobs, RList(1, Reading.EASY))) if name == "b"] == [0]


def test_a_promise_is_dropped_where_another_job_comes_first() -> None:
    jobs = [job(0, 3, 4), job(1, 4, 2), job(2, 4, 3, submitted=1)]
    records = world(jobs, RList(1, Reading.EASY), order=longest_time)
    assert told(records) == [(0, "b", 4), (1, "b", None), (1, "c", 4), (4, "b", 7)]


def test_a_kept_reservation_is_honoured_even_if_nothing_happens_then() -> None:
    """a ends at 3, not at the 5 that was believed when b was promised 5."""
    jobs = [job(0, 4, 3, estimate=5), job(1, 4, 2)]
    records = world(jobs, RList(None, Reading.KEPT))
    assert [s[:2] for s in starts(records)] == [("a", 0), ("b", 5)]


def test_a_filled_job_restarts_on_its_own_processors() -> None:
    records = world(
        [job(0, 1, 6), job(1, 1, 3), job(2, 1, 3)], Shelves(filling=True), 4, {2: 1}, longest_time
    )
    assert starts(records)[-1] == ("c", 3, "2")
    assert [r.event for r in of(records, ShelfOpened)] == [ShelfOpened(6, 3)]


def test_a_batch_begins_when_the_one_before_has_ended() -> None:
    jobs = [BatchJob(0, "a", Table((4, 3))), BatchJob(1, "b", Table((6, 5)))]
    records = world(jobs, RList(0), 2, {0: 2}, longest_time, Exact())
    opened = [(r.t, r.event) for r in of(records, BatchOpened)]
    assert opened == [(0, BatchOpened(1, 2, 1)), (6, BatchOpened(2, 1, 2))]


def test_an_allotment_beyond_the_platform_is_refused() -> None:
    with pytest.raises(ActorFailed, match="allotted 5 processors of 4"):
        world([job(0, 5, 1)], RList(0))
