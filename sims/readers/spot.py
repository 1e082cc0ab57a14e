"""Read spot-instance traces, each with the number of available instances at each tick, and folders
of traces.

In a folder each trace is a platform, and each instance of the trace a worker.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from attrs import frozen

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.documents import Document, document
from sims.readers.files import UNREADABLE
from sims.readers.timeline import Timeline
from sims.tables.fields import NOT_EMPTY, Natural, NotNegative, Positive

MOST_BYTES, MOST_FILES = 1 << 28, 10_000
"""Largest number of bytes, and of files, that an archive may unpack to."""


UP, DOWN = WorkerState.UP, WorkerState.DOWN


class _Metadata(Document):
    gap_seconds: Positive


class _File(Document):
    metadata: _Metadata
    data: Annotated[list[Natural], NOT_EMPTY]
    prices: Annotated[list[NotNegative], NOT_EMPTY] | None = None


@frozen
class SpotTrace:
    """Counts of available instances at regular ticks; the caller decides what a count means for a
    worker."""

    source: str
    gap_seconds: float
    """Seconds from one tick to the next."""
    counts: tuple[int, ...]
    """Number of instances at each tick, the first at time 0; a count holds until the next tick."""
    prices: tuple[float, ...] = ()
    """Price of an instance per hour from each tick to the next; empty if the file has none."""

    def mapped(self, states: Mapping[int, WorkerState]) -> Timeline:
        """Return the timeline, in seconds, of one worker whose state `states` names for each count.

        Raises InputError for a count of the trace that `states` does not map, naming the count.
        """
        for tick, instances in enumerate(self.counts):
            if instances not in states:
                given = ", ".join(map(str, sorted(states))) or "none"
                problem = f"no worker state is given for trace state {instances} (given: {given})"
                known = ", ".join(map(str, sorted(set(self.counts))))
                accepted = f"a mapping for each of {known}"
                raise InputError(self.source, f"data[{tick}]", problem, accepted)
        return Timeline.of_slots([states[count] for count in self.counts], self.gap_seconds)

    def worker(self, number: int) -> Timeline:
        """Return the timeline of worker number `number`, from 0: it is UP while more than so many
        instances are available, else DOWN.

        The trace counts instances but does not identify them: the worker with the highest number is
        assumed to leave first, so that a drop by one takes one worker.
        """
        states = [UP if count > number else DOWN for count in self.counts]
        return Timeline.of_slots(states, self.gap_seconds)

    def nodes(self) -> tuple[Timeline, ...]:
        """Return the timelines of as many workers as the largest count, at least one."""
        return tuple(map(self.worker, range(max(1, *self.counts))))


def read_spot_trace(path: Path) -> SpotTrace:
    """Read a trace such as `{"metadata": {"gap_seconds": 195}, "data": [0, 1, ...]}`, plain or
    compressed.

    The file may have `prices`, one for each entry of `data`. Raises InputError where the file
    cannot be read, a field is missing, the gap is not above 0, a count is not a whole number of at
    least 0, or a price is negative or missing.
    """
    file = document(_File, path)
    prices = file.prices or ()
    if prices and len(prices) != len(file.data):
        problem = f"{len(prices)} prices for {len(file.data)} ticks"
        raise InputError(str(path), "prices", problem, "one for each of `data`")
    return SpotTrace(str(path), file.metadata.gap_seconds, tuple(file.data), tuple(prices))


# --- folders --------------------------------------------------------------------------------------


@contextmanager
def spot_folder(path: Path) -> Iterator[Path]:
    """Yield the folder at `path`, or a temporary folder with the unpacked files of a tar archive.

    The temporary folder is removed at the end of the `with` block. Raises InputError where `path`
    is neither a folder nor a tar archive.
    """
    if path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as unpacked:
        try:
            _unpack(path, unpacked)
        except (*UNREADABLE, tarfile.TarError) as error:
            accepted = "a folder or tar archive of spot-instance JSON"
            raise InputError(str(path), "", str(error), accepted) from None
        yield Path(unpacked)


def _unpack(path: Path, folder: str) -> None:
    """Unpack a tar archive. Raises OSError where it holds more than `MOST_BYTES` bytes or
    `MOST_FILES` files."""
    size = 0
    with tarfile.open(path) as archive:
        for files, member in enumerate(archive):
            size += member.size
            if size > MOST_BYTES or files == MOST_FILES:
                raise OSError(f"it holds more than {MOST_BYTES:,} bytes, or {MOST_FILES:,} files")
            # The filter `data` refuses members that would be written outside the folder.
            archive.extract(member, folder, filter="data")


def spot_groups(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield each folder below `folder` that has traces: its relative path and the traces' paths in
    order.

    Raises InputError where there is no trace.
    """
    groups: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*.json")):
        groups[path.parent].append(path)
    if not groups:
        raise InputError(str(folder), "", "no .json file in it", "spot-instance traces")
    for parent, files in groups.items():
        yield str(parent.relative_to(folder)), files


def turned_to(letters: str, start: int) -> str:
    """Return the string of states rotated so that it begins at slot `start`; earlier slots go to
    the end."""
    start %= len(letters)
    return letters[start:] + letters[:start]
