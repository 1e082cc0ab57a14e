"""Benchmarks of the world: what an attempt, a slot, an event or an arrival takes, without a log.

Each is a function of a size, 1 by default, that is how much there is to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define

import sims
from actors.runtime import NOTHING, Actor, System, handles, message, stream
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.silent_errors import draw_failures, failure_probabilities, rate_probabilities
from policies.queue.allocation import LPA, requested
from policies.queue.batches import Scaled
from policies.queue.lists import RList
from policies.queue.orders import longest_time
from sims.bench.batch_runs import described, spawn
from sims.bench.timing import Body, Case, durations, simpy_case
from sims.scenario.build import populate
from sims.scenario.jobs.drawn import Model, SyntheticJobs, UniformJobs
from sims.scenario.loader import load, read
from sims.scenario.scenario import Scenario

SCENARIOS = Path(sims.__file__).parent / "scenarios"


# --- messages ---------------------------------------------------------------------------------


@message
class Hold:
    """Master to worker: hold for `duration`."""

    duration: float


@message
class TaskOver:
    """Worker to itself: the task's duration is over."""


@message
class Finished:
    """Worker to master: I am done; give me another."""

    worker: Actor


@define(eq=False)
class BenchWorker(Actor):
    """Takes a task, holds, reports."""

    master: Actor

    @handles(Hold)
    def take(self, task: Hold, cause: int) -> None:
        self.after(task.duration, TaskOver(), cause)

    @handles(TaskOver)
    def report(self, _: TaskOver, cause: int) -> None:
        self.send(self.master, Finished(self), cause)


@define(eq=False)
class BenchMaster(Actor):
    """Hands out tasks until all are done."""

    left: Iterator[float]
    unfinished: int

    @handles(Finished)
    def next_task(self, report: Finished, cause: int) -> None:
        self.unfinished -= 1
        duration = next(self.left, None)
        if duration is not None:
            self.send(report.worker, Hold(duration), cause)
        elif self.unfinished == 0:
            self.system.finish(cause)


def master_worker(workers: int, tasks: Sequence[float]) -> System:
    """SimPy's loop, of our actors."""
    system = System()
    # Each worker reports once before its first task.
    master = system.spawn(BenchMaster("master", iter(tasks), len(tasks) + workers))
    for k in range(workers):
        worker = system.spawn(BenchWorker(f"worker {k}", master))
        worker.send(master, Finished(worker), NOTHING)
    return system


def messages(size: float) -> Iterator[Case]:
    """Actors and messages against SimPy: the same master-worker loop on both."""
    tasks = durations(int(100_000 * size))
    for workers in (20, 500):
        theirs = simpy_case(workers, len(tasks), f"SimPy, {workers} workers")
        ready = partial(loop, workers, tasks)
        yield from (theirs, Case(f"{workers} workers", ready, "tasks", beside=theirs.name))


def loop(workers: int, tasks: Sequence[float]) -> Body:
    """SimPy's, of our actors."""
    return over([master_worker(workers, tasks)], len(tasks))


# --- batches and queues -----------------------------------------------------------------------


