"""What a clairvoyant scheduler could reach on a small volatile scenario."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import attrs

from sims.cli.scenarios import naming
from sims.optimum import reference
from sims.options import natural, positive, positive_int
from sims.scenario.loader import load


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="scenario (TOML), iterative")
    parser.add_argument("--slots", type=positive_int, default=100, help="how far ahead to look")
    parser.add_argument("--time-limit", type=positive, default=60, help="seconds for each search")
    parser.add_argument("--seed", type=natural, help="overrides the scenario's seed")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    scenario = load(arguments.file, arguments.set, arguments.seed)
    with naming(arguments.file):
        found = reference(scenario, arguments.slots, arguments.time_limit, arguments.file.parent)
    print(json.dumps(attrs.asdict(found)) if arguments.json else "\n".join(found.lines()))
    return 0
