"""What are reservations worth when jobs and processors fail?

`python -m sims.reservations` replays blocks of a log (SWF, `--log FILE`; without one, synthetic
jobs) under greedy list scheduling (R-LIST-0), EASY (R-LIST-1) and conservative backfilling
(R-LIST-Q), while silent errors spoil runs, found when they end, or faults end runs at once and
keep a processor DOWN for an hour. Both strike at the same rates. Reservations are promises made on
estimates: a run that has to be repeated breaks them.

A block is a trial: consecutive jobs, their arrivals stretched so that each block offers the same
load; blocks are spread evenly over the log. All three strategies meet the same errors and faults.
A wait is all the time that a job does not run: before its first run, and between its runs.

At its default size: 40 s of processor time; with 24 blocks of 600 jobs of UniLu-Gaia-2014-2 on 256
processors 50 s.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from attrs import define, field, frozen
from rich.console import Console

from actors.events import JobCompleted, JobSubmitted, RunEnded, RunStarted
from actors.runtime import Record
from policies.queue.lists import Reading
from sims.log_blocks import Block, blocks_of, synthetic
from sims.options import natural, positive, positive_int
from sims.plots.panels import draw_panels
from sims.readers.swf import read_swf
from sims.scenario.errors import ErrorSection
from sims.scenario.faults import AnyFaults, Exponential, NoFaults
from sims.scenario.jobs.section import RigidSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.script import run_script, wide_console
from sims.statistics import mean_interval
from sims.studies import SIGNS, Ratio, Values, campaign, ratio_table, ratios, study_parser
from sims.world import run

STRATEGIES = {"EASY": "R-LIST-1", "conservative": "R-LIST-Q", "greedy": "R-LIST-0"}
REFERENCE = "EASY"
MEASURES = ("mean wait", "bounded slowdown", "utilisation")
RATES = (0, 50, 100, 200)
MILLION_HOURS = 3.6e9
"""Seconds."""
DOWNTIME = 3600.0
SHORTEST = 10.0
"""Seconds that a job counts as at least in its bounded slowdown."""


@frozen
class Case:
    """How often runs are spoilt; per million processor-hours."""

    errors: int
    faults: int

    def section(self) -> AnyFaults:
        """The faults, as a scenario has them."""
        if not self.faults:
            return NoFaults()
        mtbf = MILLION_HOURS / self.faults
        return Exponential(kind="exponential", mtbf=mtbf, downtime=DOWNTIME)


@frozen
class Task:
    """All strategies on one block."""

    block: Block
    case: Case


# --- one run ----------------------------------------------------------------------------------


@define
class Served:
    """Fold: when jobs came and went, and how long their runs lasted, s."""

    wants = frozenset((JobSubmitted, JobCompleted, RunStarted, RunEnded))
    submitted: dict[str, float] = field(factory=dict)
    completed: dict[str, float] = field(factory=dict)
    running: dict[str, float] = field(factory=dict)
    _begun: dict[str, float] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        match record.event:
            case RunStarted(job=job):
                self._begun[job] = record.t
            case RunEnded(job=job):
                since = record.t - self._begun.pop(job)
                self.running[job] = self.running.get(job, 0.0) + since
            case JobSubmitted(job=job):
                self.submitted[job] = record.t
            case JobCompleted(job=job):
                self.completed[job] = record.t


def measures(task: Task) -> Values:
    """`MEASURE, STRATEGY` of each."""
    values: Values = {}
    for name in STRATEGIES:
        service = Served()
        run(scenario(task, name), [service])
        found = zip(MEASURES, _measures(task.block, service), strict=True)
        values |= {key(measure, name): (value, False) for measure, value in found}
    return values


def key(measure: str, strategy: str) -> str:
    """What a strategy's measure is called."""
    return f"{measure}, {strategy}"


def _measures(block: Block, service: Served) -> tuple[float, float, float]:
    """Mean time not running; flowtime over the job's time, at least 1; share of processor-time
    that runs held."""
    jobs = {job.name: job for job in block.jobs}
    flows = {name: end - service.submitted[name] for name, end in service.completed.items()}
    waits = [flow - service.running[name] for name, flow in flows.items()]
    slow = [max(1.0, flow / max(jobs[name].time, SHORTEST)) for name, flow in flows.items()]
    held = sum(jobs[name].processors * time for name, time in service.running.items())
    capacity = block.processors * max(service.completed.values())
    return float(np.mean(waits)), float(np.mean(slow)), held / capacity


