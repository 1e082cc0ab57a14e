"""Export a log for other tools: Perfetto, evalys, pandas, polars."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from attrs import frozen

from actors.runtime import Record
from sims.cli.logs import reading
from sims.errors import InputError
from sims.exports.batsim import write_batsim
from sims.exports.chrome import write_chrome
from sims.exports.tables import SUFFIXES, write_events, write_jobs
from sims.telling import counted
from sims.writing import refuse_inputs, replacing

Write = Callable[[Iterable[Record], Path], int]


@frozen
class Target:
    """A format."""

    write: Write
    row: str
    """What it is made of, one of them."""
    suffixes: tuple[str, ...]


def _chrome(records: Iterable[Record], path: Path) -> int:
    with replacing(path) as new, new.open("wb") as file:
        return write_chrome(records, file)


def _batsim(records: Iterable[Record], path: Path) -> int:
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
        return write_batsim(records, file)


TARGETS = {
    "chrome": Target(_chrome, "trace event", (".json",)),
    "batsim": Target(_batsim, "run", (".csv",)),
    "events": Target(write_events, "event", SUFFIXES),
    "jobs": Target(write_jobs, "job", SUFFIXES),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument(
        "--to",
        choices=TARGETS,
        required=True,
        help="chrome: trace events for Perfetto; batsim: jobs CSV, a row per run, for evalys; "
        "events, jobs: tables",
    )
    parser.add_argument(
        *("-o", "--output"),
        metavar="FILE",
        type=Path,
        required=True,
        help="where to: .json (chrome), .csv (batsim), .csv or .parquet (tables)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    target, path = TARGETS[arguments.to], arguments.output
    if path.suffix not in target.suffixes:
        problem = f"{path.suffix!r} is not written for {arguments.to}"
        raise InputError(str(path), "", problem, " or ".join(target.suffixes))
    refuse_inputs(arguments.output, "--output", arguments.log)
    with reading(arguments.log) as log:
        rows = target.write(log, path)
    print(f"{path}: {counted(rows, target.row)}")
    return 0
