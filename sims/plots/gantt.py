"""Gantt charts: what every processor did, and how every job fared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sims.plots.axes import number_wholly
from sims.plots.boxes import Boxes
from sims.plots.chart import (
    MANY_MARKS,
    PIXELS,
    draw_boxes,
    draw_legend,
    draw_marks,
    draw_names,
    draw_strip,
    mark_size,
    raster_of,
    signs,
)
from sims.plots.figure import check_suffix, save
from sims.plots.framing import Framing
from sims.plots.marks import Mark
from sims.plots.palette import RUN_PAINTS, USE_PAINTS, Paint
from sims.plots.scene import Scene
from sims.telling import row_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 64
"""Rows that are named one by one; more have a numbered axis."""
FAINT = 0.15
"""How the boxes of many thousands of jobs are lifted: each covers but a part of a pixel."""
COARSE = (300, 540)
"""Rows and columns of an image of jobs: single runs among many thousands must be seen."""
WIDTH = 13.0
"""Inches."""
ALL = Framing()


@frozen(eq=False)
class _Chart:
    """Axes with `rows` rows over a scene's time, and a strip below where signs are many."""

    scene: Scene
    framing: Framing
    rows: int
    figure: Figure
    axes: Axes
    strip: Axes | None
    signs: list[Mark]
    """What is marked, or counted."""

    @classmethod
    def of(cls, scene: Scene, rows: int, framing: Framing) -> _Chart:
        framing.check(scene)
        figure = framing.figure(WIDTH, min(max(2.2 + 0.28 * rows, 3.4), 8.0))
        start, end = framing.window(scene)
        found = signs([mark for mark in scene.marks if start <= mark.t <= end])
        if len(found) <= MANY_MARKS:
            return cls(scene, framing, rows, figure, figure.add_subplot(), None, found)
        grid = figure.add_gridspec(2, 1, height_ratios=(6, 1))
        axes = figure.add_subplot(grid[0])
        strip = figure.add_subplot(grid[1], sharex=axes)
        return cls(scene, framing, rows, figure, axes, strip, found)

    def fill(
        self,
        boxes: Boxes,
        paints: Sequence[Paint],
        marks: Sequence[Mark],
        pixels: tuple[int, int] = PIXELS,
        faint: float = 1,
    ) -> None:
        """Draw the boxes; say what their colours and those of `marks`, which are to come, mean."""
        shown = {int(kind) for kind in np.unique(boxes.kind)}
        found = {mark.kind for mark in (marks if self.strip is None else self.signs)}
        draw_legend(self.figure, paints, shown, found, counted=self.strip is not None)
        self.figure.draw_without_rendering()  # outlines and names need the axes' final size
        raster = raster_of(self.rows, self.framing.window(self.scene), pixels)
        draw_boxes(self.axes, boxes, paints, raster, faint)

    def label(self, names: Sequence[str], what: str) -> None:
        """Name the axes, and the rows where they are few."""
        if len(names) <= NAMED:
            self.axes.set_yticks([k + 0.5 for k in range(len(names))], names, fontsize="small")
            self.axes.set_ylabel(what)
        else:
            number_wholly(self.axes, "y")
            self.axes.set_ylabel(f"{what} ({self.rows:,})")
        self.axes.set_title(self.framing.heading(self.scene, WIDTH))
        self.framing.label(self.strip or self.axes, self.scene)

    def mark(self, marks: Sequence[tuple[Mark, float]]) -> None:
        """Mark each sign at its row, or count them."""
        if self.strip is None:
            draw_marks(self.axes, [(mark.t, row, mark.kind) for mark, row in marks])
        else:
            draw_strip(self.strip, self.signs, self.framing.window(self.scene))


def draw_processors(scene: Scene, path: Path, framing: Framing = ALL) -> Path:
    """Processors over time: what each did; a worker's state lies behind it; failures and
    checkpoints are marked.

    A row per processor up to some thousands of boxes; beyond, rows and moments share pixels, whose
    colour mixes what their area went to. Returns `path`; raises InputError as `save` does.
    """
    check_suffix(path)
    boxes, rows = scene.rows_of_processors(), scene.header.processors
    chart = _Chart.of(scene, rows, framing)
    names = scene.header.workers or [str(k) for k in range(rows)]
    chart.label(names, row_of(scene.header))
    chart.fill(boxes, USE_PAINTS, chart.signs)
    chart.mark([(mark, mark.processor + 0.5) for mark in chart.signs])
    if len(scene.jobs) > 1:
        margin = mark_size(len(chart.signs)) if chart.signs and chart.strip is None else 0
        draw_names(chart.axes, boxes, list(scene.jobs), margin)
    return save(chart.figure, path, framing.dpi)


def draw_jobs(scene: Scene, path: Path, framing: Framing = ALL) -> Path:
    """Jobs over time, in order of submission: in the system, and each run with its outcome.

    Copies that run at once lie side by side in their job's row. Returns `path`; raises InputError
    as `save` does.
    """
    check_suffix(path)
    chart = _Chart.of(scene, len(scene.jobs), framing)
    chart.label(list(scene.jobs), "job, by submission")
    boxes = scene.rows_of_jobs()
    # Completed runs last: among many copies side by side the one that counts must be seen.
    boxes = boxes.where(np.argsort(-boxes.kind, kind="stable"))
    marks = _in_lanes(scene, boxes, chart.signs)
    chart.fill(boxes, RUN_PAINTS, [mark for mark, _ in marks], COARSE, FAINT)
    chart.mark(marks)
    return save(chart.figure, path, framing.dpi)


def _in_lanes(scene: Scene, boxes: Boxes, marks: Sequence[Mark]) -> list[tuple[Mark, float]]:
    """Each run's marks in the middle of its box; what is nobody's is not shown among jobs."""
    if not marks:
        return []
    runs = zip(boxes.job.tolist(), boxes.run.tolist(), strict=True)
    lanes = dict(zip(runs, ((boxes.low + boxes.high) / 2).tolist(), strict=True))
    return [(it, lanes[scene.jobs[it.job], it.run]) for it in marks if it.job is not None]
