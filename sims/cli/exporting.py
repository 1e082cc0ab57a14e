"""Implements `holdfast export`, `plot` and `view`: a log as tables, pictures, or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from actors.runtime import Record
from sims.cli.logs import reading, unit_of
from sims.durations import SCALES, in_unit
from sims.errors import InputError, naming, show
from sims.exports.tables import ROWS, SUFFIXES, Frame, write_all, write_rows
from sims.exports.viewers import write_batsim, write_chrome
from sims.journals.file import OwnLog
from sims.options import Log, chosen, kind, moment, option, written
from sims.plots.figure import DPI, Framing, check_suffix
from sims.plots.figure import SUFFIXES as PICTURES
from sims.plots.pictures import What
from sims.plots.pictures import plot as drawn
from sims.telling import counted
from sims.writing import refuse_inputs, replacing


def _chrome(records: Iterable[Record], path: Path) -> int:
    with replacing(path) as new, new.open("wb") as file:
        return write_chrome(records, file)


def _batsim(records: Iterable[Record], path: Path) -> int:
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
        return write_batsim(records, file)


TARGETS: dict[str, tuple[Callable[..., int], str, tuple[str, ...]]] = {
    "chrome": (_chrome, "trace event", (".json",)),
    "batsim": (_batsim, "run", (".csv",)),
    "events": (partial(write_rows, what=Frame.EVENTS), "event", SUFFIXES),
    "jobs": (partial(write_rows, what=Frame.JOBS), "job", SUFFIXES),
    **{
        it.value: (partial(write_rows, what=it), "row", SUFFIXES)
        for it in ROWS
        if it is not Frame.JOBS
    },
    "rows": (write_all, "row", ("",)),
}
"""Maps a format to the function that writes it, to the name of one of its rows, and to its
suffixes."""


def export(
    log: Log,
    to: Annotated[
        str,
        chosen(
            tuple(TARGETS),
            "chrome: trace events for Perfetto; batsim: jobs CSV, a row per run, for evalys; "
            "rows: each table of facts as a Parquet file; others: one table",
        ),
    ],
    output: Annotated[
        Path,
        written(
            "where to: .json (chrome), .csv (batsim), .csv or .parquet (a table), a folder (rows)"
        ),
    ],
) -> None:
    """Export a log for other tools: Perfetto, evalys, pandas, polars."""
    write, row, suffixes = TARGETS[to]
    if output.suffix not in suffixes:
        problem = f"{output.suffix!r} is not written for {to}"
        accepted = " or ".join(suffixes) or "a folder"
        raise InputError(str(output), "", problem, accepted)
    refuse_inputs(output, "--output", log)
    with reading(log) as file:
        rows = write(file, path=output)
    show(f"{output}: {counted(rows, row)}")


class Inches(NamedTuple):
    """Size of a picture in inches; Typer would read a plain tuple of two as two words."""

    width: float
    height: float


def _inches(word: str) -> Inches:
    width, height = map(float, word.lower().split("x"))
    if not (1 <= width <= 100 and 1 <= height <= 100):
        raise ValueError
    return Inches(width, height)


def _resolution(word: str) -> int:
    if not (word.isdecimal() and 10 <= int(word) <= 1200):
        raise ValueError
    return int(word)


inches = kind(_inches, "WxH, each from 1 to 100 inches")
resolution = kind(_resolution, "10 to 1200 pixels per inch")


def plot(
    log: Log,
    output: Annotated[
        Path,
        written(f"picture; its suffix says which kind: {', '.join(PICTURES)}"),
    ],
    what: Annotated[What, typer.Option(help="what is drawn")] = What.GANTT,
    title: Annotated[str | None, option(str, "TITLE", "default: scenario, seed and policy")] = None,
    since: Annotated[
        float,
        option(moment, "TIME", "where the picture begins, in the log's unit", "--from"),
    ] = 0.0,
    until: Annotated[
        float | None,
        option(moment, "TIME", "where it ends, in the log's unit"),
    ] = None,
    unit: Annotated[
        str | None, chosen(tuple(SCALES), "of the axis of time; default: the log's")
    ] = None,
    size: Annotated[
        Inches | None,
        option(inches, "WxH", "in inches, such as 8x4.5"),
    ] = None,
    dpi: Annotated[int, option(resolution, "DPI", "pixels per inch")] = DPI,
) -> None:
    """Draw a log: Gantt by processor or job, ledger, bandwidth, queue, repairs, messages.

    Messages are those of your own actors; all else is drawn over time.
    """
    check_suffix(output)
    refuse_inputs(output, "--output", log)
    since = in_unit(since, "--from", lambda: unit_of(log))
    until = in_unit(until, "--until", lambda: unit_of(log))
    with reading(log, own=what is What.MESSAGES) as file, naming(log):
        show(drawn(file, what, output, Framing(title, since, until, unit, size, dpi)))


def view(
    log: Log,
    output: Annotated[
        Path,
        written("the page: NAME.html"),
    ],
) -> None:
    """Make an HTML page of a log, to zoom in and to follow causes. It works offline."""
    from sims.view import Page
    from sims.view.own import write_page

    if output.suffix not in (".html", ".htm"):
        raise InputError(str(output), "", f"{output.suffix!r} is no page", ".html")
    refuse_inputs(output, "--output", log)
    with reading(log, own=True) as file:
        if isinstance(file, OwnLog):
            write_page(file, output, log.name)
        else:
            Page().write(file, output)
    show(output)
