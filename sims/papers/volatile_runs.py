"""One instance of 002, VII.A: all heuristics on the same realised chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import evolve, frozen

from actors.pool import Pool
from actors.runtime import System
from actors.worker import Worker
from policies.maths.markov import Belief, Expectation
from sims.scenario.build_crew import spawn_crew
from sims.scenario.build_jobs import spawn_jobs
from sims.scenario.deciders.enrolment import belief, decider
from sims.scenario.jobs.section import IterativeSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import RandomWorkers
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.scenario.workload import workload
from sims.summary import Summary


@frozen
class Instance:
    """A scenario (its platform drawn) and a trial (its availability realised)."""

    tasks: int
    """m."""
    channels: int
    """n_com."""
    fastest: int
    """wmin."""
    scenario: int
    trial: int
    heuristics: tuple[str, ...]
    expectation: Expectation
    cap: int


def instances(
    tasks: int,
    channels: Iterable[int],
    fastest: Iterable[int],
    scenarios: int,
    trials: int,
    heuristics: tuple[str, ...],
    expectation: Expectation,
    cap: int,
) -> list[Instance]:
    """The experimental space of 002, VII.A, long runs (large wmin) first: cores end together."""
    return [
        Instance(tasks, c, w, s, t, heuristics, expectation, cap)
        for w in sorted(fastest, reverse=True)
        for c in channels
        for s in range(scenarios)
        for t in range(trials)
    ]


def scenario(instance: Instance) -> Scenario:
    """The instance as a scenario; its policy is still to be chosen."""
    wmin = instance.fastest
    place = 1000 * (100 * instance.channels + wmin) + instance.scenario
    return Scenario(
        name="002-VII-A",
        seed=1000 * place + instance.trial,
        master=MasterSection(channels=instance.channels, program=5 * wmin, data=wmin),
        random_workers=RandomWorkers(count=20, fastest=wmin, seed=place),
        job=IterativeSection(
            kind="iterative", tasks=instance.tasks, iterations=10, cap=instance.cap
        ),
        policy=PolicySection(name="IE", expectation=instance.expectation),
    )


def makespans(instance: Instance) -> dict[str, int | None]:
    """Makespan in slots of each heuristic; None where it reached the cap."""
    return run_heuristics(scenario(instance), instance.heuristics)


def run_heuristics(base: Scenario, heuristics: Sequence[str]) -> dict[str, int | None]:
    """Makespan in slots of each heuristic in the scenario `base`, on the same availability.

    They share one belief, for it remembers their analysis.
    """
    believed = belief(base, Path())
    return {name: _makespan(base, believed, name) for name in heuristics}


def _makespan(base: Scenario, believed: Belief, heuristic: str) -> int | None:
    summary, folder, workers = Summary(), Path(), dict[int, Worker]()
    system = System(base.seed, [summary], start=0)
    scenario = evolve(base, policy=evolve(base.policy, name=heuristic))
    jobs = workload(scenario, system, folder)
    asked = decider(scenario, scenario.crew, jobs, folder, workers, believed)
    pool, count = Pool(scenario.crew.size, numbered=True, changing=True, named=True), 1
    makers = spawn_crew(scenario, system, folder, pool, asked, count, workers)
    spawn_jobs(scenario, system, jobs, makers)
    system.run()
    return None if summary.makespan is None else int(summary.makespan)
