"""What tests of campaigns share: a small campaign beside a user's own module, and a cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sims
from sims.campaign.campaign import Campaign, load_campaign
from sims.campaign.engine import execute
from sims.campaign.executors import Workers
from sims.campaign.results import Results
from sims.campaign.store import Store
from sims.campaign.tables import Form, data

SCENARIOS = Path(sims.__file__).parent / "scenarios"
ROOT = Path(__file__).parents[3]
PATIENCE = 120.0
"""Seconds of wall time."""

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
replications = 4
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
    return tuple(data(results, Form.LONG).rows)


def run(file: Path, workers: Workers | None = None, **more: object) -> Results:
    """Run it, with results in `results` beside it."""
    return execute(campaign(file, **more), workers, store(file))


def campaign(file: Path, **changes: object) -> Campaign:
    return load_campaign(file, changes=changes)


def store(file: Path) -> Store:
    return Store(file.parent / "results")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def dask(folder: Path) -> Iterator[str]:
    """A real scheduler and two workers, as processes that know nothing of `folder`'s files; yields
    its scheduler file."""
    file, away = folder / "cluster.json", folder / "away"
    away.mkdir()
    local = ("--host", "127.0.0.1")
    scheduler = ("scheduler", *local, "--port", "0", "--no-dashboard", "--no-show")
    worker = ("worker", *local, "--nthreads", "1", "--no-dashboard", "--scheduler-file", str(file))
    commands = [(*scheduler, "--scheduler-file", str(file)), worker, worker]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            cwd=away,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for words in commands
    ]
    try:
        began = time.monotonic()
        while not file.exists():
            assert processes[0].poll() is None
            assert time.monotonic() - began < PATIENCE
            time.sleep(0.05)
        yield str(file)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(PATIENCE)
