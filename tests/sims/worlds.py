"""Small worlds told as logs: each mechanism, without a scenario file.

A world is a table as in cases/oneworld.json; what it leaves out is nothing, or never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import Any

from actors.attempts import JobOfAttempts
from actors.deciders.queue import QueueDecider
from actors.events import SCHEMA, End, LinkDescribed, ScenarioEnded, ScenarioStarted
from actors.hazards import Hazard, SilentErrors
from actors.iterative_job import IterativeJob
from actors.job import Job
from actors.master import Master
from actors.pool import Pool
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import Event, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker
from actors.worker_messages import Fail, Needs
from actors.worker_registry import WorkerRegistry
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.speedup import Rigid
from policies.queue.lists import RList
from policies.queue.orders import first_come
from policies.service import StartedFirst
from sims.log import LogWriter
from tests.actors.worlds import life

Table = dict[str, Any]

OFTEN = {"workers": 4, "faults": [[5, 0], [9, 2], [10, 3], [23, 1], [24, 3]], "downtime": 2}
COMING = ["uuuurruuuuuuuuuuuudduuuu", "uuuuuuuuduuuuuu", "uuuuuuuuuuuuuurruuuu"]
WORLDS: dict[str, Table] = {
    "attempts": {
        "workers": 4,
        "faults": [[3, 1]],
        "downtime": 4,
        "jobs": [
            {"p": 2, "t": 5, "verification": 1, "failures": 1},
            {"p": 3, "t": 4, "verification": 1, "release": 2},
            {"p": 1, "t": 8, "failures": 0},
        ],
    },
    "buddies": OFTEN
    | {
        "jobs": [
            {"p": 3, "t": 20, "protection": "buddies", "period": 4, "cost": 1, "recovery": 1},
            {"p": 1, "t": 6, "protection": "buddies", "period": 2, "release": 3},
        ]
    },
    "images": {
        "workers": 3,
        "owner": COMING,
        "channels": 1,
        "jobs": [
            {"p": 2, "t": 12, "protection": "images", "period": 4, "image": 1, "program": 2},
            {"p": 1, "t": 5, "data": 1, "verification": 1, "failures": [1]},
        ],
    },
    "iterative": {
        "workers": 3,
        "names": ["P1", "P2", "P3"],
        "unit": "slot",
        "owner": COMING,
        "channels": 2,
        "jobs": [{"kind": "iterative", "p": 2, "tasks": 4, "iterations": 3, "w": [2, 1, 2]}],
    },
    "copies": OFTEN
    | {
        "channels": 2,
        "speeds": [[[0, 1], [6, 2]], [[0, 2], [8, 0], [12, 1]], [[0, 1]], [[0, 3]]],
        "jobs": [
            {"p": 1, "t": 15, "copies": 3, "cloning": True, "data": 1, "image": 2},
            {"p": 1, "t": 4, "release": 4},
        ],
    },
}
WORLDS["iterative"]["jobs"][0] |= {"program": 2, "data": 1}


def logged(
    events: Iterable[Record],
    workers: int,
    names: tuple[str, ...] = (),
    unit: str = "s",
    channels: int = 0,
) -> list[Record]:
    """A world's events as its log has them, between its start and its end."""
    started = ScenarioStarted(SCHEMA, "world", 0, ("rigid",), "mine", workers, names, unit)
    head: list[Event] = [started, *([LinkDescribed(channels)] if channels else [])]
    records = [Record(seq, 0, 0 if seq else None, event) for seq, event in enumerate(head)]
    first = len(records)
    for it in events:
        cause = 0 if it.cause is None else it.cause + first
        records.append(Record(it.seq + first, it.t, cause, it.event))
    last = records[-1]
    return [*records, Record(last.seq + 1, last.t, last.seq, ScenarioEnded(End.COMPLETED))]


def play(world: Table) -> list[Record]:
    """The log of a world."""
    names = tuple(world.get("names", ()))
    unit, channels = world.get("unit", "s"), world.get("channels", 0)
    return logged(_events(world), world["workers"], names, unit, channels)


def write(records: Iterable[Record], path: Path) -> Path:
    """The log on disk."""
    with LogWriter(path) as log:
        for record in records:
            log(record)
    return path


# --- playing --------------------------------------------------------------------------------------


def _events(world: Table) -> list[Record]:
    records: list[Record] = []
    system, jobs = System(0, [records.append], start=0), world["jobs"]
    most = {k: job["copies"] for k, job in enumerate(jobs) if job.get("copies", 1) > 1}
    pool = Pool(world["workers"], numbered=True, changing=True)
    policy = BatchPolicy(
        first_come, RList(0), lambda jobs, _: [it.profile.processors for it in jobs], "mine"
    )
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy, most), len(jobs)))
    workers = _workers(world, system, scheduler)
    if "speeds" in world:
        pool.change_speed(0, 1)
    system.spawn(Hazard("hazard", _faults(world), workers, Fail(world.get("downtime", 0))))
    for index, job in enumerate(jobs):
        system.spawn(_job(world, index, job, scheduler))
    system.run()
    return records


def _faults(world: Table) -> Iterator[tuple[float, int]]:
    return iter([(t, worker) for t, worker in world.get("faults", ())])


def _workers(world: Table, system: System, scheduler: Scheduler) -> WorkerRegistry:
    master = None
    if "channels" in world:
        master = system.spawn(Master("master", world["channels"], StartedFirst()))

    def make(index: int) -> Worker:
        worker = Worker(f"w{index}", index, scheduler, master)
        if "owner" in world:
            worker.owner = life(world["owner"][index])
        if "speeds" in world:
            worker.speeds = iter([(t, speed) for t, speed in world["speeds"][index]])
        return worker

    workers = WorkerRegistry(system, make)
    scheduler.workers, scheduler.linked = workers, master is not None
    for index in range(world["workers"]):
        workers(index)
    return workers


def _job(world: Table, index: int, job: Table, scheduler: Scheduler) -> Job:
    name, kind = "abcdefghij"[index], job.get("kind", "rigid")
    told = Rigid(job["p"], job.get("t", 0))
    verification = job.get("verification", 0)
    described = BatchJob(index, name, told, verification, None, job.get("release", 0), kind)
    linked = "channels" in world
    if not linked and not {"protection", "copies", "tasks"} & job.keys() and "speeds" not in world:
        failures = job.get("failures", 0)
        return JobOfAttempts(name, described, scheduler, failures=failures)
    common: Table = {
        "protection": protection(_rules(job, linked)),
        "errors": SilentErrors(iter(job.get("failures", ()))),
        "needs": _needs(name, job) if linked else None,
    }
    if kind != "iterative":
        return JobOfRuns(name, described, scheduler, **common)
    tasks = {"tasks": job["tasks"], "iterations": job["iterations"], "task_times": job["w"]}
    return IterativeJob(name, described, scheduler, **common, **tasks)


def _needs(name: str, job: Table) -> Needs:
    return Needs(name, *(job.get(key, 0) for key in ("program", "data", "image")))


def _rules(job: Table, linked: bool) -> Rules:
    period = job.get("period", inf)
    more = {key: job[key] for key in ("verified", "copies", "cloning", "delay") if key in job}
    return Rules(
        kind=ProtectionKind(job.get("protection", "none")),
        period=lambda members: period,
        cost=job.get("cost", 0),
        recovery=job.get("recovery", 0),
        verification=job.get("verification", 0),
        image=job.get("image", 0) if linked else None,
        **more,
    )
