"""Draw a log: Gantt by processor or job, ledger, bandwidth or queue over time."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from sims.cli.logs import reading
from sims.plots.figure import SUFFIXES, check_suffix
from sims.plots.gantt import draw_jobs, draw_processors
from sims.plots.ledger import draw_ledger
from sims.plots.scene import Scene
from sims.plots.steps import draw_bandwidth, draw_queue

Draw = Callable[[Scene, Path, str | None], Path]

PICTURES: dict[str, Draw] = {
    "gantt": draw_processors,
    "jobs": draw_jobs,
    "ledger": draw_ledger,
    "bandwidth": draw_bandwidth,
    "queue": draw_queue,
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("--what", choices=PICTURES, default="gantt", help="default: gantt")
    parser.add_argument("--title", help="default: scenario, seed and policy")
    parser.add_argument(
        *("-o", "--output"),
        metavar="FILE",
        type=Path,
        required=True,
        help=f"picture; its suffix says which kind: {', '.join(SUFFIXES)}",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    check_suffix(arguments.output)
    with reading(arguments.log) as log:
        scene = Scene.of(log, ledger=arguments.what == "ledger")
    print(PICTURES[arguments.what](scene, arguments.output, arguments.title))
    return 0
