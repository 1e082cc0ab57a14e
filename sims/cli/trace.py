"""Tell the life of one job, from a log."""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path

from actors.events import JobSubmitted
from sims.cli.logs import reading
from sims.errors import InputError
from sims.log import LogFile
from sims.trace.read import read_trace

SHOWN = 20
"""Jobs that are named to who asks for another."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("--job", metavar="NAME", required=True, help="the job's name")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    with reading(arguments.log) as log:
        tale = read_trace(log, arguments.job)
    if tale.root is None:
        problem = f"there is no job {arguments.job!r} in this log"
        raise InputError(str(arguments.log), "--job", problem, ", ".join(_jobs(log)))
    if arguments.json:
        about = {"job": arguments.job, "account": tale.account.as_json()}
        print(json.dumps(tale.root.as_json() | about))
    else:
        print("\n".join((*tale.root.lines(), "", *tale.account.lines(tale.unit))))
    return 0


def _jobs(log: LogFile) -> list[str]:
    """The first jobs of the log."""
    submitted = (r.event.job for r in log if isinstance(r.event, JobSubmitted))
    return list(islice(submitted, SHOWN))
