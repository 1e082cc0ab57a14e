"""Time another simulator of fleets, such as a copy of AIReSim that the user has, in turn with the
same runs of ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sims.bench import Body, Case
from sims.bench.cases import simulated
from sims.errors import COMMAND_LINE, InputError
from sims.papers.published.fleet import default
from sims.scenario.loader import read
from sims.scenario.tables import put

WIDTHS = (64, 512, 4096)
"""Numbers of members of the job whose runs are compared."""
DAYS = 256.0
"""Days of the job's work at size 1: those of AIReSim's default."""
OPTION = "--beside"


def beside(program: Path, size: float) -> Iterator[Case]:
    """Yield two cases for each width: AIReSim's default run with so many members, of this project,
    and of `program`. The ratio of the second says how many times as long the program takes.

    `program` is a Python program, or a folder with `__main__.py`. It is called with two arguments,
    the number W of members and the days of work, and has to simulate one run of W members on W + 64
    servers, with AIReSim's other defaults. Its time is that of its whole process.
    """
    if not program.exists():
        raise InputError(COMMAND_LINE, OPTION, f"there is no file {program}", "a Python program")
    for width in WIDTHS:
        name = f"ours, {width:,} members"
        yield Case(name, partial(_ours, width, DAYS * size), "runs")
        theirs = partial(_theirs, program, width, DAYS * size)
        yield Case(f"{program.name}, {width:,} members", theirs, "runs", beside=name)


def _ours(width: int, days: float) -> Body:
    return simulated(read(of_width(width, days), "fleet"), 1)


def of_width(width: int, days: float) -> dict[str, Any]:
    """Return the scenario of AIReSim's default run with `width` members of the job in place of its
    4,096, so many servers fewer, and `days` days of work."""
    table = default(1, days)
    members = table["job"]["jobs"][0]["processors"]
    put(table, "platform.workers", table["platform"]["workers"] - members + width)
    put(table, "job.jobs.0.processors", width)
    return table


def _theirs(program: Path, width: int, days: float) -> Body:
    words = [sys.executable, str(program), str(width), f"{days:g}"]

    def body() -> int:
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            problem = f"it ended with exit code {done.returncode}: {last}"
            raise InputError(" ".join(words[1:]), "", problem, "a program that ends with 0")
        return 1

    return body
