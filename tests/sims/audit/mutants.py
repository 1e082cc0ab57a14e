"""Logs with something wrong: an event dropped, moved, doubled or altered, or several at once.

What is wrong does not show in the numbering: events are numbered afresh, causes follow, and times
do not run backwards. Only the world's laws can tell.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

import attrs
from attrs import evolve, frozen
from numpy.random import Generator

from actors.events import (
    DeciderKind,
    EndExpected,
    IterationCompleted,
    JobCompleted,
    JobDescribed,
    JobSubmitted,
    Outcome,
    ProtectionDescribed,
    ProtectionKind,
    ReservationMade,
    RunEnded,
    RunStarted,
    ScenarioEnded,
    ScenarioStarted,
    StageStarted,
    TasksDealt,
    WorkerSpeedChanged,
    WorkloadEnded,
)
from actors.runtime import Event, Record
from policies.interface import Reason
from tests.sims.audit.elsewhere import DROPPED, Alteration
from tests.sims.audit.felt import OUTSIDE, felt
from tests.sims.audit.meaning import meaningless, related, says_nothing_new

REACH = 12
"""How far an event is moved at most."""
VAIN = 200
"""Attempts at mutants of a log: it may have nothing of what is to be changed."""
NAMES = frozenset(
    (
        *("scenario", "workers", "seed", "schema"),
        *("text", "inputs", "until", "version", "debugged"),
        *("policy", "decider", "settings", "kinds", "reason"),
        *("user", "group", "queue", "priority", "recorded_wait"),
    )
)
"""Fields that `ALTER` leaves alone: what people call the scenario, its workers and its unit; what
the reader of a log refuses; and those that `NAME` alters."""


class Change(enum.Enum):
    """What is done to a log."""

    DROP = "drop"
    MOVE = "move"
    DOUBLE = "double"
    ALTER = "alter"
    SWAP = "swap"
    """Two events change places."""
    LATE = "late"
    """All of a run, and its job's end with it, is told later than it was."""
    EARLY = "early"
    """All of a run, and its job's end with it, is told earlier than it was."""
    PROMISE = "promise"
    """What a job was promised, each time, is another start."""
    OUTCOME = "outcome"
    """A run that was lost or failed is cancelled, one that was cancelled is lost, and so on."""
    CANCELLED = "cancelled"
    """A run is cancelled half-way, and the next one starts on its members at once."""
    EXCHANGE = "exchange"
    """Two jobs change names, but where they are submitted and described."""
    NAME = "name"
    """The policy, its decider, the kinds of jobs, a reason."""
    CAUSE = "cause"


@frozen
class Mutant:
    """A log with one thing wrong."""

    change: Change
    records: list[Record]
    what: str
    outside: bool = False
    """Whether it is about what befalls a worker."""
    altered: Alteration | None = None
    """What was, where it is one field of one record."""


def mutants(
    records: Sequence[Record], change: Change, rng: Generator, of: type[Event] = Event
) -> Iterator[Mutant]:
    """Mutants that change the meaning: many, but for what a log may have little or nothing of;
    `of`: of lines of this kind, where the change is made to one line."""
    places = [k for k, record in enumerate(records) if isinstance(record.event, of)]
    for _ in range(VAIN if places else 0):
        if change in OF_ONE:
            made = OF_ONE[change](records, int(rng.choice(places)), rng)
        else:
            made = MAKERS[change](records, rng)
        if made is not None and not (made.outside and felt(made.records) == felt(records)):
            yield made


def _drop(records: Sequence[Record], at: int, rng: Generator) -> Mutant | None:
    if says_nothing_new(records, at):
        return None
    left = [*records[:at], *records[at + 1 :]]
    outside = isinstance(records[at].event, OUTSIDE)
    gone = Alteration(records[at], records[at], DROPPED)
    return Mutant(Change.DROP, _renumbered(left), f"without {_told(records[at])}", outside, gone)


def _double(records: Sequence[Record], at: int, rng: Generator) -> Mutant | None:
    event = records[at].event
    if isinstance(event, WorkerSpeedChanged):
        return None  # twice the same speed is that speed
    if isinstance(event, EndExpected) and event.since is None:
        return None  # nobody knows twice
    twice = [*records[: at + 1], *records[at:]]
    return Mutant(Change.DOUBLE, _renumbered(twice), f"twice {_told(records[at])}")


