"""Define the benchmarks: each yields cases for a size, 1 by default, to which their work is
proportional.

Runs have no log, unless the log is what is timed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import product, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from attrs import frozen

import sims
from actors.deciders.queue import QueueDecider
from actors.events import RunStarted
from actors.job import JobOfAttempts
from actors.pool import Pool
from actors.runtime import Record, Sink, System, stream
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.silent_errors import draw_failures, failure_probabilities, rate_probabilities
from policies.maths.speedup import Profile
from policies.queue.allocation import LPA, requested
from policies.queue.batches import Scaled
from policies.queue.lists import RList
from policies.queue.orders import longest_time
from sims.bench import (
    SIMPY,
    Body,
    Case,
    coroutines,
    durations,
    finished,
    master_worker,
    queues_loop,
    simpy_case,
)
from sims.campaign.batches import seeded
from sims.campaign.certainty import Certainty
from sims.campaign.engine import execute
from sims.campaign.executors import local
from sims.campaign.plan import Cases
from sims.campaign.question import Question
from sims.campaign.results import Store
from sims.campaign.subject import Subject
from sims.campaign.varied import Variants
from sims.history.summary import Summary
from sims.log_writer import LogWriter
from sims.papers.published.fleet import default, retirement
from sims.scenario import Scenario
from sims.scenario.builders import populate
from sims.scenario.jobs.drawn import SyntheticJobs, UniformJobs
from sims.scenario.loader import load, parse, read
from sims.scenario.tables import put
from sims.world import run

SCENARIOS = Path(sims.__file__).parent / "scenarios"


# --- scenarios --------------------------------------------------------------------------------


@frozen
class RunsOfScenario:
    """A benchmark listed in benchmarks.toml, which explains the keys: runs of one scenario without
    a log. Called with a size, it yields its cases; the value of the key `scaled` is proportional to
    the size."""

    about: str
    scenario: str | dict[str, Any]
    cases: Mapping[str, Mapping[str, Any]]
    set: Mapping[str, Any]
    scaled: str
    least: int = 1
    unit: str = "events"
    built: bool = False
    most: float | None = None

    def __call__(self, size: float) -> Iterator[Case]:
        for name, own in self.cases.items():
            settings = {**self.set, **own}
            settings[self.scaled] = max(self.least, int(settings[self.scaled] * size))
            units = 0 if self.unit == "events" else settings[self.scaled]
            ready = partial(simulated, self._scenario(settings), units)
            yield Case(name, partial(_run, ready) if self.built else ready, self.unit, self.most)

    def _scenario(self, settings: Mapping[str, Any]) -> Scenario:
        """Return the benchmark's scenario with the values of `settings` set at their dotted
        keys."""
        one = self.scenario
        table = parse(SCENARIOS / f"{one}.toml") if isinstance(one, str) else deepcopy(one)
        for key, value in settings.items():
            put(table, key, value)
        return read(table, str(self.scenario))


def simulated(scenario: Scenario, units: int) -> Body:
    """Return the body that simulates a scenario whose actors are built already; it returns `units`,
    or for 0 the number of events, as the number of units done."""
    system = System(scenario.seed, start=0)
    populate(scenario, system, SCENARIOS)
    return finished([system], units)


def _run(ready: Callable[[], Body]) -> Body:
    """Return the body that calls `ready`, which builds the system, and then runs the body that it
    returns, so that building is timed, too."""
    return lambda: ready()()


def queues(size: float) -> Iterator[Case]:
    """Measure how a job's cost grows with the queue, under each way to keep promises. At size 1,
    100 to 2,000 jobs are submitted in the first instants to 256 processors, ask for up to ten times
    the time that they take, and wait. Either all differ, or they are of 20 kinds, as rows of equal
    jobs make a log's queue."""
    lengths = [max(2, int(it * size)) for it in (100, 300, 1000, 2000)]
    for name, length in product(("greedy", "EASY", "R-LIST-Q", "conservative"), lengths):
        for kinds_in_words, kinds in (("that differ", length), ("of 20 kinds", 20)):
            table = {
                "name": "queues",
                "platform": {"workers": 256},
                "job": {"kind": "rigid", "jobs": queue(length, kinds)},
                "policy": {"name": name, "order": "FCFS"},
            }
            ready = partial(simulated, read(table, "queues"), length)
            most = 160.0 if (name, kinds) == ("conservative", 1000) else None
            yield Case(f"{name}, {length:,} {kinds_in_words}", ready, "jobs", most)


