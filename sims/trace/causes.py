"""The chain of causes behind one event: the event, its cause, the cause's cause, to the first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from io import BytesIO
from zlib import compress, decompress

from attrs import define, field

from actors.runtime import Record
from sims.errors import InputError
from sims.log import LogFile

BLOCK = 4096
"""Lines that are packed together."""


def causes(log: LogFile, seq: int) -> list[Record]:
    """The event `seq`, its cause, the cause's cause, and so on to the first.

    Raises InputError where there is no such event. Only the events of the chain and the last are
    decoded: an event's number is its line's, or the log is refused.
    """
    head = Lines()
    tail: deque[bytes] = deque(maxlen=2)
    number = 0
    for number, line in enumerate(log.lines(), start=1):
        if number <= seq + 1:
            head.append(line)
        tail.append(line)
    with log.skimmed():
        chain = list(_chain(log, head, seq)) if 0 <= seq < number else []
        # The last line, or the one before where that is cut.
        if log.decoded(max(number, 1), tail[-1] if tail else b"") is None:
            log.decoded(number - 1, tail[0])
    if not chain:
        early = "" if log.ended else ", where the log stops early"
        problem = f"{seq} is not in the log"
        raise InputError(str(log.path), "SEQ", problem, f"0 to {log.read - 1}{early}")
    return chain


@define
class Lines:
    """Many lines, packed: a million of them as they are take 200 MB, this way 15."""

    _packed: list[bytes] = field(factory=list)
    _block: list[bytes] = field(factory=list)
    """The last ones."""
    _open: tuple[int, list[bytes]] = (-1, [])
    """The block that was looked into last: a chain goes back through one after the other."""

    def append(self, line: bytes) -> None:
        """One more, its end included."""
        self._block.append(line)
        if len(self._block) == BLOCK:
            self._packed.append(compress(b"".join(self._block), 1))
            self._block.clear()

    def __getitem__(self, number: int) -> bytes:
        block, place = divmod(number, BLOCK)
        if block == len(self._packed):
            return self._block[place]
        if self._open[0] != block:
            self._open = block, BytesIO(decompress(self._packed[block])).readlines()
        return self._open[1][place]


def _chain(log: LogFile, lines: Lines, seq: int) -> Iterator[Record]:
    now: int | None = seq
    while now is not None:
        record = log.decoded(now + 1, lines[now])
        if record is None:
            return
        yield record
        now = record.cause
