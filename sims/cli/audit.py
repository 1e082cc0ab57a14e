"""Check a log against the world's laws, without the simulator."""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path

from sims.audit.audit import audit
from sims.cli.logs import reading
from sims.telling import counted

SHOWN = 20
"""Violations printed unless all are asked for."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("--json", action="store_true", help="print all violations as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code: 0 where every law holds, 1 otherwise."""
    with reading(arguments.log, ordered=False) as log:
        violations = list(audit(log))
    if arguments.json:
        found = [{"law": v.law.name, "events": v.events, "why": v.why} for v in violations]
        print(json.dumps(found))
    elif violations:
        print("\n".join(str(violation) for violation in islice(violations, SHOWN)))
        print(f"{counted(len(violations), 'violation')} in {counted(log.read, 'event')}")
    else:
        print(f"{counted(log.read, 'event')}: every law holds")
    return 1 if violations else 0
