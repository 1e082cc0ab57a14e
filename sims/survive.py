"""Checkpoint, replicate or restart, on machines that their owners take away?

`python -m sims.survive` sends rigid and iterative jobs to spot instances behind a master with n_com
channels, and lets them survive in six ways: by re-execution, by images at the master (Young's
period, or a fixed one), by buddy checkpoints among themselves (each takes as long as one image on a
channel, and passes no master), and by copies, cloned or not, on workers that nobody else waits for.
The mean flowtime of each is set against re-execution's on the same availability, by the size of an
image and the length of a job.

`--traces` is a folder or tar archive of spot-instance JSON: each folder in it is a platform, each
trial a random start in its traces. Without it workers follow Markov chains, fitted to three zones
of real instances, each by itself: what a zone loses at once is missing there.

At its default size: 30 s of processor time; with 12 trials on 23 real zones in 4 folders 3 minutes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from rich.console import Console
from rich.table import Table

from actors.protection import ProtectionKind
from sims.options import positive, positive_int
from sims.plots.curves import Curve
from sims.plots.panels import draw_panels
from sims.scenario.jobs.iterative import IterativeJob
from sims.scenario.jobs.rigid import RigidJob
from sims.scenario.jobs.section import IterativeSection, JobSection, RigidSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import WorkerSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario
from sims.script import run_script, wide_console
from sims.spot_platforms import SpotPlatform, fitted, real
from sims.statistics import Interval, mean_interval
from sims.studies import (
    SIGNS,
    Ratio,
    Value,
    Values,
    campaign,
    mean_flowtime,
    ratio_table,
    ratios,
    study_parser,
)
from sims.telling import counted

IMAGES = (1.0, 4.0, 16.0)
LENGTHS = (1.0, 4.0)
CHANNELS = 4
KINDS = ("rigid", "iterative")
REFERENCE = "re-execution"

# What the study holds fixed.
MEMBERS = 2
"""Workers of a job."""
WORKERS_PER_JOB = 6
ITERATION, PROGRAM, DATA, FIXED = 15.0, 1.0, 0.25, 30.0
"""Minutes: of an iteration, of a program and of a unit of data on a channel, of work between two
images where that is fixed."""
CAP = 10 * 24 * 60.0
"""Minutes after which a run is cut off."""


# --- one trial --------------------------------------------------------------------------------


@frozen
class Task:
    """All ways to survive, on one realisation."""

    platform: SpotPlatform
    kind: str
    hours: float
    """Of work in a job."""
    channels: int
    images: tuple[float, ...]
    """Minutes on a channel per worker's image."""
    trial: int


def protections(mtbf: float, image: float, tick: float) -> dict[str, ProtectionSection]:
    """Those that an image's size matters to; `mtbf` and `image` in ticks."""
    images, buddies = ProtectionKind.IMAGES, ProtectionKind.BUDDIES
    young = ProtectionSection(kind=images, period="young", mtbf=mtbf)
    mutual = ProtectionSection(kind=buddies, period="young", mtbf=mtbf, cost=image, recovery=image)
    return {
        "images, Young": young,
        f"images, each {FIXED:g} min": ProtectionSection(kind=images, period=FIXED / tick),
        "buddies, Young": mutual,
        "2 copies, cloned": ProtectionSection(copies=2, cloning=True),
    }


def flowtimes(task: Task) -> Values:
    """Mean flowtime, minutes, by protection and size of image."""
    plain = {REFERENCE: ProtectionSection(), "2 copies": ProtectionSection(copies=2)}
    values = {name: _measure(task, section, 0) for name, section in plain.items()}
    for image in task.images:
        platform = task.platform
        sections = protections(platform.mtbf, image / platform.tick, platform.tick)
        for name, section in sections.items():
            values[at(name, image)] = _measure(task, section, image)
    return values


def at(name: str, image: float) -> str:
    """What a protection with images of that size is called."""
    return f"{name} @ {image:g}"


def _measure(task: Task, section: ProtectionSection, image: float) -> Value:
    tick = task.platform.tick
    flowtime, late = mean_flowtime(scenario(task, section, image), CAP / tick)
    return flowtime * tick, late


def scenario(task: Task, section: ProtectionSection, image: float) -> Scenario:
    """The scenario of one run; its unit of time is the platform's tick."""
    platform, tick = task.platform, task.platform.tick
    workers = tuple(
        WorkerSection(task_time=ITERATION / tick, availability=life)
        for life in platform.lives(task.trial, MEMBERS * jobs_on(platform), int(CAP / tick) + 1)
    )
    return Scenario(
        name="survive",
        seed=task.trial,
        workers=workers,
        master=MasterSection(
            channels=task.channels, program=PROGRAM / tick, data=DATA / tick, image=image / tick
        ),
        job=_jobs(task),
        protection=section,
        policy=PolicySection(name="R-LIST-0", order="FCFS"),
    )


