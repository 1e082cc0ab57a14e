"""Processors that fail under rigid and moldable jobs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, sqrt

import numpy as np

from actors.attempts import JobOfAttempts
from actors.deciders.queue import QueueDecider
from actors.events import (
    BatchOpened,
    JobCompleted,
    Outcome,
    RunEnded,
    RunStarted,
    ShelfOpened,
    WorkerChanged,
    WorkloadEnded,
)
from actors.hazards import Faults, Hazard, exponential_faults
from actors.pool import Pool, compact
from actors.runtime import Event, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker
from actors.worker_messages import Fail
from actors.worker_registry import WorkerRegistry
from policies.availability import WorkerState
from policies.interface.queue import (
    Allocation,
    BatchAllocation,
    BatchJob,
    BatchPolicy,
    Strategy,
)
from policies.maths.speedup import Rigid, Table
from policies.queue.allocation import requested
from policies.queue.batches import Exact
from policies.queue.lists import RList
from policies.queue.orders import first_come
from policies.queue.shelves import Shelves

LIST = RList(0)


def world(
    jobs: Sequence[BatchJob],
    faults: Faults | Sequence[tuple[float, int]],
    processors: int = 4,
    downtime: float = 2,
    *,
    strategy: Strategy = LIST,
    rule: Allocation | BatchAllocation = requested,
    failures: int = 0,
    limit: float | None = None,
) -> list[Record]:
    """The events of a run."""
    records: list[Record] = []
    system = System(0, [records.append], start=0)
    policy = BatchPolicy(first_come, strategy, rule, "mine")
    pool = Pool(processors, numbered=True, changing=True, take=compact)
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy), len(jobs)))
    for job in jobs:
        system.spawn(JobOfAttempts(job.name, job, scheduler, limit, failures))
    workers = WorkerRegistry(system, lambda n: Worker(f"worker {n}", n, scheduler))
    system.spawn(Hazard("hazard", iter(faults), workers, Fail(downtime)))
    system.run()
    return records


def job(index: int, processors: int, time: float, verification: float = 0) -> BatchJob:
    return BatchJob(index, "abcdefg"[index], Rigid(processors, time), verification)


def starts(records: Sequence[Record]) -> list[tuple[str, float, str]]:
    return [
        (it.event.job, it.t, it.event.processors)
        for it in records
        if isinstance(it.event, RunStarted)
    ]


def ends(records: Sequence[Record]) -> list[tuple[str, float, Outcome]]:
    return [
        (it.event.job, it.t, it.event.outcome) for it in records if isinstance(it.event, RunEnded)
    ]


def times(records: Sequence[Record], kind: type[Event]) -> list[float]:
    return [it.t for it in records if isinstance(it.event, kind)]


def states(records: Sequence[Record], state: WorkerState) -> list[float]:
    """When a worker came to this state."""
    found = [it for it in records if isinstance(it.event, WorkerChanged)]
    return [it.t for it in found if it.event.state is state]


def test_an_attempt_is_lost_when_one_of_its_processors_fails_and_runs_again_on_others() -> None:
    records = world([job(0, 2, 5)], [(3, 1)])
    assert starts(records) == [("a", 0, "0-1"), ("a", 3, "2-3")]
    assert ends(records) == [("a", 3, Outcome.LOST), ("a", 8, Outcome.COMPLETED)]


def test_it_waits_for_the_repair_where_too_few_others_are_free() -> None:
    records = world([job(0, 4, 5)], [(3, 1)])
    assert starts(records) == [("a", 0, "0-3"), ("a", 5, "0-3")]
    assert states(records, WorkerState.UP) == [5]


def test_a_processor_that_fails_free_costs_nobody_an_attempt_and_is_not_taken() -> None:
    records = world([job(0, 2, 5), job(1, 2, 1)], [(0, 3), (0.5, 2)])
    assert starts(records) == [("a", 0, "0-1"), ("b", 2.5, "2-3")]
    assert {outcome for _, _, outcome in ends(records)} == {Outcome.COMPLETED}


def test_work_that_ends_at_the_instant_of_the_fault_is_complete() -> None:
    records = world([job(0, 4, 3), job(1, 3, 1)], [(3, 0)])
    assert ends(records)[0] == ("a", 3, Outcome.COMPLETED)
    assert starts(records)[1] == ("b", 3, "1-3")


def test_faults_of_one_instant_cost_an_attempt_once_and_all_their_processors() -> None:
    records = world([job(0, 2, 5)], [(3, 0), (3, 1), (3, 3)])
    assert ends(records)[:1] == [("a", 3, Outcome.LOST)]
    assert starts(records)[1] == ("a", 5, "0-1")
    assert states(records, WorkerState.DOWN) == [3, 3, 3]


def test_a_fault_that_strikes_what_is_down_changes_nothing() -> None:
    records = world([job(0, 1, 9)], [(1, 3), (2, 3)])
    assert states(records, WorkerState.DOWN) == [1]
    assert states(records, WorkerState.UP) == [3]


def test_without_downtime_the_processor_is_back_at_once() -> None:
    records = world([job(0, 4, 5)], [(3, 1)], downtime=0)
    assert starts(records) == [("a", 0, "0-3"), ("a", 3, "0-3")]
    assert states(records, WorkerState.UP) == [3]


def test_a_lost_attempt_is_none_of_those_that_a_silent_error_strikes() -> None:
    records = world([job(0, 1, 5, verification=1)], [(2, 0)], failures=2)
    outcomes = [outcome for _, _, outcome in ends(records)]
    assert outcomes == [Outcome.LOST, Outcome.FAILED, Outcome.FAILED, Outcome.COMPLETED]
    assert [it.event for it in records if isinstance(it.event, WorkloadEnded)] == [
        WorkloadEnded(1, 0, 4)
    ]


def test_the_limit_of_a_lost_attempt_means_nothing_any_more() -> None:
    records = world([job(0, 1, 5)], [(2, 0)], limit=4)
    assert ends(records) == [("a", 2, Outcome.LOST), ("a", 6, Outcome.CANCELLED)]


def test_the_end_of_a_lost_attempt_is_caused_by_the_fault() -> None:
    records = world([job(0, 2, 5)], [(3, 1)])
    lost = next(it for it in records if isinstance(it.event, RunEnded))
    assert records[lost.cause or 0].event == WorkerChanged(1, WorkerState.DOWN, WorkerState.UP, 5)


def test_in_a_batch_a_lost_attempt_is_made_again_before_the_next_batch() -> None:
    jobs = [BatchJob(index, name, Table((5, 3, 3, 3))) for index, name in enumerate("ab")]
    records = world(jobs, [(1, 0)], rule=Exact(), failures=1)
    batches = [it.t for it in records if isinstance(it.event, BatchOpened)]
    first = [it for it in ends(records) if it[1] <= batches[1]]
    assert [outcome for _, _, outcome in first] == [Outcome.LOST, Outcome.FAILED, Outcome.FAILED]


def test_what_is_lost_waits_for_the_next_shelf_which_opens_on_what_is_up() -> None:
    jobs = [job(0, 2, 5), job(1, 2, 3), job(2, 3, 4)]
    records = world(jobs, [(1, 0)], downtime=100, strategy=Shelves(filling=False))
    assert starts(records)[2:] == [("a", 3, "1-2"), ("c", 8, "1-3")]
    assert times(records, ShelfOpened) == [0, 3, 8]


def test_what_is_lost_fills_its_shelf_where_other_processors_are_free() -> None:
    for processors, again in ((5, ("a", 1, "1 4")), (4, ("a", 9, "1-2"))):
        jobs = [job(0, 2, 5), job(1, 2, 9)]
        filling = Shelves(filling=True)
        records = world(jobs, [(1, 0)], processors, downtime=100, strategy=filling)
        assert starts(records)[2] == again


def test_the_mean_time_of_a_job_is_that_of_theory() -> None:
    """One processor, exponential faults: (1/lambda + D) (exp(lambda t) - 1) a job (Daly 2006)."""
    rate, downtime, time, jobs = 0.3, 0.7, 4.0, 4000
    many = [BatchJob(index, f"J{index}", Rigid(1, time)) for index in range(jobs)]
    faults = exponential_faults(np.random.default_rng(1), 1, 1 / rate)
    ended = [0.0, *times(world(many, faults, 1, downtime), JobCompleted)]
    lasted = np.array([after - before for before, after in pairwise(ended)])
    expected = (1 / rate + downtime) * (exp(rate * time) - 1)
    assert abs(lasted.mean() - expected) < 3 * lasted.std() / sqrt(jobs)
    assert lasted.std() / sqrt(jobs) < 0.03 * expected