def _move(records: Sequence[Record], at: int, rng: Generator) -> Mutant | None:
    to = at + int(rng.integers(-REACH, REACH + 1))
    if to == at or not 0 <= to < len(records):
        return None
    rest = [*records[:at], *records[at + 1 :]]
    jumped = records[to:at] if to < at else records[at + 1 : to + 1]
    t = rest[to - 1].t if to else rest[0].t
    if t == records[at].t and not any(related(records[at].event, r.event) for r in jumped):
        return None
    moved = evolve(records[at], t=t)
    rest.insert(to, moved)
    what, outside = f"{_told(moved)} moved by {to - at}", isinstance(moved.event, OUTSIDE)
    elsewhere = Alteration(records[at], moved, "t")
    return Mutant(Change.MOVE, _renumbered(rest), what, outside, elsewhere)


def _alter(records: Sequence[Record], at: int, rng: Generator) -> Mutant | None:
    record = records[at]
    fields = [name for name in attrs.fields_dict(type(record.event)) if name not in NAMES]
    fields = [name for name in fields if name not in meaningless(record.event, records)]
    name = str(rng.choice(["t", *fields]))
    if name == "t":
        altered = _later_or_earlier(records, at, rng)
    else:
        altered = with_another(record, name, records, rng)
    if altered is None or altered == record:
        return None
    changed = [*records[:at], altered, *records[at + 1 :]]
    what = f"{_told(record)} altered in {name} to {_told(altered)}"
    outside = isinstance(record.event, OUTSIDE)
    return Mutant(Change.ALTER, changed, what, outside, Alteration(record, altered, name))


def with_another(
    record: Record, name: str, records: Sequence[Record], rng: Generator
) -> Record | None:
    """The record with another value of a field; None where there is none."""
    value = _other(getattr(record.event, name), name, records, rng)
    return None if value is None else evolve(record, event=evolve(record.event, **{name: value}))


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
        return _other_member(value, name, records, rng)
    if isinstance(value, int):
        return value + int(rng.choice((-1, 1) if value else (1,)))
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


def _other_member(
    value: enum.Enum, name: str, records: Sequence[Record], rng: Generator
) -> enum.Enum | None:
    """Of its enum; a kind of protection, of those that the log tells."""
    others: list[enum.Enum] = [other for other in type(value) if other is not value]
    if isinstance(value, ProtectionKind):
        told = {getattr(record.event, name, None) for record in records}
        others = [other for other in others if other in told]
    return _one_of(others, rng)  # type: ignore[no-any-return]


OF_WORKERS = ("times", "bounds", "chains")
"""Fields whose tuples hold sets of workers."""


def _other_tuple(
    value: tuple[Any, ...],
    name: str,
    records: Sequence[Record],
    rng: Generator,
    within: bool = False,
) -> Any:
    """Return it without its last part, or with another part; `within` another tuple, as in pairs
    of workers and their tasks, it keeps its length, as no line can be read otherwise."""
    if not value or (not within and rng.random() < 0.5):
        return value[:-1] if value else None
    at = int(rng.integers(len(value)))
    part = value[at]
    if isinstance(part, str) and name in OF_WORKERS:
        part = _processors(part, rng)
    elif isinstance(part, str):
        told = (getattr(record.event, name, ()) for record in records)
        part = _one_of(sorted({it for parts in told for it in parts} - {part}), rng)
    elif isinstance(part, tuple):
        part = _other_tuple(part, name, records, rng, within=True)
    else:
        part = _other(part, name, records, rng)
    if part is None:
        return None
    return (*value[:at], part, *value[at + 1 :])


def _processors(value: str, rng: Generator) -> str:
    first = int(value.partition(" ")[0].partition("-")[0])
    if rng.random() < 0.5:
        return f"{value} {first + 40}"
    return value.replace(str(first), str(first + 1), 1)


def _one_of(values: Sequence[Any], rng: Generator) -> Any:
    return values[int(rng.integers(len(values)))] if values else None


# --- several at once ------------------------------------------------------------------------


def _swap(records: Sequence[Record], one: int, rng: Generator) -> Mutant | None:
    other = one + int(rng.integers(1, REACH + 1))
    if other >= len(records) or not related(records[one].event, records[other].event):
        return None
    if records[one].event == records[other].event:
        return None
    told = list(records)
    told[one] = evolve(records[one], event=records[other].event, cause=records[other].cause)
    told[other] = evolve(records[other], event=records[one].event, cause=records[one].cause)
    what = f"{_told(records[one])} in the place of {_told(records[other])}"
    outside = any(isinstance(records[k].event, OUTSIDE) for k in (one, other))
    return Mutant(Change.SWAP, _renumbered(told), what, outside)


