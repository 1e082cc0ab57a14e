"""Tell a log's run in a few numbers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sims.cli.logs import note_if_cut
from sims.log import LogFile
from sims.summary import Summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    log, summary = LogFile(arguments.log), Summary()
    for record in log:
        summary(record)
    note_if_cut(log)
    if arguments.json:
        print(json.dumps(summary.as_json(), sort_keys=True))
    else:
        print("\n".join(summary.lines()))
    return 0