def batches(size: float) -> Iterator[Case]:
    """Attempts of rigid jobs (rigid21, section 5.1, q-bar = 0.3) and of moldable ones (moldable21,
    section 5.1: n = 500, lambda = 1e-7), whose allocation is part of every simulation."""
    rigid, many = UniformJobs(seed=1).draw(), max(1, int(200 * size))
    moldable = SyntheticJobs(model=Model.MIX, count=500, seed=1).draw()
    often = failure_probabilities([job.work for job in rigid], 0.3)
    rarely = rate_probabilities([job.work for job in moldable], 1e-7)
    few = max(1, many // 10)
    for name, jobs, fails, runs, processors, allocation, most in (
        ("rigid R-LIST-0", rigid, often, many, 10_000, lambda: requested, 0.8),
        ("moldable LPA", moldable, rarely, few, 7_500, lambda: LPA, 2.0),
        ("moldable BATCH", moldable, rarely, few, 7_500, Scaled, 2.0),
    ):
        rng = stream(1, "failures")
        drawn = [draw_failures(fails, rng) for _ in range(runs)]
        ready = partial(attempts, processors, described(jobs), drawn, allocation)
        yield Case(name, ready, "attempts", most)


def attempts(
    processors: int,
    jobs: Sequence[BatchJob],
    failures: Sequence[list[int]],
    allocation: Callable[[], Any],
) -> Body:
    """A set of jobs under many failure scenarios."""
    systems = [System(start=0) for _ in failures]
    for system, failed in zip(systems, failures, strict=True):
        policy = BatchPolicy(longest_time, RList(0), allocation())
        spawn(system, processors, jobs, failed, policy)
    return over(systems, sum(len(jobs) + sum(failed) for failed in failures))


def queues(size: float) -> Iterator[Case]:
    """How a job's cost grows with the queue, under each way to keep promises: so many jobs come in
    the first instants to 256 processors, ask for up to ten times what they take, and wait. Either
    all differ, or they are of 20 kinds, as rows of equal jobs make a log's queue."""
    for name in ("greedy", "EASY", "R-LIST-Q", "conservative"):
        for length in (max(2, int(it * size)) for it in (100, 300, 1000, 2000)):
            for told, kinds in (("that differ", length), ("of 20 kinds", 20)):
                table = {
                    "name": "queues",
                    "platform": {"workers": 256},
                    "job": {"kind": "rigid", "jobs": queue(length, kinds)},
                    "policy": {"name": name, "order": "FCFS"},
                }
                ready = partial(simulated, read(table, "queues"), length)
                yield Case(f"{name}, {length:,} {told}", ready, "jobs")


def queue(count: int, kinds: int) -> list[dict[str, float]]:
    """`count` jobs, of so many kinds (processors and estimate), one second apart."""
    rng = stream(count, "queues")
    widths = (2 ** rng.integers(0, 7, kinds)).tolist()
    asked = np.exp(rng.uniform(np.log(600), np.log(86_400), kinds)).tolist()
    rows = zip(rng.integers(0, kinds, count), rng.uniform(0.1, 1, count).tolist(), strict=True)
    return [
        {"processors": widths[k], "estimate": asked[k], "time": asked[k] * part, "release": at}
        for at, (k, part) in enumerate(rows)
    ]


# --- scenarios --------------------------------------------------------------------------------


def simulated(scenario: Scenario, units: int = 0) -> Body:
    """Runs it, once its actors are there; units are events, unless told."""
    system = System(scenario.seed, start=0)
    populate(scenario, system, SCENARIOS)
    return over([system], units)


def whole(scenario: Scenario, units: int = 0) -> int:
    """The same, building it included."""
    return simulated(scenario, units)()


def changed(name: str, *changes: str) -> Scenario:
    """A scenario that ships."""
    return load(SCENARIOS / f"{name}.toml", list(changes))


def over(systems: Sequence[System], units: int) -> Body:
    """Run them to their ends."""

    def body() -> int:
        for system in systems:
            system.run()
        return units or sum(system.journal.length for system in systems)

    return body


def slots(size: float) -> Iterator[Case]:
    """Slots of whole volatile runs (volatile13, section VII.A): 20 workers, m = 10, n_com = 5."""
    cap = max(1, int(20_000 * size))
    long = ("job.tasks=10", "job.iterations=1000000", f"job.cap={cap}", "policy.expectation=exact")
    for policy in ("IE", "Y-IE", "P-IE", "E-IAY", "Y-IY", "RANDOM"):
        scenario = changed("volatile20", *long, f"policy.name={policy}")
        yield Case(policy, partial(partial, whole, scenario, cap), "slots")


def cosched(size: float) -> Iterator[Case]:
    """Events of a run of IteratedGreedy-EndGreedy with 100 applications (malleable17, section
    6.1)."""
    paper = ("job.synthetic.count=100", "job.synthetic.smallest=1.5e6", "faults.mtbf=3153600000")
    costs = ('job.speedup={kind="synthetic",fraction=0.08}', "link.unit=1", "policy.look=any")
    for processors, target in ((1000, 0.3), (5000, 3.0)):
        name = f"{processors} processors, at most {target:g} s a run"
        workers = f"platform.workers={max(200, int(processors * size))}"
        scenario = changed("malleable10", *paper, *costs, workers)
        yield Case(name, partial(partial, whole, scenario), "events")


def redundancy(size: float) -> Iterator[Case]:
    """Arrivals of redundancy17's most message-hungry case: SRPT+R on 100 servers at load 0.7, every
    copy placed afresh twice per arrival."""
    count = max(1, int(10_000 * size))
    most = (f"job.stream.count={count}", "job.stream.arrivals.load=0.7", "platform.workers=100")
    for name, speed in (
        ("constant", '{kind="constant"}'),
        ("two-point, Delta 4, tau 1", '{kind="two-point",peak=4,interval=1}'),
        ("two-point slots, Delta 4, tau 0.3", '{kind="two-point-slots",peak=4,slot=0.3}'),
    ):
        scenario = changed("redundant", *most, f"platform.speed={speed}")
        yield Case(name, partial(simulated, scenario, count), "arrivals", 15)


def availability(size: float) -> Iterator[Case]:
    """100,000 workers with nothing to do over 10,000 slots: what it costs is what changes, not how
    many slots pass. Every state is left for either of the others."""
    for stay in (0.999, 0.9999, 1.0):
        leave = (1 - stay) / 2
        rows = [[stay if row == column else leave for column in range(3)] for row in range(3)]
        table = {
            "name": "availability",
            "unit": "slot",
            "policy": {"name": "R-LIST-0"},
            "workers": [
                {"count": int(100_000 * size), "availability": {"kind": "markov", "rows": rows}}
            ],
            "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 1, "release": 10_000}]},
        }
        told = f"mean stay {1 / (1 - stay):,.0f} slots" if stay < 1 else "they never change"
        yield Case(told, partial(simulated, read(table, "availability")), "changes")
