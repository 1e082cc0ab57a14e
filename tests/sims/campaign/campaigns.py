"""What tests of campaigns share: a small campaign beside a user's own module, and a cluster."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import sims
from sims.campaign.engine import execute
from sims.campaign.executors import Workers, local
from sims.campaign.file import load_campaign
from sims.campaign.question import Question
from sims.campaign.results import Results, Store
from sims.campaign.tables import Table
from tests.sims.cli.commands import PATIENCE, python, until

SCENARIOS = Path(sims.__file__).parent / "scenarios"
ROOT = Path(__file__).parents[3]
BASE = """\
name = "small"

[platform]
workers = 16

[job]
kind = "rigid"

[job.swf]
file = "jobs.swf"

[errors]
average = 0.3
"""

CAMPAIGN = """\
name = "small"
scenario = "base.toml"
seed = 3
replications = 2
measures = ["makespan", "queue", "mine:longest"]

[axes]
platform.workers = [8, 16]
errors.average = { first = 0.1, last = 0.5, count = 3 }

[variants]
LPT.policy.order = "LPT"
SPT.policy.order = "SPT"
mine.policy.order = "mine:widest"

[picture]
x = "errors.average"
lines = "variant"
panels = "platform.workers"
"""

MINE = '''\
"""Mine."""

import helper


def widest(job, processors, time, platform, draw):
    return helper.key(job, processors)


def longest(report):
    """Of all flowtimes."""
    return max(report.summary.flowtimes)
'''

HELPER = '''\
"""Which mine imports."""


def key(job, processors):
    return processors
'''


def write(folder: Path, **files: str) -> Path:
    """The campaign and what it names, in `folder`; `files`: other texts by stem."""
    texts = {"campaign.toml": CAMPAIGN, "base.toml": BASE, "mine.py": MINE, "helper.py": HELPER}
    shutil.copy(SCENARIOS / "batch-small.swf", folder / "jobs.swf")
    for name, text in texts.items():
        stem = name.partition(".")[0]
        (folder / name).write_text(files.get(stem, text))
    return folder / "campaign.toml"


def table(results: Results) -> tuple[tuple[object, ...], ...]:
    """All that it answers."""
    return tuple(Table(results).frame().rows())


def run(file: Path, workers: Workers | None = None, **more: object) -> Results:
    """Run it, with results in `results` beside it."""
    return execute(campaign(file, **more), workers, store(file))


def alone(asked: Question, kept: Store | None = None) -> Results:
    """Run it in one process."""
    with local(1) as workers:
        return execute(asked, workers, kept)


def campaign(file: Path, **changes: object) -> Question:
    return load_campaign(file, changes=changes)


def store(file: Path) -> Store:
    return Store(file.parent / "results")


@contextmanager
def dask(folder: Path, workers: int = 2) -> Iterator[str]:
    """A real scheduler and workers, as processes that know nothing of `folder`'s files; yields its
    scheduler file."""
    file = folder / "cluster.json"
    command = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    with (
        part_of_cluster(folder, *command, "--scheduler-file", str(file)) as scheduler,
        ExitStack() as stack,
    ):
        until(file.exists, scheduler)
        for _ in range(workers):
            stack.enter_context(dask_worker(folder))
        yield str(file)


def dask_worker(folder: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    """A worker of the scheduler in `folder`."""
    command = ("worker", "--no-nanny", "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard")
    return part_of_cluster(folder, *command, "--scheduler-file", str(folder / "cluster.json"))


@contextmanager
def part_of_cluster(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process of Dask's, which is ended."""
    away = folder / "away"
    away.mkdir(exist_ok=True)
    quiet = subprocess.DEVNULL
    process = python("-m", "dask", *words, cwd=away, stdout=quiet, stderr=quiet)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)
