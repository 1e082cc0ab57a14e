"""How many workers is it worth enrolling behind a master of limited bandwidth?

`python -m sims.bandwidth` runs an application of m tasks on k of its workers, for every k and
every n_com and T_data asked for, on the same realised availability, and answers with a table, a
picture with confidence intervals, and a sentence. A worker more shortens the computation (fewer
tasks each), but costs transfers through the master and is one more that can go DOWN.

The platform was chosen so that the answer lies within the range of k. It is no law: with programs
of 10 slots, tasks of 20 and steadier workers (stay = 0.998) enrolling all 20 was best in 14 of 15
cells.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from rich.box import SIMPLE
from rich.progress import track
from rich.table import Column, Table

from policies.enrolment.spread import Spread
from sims.campaign import run_many
from sims.options import Parser, natural, positive_int
from sims.plots.curves import draw_curves
from sims.scenario.availability import Markov
from sims.scenario.jobs.section import IterativeSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import WorkerSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.script import prepare_pictures, run_script, wide_console
from sims.statistics import Interval, mean_interval
from sims.summary import Summary
from sims.telling import SLOT, counted, in_units
from sims.world import run

CHANNELS = (1, 2, 5, 10, 20)
ENROLLED = (1, 2, 4, 5, 10, 20)
DATA = (1, 4, 16)

WITHIN = 1.05
"""A number of workers is worth it up to so many times the least mean."""


@frozen
class Task:
    """One run of the study."""

    channels: int
    """n_com."""
    data: int
    """T_data, slots."""
    enrolled: int
    """k, workers per configuration."""
    trial: int
    """Seed of the realised availability."""


@frozen
class Question:
    """What the study holds fixed."""

    tasks: int = 20
    """m."""
    workers: int = 40
    """p, all alike."""
    speed: int = 10
    """w, slots per task."""
    program: int = 50
    """T_prog, slots."""
    iterations: int = 10
    stay: float = 0.997
    """Probability to stay UP from slot to slot; RECLAIMED and DOWN end with probability 0.05."""
    cap: int = 30_000


QUESTION = Question()


def makespan(task: Task) -> float | None:
    """Slots that the application takes; None where it reached the cap."""
    summary = Summary()
    run(scenario(QUESTION, task), [summary])
    return summary.makespan


def scenario(question: Question, task: Task) -> Scenario:
    """The scenario of one run."""
    leave = (1 - question.stay) / 2
    rows = ((question.stay, leave, leave), (0.05, 0.95, 0.0), (0.05, 0.0, 0.95))
    worker = WorkerSection(
        task_time=question.speed, availability=Markov(rows=rows), count=question.workers
    )
    policy = {"workers": task.enrolled}
    return Scenario(
        name="bandwidth",
        seed=task.trial,
        master=MasterSection(channels=task.channels, program=question.program, data=task.data),
        workers=(worker,),
        job=IterativeSection(
            kind="iterative",
            tasks=question.tasks,
            iterations=question.iterations,
            cap=question.cap,
        ),
        policy=PolicySection(name=f"{Spread.__module__}:{Spread.__name__}", parameters=policy),
    )


# --- the answer -------------------------------------------------------------------------------

Cell = tuple[int, int, int]
"""(n_com, T_data, k)."""


def measure(trials: int, channels: Sequence[int], data: Sequence[int]) -> dict[Cell, Interval]:
    """Mean slots per iteration of each cell, with its 95 % interval, on common availability.

    Cells in which a run reached the cap are left out: their mean is not known.
    """
    tasks = [
        Task(c, d, k, trial)
        for c in channels
        for d in data
        for k in ENROLLED
        for trial in range(trials)
    ]
    found: dict[Cell, list[float | None]] = defaultdict(list)
    for task, slots in track(run_many(makespan, tasks), "simulating", len(tasks), transient=True):
        per_iteration = None if slots is None else slots / QUESTION.iterations
        found[task.channels, task.data, task.enrolled].append(per_iteration)
    whole = {cell: [v for v in values if v is not None] for cell, values in found.items()}
    return {
        cell: mean_interval(sorted(values))
        for cell, values in sorted(whole.items())
        if len(values) == trials
    }


def worth(cells: Mapping[Cell, Interval], channels: int, data: int) -> int | None:
    """The fewest workers whose mean is within 5 % of the least mean over all k; None where every
    run reached the cap."""
    means = {k: value.mean for (c, d, k), value in cells.items() if (c, d) == (channels, data)}
    least = min(means.values(), default=0.0)
    return min((k for k, mean in means.items() if mean <= WITHIN * least), default=None)


def table(cells: Mapping[Cell, Interval], channels: Sequence[int], data: Sequence[int]) -> Table:
    """Slots per iteration by n_com, T_data and k; the k worth enrolling is starred."""
    columns = [Column(f"k={k}", no_wrap=True, justify="right") for k in ENROLLED]
    title = "slots per iteration, 95 % intervals; * worth enrolling"
    shown = Table("T_data", "channels (n_com)", *columns, title=title, box=SIMPLE)
    for d in data:
        for c in channels:
            chosen = worth(cells, c, d)
            row = [_cell(cells.get((c, d, k)), k == chosen) for k in ENROLLED]
            shown.add_row(str(d), str(c), *row)
    return shown


def _cell(value: Interval | None, chosen: bool) -> str:
    if value is None:
        return "capped"
    return f"{'*' if chosen else ''}{value.mean:.0f}±{value.half:.0f}"


def sentence(cells: Mapping[Cell, Interval], channels: Sequence[int], data: Sequence[int]) -> str:
    """The answer in words, one clause per T_data."""
    asked = ", ".join(map(str, channels))
    best = {d: ", ".join(str(worth(cells, c, d) or "?") for c in channels) for d in data}
    clauses = [f"{workers} with T_data = {d}" for d, workers in best.items()]
    return (
        f"With {asked} channels (n_com) it is worth enrolling {'; '.join(clauses)} "
        f"(m = {QUESTION.tasks} tasks of {QUESTION.speed} slots, T_prog = {QUESTION.program}; "
        "worth: the fewest workers within 5 % of the best mean)."
    )


def draw(cells: Mapping[Cell, Interval], channels: Sequence[int], data: int, path: Path) -> Path:
    """Slots per iteration against k, one curve per n_com, at one T_data."""
    curves = {
        f"{counted(c, 'channel')} (n_com)": [
            (float(k), value) for (c_, d, k), value in cells.items() if (c_, d) == (c, data)
        ]
        for c in channels
    }
    title = f"How many workers are worth enrolling? (T_data = {in_units(data, SLOT)})"
    x, y = "workers enrolled, k", "slots per iteration"
    return draw_curves(curves, path, title, x, y, log_x=True, log_y=True)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, draw; returns the exit code."""
    return run_script(_parser(), words, _answer)


def _parser() -> argparse.ArgumentParser:
    about = "How many workers is it worth enrolling behind a master of limited bandwidth?"
    parser = Parser(prog="python -m sims.bandwidth", description=about)
    add = parser.add_argument
    add("--trials", type=positive_int, default=20, help="runs of every cell")
    about = "channels of the master (n_com)"
    add("--channels", type=positive_int, nargs="+", default=CHANNELS, metavar="N", help=about)
    about = "slots per data transfer: values of T_data"
    add("--data", type=natural, nargs="+", default=DATA, metavar="T", help=about)
    add("--out", type=Path, default=Path("logs"), metavar="DIR", help="folder for the pictures")
    return parser


def _answer(options: argparse.Namespace) -> None:
    prepare_pictures(options.out)
    cells = measure(options.trials, options.channels, options.data)
    console = wide_console()
    console.print(table(cells, options.channels, options.data))
    console.print(sentence(cells, options.channels, options.data), highlight=False)
    for d in options.data:
        path = options.out / f"bandwidth-data{d}.png"
        console.print(f"picture  {draw(cells, options.channels, d, path)}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