def scenario(task: Task, strategy: str) -> Scenario:
    """The scenario of one run."""
    block, case = task.block, task.case
    reading = PolicySection(name=STRATEGIES[strategy], order="FCFS", reading=Reading.EASY)
    return Scenario(
        name="reservations",
        seed=block.number,
        platform=PlatformSection(workers=block.processors),
        faults=case.section(),
        errors=ErrorSection(rate=case.errors / MILLION_HOURS),
        job=RigidSection(kind="rigid", jobs=block.jobs),
        policy=reading,
    )


# --- the answer -------------------------------------------------------------------------------

Cells = Mapping[Case, Mapping[str, Ratio]]


def cases(rates: Sequence[int]) -> list[Case]:
    """Errors alone, then faults alone."""
    both = [Case(rate, 0) for rate in rates], [Case(0, rate) for rate in rates]
    return list(dict.fromkeys(case for listed in both for case in listed))


def _cells(found: Sequence[tuple[Task, Values]]) -> Cells:
    """By case and `MEASURE, STRATEGY`, each over EASY's."""
    cells: dict[Case, dict[str, Ratio]] = {}
    for measure in MEASURES:
        reference = key(measure, REFERENCE)
        by_case = ratios(found, lambda task: task.case, reference)
        for case, row in by_case.items():
            chosen = {name: it for name, it in row.items() if name.startswith(measure)}
            cells.setdefault(case, {}).update(chosen)
    return cells


def _print(console: Console, found: Sequence[tuple[Task, Values]], cells: Cells) -> None:
    others = [name for name in STRATEGIES if name != REFERENCE]
    heads = [f"{measure}: EASY" for measure in MEASURES]
    columns = [text for k, head in enumerate(heads) for text in (head, *others)]
    title = "EASY's own mean, and the others' over EASY's; rates per million processor-hours"
    table = ratio_table(title, ("errors", "faults"), columns)
    for case, row in cells.items():
        shown = []
        for measure in MEASURES:
            own = [v[key(measure, REFERENCE)][0] for task, v in found if task.case == case]
            scale, digits = (1 / 3600, " h") if measure == MEASURES[0] else (1.0, "")
            shown.append(f"{mean_interval([scale * value for value in own]):.2f}{digits}")
            shown += [str(row[key(measure, name)]) for name in others]
        table.add_row(str(case.errors), str(case.faults), *shown)
    console.print(table)
    console.print(SIGNS, highlight=False)


def _draw(options: argparse.Namespace, cells: Cells, source: str) -> None:
    panels = {
        f"{measure}, by {hazard}": {
            f"{name} / EASY": [
                (float(rate), cells[_case(hazard, rate)][key(measure, name)].value)
                for rate in options.rates
            ]
            for name in STRATEGIES
            if name != REFERENCE
        }
        for hazard in ("silent errors", "faults")
        for measure in MEASURES
    }
    title = f"What are reservations worth when work fails? ({source}, load {options.load:g})"
    x = "per million processor-hours"
    draw_panels(panels, options.plot, title, x, "ratio to EASY", columns=3, log_y=False)


def _case(hazard: str, rate: int) -> Case:
    return Case(0, rate) if hazard == "faults" else Case(rate, 0)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, draw; returns the exit code."""
    about = "What are reservations worth when jobs and processors fail?"
    parser = study_parser("reservations", about, trials=40)
    add = parser.add_argument
    add("--log", type=Path, metavar="FILE", help="a log in SWF; default: synthetic jobs")
    add("--processors", type=positive_int, help="of the log's platform; default: its MaxProcs")
    add("--jobs", type=positive_int, default=500, help="per block")
    add("--load", type=positive, default=0.9, help="offered, of all processors")
    about = "of errors, and of faults, per million processor-hours"
    add("--rates", type=natural, nargs="+", default=RATES, metavar="R", help=about)
    return run_script(parser, words, _answer)


def _answer(options: argparse.Namespace) -> None:
    console = wide_console()
    blocks = list(_blocks(options, console))
    tasks = [Task(block, case) for case in cases(options.rates) for block in blocks]
    found = campaign(measures, tasks, options.store)
    cells = _cells(found)
    _print(console, found, cells)
    _draw(options, cells, told(blocks, options.jobs))
    console.print(f"picture  {options.plot}", highlight=False)


def told(blocks: Sequence[Block], jobs: int) -> str:
    """What was replayed, for the picture."""
    first = blocks[0]
    return f"{len(blocks)} blocks of {jobs} jobs, {first.source}, {first.processors} processors"


def _blocks(options: argparse.Namespace, console: Console) -> Iterator[Block]:
    if options.log is None:
        yield from (synthetic(k, options.jobs, options.load) for k in range(options.trials))
        return
    log = read_swf(options.log)
    console.print(log.summary(), highlight=False)
    yield from blocks_of(
        *(log, options.log, options.processors), options.trials, options.jobs, options.load
    )


if __name__ == "__main__":
    sys.exit(main())
