"""Check a scenario file without running it: what it means, and what it will cost."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import attrs

from sims.checking import check
from sims.scenario.loader import split_override, value_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="scenario (TOML)")
    about = "overrides one key, such as master.channels=2 (repeatable)"
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=about)
    parser.add_argument("--json", action="store_true", help="print the estimate as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    pairs = map(split_override, arguments.set)
    checked = check(arguments.file, {key: value_of(text) for key, text in pairs})
    print(json.dumps(attrs.asdict(checked.cost)) if arguments.json else checked)
    return 0
