"""A run as a notebook shows it: a picture, and its numbers as a table."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from html import escape

from actors.runtime import Record
from sims.errors import InputError
from sims.plots.pictures import Picture, What
from sims.report import Report
from sims.telling import title_of

DRAWN = 100_000
"""Events up to which a picture is drawn unasked: it takes about a second."""

Row = tuple[str, str]


def as_html(report: Report, records: Callable[[], Iterable[Record]]) -> str:
    """What was run, its picture where there can be one, and its numbers."""
    started = report.summary.started
    title = escape(title_of(started)) if started else "?"
    return f"<b>{title}</b>{_picture(report, records)}{table(_rows(report))}"


def table(rows: Iterable[Row]) -> str:
    """Names and what they are."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table>{''.join(cells)}</table>"


def _picture(report: Report, records: Callable[[], Iterable[Record]]) -> str:
    if report.summary.events > DRAWN:
        return f"<p>no picture unasked of more than {DRAWN:,} events: see .plot()</p>"
    try:
        png = Picture.of(records(), What.GANTT).png
    except InputError as error:
        return f"<p>{escape(f'no picture: {error}')}</p>"
    return (
        f'<p><img style="max-width:100%" src="data:image/png;base64,{b64encode(png).decode()}"></p>'
    )


def _rows(report: Report) -> Iterator[Row]:
    """The lines for people, split as they are laid out: two blanks, a name, what it is."""
    for line in report.lines()[1:]:
        name, _, text = line.strip().partition(" ")
        indent = "\u2003" if line.startswith("    ") else ""
        yield indent + name, text.strip()
