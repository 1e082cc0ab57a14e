"""Tell the life of one job, from a log."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from actors.events import JobSubmitted
from sims.cli.logs import note_if_cut
from sims.errors import InputError
from sims.log import LogFile
from sims.trace.volatile import IterativeTrace


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("--job", metavar="NAME", required=True, help="the job's name")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    log, trace = LogFile(arguments.log), IterativeTrace(arguments.job)
    jobs: list[str] = []
    for record in log:
        trace(record)
        if isinstance(record.event, JobSubmitted):
            jobs.append(record.event.job)
    note_if_cut(log)
    if trace.root is None:
        problem = f"there is no job {arguments.job!r} in this log"
        raise InputError(str(arguments.log), "--job", problem, ", ".join(jobs[:20]))
    if arguments.json:
        print(json.dumps(trace.root.as_json()))
    else:
        print("\n".join(trace.root.lines()))
    return 0
