"""Draws the pictures of a run that `holdfast plot` and notebooks offer by name. This module itself
draws the ledger's areas and the levels over time of the master's channels and of the queue."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from actors.events import TransferKind
from actors.runtime import Record
from sims.errors import COMMAND_LINE, InputError, unfit
from sims.history.rows import Use
from sims.plots import COLOURS, GREY, LEVELS, USE_PAINTS, USES, Paint
from sims.plots.boxes import Columns, Floats, Raster, coverage
from sims.plots.figure import (
    Framing,
    check_installed,
    check_suffix,
    legend_below,
    number_wholly,
    save,
)
from sims.plots.fleet import FLEET
from sims.plots.gantt import draw_jobs, draw_legend, draw_processors
from sims.plots.messages import Exchange, draw_messages
from sims.plots.scene import SENT, Scene
from sims.telling import counted, in_units, row_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = 64
"""Largest number of bars side by side; more processors are grouped by number."""
NUMBERED = 16
"""Largest number of processor numbers below the bars."""

FINEST = 2000
"""Largest number of steps that are drawn exactly; more are averaged over as many equal
intervals."""

AVERAGED = f"each level's mean over {FINEST:,} equal intervals of time"
"""Text in the legend of a picture with averaged steps."""
DIGITS = 9
"""Digits to which a number of busy processors is rounded, since runs may hold fractions."""

CHANNELS = {
    "data": TransferKind.DATA,
    "image": TransferKind.IMAGE,
    "program": TransferKind.PROGRAM,
    "saved image": TransferKind.SAVE,
}
"""Maps the name of each kind of message in this picture to the kind."""


def draw_ledger(scene: Scene, framing: Framing) -> Figure:
    """Draw the shares of processors x makespan by use, and beside them the shares of each worker's
    time, or of each group of processors' where there are more than GROUPS.

    The ledger covers the whole run: raises InputError where the framing has a window.
    """
    if framing.window(scene) != Framing().window(scene):
        problem = "the ledger is that of the whole run"
        raise InputError(COMMAND_LINE, "--from, --until", problem, "none of them")
    figure = framing.figure(5.5)
    whole, groups = figure.subplots(1, 2, width_ratios=(1, 1.6))
    shares = _draw_whole(whole, scene)
    drawn = _draw_groups(groups, scene)
    # Idle time of workers that no job holds has no bar in `groups`.
    idle = [USES[it] for it in shares if it == Use.IDLE.value and USES[it] not in drawn]
    draw_legend(figure, sorted([*drawn, *idle], key=USE_PAINTS.index))
    figure.suptitle(framing.heading(scene))
    return figure


def _draw_whole(axes: Axes, scene: Scene) -> dict[str, float]:
    shares = scene.shares()
    colours = [USES[use].colour for use in shares]
    bars = axes.barh([*shares], [*shares.values()], color=colours, edgecolor=GREY, linewidth=0.6)
    axes.bar_label(bars, [f" {it:.3g} %" for it in shares.values()], fontsize="small")
    axes.invert_yaxis()
    axes.margins(x=0.25)
    processors, unit = scene.header.processors, scene.header.unit
    axes.set_xlabel(f"% of {counted(processors, 'processor')} x {in_units(scene.end, unit)}")
    return shares


def _draw_groups(axes: Axes, scene: Scene) -> list[Paint]:
    """Draw a stacked bar of uses for each worker or group of neighbouring processors, and return
    the paints of the uses drawn."""
    header, rows = scene.header, scene.header.processors
    groups = min(rows, GROUPS)
    areas = coverage(scene.uses, Raster(groups, 1, rows, scene.end or 1))
    kinds = sorted(areas, key=lambda kind: USE_PAINTS[kind].state)  # states on top
    edges, bottom = np.linspace(0, rows, groups + 1), np.zeros(groups)
    for kind in kinds:
        height = 100 * areas[kind][:, 0]
        axes.bar(
            *(edges[:-1], height, np.diff(edges), bottom),
            align="edge",
            color=USE_PAINTS[kind].colour,
            edgecolor="white",
            linewidth=0.3,
        )
        bottom += height
    each, what = ("each one's", "") if groups == rows else ("each group's", f", {groups} groups")
    axes.set(ylim=(0, 100), xlim=(0, rows), ylabel=f"% of {each} time")
    axes.set_xlabel(f"{row_of(header)}{what}")
    if rows > GROUPS:
        number_wholly(axes, "x")
    else:
        step = 1 if header.workers else -(-rows // NUMBERED)
        turned = 90 if header.workers and rows > 12 else 0
        places = np.arange(0, rows, step) + 0.5
        axes.set_xticks(places, scene.workers[::step], rotation=turned, fontsize="small")
    return [USE_PAINTS[kind] for kind in kinds]


# --- levels over time -----------------------------------------------------------------------------


def draw_bandwidth(scene: Scene, framing: Framing) -> Figure:
    """Draw over time the number of the master's channels in use, by kind of message, and in a panel
    below the bandwidth of the shared storage in use.

    A panel is left out where the log has no such transfers, or no storage. Raises InputError for a
    log without either.
    """
    drawn: list[Callable[[Axes, Scene], bool]] = []
    if channels_used(scene)[1]:
        drawn.append(_draw_channels)
    if scene.storage is not None:
        drawn.append(_draw_storage)
    if not drawn:
        problem = "nothing is transferred through a master, or to a storage, in this log"
        accepted = "--what gantt, jobs, ledger or queue"
        raise unfit("bandwidth", problem, accepted)
    figure = framing.figure(4.5 if len(drawn) == 1 else 6.5)
    panels = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
    panels[0].set_title(framing.heading(scene))
    framing.label(panels[-1], scene)
    means = [draw_levels(axes, scene) for draw_levels, axes in zip(drawn, panels, strict=True)]
    legend_below(figure, AVERAGED if any(means) else "")
    return figure


def _draw_channels(axes: Axes, scene: Scene) -> bool:
    means = _stack(axes, scene, *channels_used(scene))
    axes.set_ylabel("transfers at once")
    if scene.channels is not None:
        _limit(axes, scene.channels, f"{counted(scene.channels, 'channel')} of the master (n_com)")
    return means


def _draw_storage(axes: Axes, scene: Scene) -> bool:
    assert scene.storage is not None
    means = _stack(axes, scene, *bandwidth_used(scene), whole=False)
    axes.set_ylabel(f"bytes a {scene.header.unit}")
    _limit(axes, scene.storage, "bandwidth of the storage")
    return means


def _limit(axes: Axes, at: float, label: str) -> None:
    """Draw a dashed horizontal line at the level `at`, which is all that there is, such as the
    number of channels."""
    axes.axhline(at, color=COLOURS["vermilion"], ls="--", lw=1.2, label=label)


def bandwidth_used(scene: Scene) -> tuple[Floats, dict[str, Floats]]:
    """Return the times at which the use of the shared storage changes and, for each direction
    (saving, loading), an array with the bandwidth that all runs together use from each of these
    times on.

    The times begin with 0. A direction that is never used is left out.
    """
    times, levels = _levels(scene.bandwidths, ("saving", "loading"))
    return times, {name: it for name, it in levels.items() if it.any()}


def _levels(rows: Columns, names: Iterable[str]) -> tuple[Floats, dict[str, Floats]]:
    """Return the times of a table's rows, in order and from 0 on, and for each of `names` an array
    with its level from each of these times on: 0 at first, and of several rows at one time that of
    the last."""
    times = np.insert(rows.t, 0, 0)
    last = np.append(np.diff(times) > 0, True)
    return times[last], {it: np.insert(rows[it], 0, 0)[last] for it in names}


def channels_used(scene: Scene) -> tuple[Floats, dict[str, NDArray[np.int64]]]:
    """Return the times at which transfers by the master begin or end, from 0 on, and for each kind
    of message that occurs an array with the number of its transfers under way from each time on."""
    sent = scene.messages
    boxes = {what: sent[sent.kind == SENT[kind]] for what, kind in CHANNELS.items()}
    found = {what: it for what, it in boxes.items() if len(it)}
    times = np.unique([0.0, *(t for it in found.values() for t in (*it.start, *it.end))])
    return times, {
        what: np.searchsorted(np.sort(it.start), times, side="right")
        - np.searchsorted(np.sort(it.end), times, side="right")
        for what, it in found.items()
    }


def draw_queue(scene: Scene, framing: Framing) -> Figure:
    """Draw the numbers of waiting and of running jobs over time, and below them the number of busy
    processors."""
    times, levels = _levels(scene.queue, ("running", "waiting"))
    figure = framing.figure(6.5)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    above.set_title(framing.heading(scene))
    framing.label(below, scene)
    above.tick_params(labelbottom=False)
    means = _stack(above, scene, times, levels)
    above.set_ylabel("jobs in the system")
    times, busy = processors_busy(scene)
    means |= _stack(below, scene, times, {"busy processors": busy})
    rows = scene.header.processors
    _limit(below, rows, f"{counted(rows, 'processor')} of the platform")
    below.set_ylim(0, 1.05 * rows)
    below.set_ylabel("busy processors")
    legend_below(figure, AVERAGED if means else "", columns=4)
    return figure


def draw_repairs(scene: Scene, framing: Framing) -> Figure:
    """Draw the numbers of workers that wait for repair, are in repair, and have retired over time.

    Raises InputError for a log in which nothing is repaired.
    """
    rows = scene.fleet.table.columns()
    if not len(rows):
        problem, accepted = "nothing is repaired in this log", "--what gantt, jobs, ledger or queue"
        raise unfit("repairs", problem, accepted)
    times, levels = _levels(rows, FLEET)
    figure = framing.figure(4.5)
    axes = figure.subplots()
    axes.set_title(framing.heading(scene))
    framing.label(axes, scene)
    shown = {name: level for name, level in levels.items() if level.any()}
    means = _stack(axes, scene, times, shown)
    axes.set_ylabel("workers")
    legend_below(figure, AVERAGED if means else "")
    return figure


def processors_busy(scene: Scene) -> tuple[Floats, Floats]:
    """Return the times at which a use of processors begins or ends, from 0 on, and the number of
    processors that jobs hold, working or waiting, from each of these times on.

    RECLAIMED and DOWN processors do not count. A processor that several runs share counts with the
    sum of their shares.
    """
    state = np.array([paint.state for paint in USE_PAINTS])[scene.uses.kind]
    uses = scene.uses[(scene.uses.job >= 0) & ~state]
    many = (uses.high - uses.low) * uses.share
    times, place = np.unique(np.concatenate([[0.0], uses.start, uses.end]), return_inverse=True)
    changes = np.bincount(place[1:], np.concatenate([many, -many]), len(times))
    return times, np.round(changes.cumsum(), DIGITS)


def _stack(
    axes: Axes,
    scene: Scene,
    times: Floats,
    levels: Mapping[str, NDArray[Any]],
    whole: bool = True,
) -> bool:
    """Draw `levels` on top of each other; each has a value for every time in `times`, which begin
    with 0, that holds from then on.

    `whole` says that levels are whole numbers. Return whether there were more than FINEST times, so
    that means over intervals were drawn.
    """
    axes.grid(axis="y", alpha=0.3)
    times, areas = np.append(times, scene.end), np.array(list(levels.values()), dtype=float)
    areas = np.append(areas, areas[:, -1:], axis=1)
    many = len(times) > FINEST
    if many:
        times, areas = averaged(times, areas)
    colours = [LEVELS[it] for it in levels]
    axes.stackplot(times, areas, labels=list(levels), colors=colours, step="post")
    # An outline shows what is too short to be filled; in grey, as a colour would mean something.
    axes.plot(times, areas.sum(axis=0), color="0.4", lw=0.6, drawstyle="steps-post")
    axes.set_ylim(bottom=0)
    if whole:
        number_wholly(axes, "y")
    return many


def averaged(times: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the FINEST + 1 edges of intervals of equal length from 0 to the last time, and an
    array with a row for each level: its mean over each interval, and the last mean once more.

    `levels` has a row for each level and a column for each of `times`, from which on the value
    holds.
    """
    sums = np.insert(np.cumsum(levels[:, :-1] * np.diff(times), axis=1), 0, 0, axis=1)
    edges = np.linspace(0, times[-1], FINEST + 1)
    means = np.diff([np.interp(edges, times, row) for row in sums]) / np.diff(edges)
    return edges, np.append(means, means[:, -1:], axis=1)