def jobs_on(platform: SpotPlatform) -> int:
    """How many jobs are sent to it at once."""
    few = min(2, platform.size // (2 * MEMBERS))
    return max(1, few, platform.size // WORKERS_PER_JOB)


def _jobs(task: Task) -> JobSection:
    count, minutes = jobs_on(task.platform), 60 * task.hours
    if task.kind == "rigid":
        rigid = RigidJob(processors=MEMBERS, time=minutes / task.platform.tick)
        return RigidSection(kind="rigid", jobs=(rigid,) * count)
    iterations = max(1, round(minutes / ITERATION))
    job = IterativeJob(tasks=MEMBERS, iterations=iterations, processors=MEMBERS)
    return IterativeSection(kind="iterative", jobs=(job,) * count)


# --- the answer -------------------------------------------------------------------------------

Case = tuple[str, str, float]
"""(platform, kind of job, hours)."""
Cells = Mapping[Case, Mapping[str, Ratio]]
Own = Mapping[Case, Interval]
"""Re-execution's mean flowtime, h."""
NAMES = tuple(protections(1, 1, 1))


def measure(options: argparse.Namespace, platforms: Sequence[SpotPlatform]) -> tuple[Cells, Own]:
    """Run all; also re-execution's own mean flowtime by case."""
    tasks = [
        Task(platform, kind, hours, options.channels, tuple(options.images), trial)
        for platform in platforms
        for kind in KINDS
        for hours in options.hours
        for trial in range(options.trials)
    ]
    found = campaign(flowtimes, tasks, options.store)
    own: dict[Case, list[float]] = {}
    for task, values in found:
        own.setdefault(_case(task), []).append(values[REFERENCE][0] / 60)
    hours = {case: mean_interval(values) for case, values in own.items()}
    return ratios(found, _case, REFERENCE), hours


def _case(task: Task) -> Case:
    return task.platform.name, task.kind, task.hours


def _print(console: Console, cells: Cells, own: Own, options: argparse.Namespace) -> None:
    images = options.images
    for platform in dict.fromkeys(case[0] for case in cells):
        title = f"{platform}: mean flowtime / re-execution's, by minutes on a channel per image"
        heads = ("job", "re-execution", "protection")
        table = ratio_table(title, heads, [f"{image:g} min" for image in images])
        for (name, kind, hours), found in cells.items():
            if name == platform:
                _add_rows(table, f"{kind}, {hours:g} h", own[name, kind, hours], found, images)
        console.print(table)
    console.print(SIGNS, highlight=False)


def _add_rows(
    table: Table, job: str, own: Interval, found: Mapping[str, Ratio], images: Sequence[float]
) -> None:
    table.add_row(job, f"{own:.1f} h", "2 copies", *[str(found["2 copies"])] * len(images))
    for k, name in enumerate(NAMES, start=1):
        row = [str(found[at(name, image)]) for image in images]
        table.add_row("", "", name, *row, end_section=k == len(NAMES))


def _draw(options: argparse.Namespace, platform: SpotPlatform, cells: Cells, path: Path) -> Path:
    panels = {
        f"{kind} jobs of {hours:g} h": _curves(found, options.images)
        for (name, kind, hours), found in cells.items()
        if name == platform.name
    }
    instances = counted(platform.size, "instance")
    title = (
        f"Checkpoint, replicate or restart? {platform.name}: {instances}, MTBF "
        f"{platform.mtbf * platform.tick / 60:.1f} h each, {counted(options.channels, 'channel')}"
    )
    x, y = "minutes on a channel per image", "mean flowtime / re-execution's"
    return draw_panels(panels, path, title, x, y, columns=len(options.hours), log_x=True)


def _curves(found: Mapping[str, Ratio], images: Sequence[float]) -> dict[str, Curve]:
    copies: Curve = [(image, found["2 copies"].value) for image in images]
    curves = {name: [(image, found[at(name, image)].value) for image in images] for name in NAMES}
    return {**curves, "2 copies": copies}


def _path(plot: Path, platform: SpotPlatform) -> Path:
    """One picture per platform."""
    word = re.sub(r"\W+", "-", platform.name)
    return plot.with_stem(f"{plot.stem}-{word}")


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, draw; returns the exit code."""
    about = "Checkpoint, replicate or restart, on machines that their owners take away?"
    parser = study_parser("survive", about, trials=100)
    add = parser.add_argument
    about = "folder (or tar archive) of spot-instance JSON; default: chains fitted to such"
    add("--traces", type=Path, metavar="PATH", help=about)
    add("--channels", type=positive_int, default=CHANNELS, help="of the master (n_com)")
    about = "minutes on a channel per worker's image"
    add("--images", type=positive, nargs="+", default=IMAGES, metavar="MIN", help=about)
    about = "of work in a job"
    add("--hours", type=positive, nargs="+", default=LENGTHS, metavar="H", help=about)
    return run_script(parser, words, _answer)


def _answer(options: argparse.Namespace) -> None:
    console = wide_console()
    platforms = [fitted()] if options.traces is None else list(real(options.traces))
    cells, own = measure(options, platforms)
    _print(console, cells, own, options)
    for platform in platforms:
        path = options.plot if len(platforms) == 1 else _path(options.plot, platform)
        console.print(f"picture  {_draw(options, platform, cells, path)}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