def fleet(size: float) -> Iterator[Case]:
    """Measure what a fault of one wide job costs, which then starts again from its image on the
    workers that are left: the cost should not grow with the job's width. There are 1,000 faults at
    size 1. Last come parts of AIReSim's default run and of its second regime, with workers that
    fail often (lemons), repairs, and workers that are held ready or called."""
    faults = max(2, int(1000 * size))
    for width in (256, 4096, 16384):
        # An image is saved once, after 1,000 s; a fault each 100 s keeps the work from a second.
        strikes = [[2000 + 100 * k, 7 * k % width] for k in range(faults)]
        table = {
            "name": "fleet",
            "unit": "s",
            "platform": {"workers": width + 64},
            "faults": {"kind": "list", "downtime": 150, "strikes": strikes},
            "job": {"kind": "rigid", "jobs": [{"processors": width, "time": 3000}]},
            "protection": {"kind": "images", "period": 1000, "cost": 1, "recovery": 60},
        }
        most = {256: 6.0, 4096: 6.5}.get(width)
        ready = partial(simulated, read(table, "fleet"), faults)
        yield Case(f"{width:,} members", ready, "faults", most)
    operated = {
        "AIReSim's default": (default(1, 64 * size), 18.0),
        "its second regime, placed at random": (retirement(1, 8 * size, "random", "never"), 22.0),
    }
    for name, (table, most) in operated.items():
        yield Case(name, partial(_operated, read(table, "fleet")), "faults", most)


def _operated(scenario: Scenario) -> Body:
    """Return the body that simulates a fleet and counts its faults, found by a first run, as
    units."""
    summary = Summary()
    run(scenario, [summary])
    return simulated(scenario, sum(summary.repairs.failed.values()))


def queue(count: int, kinds: int) -> list[dict[str, float]]:
    """Return `count` rigid jobs as a scenario lists them, submitted one second apart. Each is of
    one of `kinds` kinds, which say its processors and its estimate."""
    rng = stream(count, "queues")
    widths = (2 ** rng.integers(0, 7, kinds)).tolist()
    asked = np.exp(rng.uniform(np.log(600), np.log(86_400), kinds)).tolist()
    rows = zip(rng.integers(0, kinds, count), rng.uniform(0.1, 1, count).tolist(), strict=True)
    return [
        {"processors": widths[k], "estimate": asked[k], "time": asked[k] * part, "release": at}
        for at, (k, part) in enumerate(rows)
    ]


PARTITIONS = {
    "1": ("0-351", 133, 0.5, 64),
    "2": ("128-351", 42, 0.1, 64),
    "3": ("336-367", 8, 0.2, 8),
    "4": ("368-415", 18, 0.12, 16),
    "5": ("416-447", 11, 0.08, 8),
}
"""Maps the name of each partition to its workers, how many of them its jobs keep busy, its share of
the jobs, and their largest number of processors. The first three share workers."""
WEEK, DAY, HOUR = 604_800, 86_400, 3_600


def groups(size: float) -> Iterator[Case]:
    """Measure what partitions and windows cost: a made log of 50,000 jobs at size 1, with five
    partitions, of which three share workers, and eight hours of maintenance of 64 of 448 workers
    each week, beside the same log without. As `holdfast run` does, it reads the log and writes its
    own. Half of the workers are busy, for ten weeks."""
    count = max(2, int(50_000 * size))
    span = 10 * WEEK * count / 50_000
    lines = swf(count, span)
    partitions = [{"name": name, "units": units} for name, (units, *_) in PARTITIONS.items()]
    begins = range(DAY + 8 * HOUR, int(span) + 4 * WEEK, WEEK)
    windows = [{"from": begin, "to": begin + 8 * HOUR, "units": "0-63"} for begin in begins]
    ways = {"": {}, ", in groups": {"partitions": partitions, "maintenance": windows}}
    for name, (words, more) in product(("greedy", "FCFS", "EASY", "conservative"), ways.items()):
        table = {
            "name": "groups",
            "unit": "s",
            "platform": {"workers": 448, **more},
            "job": {"kind": "rigid", "swf": {"file": "made.swf"}},
            "policy": {"name": name, "order": "FCFS"},
        }
        body = partial(_replayed, read(table, "groups"), lines, count)
        most, beside = (3.0, name) if words else (None, SIMPY)
        yield Case(f"{name}{words}", partial(partial, body), "jobs", most, beside)


