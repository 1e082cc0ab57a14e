"""A volatile platform over time: states, transfers and computation of each worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from attrs import frozen

from actors.runtime import Record
from sims.activity import Activity
from sims.plots.figure import BLACK, BLUE, GREEN, GREY, ORANGE, SKY, new_figure, save


@frozen
class Paint:
    """How one letter of an activity is drawn."""

    colour: str
    label: str


PAINTS = {
    "P": Paint(ORANGE, "receives program"),
    "D": Paint(SKY, "receives data"),
    "C": Paint(GREEN, "computes"),
    "I": Paint("#F5E6B3", "waits, enrolled"),
    "u": Paint("#FFFFFF", "UP, not enrolled"),
    "r": Paint(GREY, "RECLAIMED"),
    "d": Paint(BLACK, "DOWN"),
}

WIDEST = 18.0
"""Inches."""


def draw_activity(records: Iterable[Record], path: Path, title: str) -> Path:
    """Draw who does what when (002, Figure 1): a row per worker, a colour per activity."""
    activity = Activity.of(records)
    rows = activity.painted()
    slots = max((len(row) for row in rows.values()), default=1)
    figure, axes = new_figure(min(8 + slots / 60, WIDEST), 1.6 + 0.32 * len(rows))
    for letter, paint in PAINTS.items():
        for y, bars in _bars(rows, letter):
            edge = BLUE if letter == "u" else "none"
            axes.broken_barh(bars, (y + 0.1, 0.8), facecolors=paint.colour, edgecolors=edge, lw=0.2)
        axes.broken_barh([], (0, 0), facecolors=paint.colour, edgecolors=GREY, label=paint.label)
    axes.set_yticks([k + 0.5 for k in range(len(rows))], list(rows))
    axes.set(title=title, xlabel="time, slots", xlim=(0, slots), ylim=(len(rows), 0))
    figure.legend(loc="outside lower center", ncols=4, fontsize="small")
    return save(figure, path)


def _bars(rows: Mapping[str, str], letter: str) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """(row, [(start, length), ...]) of the stretches of `letter`."""
    for y, letters in enumerate(rows.values()):
        start, bars = 0, []
        for kind, run in groupby(letters):
            length = len(list(run))
            if kind == letter:
                bars.append((start, length))
            start += length
        if bars:
            yield y, bars
