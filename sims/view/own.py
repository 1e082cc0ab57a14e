"""Writes a log of a user's own actors as an interactive page: the messages between them, their
lives, and chains of causes to follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actors.runtime import Record, rare_collections
from actors.runtime.deliveries import MessageReceived
from sims.journals.lives import CLOCK, Counts
from sims.journals.words import record_text
from sims.plots.messages import BAR, Arrow, Exchange
from sims.view import ACTOR, charts, rendered
from sims.view.story import Story
from sims.writing import replacing

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure

MIDDLE = 0.5
"""Place of an actor's line in its row."""


def write_page(records: Iterable[Record], path: Path, title: str) -> None:
    """Read the records of a log and write its page.

    Raises InputError where bokeh is missing, where the log has no actors, and where the file cannot
    be written.
    """
    charts.check_installed()
    exchange, counts = Exchange(), Counts()
    story = Story(exchange.actors, partial(record_text, clock=CLOCK))
    with rare_collections():
        for record in records:
            counts(record)
            exchange.add(record)
            story.hear(record)
            for name in _concerned(record):
                story.live(name, record.seq)
    picked = np.array(sorted(it.seq for it in _all(exchange)), np.int64)
    data = story.pieces(list(exchange.actors), [picked])
    page = rendered(title, "\n".join(counts.lines(each=False)), [draw(exchange)], data, ACTOR)
    with replacing(path) as new, new.open("w", encoding="utf-8") as file:
        file.writelines(page)


def _concerned(record: Record) -> Iterable[str]:
    """Return the names of the actors to whose lives the record belongs."""
    if record.actor is None:
        return ()
    event = record.event
    sender = event.sender if isinstance(event, MessageReceived) else record.actor
    return dict.fromkeys((record.actor, sender))


def _all(exchange: Exchange) -> list[Any]:
    return [*exchange.arrows, *exchange.timers, *exchange.marks]


def draw(exchange: Exchange) -> Figure:
    """Return a time-space diagram: a line for each actor, a segment for each message with its head
    where it is received, a bar for each timer, and a dot for each recorded event."""
    scene: Any = exchange  # which has what a chart asks of a scene
    names = list(exchange.actors)
    chart = charts.blank_chart(scene, "messages over time", "actor", names)
    rows = [k + MIDDLE for k in range(len(names))]
    chart.segment(0, rows, exchange.end or 1, rows, color="#cccccc")
    colours, shown = exchange.colours(), list[Any]()
    for kind in {it.kind: None for it in exchange.timers}:
        source = _source([it for it in exchange.timers if it.kind == kind])
        label = kind if kind == "sleep" else f"{kind} (timer)"
        how = {"source": source, "name": label, "legend_label": label, "alpha": 0.6}
        shown.append(chart.hbar("to", BAR, "end", "start", color=colours[kind], **how))
    for kind in {it.kind: None for it in exchange.arrows}:
        source = _source([it for it in exchange.arrows if it.kind == kind])
        how = {"source": source, "name": kind, "legend_label": kind, "color": colours[kind]}
        shown.append(chart.segment("start", "from", "end", "to", line_width=2, **how))
        chart.scatter("end", "to", marker="triangle", angle="turn", size=8, **how)
    marks = [Arrow("", it.t, it.t, it.row, it.row, it.seq) for it in exchange.marks]
    if marks:
        how = {"source": _source(marks), "name": "event", "legend_label": "recorded event"}
        shown.append(chart.scatter("end", "to", color="black", size=6, **how))
    chart.add_tools(charts.hover(shown))
    charts.place_legend(chart)
    return chart


def _source(arrows: Sequence[Arrow]) -> Any:
    """Return a source of a chart with a row for each message."""
    return charts.source_of(
        {
            "start": np.array([it.sent for it in arrows]),
            "end": np.array([it.received for it in arrows]),
            "from": np.array([it.sender + MIDDLE for it in arrows]),
            "to": np.array([it.receiver + MIDDLE for it in arrows]),
            "turn": np.array([0.0 if it.sender > it.receiver else np.pi for it in arrows]),
            "job": np.array([it.receiver for it in arrows], np.int32),
            "seq": np.array([it.seq for it in arrows], np.int32),
        }
    )
