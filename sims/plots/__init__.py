"""Pictures, drawn from logs and tables after the fact; needs `pip install 'holdfast[plot]'`.

Here: how what is drawn looks; `palette.toml`, read.
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
"""Of the largest users or queues."""


@frozen
class Paint:
    """How one kind of box, or of sign, is drawn."""

    label: str
    colour: str
    state: bool = False
    """A worker's state: drawn as background, behind what it does."""
    marker: str = ""
    """Of a sign, as matplotlib calls it."""
    glyph: str = ""
    """The same, as bokeh calls it."""


def _paints(what: str) -> dict[str, Paint]:
    return {
        name: Paint(**about | {"colour": COLOURS[about["colour"]]})
        for name, about in _TABLES[what].items()
    }


USES = _paints("uses")
"""By use."""
MESSAGES = _paints("messages")
"""By the slices' note, where that is no data."""
USE_PAINTS = (*USES.values(), *MESSAGES.values())
"""A box's kind is an index here."""
KIND = {name: kind for kind, name in enumerate((*USES, *MESSAGES))}
"""Of a use, or of a message."""

_RUNS = _paints("runs")
RUN_PAINTS = (*_RUNS.values(),)
RUN_KIND = {name: kind for kind, name in enumerate(_RUNS)}
"""Of an outcome, or of what else lies in a job's row."""

WAITS = dict(zip(_TABLES["longest"], _paints("waits").values(), strict=True))
"""By the longest wait, in seconds."""

LEVELS = {name: COLOURS[colour] for name, colour in _TABLES["levels"].items()}
"""Colours of what is stacked over time."""


class Sign(enum.IntEnum):
    """What happens at one instant."""

    ERROR = 0
    CRASH = 1
    FAULT = 2
    """DOWN by a fault, or while held, and no run was lost by it."""
    IGNORED = 3
    FATAL = 4
    CHECKPOINT = 5


SIGNS: dict[int, Paint] = {Sign[name]: paint for name, paint in _paints("signs").items()}
