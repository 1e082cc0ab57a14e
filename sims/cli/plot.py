"""Draw a log: Gantt by processor or job, ledger, bandwidth or queue over time."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from pathlib import Path

from sims.cli.logs import reading
from sims.options import not_negative
from sims.plots.axes import SCALES
from sims.plots.figure import DPI, SUFFIXES, check_suffix
from sims.plots.framing import Framing
from sims.plots.pictures import What, plot
from sims.writing import refuse_inputs


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument(
        "--what", choices=[it.value for it in What], default=What.GANTT.value, help="default: gantt"
    )
    parser.add_argument("--title", help="default: scenario, seed and policy")
    window = "in the log's unit"
    parser.add_argument(
        "--from",
        dest="since",
        type=not_negative,
        default=0.0,
        metavar="TIME",
        help=f"where the picture begins, {window}",
    )
    parser.add_argument(
        "--until", type=not_negative, metavar="TIME", help=f"where it ends, {window}"
    )
    parser.add_argument("--unit", choices=SCALES, help="of the axis of time; default: the log's")
    parser.add_argument("--size", type=inches, metavar="WxH", help="in inches, such as 8x4.5")
    parser.add_argument("--dpi", type=resolution, default=DPI, help=f"default: {DPI}")
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
    refuse_inputs(arguments.output, "--output", arguments.log)
    with reading(arguments.log) as log:
        asked = (arguments.title, arguments.since, arguments.until)
        framing = Framing(*asked, arguments.unit, arguments.size, arguments.dpi)
        print(plot(log, What(arguments.what), arguments.output, framing))
    return 0


def inches(word: str) -> tuple[float, float]:
    """`8x4.5`: a picture's width and height."""
    try:
        width, height = map(float, word.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (1 <= width <= 100 and 1 <= height <= 100):
        raise ArgumentTypeError(f"{word!r} is no size; accepted: WxH, each from 1 to 100 inches")
    return width, height


def resolution(word: str) -> int:
    """Pixels per inch."""
    if not (word.isdecimal() and 10 <= int(word) <= 1200):
        raise ArgumentTypeError(f"{word!r} is not accepted; accepted: 10 to 1200 pixels per inch")
    return int(word)
