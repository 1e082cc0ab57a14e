"""Logs with one thing wrong: an event dropped, moved, doubled or altered.

What is wrong does not show in the numbering: events are numbered afresh, causes follow, and times
do not run backwards. Only the world's laws can tell.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
from attrs import evolve, frozen
from numpy.random import Generator

from actors.events import JobsLeftOut, ScenarioStarted, WorkerSpeedChanged
from actors.runtime import Event, Record

REACH = 12
"""How far an event is moved at most."""
NAMES = frozenset(
    (
        *("scenario", "seed", "policy", "decider", "unit", "schema", "workers"),
        *("reason", "kinds", "settings"),
    )
)
"""Fields that name something and mean nothing to the world."""


class Change(enum.Enum):
    """What is done to a log."""

    DROP = "drop"
    MOVE = "move"
    DOUBLE = "double"
    ALTER = "alter"


@frozen
class Mutant:
    """A log with one thing wrong."""

    change: Change
    records: list[Record]
    what: str


def mutants(records: Sequence[Record], change: Change, rng: Generator) -> Iterator[Mutant]:
    """Mutants that change the meaning, without end."""
    make = {
        Change.DROP: _drop,
        Change.MOVE: _move,
        Change.DOUBLE: _double,
        Change.ALTER: _alter,
    }[change]
    while True:
        made = make(records, rng)
        if made is not None:
            yield made


def _drop(records: Sequence[Record], rng: Generator) -> Mutant | None:
    at = int(rng.integers(len(records)))
    if _says_nothing_new(records, at):
        return None
    left = [*records[:at], *records[at + 1 :]]
    return Mutant(Change.DROP, _renumbered(left), f"without {_told(records[at])}")


def _double(records: Sequence[Record], rng: Generator) -> Mutant | None:
    at = int(rng.integers(len(records)))
    if isinstance(records[at].event, WorkerSpeedChanged):
        return None  # twice the same speed is that speed
    twice = [*records[: at + 1], *records[at:]]
    return Mutant(Change.DOUBLE, _renumbered(twice), f"twice {_told(records[at])}")


def _move(records: Sequence[Record], rng: Generator) -> Mutant | None:
    at = int(rng.integers(len(records)))
    to = at + int(rng.integers(-REACH, REACH + 1))
    if to == at or not 0 <= to < len(records):
        return None
    rest = [*records[:at], *records[at + 1 :]]
    jumped = records[to:at] if to < at else records[at + 1 : to + 1]
    t = rest[to - 1].t if to else rest[0].t
    if t == records[at].t and not any(_related(records[at].event, r.event) for r in jumped):
        return None
    rest.insert(to, evolve(records[at], t=t))
    return Mutant(Change.MOVE, _renumbered(rest), f"{_told(records[at])} moved by {to - at}")


def _alter(records: Sequence[Record], rng: Generator) -> Mutant | None:
    at = int(rng.integers(len(records)))
    record = records[at]
    fields = [name for name in attrs.fields_dict(type(record.event)) if name not in NAMES]
    name = str(rng.choice(["t", *fields]))
    if name == "t":
        altered = _later_or_earlier(records, at, rng)
    else:
        value = _other(getattr(record.event, name), name, records, rng)
        if value is None:
            return None
        altered = evolve(record, event=evolve(record.event, **{name: value}))
    if altered is None or altered == record:
        return None
    changed = [*records[:at], altered, *records[at + 1 :]]
    return Mutant(Change.ALTER, changed, f"{_told(record)} altered in {name} to {_told(altered)}")


def _later_or_earlier(records: Sequence[Record], at: int, rng: Generator) -> Record | None:
    before = records[max(at - 1, 0)].t
    after = records[min(at + 1, len(records) - 1)].t
    times = [t for t in (before, (before + after) / 2, after) if t != records[at].t]
    return evolve(records[at], t=float(rng.choice(times))) if times else None


def _other(value: Any, name: str, records: Sequence[Record], rng: Generator) -> Any:
    """Another value of the same sort; None where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, enum.Enum):
        return _one_of([other for other in type(value) if other is not value], rng)
    if isinstance(value, int):
        return value + int(rng.choice((-1, 1)))
    if isinstance(value, float):
        return value * float(rng.uniform(1.001, 1.5)) if value else 0.25
    if isinstance(value, tuple):
        return _other_tuple(value, name, records, rng)
    if name == "processors":
        return _processors(value, rng)
    if isinstance(value, str):
        others = {getattr(record.event, name, value) for record in records} - {value}
        return _one_of(sorted(other for other in others if isinstance(other, str)), rng)
    return 1


def _other_tuple(
    value: tuple[Any, ...], name: str, records: Sequence[Record], rng: Generator
) -> Any:
    """Without its last part, or with another part."""
    if not value or rng.random() < 0.5:
        return value[:-1] if value else None
    at = int(rng.integers(len(value)))
    part = value[at]
    if isinstance(part, str):
        told = (getattr(record.event, name, ()) for record in records)
        part = _one_of(sorted({it for parts in told for it in parts} - {part}), rng)
    else:
        part = _other(part, name, records, rng)
    return (*value[:at], part, *value[at + 1 :])


def _processors(value: str, rng: Generator) -> str:
    first = int(value.partition(" ")[0].partition("-")[0])
    if rng.random() < 0.5:
        return f"{value} {first + 40}"
    return value.replace(str(first), str(first + 1), 1)


def _one_of(values: Sequence[Any], rng: Generator) -> Any:
    return values[int(rng.integers(len(values)))] if values else None


# --- meaning ----------------------------------------------------------------------------------


def _says_nothing_new(records: Sequence[Record], at: int) -> bool:
    """A worker's speed that was the same before."""
    event = records[at].event
    if isinstance(event, JobsLeftOut):
        return True
    if not isinstance(event, WorkerSpeedChanged):
        return False
    said = (r.event for r in reversed(records[:at]) if isinstance(r.event, WorkerSpeedChanged))
    before = next((other.speed for other in said if other.worker == event.worker), 1)
    return before == event.speed


def _related(one: Event, other: Event) -> bool:
    """Whether the order of two events of one instant means anything."""
    ours, theirs = _about(one), _about(other)
    return not ours or not theirs or bool(ours & theirs)


def _about(event: Event) -> set[tuple[str, object]]:
    """The things that an event is about; none: about everything."""
    if isinstance(event, ScenarioStarted):
        return set()
    things = {(name, getattr(event, name, None)) for name in ("job", "worker", "server")}
    return {thing for thing in things if thing[1] is not None}


# --- numbers ----------------------------------------------------------------------------------


def _renumbered(records: Sequence[Record]) -> list[Record]:
    """Numbered afresh; a cause that came to lie behind its effect gives way to the event before."""
    new = {record.seq: number for number, record in reversed(list(enumerate(records)))}
    told: list[Record] = []
    for number, record in enumerate(records):
        cause = None
        if number:
            cause = new.get(0 if record.cause is None else record.cause, number - 1)
            cause = cause if cause < number else number - 1
        told.append(evolve(record, seq=number, cause=cause))
    return told


def _told(record: Record) -> str:
    return f"#{record.seq} t={record.t!r} {record.event}"
