"""Levels over time as areas: the master's bandwidth in use, the queue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sims.errors import InputError
from sims.ledger import Use
from sims.plots.axes import number_wholly
from sims.plots.figure import check_suffix, save
from sims.plots.framing import Framing
from sims.plots.gantt import ALL, WIDTH
from sims.plots.levels import Level
from sims.plots.palette import BLUE, GREEN, MESSAGES, ORANGE, SAVE, USES, VERMILION
from sims.plots.scene import Scene
from sims.telling import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LILAC = "#B9A0E8"


def draw_bandwidth(scene: Scene, path: Path, framing: Framing = ALL) -> Path:
    """How many of the master's channels were in use over time, and for what.

    Returns `path`. Raises InputError for a log without transfers, and as `save` does.
    """
    check_suffix(path)
    if not scene.levels.transfers:
        problem = "nothing is transferred through a master in this log"
        accepted = "--what gantt, jobs, ledger or queue"
        raise InputError(scene.header.scenario, "bandwidth", problem, accepted)
    figure, axes = _axes(scene, framing)
    curves = {_label(note): level for note, level in sorted(scene.levels.transfers.items())}
    _stack(axes, scene, curves, [_colour(note) for note in sorted(scene.levels.transfers)])
    if scene.channels is not None:
        label = f"{counted(scene.channels, 'channel')} of the master (n_com)"
        axes.axhline(scene.channels, color=VERMILION, ls="--", lw=1.2, label=label)
    axes.set_ylabel("transfers at once")
    return _finish(figure, axes, path, framing.dpi)


def draw_queue(scene: Scene, path: Path, framing: Framing = ALL) -> Path:
    """How many jobs wait and how many run over time. Returns `path`; raises as `save` does."""
    check_suffix(path)
    figure, axes = _axes(scene, framing)
    levels = scene.levels
    _stack(axes, scene, {"running": levels.running, "waiting": levels.waiting}, [GREEN, ORANGE])
    axes.set_ylabel("jobs in the system")
    return _finish(figure, axes, path, framing.dpi)


def _label(note: str) -> str:
    return "saved image" if note == SAVE else note or "data"


def _colour(note: str) -> str:
    # Images that are saved lie beside those that are fetched, in an area of their own.
    return LILAC if note == SAVE else MESSAGES.get(note, USES[Use.TRANSFER]).colour


def _axes(scene: Scene, framing: Framing) -> tuple[Figure, Axes]:
    framing.check(scene)
    figure = framing.figure(WIDTH, 4.5)
    axes = figure.add_subplot()
    axes.set_title(framing.heading(scene, WIDTH))
    framing.label(axes, scene)
    axes.grid(axis="y", alpha=0.3)
    return figure, axes


def _stack(axes: Axes, scene: Scene, curves: dict[str, Level], colours: list[str]) -> None:
    told = [level.curve(scene.end) for level in curves.values()]
    times = np.unique(np.concatenate([times for times, _ in told]))
    levels = [_at(times, *curve) for curve in told]
    axes.stackplot(times, levels, labels=list(curves), colors=colours, step="post")
    axes.plot(times, np.sum(levels, axis=0), color=BLUE, lw=0.6, drawstyle="steps-post")


def _at(times: np.ndarray, own: np.ndarray, levels: np.ndarray) -> np.ndarray:
    where = np.searchsorted(own, times, side="right") - 1
    return np.asarray(levels[np.maximum(where, 0)])


def _finish(figure: Figure, axes: Axes, path: Path, dpi: int) -> Path:
    axes.set_ylim(bottom=0)
    number_wholly(axes, "y")
    # Beside the axes: within them it hides a peak sooner or later.
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    return save(figure, path, dpi)
