"""Walk the chain of causes back from one event of a log."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import attrs

from actors.runtime import Record
from sims.errors import InputError
from sims.log import LogFile
from sims.telling import told


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a log of `holdfast run`")
    parser.add_argument("seq", metavar="SEQ", type=int, help="number of the event to explain")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    chain = list(causes(arguments.log, arguments.seq))
    if arguments.json:
        print(json.dumps([_as_json(record) for record in chain]))
    else:
        print("\n".join(map(_line, chain)))
    return 0


def causes(path: Path, seq: int) -> Iterator[Record]:
    """The event `seq`, its cause, the cause's cause, and so on to the first.

    Raises InputError where there is no such event. Only the events of the chain are decoded: an
    event's number is its line's.
    """
    log = LogFile(path)
    lines = list(islice(log.lines(), max(seq, 0) + 1))
    if not 0 <= seq < len(lines):
        known = f"0 to {len(lines) - 1}" if lines else "a log with a whole event"
        raise InputError(str(path), "SEQ", f"{seq} is not in the log", known)
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


def _line(record: Record) -> str:
    because = "" if record.cause is None else f"  because of #{record.cause}"
    return f"#{record.seq:<8} t = {record.t:<12g} {told(record.event)}{because}"
