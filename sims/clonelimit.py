"""How far does a master's bandwidth let cloning and checkpointing pay?

`python -m sims.clonelimit` sends rigid jobs to volatile workers behind a master with n_com
channels. A job is protected by images kept at the master, by copies on workers that nobody else
waits for, which may be cloned from the furthest one, or by both. Images and clones pass the same
channels: what protects one job delays another. For every n_com and size of image the mean flowtime
is set against that without protection, on the same arrivals and availability.

Young's formula knows what a checkpoint costs its own job, not that others wait for the channel;
`link-aware` has it reckon with the time that the images of all busy workers take together.

At its default size: 85 s of processor time, two thirds of them where there is one channel.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from attrs import frozen
from rich.console import Console

from actors.protection import ProtectionKind
from actors.runtime import stream
from policies.maths.checkpoint import young_work
from sims.options import positive, positive_int
from sims.plots.panels import draw_panels
from sims.scenario.availability import Markov, Row
from sims.scenario.jobs.rigid import RigidJob
from sims.scenario.jobs.section import RigidSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario
from sims.script import run_script, wide_console
from sims.studies import (
    SIGNS,
    Ratio,
    Values,
    campaign,
    mean_flowtime,
    pays,
    ratio_table,
    ratios,
    study_parser,
)
from sims.telling import counted

CHANNELS = (1, 4, 16)
IMAGES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
REFERENCE = "none"
COPIES = "2 copies, not cloned"


@frozen
class Question:
    """What the study holds fixed; times in s."""

    workers: int = 40
    jobs: int = 60
    processors: int = 4
    time: tuple[float, float] = (20, 180)
    """t_j is uniform between these."""
    load: float = 0.5
    """Of all workers, were they always UP and nothing lost."""
    program: float = 1
    """On a channel, per worker."""
    stay: float = 0.996
    """Probability to stay UP from one second to the next; half of the rest goes DOWN."""
    back: float = 0.05
    """Probability that DOWN or RECLAIMED ends in a second."""
    cap: float = 6000

    @property
    def mtbf(self) -> float:
        """Mean time UP between two times DOWN, of one worker."""
        return 2 / (1 - self.stay)

    @property
    def gap(self) -> float:
        """Mean time between two arrivals."""
        return self.processors * sum(self.time) / 2 / (self.load * self.workers)

    @property
    def rows(self) -> tuple[Row, Row, Row]:
        """The chain of one worker."""
        leave, rest = (1 - self.stay) / 2, 1 - self.back
        return ((self.stay, leave, leave), (self.back, rest, 0.0), (self.back, 0.0, rest))


QUESTION = Question()


@frozen
class ProtectionVariant:
    """A protection."""

    images: bool = False
    aware: bool = False
    """Whether its period reckons with all busy workers' images on the link."""
    copies: int = 1
    cloning: bool = False

    def period(self, question: Question, channels: int, image: float) -> float:
        """Work between two images, s."""
        if not self.images:
            return inf
        busy = question.load * question.workers / channels
        cost = image * max(1, busy) if self.aware else image
        return young_work(question.mtbf / question.processors, cost)

    def section(self, question: Question, channels: int, image: float) -> ProtectionSection:
        """As a scenario has it."""
        return ProtectionSection(
            kind=ProtectionKind.IMAGES if self.images else ProtectionKind.NONE,
            period=self.period(question, channels, image),
            copies=self.copies,
            cloning=self.cloning,
        )


VARIANTS = {
    "images, Young": ProtectionVariant(images=True),
    "images, link-aware": ProtectionVariant(images=True, aware=True),
    "2 copies, cloned": ProtectionVariant(copies=2, cloning=True),
    "link-aware images, 2 copies, cloned": ProtectionVariant(
        images=True, aware=True, copies=2, cloning=True
    ),
}
"""Those that an image's size matters to."""


@frozen
class Task:
    """All protections at one n_com on one realisation."""

    channels: int
    images: tuple[float, ...]
    """Seconds on a channel per worker's image."""
    trial: int


def flowtimes(task: Task) -> Values:
    """Mean flowtime by protection and size of image."""
    plain = {REFERENCE: ProtectionVariant(), COPIES: ProtectionVariant(copies=2)}
    values = {name: _measure(task, variant, 0) for name, variant in plain.items()}
    for image in task.images:
        for name, variant in VARIANTS.items():
            values[at(name, image)] = _measure(task, variant, image)
    return values


