"""What a page tells of a log's events, packed while the log is read: a million events take some
tens of megabytes, and are unpacked piece by piece when the page is written."""

from __future__ import annotations

import zlib
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import orjson
from attrs import define, field
from numpy.typing import NDArray

from actors.runtime import Record
from sims.history import Job, Listener, Run
from sims.telling import told

Numbers = NDArray[np.int64]
V = TypeVar("V", Sequence[str], NDArray[Any])

DIGITS = 6
"""Of an event's time: twice as many as are shown, so that it is shown as if it had all."""
PIECE = 4096
"""Events, or jobs, that are packed or written together."""
QUICK = 1
"""Level of compression in memory; the page itself is packed better."""
NOTHING = -1
"""Stands for no cause."""


@define(eq=False)
class Story(Listener):
    """The events of a log: their times, causes and words, and which belong to each job's life."""

    row_of: Callable[[str], int]
    """A job's place in the order of submission."""
    _times: array[float] = field(init=False, factory=lambda: array("d"))
    _causes: array[int] = field(init=False, factory=lambda: array("i"))
    _packed: list[bytes] = field(init=False, factory=list)
    """Words of PIECE events each, a line an event."""
    _words: list[str] = field(init=False, factory=list)
    """Those of the last events, which are not packed yet."""
    _rows: array[int] = field(init=False, factory=lambda: array("i"))
    _lives: array[int] = field(init=False, factory=lambda: array("i"))
    """Numbers of the events of lives, and (`_rows`) whose lives they belong to."""

    def hear(self, record: Record) -> None:
        """Take in the log's next event."""
        self._times.append(record.t)
        self._causes.append(NOTHING if record.cause is None else record.cause)
        self._words.append(told(record.event))
        if len(self._words) == PIECE:
            self._pack()

    def _pack(self) -> None:
        self._packed.append(zlib.compress("\n".join(self._words).encode(), QUICK))
        self._words.clear()

    def job_submitted(self, job: Job, record: Record) -> None:
        self._live(job, record)

    def run_started(self, run: Run, record: Record) -> None:
        self._live(run.job, record)

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        self._live(run.job, record)

    def job_ended(self, job: Job, record: Record) -> None:
        self._live(job, record)

    def _live(self, job: Job, record: Record) -> None:
        self._rows.append(self.row_of(job.name))
        self._lives.append(record.seq)

    # --- written ------------------------------------------------------------------------------

    def pieces(self, jobs: Sequence[str], shown: Iterable[Numbers]) -> Iterator[bytes]:
        """The JSON that `page.js` reads, in pieces: the names of `jobs`, their lives, and the
        events whose numbers are in `shown`, those of all lives, and the causes of all of them.
        Numbers are told as steps from one to the next, which take a fraction of the place."""
        kept = self._kept(shown)
        yield b'{"jobs":'
        yield from _listed(_cut(jobs))
        yield b',"lives":'
        yield from _listed(self._steps_of_lives())
        yield b',"events":{"seq":'
        yield from _listed(_cut(np.diff(kept, prepend=0)))
        yield b',"t":'
        yield from _listed(_cut(np.round(np.array(self._times)[kept], DIGITS)))
        yield b',"back":'
        causes = np.array(self._causes, np.int64)[kept]
        yield from _listed(_cut(np.where(causes == NOTHING, 0, kept - causes)))
        yield b',"text":'
        yield from _listed(self._words_of(kept))
        yield b"}}"

    def _kept(self, shown: Iterable[Numbers]) -> Numbers:
        """Numbers of the events that the page tells of, ascending."""
        kept, causes = bytearray(len(self._causes)), self._causes
        for events in (*shown, np.asarray(self._lives)):
            for now in (it for piece in _cut(events) for it in piece.tolist()):
                while now != NOTHING and not kept[now]:
                    kept[now] = True
                    now = causes[now]
        return np.flatnonzero(np.frombuffer(kept, np.uint8))

    def _steps_of_lives(self) -> Iterator[list[list[int]]]:
        """The events of each job's life as steps, the first from the first of the life before."""
        rows, events = np.array(self._rows), np.array(self._lives, np.int64)
        order = np.argsort(rows, kind="stable")
        rows, events = rows[order], events[order]
        new = np.diff(rows, prepend=-1) != 0
        once = new | (np.diff(events, prepend=-1) != 0)  # a line may tell of several runs of a job
        rows, events, new = rows[once], events[once], new[once]
        firsts = np.flatnonzero(new)
        steps = np.diff(events, prepend=0)
        steps[firsts] = np.diff(events[firsts], prepend=0)
        edges = [*firsts.tolist(), len(steps)]
        for first in range(0, len(firsts), PIECE):
            ends = edges[first : first + PIECE + 1]
            yield [steps[one:other].tolist() for one, other in pairwise(ends)]

    def _words_of(self, kept: Numbers) -> Iterator[list[str]]:
        for k, packed in enumerate([*self._packed, None]):
            told_of = zlib.decompress(packed).decode().split("\n") if packed else self._words
            low, high = np.searchsorted(kept, (k * PIECE, (k + 1) * PIECE))
            yield [told_of[it] for it in (kept[low:high] - k * PIECE).tolist()]


def _cut(values: V) -> Iterator[V]:
    """The values, PIECE at a time."""
    for first in range(0, len(values), PIECE):
        yield values[first : first + PIECE]


def _listed(pieces: Iterable[object]) -> Iterator[bytes]:
    """The pieces of a list as one in JSON."""
    before = b"["
    for piece in pieces:
        text = orjson.dumps(piece, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
        if text:
            yield before + text
            before = b","
    yield b"[]" if before == b"[" else b"]"


def in_letters(pieces: Iterable[bytes]) -> Iterator[str]:
    """The pieces as one gzip file in base64: letters alone, of which none could close the element
    of a page that holds them."""
    packer, left = zlib.compressobj(wbits=16 + zlib.MAX_WBITS), b""
    for piece in pieces:
        left += packer.compress(piece)
        whole = len(left) - len(left) % 3
        yield b64encode(left[:whole]).decode()
        left = left[whole:]
    yield b64encode(left + packer.flush()).decode()
