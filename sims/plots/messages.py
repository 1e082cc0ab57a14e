"""Draws the messages between a user's actors as a time-space diagram: a line for each actor, an
arrow for each message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
from attrs import define, field

from actors.runtime import Record
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.errors import unfit, visible
from sims.journals.lives import MESSAGES
from sims.journals.words import SLEEP, is_timer
from sims.plots import CYCLE, GREY
from sims.plots.figure import Framing, legend_below
from sims.telling import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.45
"""Height of an actor's line in a picture, in inches."""
BAR = 0.2
"""Height of a timer's bar, in parts of a line."""
MARGIN = 0.01
"""Space before the first and after the last time, in parts of the window, for whole arrows."""
HEADS = 2_000
"""Largest number of messages that are drawn as arrows; more are lines without heads."""


class Arrow(NamedTuple):
    """A message, from the row of its sender at one time to that of its receiver at another; or a
    timer, which stays in its row."""

    kind: str
    sent: float
    received: float
    sender: int
    receiver: int
    seq: int
    """Number of the event that says that it was received."""


class Mark(NamedTuple):
    """An event that an actor recorded."""

    t: float
    row: int
    seq: int


@define
class Exchange:
    """The messages, timers and recorded events of a log, as they are drawn."""

    actors: dict[str, int] = field(factory=dict)
    """Maps the name of each actor to its row, in order of their starts."""
    arrows: list[Arrow] = field(factory=list)
    timers: list[Arrow] = field(factory=list)
    marks: list[Mark] = field(factory=list)
    end: float = 0
    """Virtual time of the last event."""
    unit: str = ""
    """Unit of time; a user's own log has none."""
    begins: float | None = None
    """Date of time 0; a user's own log has none."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> Exchange:
        """Return what is drawn of a log. Raises InputError where it has no messages."""
        exchange = cls()
        for record in records:
            exchange.add(record)
        if not (exchange.arrows or exchange.timers):
            raise unfit("messages", "there are no messages in this log", MESSAGES)
        return exchange

    @property
    def header(self) -> Exchange:
        """The part of the log that says its unit, as pictures ask for it: this object."""
        return self

    def add(self, record: Record) -> None:
        """Add the next record of the log."""
        self.end = record.t
        if record.actor is None:
            return
        row = self._row(record.actor)
        match record.event:
            case ActorStarted():
                pass
            case MessageReceived(message=kind, sender=name, sent=sent):
                sender, timer = self._row(name), is_timer(record)
                shown = "sleep" if timer and kind == SLEEP else visible(kind)
                arrow = Arrow(shown, sent, record.t, sender, row, record.seq)
                (self.timers if timer else self.arrows).append(arrow)
            case _:
                self.marks.append(Mark(record.t, row, record.seq))

    def _row(self, actor: str) -> int:
        return self.actors.setdefault(actor, len(self.actors))

    def within(self, start: float, end: float) -> Exchange:
        """Return the part of the exchange that is at least partly within a window of time."""
        arrows, timers = (
            [it for it in them if it.sent <= end and it.received >= start]
            for them in (self.arrows, self.timers)
        )
        marks = [it for it in self.marks if start <= it.t <= end]
        return attrs.evolve(self, arrows=arrows, timers=timers, marks=marks)

    def colours(self) -> dict[str, str]:
        """Map each class of messages to its colour; those that are most get one of their own."""
        counts = Counter(it.kind for it in (*self.arrows, *self.timers))
        names = [kind for kind, _ in counts.most_common()]
        own = dict(zip(names, CYCLE, strict=False))
        return own | dict.fromkeys(names[len(CYCLE) :], GREY)


def draw_messages(exchange: Exchange, framing: Framing) -> Figure:
    """Draw a line for each actor, from the top in order of their starts, an arrow for each message
    from where and when it was sent to where and when it was received, a bar for each timer from
    when it was set to when it came, and a dot for each recorded event.

    Raises InputError for an empty window.
    """
    scene: Any = exchange  # which has what a framing asks of a scene
    messages = counted(len(exchange.arrows), "message")
    usual = f"{counted(len(exchange.actors), 'actor')}, {messages}"
    framing = attrs.evolve(framing, title=framing.title or usual)
    shown = exchange.within(*framing.window(scene))
    figure = framing.figure(1.8 + ROW * len(exchange.actors))
    axes = figure.subplots()
    colours = exchange.colours()
    _draw_lives(axes, exchange)
    _draw_timers(axes, shown, colours)
    _draw_arrows(axes, shown, colours)
    marks = axes.scatter(*_columns(shown.marks), s=14, color="black", zorder=4)
    if shown.marks:
        marks.set_label("recorded event")
    axes.set_title(framing.heading(scene))
    framing.label(axes, scene)
    start, end = framing.window(scene)
    axes.set_xlim(start - MARGIN * (end - start), end + MARGIN * (end - start))
    legend_below(figure, columns=5, handles=list(_legend(axes, colours)))
    return figure


def _columns(rows: Sequence[Mark]) -> tuple[list[float], list[int]]:
    return [it.t for it in rows], [it.row for it in rows]


def _draw_lives(axes: Axes, exchange: Exchange) -> None:
    rows = list(exchange.actors.values())
    axes.hlines(rows, 0, exchange.end, color="0.75", lw=1, zorder=1)
    axes.set_yticks(rows, list(map(visible, exchange.actors)), fontsize="small", parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)


def _draw_timers(axes: Axes, exchange: Exchange, colours: dict[str, str]) -> None:
    for kind in {it.kind: None for it in exchange.timers}:
        mine = [it for it in exchange.timers if it.kind == kind]
        axes.barh(
            [it.receiver for it in mine],
            [it.received - it.sent for it in mine],
            BAR,
            [it.sent for it in mine],
            color=colours[kind],
            edgecolor="white",
            alpha=0.6,
            zorder=2,
            label=f"{kind} (timer)" if kind != "sleep" else kind,
        )


def _draw_arrows(axes: Axes, exchange: Exchange, colours: dict[str, str]) -> None:
    """Draw the messages in the window, with heads if they are few."""
    if len(exchange.arrows) > HEADS:
        for kind in {it.kind: None for it in exchange.arrows}:
            mine = [it for it in exchange.arrows if it.kind == kind]
            lines = [p for it in mine for p in ((it.sent, it.received, None))]
            rows = [p for it in mine for p in ((it.sender, it.receiver, None))]
            axes.plot(lines, rows, color=colours[kind], lw=0.5, zorder=3)  # type: ignore[arg-type]
        return
    for it in exchange.arrows:
        how = {"arrowstyle": "-|>", "color": colours[it.kind], "lw": 1.1}
        if it.sender == it.receiver:
            how |= {"connectionstyle": "arc3,rad=0.5"}
        tip, tail = (it.received, it.receiver), (it.sent, it.sender)
        axes.annotate("", tip, tail, arrowprops={"shrinkA": 0, "shrinkB": 0} | how, zorder=3)


def _legend(axes: Axes, colours: dict[str, str]) -> Iterator[Any]:
    """Yield the entries of the legend: messages, timers, and recorded events."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    timers = {label.removesuffix(" (timer)") for label in labels}
    for kind, colour in colours.items():
        if kind not in timers:
            yield Line2D([], [], color=colour, lw=1.5, label=kind)
    yield from handles
