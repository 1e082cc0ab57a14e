"""Small worlds with redundant copies for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from actors.deciders.copies import (
    CopyRuns,
    PlacementRule,
    PreemptibleJob,
    VectorisedCopies,
    VectorisedJob,
)
from actors.events import Compound, RunEnded, RunStarted
from actors.hazards import SilentErrors
from actors.job import Source
from actors.master import Master
from actors.pool import Pool
from actors.protection import Rules, protection
from actors.runtime import Event, Record, System
from actors.scheduler import Scheduler
from actors.worker import Worker, WorkerRegistry
from actors.worker_messages import Needs
from policies.availability import WorkerState
from policies.copies import SrptR
from policies.interface.copies import RedundancyPolicy
from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid
from policies.service import StartedFirst
from sims.metrics.arrivals import Flowtimes
from tests.parts import parts

Trace = Iterable[tuple[float, float]]


def columns(
    policy: RedundancyPolicy | None = None,
    rule: PlacementRule = PlacementRule.LOWEST,
    **options: Any,
) -> VectorisedCopies:
    """The array form, which places copies on the lowest workers unless told otherwise."""
    return VectorisedCopies(policy or SrptR(), rule, **options)


def described(jobs: Iterable[tuple[float, float]]) -> list[BatchJob]:
    """Jobs given as (arrival, size), by time of arrival; named by their place in `jobs`."""
    ordered = sorted(enumerate(jobs), key=lambda entry: entry[1][0])
    return [
        BatchJob(index, f"{k}", Rigid(1, size), submitted=time)
        for index, (k, (time, size)) in enumerate(ordered)
    ]


def spawn_columns(
    system: System,
    decider: VectorisedCopies,
    workers: int,
    jobs: Sequence[BatchJob],
    traces: Sequence[Trace] = (),
) -> None:
    """The actors of a world in which only speeds vary; workers without a trace have speed 1."""
    scheduler = Scheduler("scheduler", Pool(workers, True, True), decider, len(jobs))
    system.spawn(scheduler)
    for k, trace in enumerate(traces):
        system.spawn(Worker(f"worker-{k}", k, scheduler, speeds=iter(trace)))
    actors = (
        (job.submitted, VectorisedJob(job.name, job, scheduler, copies=workers)) for job in jobs
    )
    system.spawn(Source("source", actors))


def run(
    decider: VectorisedCopies,
    jobs: Iterable[tuple[float, float]],
    traces: Sequence[Trace] = (),
    records: list[Record] | None = None,
    seed: int = 0,
    workers: int = 2,
    start: float = 0,
) -> Flowtimes:
    """Run jobs given as (arrival, size) in the array form."""
    found = Flowtimes()
    system = System(seed, [found] if records is None else [found, records.append], start=start)
    spawn_columns(system, decider, workers, described(jobs), traces)
    system.run()
    return found


def told(records: list[Record]) -> list[Event]:
    """All events, those of copies one by one."""
    events = (record.event for record in records)
    return [part for it in events for part in (it.parts() if isinstance(it, Compound) else (it,))]


def spawn_runs(
    system: System,
    decider: CopyRuns,
    workers: int,
    jobs: Sequence[BatchJob],
    traces: Sequence[Trace] = (),
    *,
    rules: Rules | None = None,
    lives: Sequence[Iterable[tuple[float, WorkerState]]] = (),
    channels: int | None = None,
    needs: Needs | None = None,
) -> None:
    """The actors of a world with whatever befalls workers: every copy has a run of its own."""
    pool = Pool(workers, True, True)
    force = WorkerRegistry(system, lambda k: worker(k))
    linked = channels is not None
    scheduler = Scheduler("scheduler", pool, decider, len(jobs), workers=force, linked=linked)
    system.spawn(scheduler)
    for k in range(workers):
        pool.change_speed(k, Fraction(1) if decider.exact else 1)
    master = system.spawn(Master("master", channels, StartedFirst())) if channels else None
    speeds = dict(enumerate(map(iter, traces)))
    owners = dict(enumerate(map(iter, lives)))

    def worker(k: int) -> Worker:
        owner = {"owner": owners[k]} if k in owners else {}
        return Worker(f"worker-{k}", k, scheduler, master, speeds=speeds.get(k), **owner)

    for k in range(workers):
        force(k)
    rules = rules or Rules(copies=workers, cloning=decider.cloning)

    def job(it: BatchJob) -> PreemptibleJob:
        return PreemptibleJob(
            *(it.name, it, scheduler),
            protection=protection(rules),
            errors=SilentErrors(),
            needs=needs,
            reports=True,
        )

    system.spawn(Source("source", ((it.submitted, job(it)) for it in jobs)))


def runs_of(records: Iterable[Record]) -> dict[tuple[str, int], tuple[Any, ...]]:
    """(job, run) -> (workers, start, begun, source, end, outcome, done)."""
    found: dict[tuple[str, int], tuple[Any, ...]] = {}
    for record in records:
        for part in parts(record):
            event = part.event
            if isinstance(event, RunStarted):
                told = (event.processors, record.t, float(event.begun), event.source)
                found[event.job, event.run] = told
            elif isinstance(event, RunEnded):
                found[event.job, event.run] += (record.t, event.outcome, float(event.done))
    return found
