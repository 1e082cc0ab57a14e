"""Records as folds take them: what one line tells of many events is those events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from actors.events import Compound
from actors.runtime import Record


def parts(record: Record) -> Iterable[Record]:
    """The record, or those of the events that it tells, all under its number and cause.

    Raises ValueError where what it tells does not fit together.
    """
    if not isinstance(record.event, Compound):
        return (record,)
    seq, t, cause = record.seq, record.t, record.cause
    return [Record(seq, t, cause, part) for part in record.event.parts()]


def parted(records: Iterable[Record]) -> Iterator[Record]:
    """All records, each in its parts."""
    for record in records:
        yield from parts(record)
