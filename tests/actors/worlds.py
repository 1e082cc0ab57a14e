"""Small worlds of the core: workers with hazards, a master, jobs whose runs have members."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import Factory, field, frozen

from actors.deciders.queue import QueueDecider
from actors.events import RunEnded, RunStarted, WorkerChanged
from actors.hazards import Hazard, SilentErrors
from actors.master import Master
from actors.pool import Pool
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import Event, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker
from actors.worker_messages import Fail, Needs
from actors.worker_registry import WorkerRegistry
from policies.availability import WorkerState
from policies.interface import ServiceOrder
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.speedup import Rigid
from policies.queue.lists import RList
from policies.queue.orders import first_come
from policies.service import StartedFirst


def life(letters: str) -> Iterator[tuple[float, WorkerState]]:
    """A state for each unit of time; UP after the end."""
    last = None
    for time, letter in enumerate(letters + "u"):
        if letter != last:
            yield time, WorkerState(letter)
        last = letter


@frozen(kw_only=True)
class Task:
    """One rigid job."""

    processors: int = 1
    time: float = 10
    verification: float = 0
    release: float = 0
    rate: float = 0
    """Of silent errors; none is ever drawn, as there is no stream."""
    failures: Sequence[int] = ()
    kind: ProtectionKind = ProtectionKind.NONE
    period: float = math.inf
    rules: dict[str, Any] = field(factory=dict)
    """More of actors.protection.Rules."""
    program: float = 0
    data: float = 0
    image: float = 0


@frozen(kw_only=True)
class World:
    """What happens to which workers."""

    owners: Sequence[str] = ()
    workers: int = 0
    faults: Sequence[tuple[float, int]] = ()
    downtime: float = 0
    speeds: Sequence[Sequence[tuple[float, float]]] = ()
    channels: int = 0
    """0: no master."""
    order: ServiceOrder = Factory(StartedFirst)

    def run(self, *tasks: Task) -> list[Record]:
        """The events of a run under R-LIST-0, first come first served."""
        records: list[Record] = []
        system = System(0, [records.append], start=0)
        count = self.workers or len(self.owners) or len(self.speeds)
        policy = BatchPolicy(first_come, RList(0), _asked, "mine")
        most = {index: task.rules.get("copies", 1) for index, task in enumerate(tasks)}
        decider = QueueDecider(policy, {index: r for index, r in most.items() if r > 1})
        pool = Pool(count, numbered=True, changing=True)
        pool.change_speed(0, 1)
        scheduler = system.spawn(Scheduler("scheduler", pool, decider, len(tasks)))
        master = None
        if self.channels:
            master = system.spawn(Master("master", self.channels, self.order))

        def make(index: int) -> Worker:
            worker = Worker(f"worker {index}", index, scheduler, master)
            if self.owners:
                worker.owner = life(self.owners[index])
            if self.speeds:
                worker.speeds = iter(self.speeds[index])
            return worker

        workers = WorkerRegistry(system, make)
        scheduler.workers, scheduler.linked = workers, master is not None
        for index in range(count):
            workers(index)
        system.spawn(Hazard("hazard", iter(self.faults), workers, Fail(self.downtime)))
        for index, task in enumerate(tasks):
            system.spawn(self._job(index, task, scheduler))
        system.run()
        return records

    def _job(self, index: int, task: Task, scheduler: Scheduler) -> JobOfRuns:
        name, linked = "abcdefg"[index], bool(self.channels)
        described = BatchJob(
            *(index, name, Rigid(task.processors, task.time), task.verification),
            submitted=task.release,
        )
        rules = Rules(
            kind=task.kind,
            period=lambda members: task.period,
            verification=task.verification,
            image=task.image if linked else None,
            **task.rules,
        )
        return JobOfRuns(
            *(name, described, scheduler),
            protection=protection(rules),
            errors=SilentErrors(iter(task.failures), task.rate),
            needs=Needs(name, task.program, task.data, task.image) if linked else None,
        )


def _asked(jobs: Sequence[BatchJob], processors: int) -> list[int]:
    return [job.profile.processors for job in jobs]  # type: ignore[attr-defined]


def of(records: Sequence[Record], kind: type[Event]) -> list[Record]:
    """The records of one class of events."""
    return [record for record in records if isinstance(record.event, kind)]


def runs(records: Sequence[Record]) -> list[tuple[str, int, str, float, float, str, float]]:
    """(job, run, members, start, end, outcome, work that it began from) of every run, by start."""
    ends = {(r.event.job, r.event.run): r for r in of(records, RunEnded)}
    rows = []
    for record in of(records, RunStarted):
        event = record.event
        end = ends[event.job, event.run]
        outcome = end.event.outcome.value
        rows.append((event.job, event.run, event.processors, record.t, end.t, outcome, event.begun))
    return rows


def states(records: Sequence[Record], worker: int) -> list[tuple[float, str]]:
    """(time, letter) of one worker's changes."""
    changes = [r for r in of(records, WorkerChanged) if r.event.worker == worker]
    return [(r.t, r.event.state.value) for r in changes]
