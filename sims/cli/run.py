"""Simulate a scenario file to its end, and log what happens."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path

from actors.runtime import Sink
from sims.cli.progress import ShowProgress
from sims.cli.scenarios import naming
from sims.errors import InputError
from sims.forecast import forecast
from sims.log import LogWriter
from sims.options import natural, not_negative
from sims.scenario.files import files_of
from sims.scenario.header import SEEDS
from sims.scenario.idle import warn_of_idle
from sims.scenario.loader import Scenario, load
from sims.summary import Summary
from sims.world import Begins, run
from sims.writing import refuse_inputs


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="scenario (TOML)")
    parser.add_argument("--seed", type=natural, help="overrides the scenario's seed")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="overrides one key, such as master.channels=2 (repeatable)",
    )
    parser.add_argument(
        "--log", metavar="PATH", help="where to log (.gz, .xz, .zst: packed); `none`: nowhere"
    )
    parser.add_argument(
        "--until",
        metavar="TIME",
        type=not_negative,
        help="end then, in the scenario's unit, if not before",
    )
    parser.add_argument("--debug", action="store_true", help="log debug events too")
    parser.add_argument("--live", action="store_true", help="show workers and queue meanwhile")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    if arguments.seed is not None and arguments.seed not in SEEDS:
        problem, accepted = f"{arguments.seed} is no seed", "0 or above, below 2**64"
        raise InputError("command line", "--seed", problem, accepted)
    if arguments.log == "":
        raise InputError("command line", "--log", "'' names no file", "a path, or `none`")
    scenario = load(arguments.file, arguments.set, arguments.seed)
    log = _log_path(scenario, arguments)
    writer = None if log is None else LogWriter(log)
    summary = Summary()
    with contextlib.ExitStack() as stack:
        stack.enter_context(naming(arguments.file))
        progress = stack.enter_context(_progress(scenario, arguments))
        sinks: list[Sink] = [summary, progress]
        if writer is not None:
            refuse_inputs(
                writer.path, "--log", arguments.file, *files_of(scenario, arguments.file.parent)
            )
            sinks.append(stack.enter_context(writer))
        until, folder = arguments.until, arguments.file.parent
        begins = _beginning(scenario, progress)
        run(scenario, sinks, folder, arguments.debug, until, begins)
    _report(summary, log, arguments.json)
    if writer is not None and writer.kept is not None:
        print(f"holdfast: the earlier {log} is now {writer.kept}", file=sys.stderr)
    return 0


def _beginning(scenario: Scenario, progress: ShowProgress) -> Begins:
    """Only of what is not refused is it told what has no effect."""

    def begins(jobs: int, now: Callable[[], float]) -> None:
        warn_of_idle(scenario)
        progress.begins(jobs, now)

    return begins


def _progress(scenario: Scenario, arguments: argparse.Namespace) -> ShowProgress:
    end = min(scenario.cap, inf if arguments.until is None else arguments.until)
    ahead = forecast(scenario, arguments.file.parent)
    asked = scenario.name, scenario.times.value, end
    if not arguments.live:
        return ShowProgress(*asked, ahead)
    from sims.cli.live import ShowLive

    return ShowLive(*asked, scenario.full_platform.size, ahead)


def _log_path(scenario: Scenario, arguments: argparse.Namespace) -> Path | None:
    asked = arguments.log or scenario.log
    if asked == "none":
        return None
    return Path(asked) if asked else Path("logs") / f"{scenario.name}.jsonl"


def _report(summary: Summary, log: Path | None, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary.as_json() | {"log": str(log) if log else None}, sort_keys=True))
        return
    print("\n".join(summary.lines()))
    print(f"  log         {log or 'none'}")