def _late(records: Sequence[Record], rng: Generator) -> Mutant | None:
    return _shifted(Change.LATE, records, rng)


def _early(records: Sequence[Record], rng: Generator) -> Mutant | None:
    return _shifted(Change.EARLY, records, rng)


def _shifted(change: Change, records: Sequence[Record], rng: Generator) -> Mutant | None:
    starts = [it for it in records if isinstance(it.event, RunStarted)]
    start = _one_of(starts, rng)
    if start is None:
        return None
    own = {it.seq for it in records if it.seq >= start.seq and _of_run(it.event, start.event)}
    end = next((it for it in records if it.seq in own and isinstance(it.event, RunEnded)), None)
    if end is None:
        return None
    if end.event.outcome is Outcome.COMPLETED:
        own |= {
            it.seq
            for it in records
            if it.t == end.t
            and isinstance(it.event, JobCompleted | IterationCompleted)
            and it.event.job == start.event.job
        }
    by = float(rng.uniform(0.1, 0.9)) * (end.t - start.t)
    if records[0].event.unit == "slot":
        by = ceil(by)
    by = min(by, start.t) * -1 if change is Change.EARLY else by
    if not by:
        return None
    told = [evolve(it, t=it.t + by) if it.seq in own else it for it in records]
    last = max(it.t for it in told)
    tail = (WorkloadEnded, ScenarioEnded)
    told = [evolve(it, t=last) if isinstance(it.event, tail) else it for it in told]
    told.sort(key=lambda it: it.t)
    return Mutant(change, _renumbered(told), f"{_told(start)} all of it by {by:+g}")


def _of_run(event: Event, start: RunStarted) -> bool:
    same = getattr(event, "job", None) == start.job
    return same and getattr(event, "run", None) == start.run


def _promise(records: Sequence[Record], rng: Generator) -> Mutant | None:
    made = [it.event for it in records if isinstance(it.event, ReservationMade)]
    promise = _one_of(made, rng)
    if promise is None:
        return None
    by = float(rng.uniform(0.1, 5))
    told = [
        evolve(it, event=evolve(it.event, start=it.event.start + by))
        if isinstance(it.event, ReservationMade) and it.event.job == promise.job
        else it
        for it in records
    ]
    return Mutant(Change.PROMISE, told, f"{promise.job} is promised {by:g} later")


def _outcome(records: Sequence[Record], rng: Generator) -> Mutant | None:
    ends = [it for it in records if isinstance(it.event, RunEnded)]
    end = _one_of(ends, rng)
    if end is None:
        return None
    outcome = _one_of([it for it in Outcome if it is not end.event.outcome], rng)
    lost = outcome in (Outcome.LOST, Outcome.FAILED) and rng.random() < 0.5
    told = [*records]
    told[end.seq] = evolve(end, event=evolve(end.event, outcome=outcome, kept=lost))
    return Mutant(Change.OUTCOME, told, f"{_told(end)} is {outcome.value}")


def _cancelled(records: Sequence[Record], rng: Generator) -> Mutant | None:
    staged = {it.event.job for it in records if isinstance(it.event, StageStarted)}
    starts = [it for it in records if isinstance(it.event, RunStarted)]
    start = _one_of([it for it in starts if it.event.job not in staged], rng)
    if start is None:
        return None
    event: RunStarted = start.event
    end = next(it for it in records if isinstance(it.event, RunEnded) and _of_run(it.event, event))
    t, done = (start.t + end.t) / 2, min((end.t - start.t) / 2, event.work)
    again = RunStarted(event.job, event.run + 1, event.processors, event.work)
    told = [it if it.seq <= start.seq else _next_run(it, event.job, t - start.t) for it in records]
    broken = RunEnded(event.job, event.run, Outcome.CANCELLED, done)
    place = start.seq + 1
    told[place:place] = [
        Record(-1, t, start.seq, broken),
        Record(-2, t, start.seq, again),
    ]
    return Mutant(Change.CANCELLED, _renumbered(sorted(told, key=lambda it: it.t)), _told(start))


