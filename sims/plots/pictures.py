"""Pictures of a run by name: what `holdfast plot` draws, and what a notebook shows."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from attrs import frozen

from actors.runtime import Record
from sims.plots.areas import draw_bandwidth, draw_ledger, draw_queue
from sims.plots.figure import Framing, check_installed, check_suffix, save
from sims.plots.gantt import draw_jobs, draw_processors
from sims.plots.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE = Framing()
"""All of the run, as large as it needs."""


class What(enum.Enum):
    """What can be drawn."""

    GANTT = "gantt"
    """By processor."""
    JOBS = "jobs"
    """By job."""
    LEDGER = "ledger"
    BANDWIDTH = "bandwidth"
    QUEUE = "queue"


DRAWN: Mapping[What, Callable[[Scene, Framing], Figure]] = MappingProxyType(
    {
        What.GANTT: draw_processors,
        What.JOBS: draw_jobs,
        What.LEDGER: draw_ledger,
        What.BANDWIDTH: draw_bandwidth,
        What.QUEUE: draw_queue,
    }
)


def draw(records: Iterable[Record], what: What, framing: Framing = WHOLE) -> Figure:
    """The run that `records` tell, drawn. Raises InputError for what cannot be, and without
    matplotlib."""
    check_installed()
    from matplotlib import rc_context

    scene = Scene.of(records)
    with rc_context({"text.parse_math": False}):  # a $ in a name is no formula
        return DRAWN[what](scene, framing)


def plot(records: Iterable[Record], what: What, path: Path, framing: Framing = WHOLE) -> Path:
    """Draw the run that `records` tell; the suffix of `path` says how. Returns `path`.

    Raises InputError for another suffix, without matplotlib, and where it cannot be written.
    """
    check_suffix(path)
    return save(draw(records, what, framing), path, framing.dpi)


@frozen
class Picture:
    """A picture that a notebook shows."""

    png: bytes

    @classmethod
    def of(cls, records: Iterable[Record], what: What, framing: Framing = WHOLE) -> Picture:
        """As `plot`, without a file."""
        file = BytesIO()
        draw(records, what, framing).savefig(file, dpi=framing.dpi, format="png")
        return cls(file.getvalue())

    def _repr_png_(self) -> bytes:
        return self.png
