"""Print the queue and the machine at an instant, from a log."""

from __future__ import annotations

import argparse
import json
from math import isfinite
from pathlib import Path

from sims.cli.logs import reading
from sims.errors import InputError
from sims.telling import read_moment
from sims.trace.instant import read_instant


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    about = "the instant, in the log's unit, or as traces tell it ('68 d 10:46:40')"
    parser.add_argument("--at", metavar="T", type=_instant, required=True, help=about)
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _instant(word: str) -> float:
    """A time from 0 on. Raises InputError for another word."""
    try:
        at = read_moment(word)
    except ValueError:
        at = -1
    if at >= 0 and isfinite(at):
        return at
    raise InputError("command line", "--at", f"{word!r} is no time", "12345.6, '3 d 10:46:40'")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    with reading(arguments.log) as log:
        instant = read_instant(log, arguments.at)
    told = json.dumps(instant.as_json()) if arguments.json else "\n".join(instant.lines())
    print(told)
    return 0
