"""Keeps a log's events for a page, compressed while the log is read.

A million events take some tens of megabytes; they are unpacked piece by piece when the page is
written.
"""

from __future__ import annotations

import zlib
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import orjson
from attrs import define, field
from numpy.typing import NDArray

from actors.runtime import Record
from sims.errors import visible
from sims.history.reader import History
from sims.history.rows import JobRow, RunRow
from sims.telling import event_text

Numbers = NDArray[np.int64]
V = TypeVar("V", Sequence[str], NDArray[Any])

DIGITS = 6
"""Decimals of an event's time in the page: twice as many as are shown, so that none shown
differs."""
PIECE = 4096
"""Number of events, or jobs, that are packed or written together."""
QUICK, SMALL = 1, 5
"""Levels of zlib compression in memory, chosen for speed, and of the page itself, which the default
level would make 2 % smaller in half as much time again."""
NOTHING = -1
"""Value that stands for an event without a cause."""


@define(eq=False)
class Story:
    """The events of a log: their times, causes and texts, and the events of each job's life.

    A job's life consists of its submission, its runs' starts and ends, and its end.
    """

    places: Mapping[str, int]
    """Maps a job's name to its place in the order of submission, as soon as it is submitted."""
    text_of: Callable[[Record], str] = lambda record: event_text(record.event)
    """Returns the text of an event on the page."""
    _times: array[float] = field(init=False, factory=lambda: array("d"))
    _causes: array[int] = field(init=False, factory=lambda: array("i"))
    _packed: list[bytes] = field(init=False, factory=list)
    """Compressed texts of PIECE events each, with a line for each event."""
    _words: list[str] = field(init=False, factory=list)
    """Texts of the latest events, which are not packed yet."""
    _rows: array[int] = field(init=False, factory=lambda: array("i"))
    _lives: array[int] = field(init=False, factory=lambda: array("i"))
    """Numbers of the events of all lives; `_rows` has the job's row of each."""

    def hear(self, record: Record) -> None:
        """Keep the next event of the log: its time, its cause and its text."""
        self._times.append(record.t)
        self._causes.append(NOTHING if record.cause is None else record.cause)
        self._words.append(self.text_of(record))
        if len(self._words) == PIECE:
            self._pack()

    def _pack(self) -> None:
        self._packed.append(zlib.compress("\n".join(self._words).encode(), QUICK))
        self._words.clear()

    def listen(self, history: History) -> None:
        """Keep the lives of the jobs that this history reads of. `places` must know a job before
        its first run starts."""
        history.take(RunRow, lambda it: self.live(it.job, it.ended_by), self._start)
        history.take(JobRow, self._job_over)

    def _start(self, row: RunRow) -> None:
        self.live(row.job, row.seq)

    def _job_over(self, row: JobRow) -> None:
        self.live(row.name, row.seq)
        self.live(row.name, row.ended_by)

    def live(self, job: str, seq: int | None) -> None:
        """Add an event, by its number, to a job's life; None: the log ends before it."""
        place = self.places[job]
        # One event may begin and end many copies of a job: a log of copies has 20 for each event.
        if seq is not None and not (
            self._lives and self._lives[-1] == seq and self._rows[-1] == place
        ):
            self._rows.append(place)
            self._lives.append(seq)

    # --- written ------------------------------------------------------------------------------

    def pieces(self, jobs: Sequence[str], shown: Iterable[Numbers]) -> Iterator[bytes]:
        """Yield the JSON that `page.js` reads, in pieces.

        It contains the names of `jobs`, their lives, and three sets of events: those with numbers
        in `shown`, those of all lives, and the direct and indirect causes of both. Event numbers
        are written as differences of consecutive ones, which take a fraction of the space.
        """
        kept = self._kept(shown)
        yield b'{"jobs":'
        yield from _listed([visible(job) for job in piece] for piece in _cut(jobs))
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
        """Return the numbers of the events that the page holds, ascending: those in `shown`, those
        of all lives, and the direct and indirect causes of both."""
        kept, causes = bytearray(len(self._causes)), self._causes
        for events in (*shown, np.asarray(self._lives)):
            for now in (it for piece in _cut(events) for it in piece.tolist()):
                # Stop at an event that is kept already: so are all of its causes.
                while now != NOTHING and not kept[now]:
                    kept[now] = True
                    now = causes[now]
        return np.flatnonzero(np.frombuffer(kept, np.uint8))

    def _steps_of_lives(self) -> Iterator[list[list[int]]]:
        """Yield the jobs' lives in order of submission, PIECE jobs at a time, a list of numbers for
        each job.

        The numbers are the differences of consecutive event numbers of the life; the first one is
        relative to the first event of the preceding life.
        """
        rows, events = np.asarray(self._rows), np.asarray(self._lives)
        order = np.lexsort((events, rows))
        rows, events = rows[order], events[order]
        new = np.diff(rows, prepend=-1) != 0
        once = new | (
            np.diff(events, prepend=-1) != 0
        )  # one event may concern several runs of a job
        rows, events, new = rows[once], events[once], new[once]
        firsts = np.flatnonzero(new)
        steps = np.diff(events, prepend=0)
        steps[firsts] = np.diff(events[firsts], prepend=0)
        edges = [*firsts.tolist(), len(steps)]
        for first in range(0, len(firsts), PIECE):
            ends = edges[first : first + PIECE + 1]
            yield [steps[one:other].tolist() for one, other in pairwise(ends)]

    def _words_of(self, kept: Numbers) -> Iterator[list[str]]:
        """Yield the texts of these events, unpacking PIECE events at a time."""
        for k, packed in enumerate([*self._packed, None]):
            texts = zlib.decompress(packed).decode().split("\n") if packed else self._words
            low, high = np.searchsorted(kept, (k * PIECE, (k + 1) * PIECE))
            yield [texts[it] for it in (kept[low:high] - k * PIECE).tolist()]


def _cut(values: V) -> Iterator[V]:
    """Yield the values in slices of PIECE."""
    for first in range(0, len(values), PIECE):
        yield values[first : first + PIECE]


def _listed(pieces: Iterable[object]) -> Iterator[bytes]:
    """Yield the JSON of one list, whose entries are those of all pieces, one piece after the
    other."""
    before = b"["
    for piece in pieces:
        text = orjson.dumps(piece, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
        if text:
            yield before + text
            before = b","
    yield b"[]" if before == b"[" else b"]"


def in_letters(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the pieces as one gzip file in base64, whose characters cannot close an HTML
    element."""
    packer, left = zlib.compressobj(SMALL, wbits=16 + zlib.MAX_WBITS), b""
    for piece in pieces:
        left += packer.compress(piece)
        # Three bytes are four letters: only whole groups can be encoded piece by piece.
        whole = len(left) - len(left) % 3
        yield b64encode(left[:whole]).decode()
        left = left[whole:]
    yield b64encode(left + packer.flush()).decode()