def at(name: str, image: float) -> str:
    """What a protection with images of that size is called."""
    return f"{name} @ {image:g}"


def _measure(task: Task, variant: ProtectionVariant, image: float) -> tuple[float, bool]:
    return mean_flowtime(scenario(QUESTION, task, variant, image), QUESTION.cap)


def scenario(question: Question, task: Task, variant: ProtectionVariant, image: float) -> Scenario:
    """The scenario of one run."""
    return Scenario(
        name="clonelimit",
        seed=task.trial,
        platform=PlatformSection(workers=question.workers, availability=Markov(rows=question.rows)),
        master=MasterSection(channels=task.channels, program=question.program, image=image),
        job=RigidSection(kind="rigid", jobs=tuple(_jobs(question, task.trial))),
        protection=variant.section(question, task.channels, image),
        policy=PolicySection(name="R-LIST-0", order="FCFS"),
    )


def _jobs(question: Question, trial: int) -> Iterator[RigidJob]:
    rng = stream(trial, "clonelimit")
    times = rng.uniform(*question.time, size=question.jobs).tolist()
    releases = rng.exponential(question.gap, size=question.jobs).cumsum().tolist()
    for time, release in zip(times, releases, strict=True):
        yield RigidJob(processors=question.processors, time=time, release=release)


# --- the answer -------------------------------------------------------------------------------

Cells = Mapping[int, Mapping[str, Ratio]]
"""n_com -> `PROTECTION @ SIZE` -> ratio to no protection."""


def measure(options: argparse.Namespace) -> Cells:
    """Run all; few channels, which take longest, first."""
    tasks = [
        Task(channels, tuple(options.images), trial)
        for channels in sorted(options.channels)
        for trial in range(options.trials)
    ]
    found = campaign(flowtimes, tasks, options.store)
    return ratios(found, lambda task: task.channels, REFERENCE)


def _print(console: Console, cells: Cells, images: Sequence[float]) -> None:
    title = "mean flowtime / without protection, by seconds on a channel per image"
    table = ratio_table(title, ("protection", "channels"), [f"{image:g} s" for image in images])
    for name in VARIANTS:
        for channels, found in cells.items():
            row = [str(found[at(name, image)]) for image in images]
            table.add_row(name, str(channels), *row)
    for channels, found in cells.items():
        table.add_row(COPIES, str(channels), str(found[COPIES]), *[""] * (len(images) - 1))
    console.print(table)
    console.print(SIGNS, highlight=False)


def sentences(cells: Cells, images: Sequence[float]) -> Iterator[str]:
    """Where each protection stops paying."""
    for name in VARIANTS:
        by_channels = (
            f"{counted(channels, 'channel')}: "
            f"{pays({image: found[at(name, image)].value for image in images})}"
            for channels, found in cells.items()
        )
        yield f"{name}: {'; '.join(by_channels)}"


def _draw(options: argparse.Namespace, cells: Cells) -> None:
    panels = {
        name: {
            f"{counted(channels, 'channel')} (n_com)": [
                (image, found[at(name, image)].value) for image in options.images
            ]
            for channels, found in cells.items()
        }
        for name in VARIANTS
    }
    title = f"How far does a master's bandwidth let protection pay? {describe(QUESTION)}"
    x, y = "seconds on a channel per worker's image", "mean flowtime / without protection"
    draw_panels(panels, options.plot, title, x, y, log_x=True)


def describe(question: Question) -> str:
    """What is held fixed, for the picture."""
    low, high = question.time
    return (
        f"({question.workers} workers, MTBF {question.mtbf:.0f} s each; jobs of "
        f"{question.processors} workers and {low:g} to {high:g} s, load {question.load:g})"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, draw; returns the exit code."""
    about = "How far does a master's bandwidth let cloning and checkpointing pay?"
    parser = study_parser("clonelimit", about, trials=16)
    add = parser.add_argument
    about = "channels of the master (n_com)"
    add("--channels", type=positive_int, nargs="+", default=CHANNELS, metavar="N", help=about)
    about = "seconds on a channel per worker's image"
    add("--images", type=positive, nargs="+", default=IMAGES, metavar="S", help=about)
    return run_script(parser, words, _answer)


def _answer(options: argparse.Namespace) -> None:
    console = wide_console()
    cells = measure(options)
    _print(console, cells, options.images)
    for sentence in sentences(cells, options.images):
        console.print(sentence, highlight=False)
    _draw(options, cells)
    console.print(f"picture  {options.plot}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