def _replayed(scenario: Scenario, lines: str, count: int) -> int:
    with TemporaryDirectory() as folder, LogWriter(Path(folder, "log.jsonl")) as writer:
        Path(folder, "made.swf").write_text(lines)
        run(scenario, [Summary(), writer], Path(folder))
    return count


def swf(count: int, span: float) -> str:
    """Return a log of some `count` jobs in the Standard Workload Format, submitted in `span`
    seconds: those of each partition of PARTITIONS come in rows of equal jobs, more by day than by
    night."""
    rng = stream(count, "groups")
    jobs: list[tuple[int, ...]] = []
    for name, (_, busy, share, widest) in PARTITIONS.items():
        number = max(1, round(count * share))
        row = rng.choice(max(1, number // 12), number)  # which row each job is of
        widths = 2 ** rng.integers(0, widest.bit_length(), number)[row]
        asked = np.array([1, 4, 8, 16, 48, 96, 192])[rng.integers(0, 7, number)[row]] / 4
        times = asked * rng.uniform(0.05, 1, number)
        scale = busy * span / np.dot(widths, times)
        at = span * rng.uniform(0, 1, number)[row] + 60 * rng.exponential(1, number)
        at += DAY / 8 * np.sin(2 * np.pi * at / DAY)
        columns = at - at.min(), widths, scale * times + 1, scale * asked + 2
        jobs += zip(*(it.astype(int).tolist() for it in columns), repeat(int(name)))
    lines = (
        f"{k} {at} -1 {time} {width} -1 -1 {width} {asked} -1 1 1 1 -1 -1 {partition} -1 -1"
        for k, (at, width, time, asked, partition) in enumerate(sorted(jobs), 1)
    )
    return "\n".join(lines)


def messages(size: float) -> Iterator[Case]:
    """Time actors and messages beside SimPy, on the same master-worker loop with 100,000 tasks at
    size 1."""
    tasks = durations(int(100_000 * size))
    for workers in (20, 500):
        theirs = simpy_case(workers, len(tasks), f"SimPy, {workers} workers")
        ours: dict[str, tuple[Callable[[], Body], float | None]] = {
            f"{workers} workers": (partial(_loop, master_worker, workers, tasks), None),
            f"{workers} workers, coroutines": (partial(_loop, coroutines, workers, tasks), 0.5),
            f"{workers} workers, asyncio queues": (partial(_queues, workers, tasks), None),
        }
        yield theirs
        for name, (ready, most) in ours.items():
            yield Case(name, ready, "tasks", most, theirs.name)


def _loop(
    build: Callable[[int, Sequence[float]], System], workers: int, tasks: Sequence[float]
) -> Body:
    """Return the body that runs the master-worker loop with actors that `build` makes, on tasks of
    these durations."""
    return finished([build(workers, tasks)], len(tasks))


def _queues(workers: int, tasks: Sequence[float]) -> Body:
    """Return the body that runs the master-worker loop with asyncio's queues."""
    return lambda: len(tasks) if queues_loop(workers, tasks) else 0


# --- attempts of jobs that are all there at time 0 -----------------------------------------------


def described(profiles: Sequence[Profile], verification: float = 0) -> tuple[BatchJob, ...]:
    """Return a job for each profile, J1, J2 and so on, all submitted at time 0; `verification` is
    the time that each attempt verifies."""
    return tuple(
        BatchJob(index, f"J{index + 1}", profile, verification)
        for index, profile in enumerate(profiles)
    )


def spawn(
    system: System,
    processors: int,
    jobs: Sequence[BatchJob],
    failures: Sequence[int],
    policy: BatchPolicy,
) -> None:
    """Add to `system` a scheduler of so many processors under `policy`, and its jobs; `failures`
    has the number of attempts of each job that fail before one succeeds."""
    pool = Pool(processors, system.journal.wants(RunStarted))
    scheduler = system.spawn(Scheduler("scheduler", pool, QueueDecider(policy), len(jobs)))
    for job, count in zip(jobs, failures, strict=True):
        system.spawn(JobOfAttempts(job.name, job, scheduler, failures=count))


def batches(size: float) -> Iterator[Case]:
    """Time attempts of rigid jobs (rigid21, section 5.1, q-bar = 0.3), 200 runs at size 1, and of
    moldable ones (moldable21, section 5.1: n = 500, lambda = 1e-7), 20 runs, whose allocation is
    part of every simulation."""
    rigid, moldable = UniformJobs(seed=1).draw(), SyntheticJobs(seed=1).draw()
    often = failure_probabilities([job.work for job in rigid], 0.3)
    rarely = rate_probabilities([job.work for job in moldable], 1e-7)
    many = max(1, int(200 * size))
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
    """Return the body that runs a set of jobs once for each element of `failures`, a list with the
    number of failed attempts of each job. A unit is an attempt.

    `allocation` returns the rule by which each run allots processors.
    """
    systems = [System(start=0) for _ in failures]
    for system, failed in zip(systems, failures, strict=True):
        policy = BatchPolicy(longest_time, RList(0), allocation())
        spawn(system, processors, jobs, failed, policy)
    return finished(systems, sum(len(jobs) + sum(failed) for failed in failures))


# --- a run's log, and a campaign --------------------------------------------------------------

LONGER = {
    "volatile20": ["job.iterations=150"],
    "batch-rigid": ["job.synthetic.count=3000"],
    "batch-moldable": [],
    "malleable10": ["job.synthetic.count=60", "platform.workers=1000", "faults.mtbf=630720000"],
    "redundant": ["job.stream.count=400"],
}
"""Maps each scenario, one of each kind of job, to settings that make it long enough to measure."""
WAYS = {"bare": SIMPY, "shown": "bare", "made": "bare", "written": "made"}
"""Maps each way in which a run's events are used to the way with which it is compared."""


def log(size: float) -> Iterator[Case]:
    """Time the events of a run: bare, without any listener; shown, as `holdfast run --log none`;
    made, where each event is made and dropped; written, as `holdfast run`. A case is five runs at
    size 1."""
    for name, longer in LONGER.items():
        scenario = load(SCENARIOS / f"{name}.toml", longer)
        for way, beside in WAYS.items():
            other = beside if beside == SIMPY else f"{name}, {beside}"
            body = partial(events, scenario, way, max(1, int(5 * size)))
            most = 2.0 if way == "written" else None
            yield Case(f"{name}, {way}", partial(partial, body), "events", most, other)


def events(scenario: Scenario, way: str, times: int) -> int:
    """Return the number of events of `times` runs of a scenario; `way`, a key of WAYS, says what is
    done with the events."""
    count = 0
    for _ in range(times):
        with TemporaryDirectory() as folder, LogWriter(Path(folder, "log.jsonl")) as writer:
            listeners: dict[str, list[Sink]] = {"made": [_drop], "written": [writer]}
            sinks: list[Sink] = [] if way == "bare" else [Summary(), *listeners.get(way, [])]
            count += run(scenario, sinks, SCENARIOS).events
    return count


def _drop(_: Record) -> None:
    """Take a record and do nothing: a listener that wants all events."""


def campaign(size: float) -> Iterator[Case]:
    """Time simulations of some 5 ms each, 5,000 of each of two variants at size 1: as a campaign,
    with a store, beside a bare loop; wall times show what two processes gain."""
    asked = Question(
        Subject.of(SCENARIOS / "batch-rigid.toml"),
        Variants({order: {"policy.order": order} for order in ("LPT", "SPT")}),
        surely=Certainty(max(1, int(5_000 * size))),
        name="bench",
    )
    yield Case("bare loop", partial(partial, alone, asked), "runs")
    for processes, name, beside in (
        (1, "one process", "bare loop"),
        (2, "two processes", "one process"),
    ):
        yield Case(name, partial(partial, through, asked, processes), "runs", beside=beside)


def alone(asked: Question) -> int:
    """Run the simulations of a campaign one after the other in this process, without the campaign's
    engine, and return their number."""
    cases = Cases.of(asked)
    for case in cases:
        one = case.scenario(0)
        for k in range(asked.surely.runs):
            run(seeded(one, case.seed(k)), [Summary()])
    return len(cases) * asked.surely.runs


def through(asked: Question, processes: int) -> int:
    """Run the simulations of a campaign by its engine, on so many processes and with a store, and
    return their number."""
    with TemporaryDirectory() as folder, local(processes) as workers:
        return len(execute(asked, workers, Store(Path(folder))).found)


def benchmarks() -> dict[str, Callable[[float], Iterator[Case]]]:
    """Return all benchmarks by name; each is a function that yields its cases for a size, where 1
    is the usual amount of work."""
    functions = [campaign, fleet, groups, log, messages, queues]
    tables = tomllib.loads(Path(__file__).with_name("benchmarks.toml").read_text(encoding="utf-8"))
    listed = {name: RunsOfScenario(**table) for name, table in tables.items()}
    return dict(
        sorted((listed | {"list": batches} | {it.__name__: it for it in functions}).items())
    )
