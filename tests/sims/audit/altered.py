"""Logs with one event altered, left out or added."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from actors.events import ScenarioStarted
from actors.runtime import Event, Record


def place(records: Sequence[Record], kind: type[Event], nth: int = 0, **fields: object) -> int:
    """Where the nth event of a kind is, of those with these fields."""
    places = [
        k
        for k, it in enumerate(records)
        if isinstance(it.event, kind)
        and all(getattr(it.event, name) == value for name, value in fields.items())
    ]
    return places[nth]


def changed(records: Sequence[Record], at: int, **fields: object) -> list[Record]:
    """The event there has other fields."""
    told = list(records)
    told[at] = evolve(told[at], event=evolve(told[at].event, **fields))
    return told


def told_of(records: Sequence[Record], said: str, other: str) -> list[Record]:
    """The scenario in the first line says something else, at each place where it says that."""
    head = records[0].event
    assert isinstance(head, ScenarioStarted) and said in head.text
    return changed(records, 0, text=head.text.replace(said, other))


def without(records: Sequence[Record], at: int) -> list[Record]:
    """The event there is left out."""
    return renumbered([*records[:at], *records[at + 1 :]])


def then(
    records: Sequence[Record], at: int, *events: Event, cause: int | None = None
) -> list[Record]:
    """These events follow at once on the one there, and are caused by it, or by `cause`."""
    before = records[at]
    by = before.seq if cause is None else cause
    more = [Record(-1 - k, before.t, by, event) for k, event in enumerate(events)]
    return renumbered([*records[: at + 1], *more, *records[at + 1 :]])


def renumbered(records: Sequence[Record]) -> list[Record]:
    """In order; a cause that is gone is the event before."""
    new = {it.seq: k for k, it in enumerate(records)}
    return [
        evolve(it, seq=k, cause=None if not k else new.get(it.cause, k - 1))
        for k, it in enumerate(records)
    ]
