"""Tell the life of one job, from a log."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sims.cli.logs import reading
from sims.errors import InputError
from sims.trace.find import find_life


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("job", metavar="JOB", nargs="?", help="the job's name")
    parser.add_argument("--job", metavar="NAME", dest="named", help="the same")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    job = arguments.job or arguments.named
    if job is None:
        raise InputError(str(arguments.log), "JOB", "missing", "the name of one of its jobs")
    with reading(arguments.log) as log:
        life = find_life(log, job)
    print(json.dumps(life.data) if arguments.json else life)
    return 0
