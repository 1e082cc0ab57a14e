"""Pictures of a run by name: what `holdfast plot` draws, and what a notebook shows."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from attrs import frozen

from actors.runtime import Record
from sims.plots.framing import Framing
from sims.plots.gantt import draw_jobs, draw_processors
from sims.plots.ledger import draw_ledger
from sims.plots.scene import Scene
from sims.plots.steps import draw_bandwidth, draw_queue

Draw = Callable[[Scene, Path, Framing], Path]


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


DRAWN: Mapping[What, Draw] = MappingProxyType(
    {
        What.GANTT: draw_processors,
        What.JOBS: draw_jobs,
        What.LEDGER: draw_ledger,
        What.BANDWIDTH: draw_bandwidth,
        What.QUEUE: draw_queue,
    }
)


def plot(records: Iterable[Record], what: What, path: Path, framing: Framing = WHOLE) -> Path:
    """Draw the run that `records` tell; the suffix of `path` says how. Returns `path`.

    Raises InputError for another suffix, without matplotlib, and where it cannot be written.
    """
    return DRAWN[what](Scene.of(records, ledger=what is What.LEDGER), path, framing)


@frozen
class Picture:
    """A picture that a notebook shows."""

    png: bytes

    @classmethod
    def of(cls, records: Iterable[Record], what: What, framing: Framing = WHOLE) -> Picture:
        """As `plot`, without a file."""
        with TemporaryDirectory(prefix="holdfast-") as folder:
            return cls(plot(records, what, Path(folder) / "picture.png", framing).read_bytes())

    def _repr_png_(self) -> bytes:
        return self.png
