"""Levels over time as areas: the master's bandwidth in use, the queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sims.errors import InputError
from sims.plots.boxes import Floats
from sims.plots.figure import Framing, legend_below, number_wholly
from sims.plots.palette import COLOURS, KIND, LEVELS
from sims.plots.scene import Scene
from sims.telling import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FINEST = 2000
"""Steps that are shown one by one; more are averaged over as many equal intervals."""

CHANNELS = {"data": "transfer", "image": "image", "program": "program", "saved image": "save"}
"""The kinds of boxes that are messages, by what they are called here."""


def draw_bandwidth(scene: Scene, framing: Framing) -> Figure:
    """How many of the master's channels were in use over time, and for what. Raises InputError for
    a log without transfers."""
    times, levels = channels_used(scene)
    if not levels:
        problem = "nothing is transferred through a master in this log"
        accepted = "--what gantt, jobs, ledger or queue"
        raise InputError(scene.header.scenario, "bandwidth", problem, accepted)
    figure, axes = _stack(scene, framing, times, levels)
    axes.set_ylabel("transfers at once")
    if scene.channels is not None:
        label = f"{counted(scene.channels, 'channel')} of the master (n_com)"
        axes.axhline(scene.channels, color=COLOURS["vermilion"], ls="--", lw=1.2, label=label)
    legend_below(figure)
    return figure


def channels_used(scene: Scene) -> tuple[Floats, dict[str, NDArray[np.int64]]]:
    """Times, and how many transfers of each kind of message are under way from then on."""
    kinds = scene.uses.kind
    boxes = {what: scene.uses[kinds == KIND[kind]] for what, kind in CHANNELS.items()}
    found = {what: it for what, it in boxes.items() if len(it)}
    times = np.unique([0.0, *(t for it in found.values() for t in (*it.start, *it.end))])
    return times, {
        what: np.searchsorted(np.sort(it.start), times, side="right")
        - np.searchsorted(np.sort(it.end), times, side="right")
        for what, it in found.items()
    }


def draw_queue(scene: Scene, framing: Framing) -> Figure:
    """How many jobs wait and how many run over time."""
    times = np.insert(scene.queue.t, 0, 0)
    last = np.append(np.diff(times) > 0, True)  # of its instant
    levels = {it: np.insert(scene.queue[it], 0, 0)[last] for it in ("running", "waiting")}
    figure, axes = _stack(scene, framing, times[last], levels)
    axes.set_ylabel("jobs in the system")
    legend_below(figure)
    return figure


def _stack(
    scene: Scene,
    framing: Framing,
    times: Floats,
    levels: Mapping[str, NDArray[Any]],
) -> tuple[Figure, Axes]:
    """`levels` from each of `times` on, which begin with 0."""
    figure = framing.figure(4.5)
    axes = figure.add_subplot()
    axes.set_title(framing.heading(scene))
    framing.label(axes, scene)
    axes.grid(axis="y", alpha=0.3)
    times, areas = np.append(times, scene.end), np.array(list(levels.values()), dtype=float)
    areas = np.append(areas, areas[:, -1:], axis=1)
    if len(times) > FINEST:
        times, areas = averaged(times, areas)
    colours = [LEVELS[it] for it in levels]
    axes.stackplot(times, areas, labels=list(levels), colors=colours, step="post")
    axes.plot(times, areas.sum(axis=0), color=COLOURS["blue"], lw=0.6, drawstyle="steps-post")
    axes.set_ylim(bottom=0)
    number_wholly(axes, "y")
    return figure, axes


def averaged(times: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """FINEST equal intervals of the same time, and each level's mean over them."""
    sums = np.insert(np.cumsum(levels[:, :-1] * np.diff(times), axis=1), 0, 0, axis=1)
    edges = np.linspace(0, times[-1], FINEST + 1)
    means = np.diff([np.interp(edges, times, row) for row in sums]) / np.diff(edges)
    return edges, np.append(means, means[:, -1:], axis=1)
