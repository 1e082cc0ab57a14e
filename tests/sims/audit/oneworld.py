"""Logs of the scenarios of cases/oneworld.json: the one world, wired by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from actors.deciders.queue import QueueDecider
from actors.events import End, LinkDescribed, ScenarioEnded, ScenarioStarted
from actors.events.scenario import SCHEMA
from actors.hazards import Hazard, SilentErrors
from actors.iterative_job import IterativeJob
from actors.master import Master
from actors.pool import Pool
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import NOTHING, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker
from actors.worker_messages import Fail, Needs
from actors.worker_registry import WorkerRegistry
from policies.availability import WorkerState
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.speedup import Lockstep, Profile
from policies.queue.lists import RList
from policies.queue.orders import PAPER_ORDERS, first_come
from policies.service import StartedFirst

CASES = Path(__file__).parents[2] / "cases" / "oneworld.json"
STATES = {"u": WorkerState.UP, "r": WorkerState.RECLAIMED, "d": WorkerState.DOWN}
ORDERS = {"FCFS": first_come, "LPT": PAPER_ORDERS["LPT"], "SPT": PAPER_ORDERS["SPT"]}


@cache
def cases() -> list[dict[str, Any]]:
    """All of them."""
    loaded: list[dict[str, Any]] = json.loads(CASES.read_text())["cases"]
    return loaded


@frozen
class Fixed:
    """A job of `processors` workers for `t`."""

    processors: int
    t: float

    @property
    def work(self) -> float:
        """Its area."""
        return self.t * self.processors

    def time(self, p: int) -> float:
        """t(p)."""
        return self.t


Turn = tuple[float, WorkerState]


def life(states: str | Sequence[Turn]) -> Iterator[Turn]:
    """An owner's trace: a letter per unit of time, or as it is."""
    if not isinstance(states, str):
        yield from states
        return
    last = None
    for time, letter in enumerate(states):
        if STATES[letter] is not last:
            last = STATES[letter]
            yield time, last
    if last is not WorkerState.UP:
        yield len(states), WorkerState.UP


def records_of(scenario: Mapping[str, Any]) -> list[Record]:
    """What the log of a run of `scenario` holds."""
    records: list[Record] = []
    system = System(0, [records.append])
    jobs, size = scenario["jobs"], scenario["workers"]
    kinds = tuple(sorted({job["kind"] for job in jobs}))
    journal = system.journal
    settings = (f"order={scenario['order']}",)
    system.origin = journal.record(
        NOTHING, ScenarioStarted, SCHEMA, "x", 0, kinds, "R-LIST-0", size, (), "s", settings
    )
    if scenario["master"]:
        journal.record(system.origin, LinkDescribed, scenario["master"]["channels"])
    _spawn(system, scenario)
    system.run()
    journal.record(system.last, ScenarioEnded, End.COMPLETED)
    return records


def _spawn(system: System, scenario: Mapping[str, Any]) -> None:
    size, jobs = scenario["workers"], scenario["jobs"]
    policy = BatchPolicy(
        ORDERS[scenario["order"]],
        RList(0),
        lambda waiting, _: [job.profile.processors for job in waiting],
    )
    most = {index: job["copies"] for index, job in enumerate(jobs) if job["copies"] > 1}
    pool = Pool(size, True, True)
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy, most), len(jobs)))
    link, speeds = scenario["master"], scenario["speeds"]
    master = None
    if link:
        master = system.spawn(Master("master", link["channels"], StartedFirst()))

    def make(number: int) -> Worker:
        own: dict[str, Any] = {}
        if scenario["owner"]:
            own["owner"] = life(scenario["owner"][number])
        if speeds and speeds[number]:
            own["speeds"] = iter([tuple(change) for change in speeds[number]])
        return Worker(f"w{number}", number, scheduler, master, **own)

    registry = WorkerRegistry(system, make)
    scheduler.workers, scheduler.linked = registry, master is not None
    for number in range(size):
        registry(number)
    _jobs(system, scenario, scheduler, registry)


def _jobs(
    system: System, scenario: Mapping[str, Any], scheduler: Scheduler, registry: WorkerRegistry
) -> None:
    pool, link, speeds = scheduler.pool, scenario["master"], scenario["speeds"]
    if speeds:
        pool.change_speed(0, pool.speeds[0] if pool.speeds else 1.0)
    faults = sorted((time, worker) for time, worker in scenario["faults"])
    if faults:
        system.spawn(Hazard("hazard", iter(faults), registry, Fail(scenario["downtime"])))
    for index, job in enumerate(scenario["jobs"]):
        shared = bool(scenario["shared_program"])
        system.spawn(_job(index, job, scheduler, shared, bool(link)))


def _job(
    index: int,
    job: Mapping[str, Any],
    scheduler: Scheduler,
    shared: bool,
    link: bool,
) -> JobOfRuns:
    period = float("inf") if job["period"] is None else job["period"]
    rules = Rules(
        kind=ProtectionKind(job["protection"] or "none"),
        period=lambda _: period,
        cost=job["cost"],
        recovery=job["recovery"],
        verification=job["verification"],
        verified=job["verified"],
        copies=job["copies"],
        cloning=job["cloning"],
        delay=job["delay"],
        image=job["image"] if link else None,
    )
    label = "all" if shared else f"J{index}"
    needs = Needs(label, job["program"], job["data"], job["image"]) if link else None
    described = BatchJob(
        *(index, f"{index}", _profile(job), job["verification"], job.get("estimate")),
        *(job["release"], job["kind"]),
    )
    errors = SilentErrors(iter(job["failures"]))
    own = {"protection": protection(rules), "errors": errors, "needs": needs}
    if job["kind"] != "iterative":
        return JobOfRuns(described.name, described, scheduler, **own)
    rounds = {"tasks": job["tasks"], "iterations": job["iterations"], "task_times": job["w"]}
    return IterativeJob(described.name, described, scheduler, **own, **rounds)


def _profile(job: Mapping[str, Any]) -> Profile:
    match job["kind"]:
        case "rigid":
            return Fixed(job["p"], float(job["t"]))
        case "moldable":
            return Fixed(job["p"], float(job["times"][job["p"] - 1]))
    return Lockstep(job["p"], job["tasks"], sum(job["w"]) / len(job["w"]))


def mechanisms(scenario: Mapping[str, Any]) -> Sequence[str]:
    """What occurs in it."""
    jobs = scenario["jobs"]
    found = {
        "owner": bool(scenario["owner"]),
        "faults": bool(scenario["faults"]),
        "speeds": bool(scenario["speeds"]),
        "link": bool(scenario["master"]),
        "iterative": any(job["kind"] == "iterative" for job in jobs),
        "buddies": any(job["protection"] == "buddies" for job in jobs),
        "images": any(job["protection"] == "images" for job in jobs),
        "copies": any(job["copies"] > 1 for job in jobs),
        "cloning": any(job["copies"] > 1 and job["cloning"] for job in jobs),
        "errors": any(any(job["failures"]) for job in jobs),
    }
    return [name for name, there in found.items() if there]
