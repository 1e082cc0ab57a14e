"""Walk the chain of causes back from one event of a log."""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from shutil import get_terminal_size
from zlib import compress, decompress

import attrs
from attrs import define, field

from actors.events import ScenarioStarted
from actors.runtime import Record
from sims.cli.logs import reading
from sims.errors import InputError
from sims.log import LogFile
from sims.telling import counted, moment, told

BLOCK = 4096
"""Lines that are packed together."""
PROMPT, FOLD = 1, 1
"""Lines of a screen that stay for the shell's prompt, and for what is left out."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("seq", metavar="SEQ", type=int, help="number of the event to explain")
    parser.add_argument("--all", action="store_true", help="the whole chain, however long")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    with reading(arguments.log) as log:
        chain = causes(log, arguments.seq)
    if arguments.json:
        print(json.dumps([_as_json(record) for record in chain]))
    else:
        begun = chain[-1].event
        unit = begun.unit if isinstance(begun, ScenarioStarted) else ""
        lines = [_line(record, unit) for record in chain]
        print("\n".join(lines if arguments.all else folded(lines)))
    return 0


def folded(lines: Sequence[str]) -> Iterator[str]:
    """As many lines of a chain as fit a screen: the first ones, which explain most, and the last.

    At least one of each, however small the screen, and all but them told as a number.
    """
    width, height = get_terminal_size()
    rows = [max(1, -(-len(line) // width)) for line in lines]
    if sum(rows) <= height - PROMPT:
        yield from lines
        return
    room = height - PROMPT - FOLD - rows[-1]
    shown = max(1, sum(taken <= room for taken in accumulate(rows[:-1])))
    yield from lines[:shown]
    hidden = len(lines) - shown - 1
    if hidden:
        yield f"... {counted(hidden, 'cause')} in between: --all tells them"
    yield lines[-1]


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


def _as_json(record: Record) -> dict[str, object]:
    fields = attrs.asdict(record.event, value_serializer=_plain)
    about = {"seq": record.seq, "t": record.t, "event": type(record.event).__name__}
    return about | ({} if record.cause is None else {"cause": record.cause}) | fields


def _plain(_: object, __: object, value: object) -> object:
    return getattr(value, "value", value)


def _line(record: Record, unit: str) -> str:
    because = "" if record.cause is None else f"  because of #{record.cause}"
    return f"#{record.seq:<8} {moment(record.t, unit):<14} {told(record.event)}{because}"
