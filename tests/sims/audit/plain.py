"""Logs of whole attempts under faults: rigid jobs, wired by hand."""

from __future__ import annotations

from collections.abc import Sequence

from actors.attempts import JobOfAttempts
from actors.deciders.queue import QueueDecider
from actors.events import End, ScenarioEnded, ScenarioStarted
from actors.events.scenario import SCHEMA
from actors.hazards import Hazard
from actors.pool import Pool
from actors.runtime import NOTHING, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker
from actors.worker_registry import WorkerRegistry
from policies.interface.queue import BatchJob, BatchPolicy
from policies.queue.lists import RList
from policies.queue.orders import first_come
from tests.sims.audit.oneworld import Fixed

WORKERS = 8
DOWNTIME = 3.0


def records_of(
    jobs: Sequence[tuple[int, float, int]], faults: Sequence[tuple[float, int]]
) -> list[Record]:
    """Jobs as (workers, time, f_j); faults as (time, worker)."""
    records: list[Record] = []
    system = System(0, [records.append])
    journal, start = system.journal, ("x", 0, ("rigid",), "R-LIST-0", WORKERS, (), "s")
    system.origin = journal.record(NOTHING, ScenarioStarted, SCHEMA, *start)
    allotted = {index: workers for index, (workers, _, _) in enumerate(jobs)}
    policy = BatchPolicy(
        first_come, RList(0), lambda waiting, _: [allotted[it.index] for it in waiting]
    )
    pool = Pool(WORKERS, True, True)
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy), len(jobs)))
    registry = WorkerRegistry(
        system, lambda n: Worker(f"w{n}", n, scheduler, None, downtime=DOWNTIME)
    )
    system.spawn(Hazard("hazard", iter(faults), registry))
    for index, (workers, time, failures) in enumerate(jobs):
        described = BatchJob(index, f"j{index}", Fixed(workers, time), 0.5, None, 0, "rigid")
        system.spawn(JobOfAttempts(described.name, described, scheduler, failures=failures))
    system.run()
    journal.record(system.last, ScenarioEnded, End.COMPLETED)
    return records