def _next_run(record: Record, job: str, by: float) -> Record:
    event = record.event
    if isinstance(event, RunStarted | RunEnded) and event.job == job:
        return evolve(record, t=record.t + by, event=evolve(event, run=event.run + 1))
    if isinstance(event, JobCompleted) and event.job == job:
        return evolve(record, t=record.t + by)
    if isinstance(event, WorkloadEnded):
        return evolve(record, event=evolve(event, runs=event.runs + 1))
    return record


def _exchange(records: Sequence[Record], rng: Generator) -> Mutant | None:
    described = {it.event.job: it for it in records if isinstance(it.event, JobDescribed)}
    names = list(described)
    if len(names) < 2:
        return None
    one, other = (names[k] for k in rng.choice(len(names), 2, replace=False))
    mine, others = described[one], described[other]
    if mine.t == others.t and evolve(mine.event, job=other) == others.event:
        return None  # twins
    if {mine.event.kind, others.event.kind} == {"moldable"} and not _measured(records, one, other):
        return None  # no log tells t(p)
    swap = {one: other, other: one}
    kept = (JobSubmitted, JobDescribed, ProtectionDescribed)
    told = [
        evolve(it, event=evolve(it.event, job=swap[it.event.job]))
        if getattr(it.event, "job", None) in swap and not isinstance(it.event, kept)
        else it
        for it in records
    ]
    return Mutant(Change.EXCHANGE, told, f"{one} for {other}")


def _measured(records: Sequence[Record], *jobs: str) -> bool:
    """Whether one of them has run on one worker, in t(1), which is told."""
    starts = (it.event for it in records if isinstance(it.event, RunStarted))
    return any(it.job in jobs and it.processors.isdigit() for it in starts)


def _cause(records: Sequence[Record], at: int, rng: Generator) -> Mutant | None:
    record = records[at]
    if record.cause is None or at < 2:
        return None
    near = rng.random() < 0.5
    first = max(record.seq - REACH, 0) if near else 0
    cause = int(rng.integers(first, record.seq))
    if cause == record.cause:
        return None
    told = [*records]
    told[record.seq] = evolve(record, cause=cause)
    return Mutant(Change.CAUSE, told, f"{_told(record)} for {record.cause} because of {cause}")


def _name(records: Sequence[Record], rng: Generator) -> Mutant | None:
    named = [it for it in records if isinstance(it.event, ScenarioStarted | TasksDealt)]
    record = named[int(rng.integers(len(named)))] if rng.random() < 0.5 else records[0]
    event = record.event
    if isinstance(event, TasksDealt):
        reason = _one_of([it.value for it in Reason if it.value != event.reason], rng)
        event = evolve(event, reason=reason)
    elif isinstance(event, ScenarioStarted):
        event = _renamed(event, rng)
    if event == record.event:
        return None
    told = [*records]
    told[record.seq] = evolve(record, event=event)
    return Mutant(Change.NAME, told, _told(told[record.seq]))


DECIDERS = {
    DeciderKind.QUEUE: "R-LIST-1",
    DeciderKind.ENROLMENT: "IE",
    DeciderKind.PACK: "EndLocal",
    DeciderKind.COPIES: "SRPT",
}
"""Each with a policy of it."""


def _renamed(event: ScenarioStarted, rng: Generator) -> ScenarioStarted:
    others = [it for it in DECIDERS if it != event.decider]
    match str(rng.choice(["policy", "unknown", "decider", "both", "kinds"])):
        case "policy":
            return evolve(event, policy=DECIDERS[_one_of(others, rng)])
        case "unknown":
            return evolve(event, policy=f"{event.policy}X")
        case "decider":
            return evolve(event, decider=_one_of(others, rng))
        case "both":
            decider = _one_of(others, rng)
            return evolve(event, decider=decider, policy=DECIDERS[decider])
    kinds = ("rigid", "moldable", "malleable", "iterative")
    kind = _one_of([it for it in kinds if it not in event.kinds], rng)
    return evolve(event, kinds=tuple(sorted((*event.kinds[1:], kind))))


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


OF_ONE = {
    Change.DROP: _drop,
    Change.MOVE: _move,
    Change.DOUBLE: _double,
    Change.ALTER: _alter,
    Change.SWAP: _swap,
    Change.CAUSE: _cause,
}
"""What is done to one line, at a place."""
MAKERS = {
    Change.LATE: _late,
    Change.EARLY: _early,
    Change.PROMISE: _promise,
    Change.OUTCOME: _outcome,
    Change.CANCELLED: _cancelled,
    Change.EXCHANGE: _exchange,
    Change.NAME: _name,
}
"""What is done to several."""