# --- by name --------------------------------------------------------------------------------------

WHOLE = Framing()
"""Framing that shows the whole run in the default size."""


class What(enum.Enum):
    """The pictures of a run that can be drawn by name."""

    GANTT = "gantt"
    """Gantt chart with a row for each processor."""
    JOBS = "jobs"
    """Gantt chart with a row for each job."""
    LEDGER = "ledger"
    BANDWIDTH = "bandwidth"
    QUEUE = "queue"
    REPAIRS = "repairs"
    MESSAGES = "messages"
    """Messages between actors, of a log that has them."""


DRAWN: Mapping[What, Callable[[Scene, Framing], Figure]] = MappingProxyType(
    {
        What.GANTT: draw_processors,
        What.JOBS: draw_jobs,
        What.LEDGER: draw_ledger,
        What.BANDWIDTH: draw_bandwidth,
        What.QUEUE: draw_queue,
        What.REPAIRS: draw_repairs,
    }
)


def draw(records: Iterable[Record], what: What, framing: Framing = WHOLE) -> Figure:
    """Return picture `what` of the run with these records.

    `framing` sets the title, the window of time, the unit and the size; the default shows the whole
    run. Raises InputError where the run has no such picture, where the window or the unit does not
    fit, and without matplotlib.
    """
    check_installed()
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):  # a $ in a name is no formula
        if what is What.MESSAGES:
            return draw_messages(Exchange.of(records), framing)
        return DRAWN[what](Scene.of(records), framing)


def plot(records: Iterable[Record], what: What, path: Path, framing: Framing = WHOLE) -> Path:
    """Draw picture `what` of the run with these records into a file, and return `path`.

    The suffix chooses the format. Raises InputError for an unknown suffix, without matplotlib, and
    where the file cannot be written.
    """
    check_suffix(path)
    return save(draw(records, what, framing), path, framing.dpi)


@frozen
class Picture:
    """A picture that a notebook shows."""

    png: bytes = field(repr=lambda png: f"<{len(png):,} bytes>")

    @classmethod
    def of(cls, records: Iterable[Record], what: What, framing: Framing = WHOLE) -> Picture:
        """Return picture `what` of the run with these records as a PNG in memory. Raises InputError
        as `draw` does."""
        file = BytesIO()
        draw(records, what, framing).savefig(file, dpi=framing.dpi, format="png")
        return cls(file.getvalue())

    def _repr_png_(self) -> bytes:
        return self.png
