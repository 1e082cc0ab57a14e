"""100,000 workers' availability: what it costs is what changes, not how many slots pass."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from actors.deciders.enrolment import EnrolmentDecider
from actors.limit import TimeLimit
from actors.master import Master
from actors.owners import markov_changes
from actors.pool import Pool
from actors.runtime import System
from actors.scheduler import Scheduler
from actors.worker import Worker
from policies.enrolment import named
from policies.maths.markov import MarkovChain
from policies.service import StartedFirst
from sims.telling import SLOT, counted


def chain(stay: float) -> MarkovChain:
    """Every state is left with probability 1 - stay, for either of the others."""
    leave = (1 - stay) / 2
    return MarkovChain(((stay, leave, leave), (leave, stay, leave), (leave, leave, stay)))


def simulate(workers: int, slots: int, stay: float) -> tuple[float, float, int]:
    """(seconds to build, seconds to run, changes) for workers with nothing to do."""
    began = time.perf_counter()
    system = System(seed=1, start=0)
    law = chain(stay)
    pool = Pool(workers, numbered=True, changing=True, named=True)
    decider = EnrolmentDecider(named("IE"), {}, {})
    scheduler = system.spawn(Scheduler("scheduler", pool, decider, 1))
    master = system.spawn(Master("master", 1, StartedFirst()))
    for k in range(workers):
        name = f"P{k + 1}"
        owner = markov_changes(law, system.stream(name))
        system.spawn(Worker(name, k, scheduler, master, owner=owner))
    system.spawn(TimeLimit("end", slots))
    built = time.perf_counter()
    before = system.journal.length
    system.run()
    return built - began, time.perf_counter() - built, system.journal.length - before


def main(workers: int = 100_000, slots: int = 10_000) -> None:
    """Print what a change costs when changes are frequent, rare, and absent."""
    table = Table(
        "mean stay, slots", "changes", "seconds", "microseconds per change", "seconds to build"
    )
    for stay in (0.999, 0.9999, 1.0):
        build, seconds, changes = simulate(workers, slots, stay)
        each = f"{seconds / changes * 1e6:.2f}" if changes else "-"
        mean = f"{1 / (1 - stay):,.0f}" if stay < 1 else "for ever"
        table.add_row(mean, f"{changes:,}", f"{seconds:.2f}", each, f"{build:.2f}")
    console = Console()
    console.print(f"{counted(workers, 'worker')}, {counted(slots, SLOT)}")
    console.print(table)
