"""Jobs told apart by their colours, where what was done to them is all of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from sims.errors import visible
from sims.plots.boxes import Columns
from sims.plots.palette import CYCLE, GREEN, GREY, PURPLE, SKY, VERMILION, YELLOW, Paint
from sims.plots.scene import Scene
from sims.telling import SECOND, counted

COLOURS = (*CYCLE[:-1], YELLOW)
"""Of the largest users or queues: a job's name can be read on each."""
SHOWN = len(COLOURS)
MANY = 64
"""More jobs than this are told apart by how long they waited, if by nothing else."""
WAITS = {
    0.0: Paint("did not wait", GREEN),
    60.0: Paint("waited up to 1 min", SKY),
    3600.0: Paint("up to 1 h", YELLOW),
    86400.0: Paint("up to 1 d", VERMILION),
    inf: Paint("longer", PURPLE),
}
"""By the longest wait, in seconds."""


def told_apart(
    scene: Scene, boxes: Columns, paints: Sequence[Paint]
) -> tuple[Columns, Sequence[Paint]]:
    """The same boxes and paints; where all that was done is of the first kind, of which one colour
    says nothing, in the colours of the jobs' classes."""
    kinds = [kind for kind in np.unique(boxes.kind).tolist() if not paints[kind].state]
    which, classes = _classes(scene) if kinds == [0] else (None, ())
    if which is None:
        return boxes, paints
    boxes, mine = boxes.copy(), boxes.kind == 0
    boxes.kind[mine] = len(paints) + which[boxes.job[mine]]
    return boxes, (*paints, *classes)


def _classes(scene: Scene) -> tuple[NDArray[np.intp] | None, Sequence[Paint]]:
    """Each job's class, and how they are drawn: by user, the largest first, where there are
    several, else by queue, else, of many jobs, by wait."""
    uses = scene.uses[scene.uses.job >= 0]
    areas = (uses.high - uses.low) * (uses.end - uses.start) * uses.share
    of_jobs = np.bincount(uses.job, areas, len(scene.jobs))
    for what, words in scene.owners.items():
        names, which = np.unique(words, return_inverse=True)
        if len(names) > 1:
            order = np.argsort(-np.bincount(which, of_jobs), kind="stable")
            shown = [f"{what} {visible(str(names[k])) or 'unknown'}" for k in order[:SHOWN]]
            if len(names) > SHOWN:
                shown.append(counted(len(names) - SHOWN, f"other {what}"))
            classes = np.minimum(np.argsort(order)[which], SHOWN)
            return classes, list(map(Paint, shown, (*COLOURS, GREY)))
    if scene.header.unit != SECOND or len(scene.jobs) <= MANY:
        return None, ()
    return np.searchsorted([*WAITS], scene.waits), [*WAITS.values()]
