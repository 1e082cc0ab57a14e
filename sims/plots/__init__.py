"""Pictures, drawn from logs and tables after a run; needs `pip install 'holdfast[plot]'`.

This module reads `palette.toml` and defines the colours, signs and labels of all pictures.
"""

from __future__ import annotations

import enum
import tomllib
from pathlib import Path

from attrs import frozen

_TABLES = tomllib.loads(Path(__file__).with_name("palette.toml").read_text(encoding="utf-8"))
COLOURS: dict[str, str] = _TABLES["colours"]
GREY = COLOURS["grey"]
CYCLE = [COLOURS[name] for name in _TABLES["cycle"]]
CLASSES = [COLOURS[name] for name in _TABLES["classes"]]
"""Colours of the largest users or queues, the largest first."""


@frozen
class Paint:
    """How one kind of box or sign is drawn: its label in the legend, its colour and its marker."""

    label: str
    colour: str
    state: bool = False
    """Whether the box shows a worker's state, which is drawn as background behind its use."""
    marker: str = ""
    """Name of a sign's marker in matplotlib."""
    glyph: str = ""
    """Name of a sign's marker in bokeh."""
    of: str = ""
    """Use of workers, by its name in the ledger, to which a note's slices belong."""


def _paints(what: str) -> dict[str, Paint]:
    return {
        name: Paint(**about | {"colour": COLOURS[about["colour"]]})
        for name, about in _TABLES[what].items()
    }


USES = _paints("uses")
"""Maps each use of the ledger to its paint."""
NOTES = _paints("notes")
"""Maps each note of a slice that is painted in a colour of its own to its paint."""
USE_PAINTS = (*USES.values(), *NOTES.values())
"""Paints of the boxes of uses; a box's `kind` is an index here."""
KIND = {name: kind for kind, name in enumerate((*USES, *NOTES))}
"""Maps the name of each use or note to its index in USE_PAINTS."""

_RUNS = _paints("runs")
RUN_PAINTS = (*_RUNS.values(),)
"""Paints of the boxes of runs; a box's `kind` is an index here."""
RUN_KIND = {name: kind for kind, name in enumerate(_RUNS)}
"""Maps each outcome, and each other kind of box in a job's row, to its index in RUN_PAINTS."""

WAITS = dict(zip(_TABLES["longest"], _paints("waits").values(), strict=True))
"""Maps the longest wait of each class of jobs, in seconds, to the class's paint."""

LEVELS = {name: COLOURS[colour] for name, colour in _TABLES["levels"].items()}
"""Maps each level that is stacked over time to its colour."""


class Sign(enum.IntEnum):
    """Kinds of signs, each of which marks an event at one instant."""

    ERROR = 0
    CRASH = 1
    FAULT = 2
    """A worker went DOWN by a fault, or while a run held it, and no run was lost."""
    IGNORED = 3
    FATAL = 4
    CHECKPOINT = 5


SIGNS: dict[int, Paint] = {Sign[name]: paint for name, paint in _paints("signs").items()}
