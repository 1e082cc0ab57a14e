"""Whether an altered log is the true log of another scenario.

One worker more than was ever asked for, a period longer than any run: a scenario that says so runs
exactly as the altered log tells. That log is sound, and the audit may not call it wrong. It is not
argued, but tried: the scenario is altered as its log was, and run.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from attrs import evolve, frozen

from actors.events import (
    ApplicationDescribed,
    ChainsBelieved,
    JobDescribed,
    NoticeGiven,
    ProtectionDescribed,
    ScenarioStarted,
    TasksDescribed,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import numbers_in, spread
from actors.runtime import Record
from policies.availability import WorkerState
from sims.errors import InputError
from tests.sims.oneworld import Table, records_of

SAID = frozenset(
    ("period", "cost", "recovery", "verified", "copies", "cloning", "delay", "estimate")
)
"""What a scenario says of a job as its log does."""
DROPPED = "dropped"
"""In place of a field: the whole record is gone."""
OF_WORKERS = {"times": "task_time", "chains": "belief"}
"""What is told of all workers, and what a scenario calls it."""
LETTERS = {WorkerState.UP: "u", WorkerState.RECLAIMED: "r", WorkerState.DOWN: "d"}


@frozen
class Alteration:
    """One field of one record, its time (`t`), or all of it (DROPPED)."""

    was: Record
    now: Record
    name: str


def is_true_elsewhere(scenario: Table, altered: Sequence[Record], what: Alteration) -> bool:
    """Whether the scenario that says so runs as the log tells."""
    other = deepcopy(scenario)
    try:
        _alter(other, what)
        found = records_of(other)
    except (LookupError, ValueError, InputError):
        return False
    return len(found) == len(altered) and all(map(_alike, found, altered))


def _alike(one: Record, other: Record) -> bool:
    """Whether they are one record, but for the scenario's text, of which the other one has its
    own."""
    if isinstance(one.event, ScenarioStarted) and isinstance(other.event, ScenarioStarted):
        return evolve(one, event=evolve(one.event, text=other.event.text)) == other
    return one == other


def _alter(table: Table, what: Alteration) -> None:
    """Makes it say what the altered record says; LookupError where it has no word for it."""
    event, name = what.now.event, what.name
    match event:
        case ScenarioStarted(processors=workers) if name == "processors":
            _resize(table, workers)
        case ProtectionDescribed(job=job) if name in SAID:
            section = _job(table, job) if "jobs" in table["job"] else table
            own = section.get("protection") or table["protection"]
            section["protection"] = {**own, name: getattr(event, name)}
        case JobDescribed(job=job) if name in SAID:
            _job(table, job)[name] = getattr(event, name)
        case NoticeGiven():
            _notice(table, what)
        case WorkerChanged(worker=worker) if name == "t":
            life = table["workers"][worker]["availability"]
            life["states"] = _moved(life["states"], what)
        case WorkerSpeedChanged(worker=worker) if name != "worker":
            _speed(table["workers"][worker]["speed"]["changes"], what)
        case ApplicationDescribed():
            _pack(table, event, name)
        case _:
            _enrolled(table, what)


def _resize(table: Table, workers: int) -> None:
    if "workers" in table:
        table["workers"] = [*table["workers"], {}][:workers]
    else:
        table["platform"]["workers"] = workers


def _notice(table: Table, what: Alteration) -> None:
    """Whether, or how long before, an owner gives notice. Raises LookupError where it is told of
    another worker."""
    event, was = what.now.event, what.was.event
    assert isinstance(event, NoticeGiven) and isinstance(was, NoticeGiven)
    if event.worker != was.worker:
        raise LookupError(event.worker)
    life = table["workers"][event.worker]["availability"]
    life["notice"] = 0 if what.name == DROPPED else event.time - what.now.t


def _enrolled(table: Table, what: Alteration) -> None:
    """What enrolments and links depend on."""
    event, name = what.now.event, what.name
    match event:
        case TasksDescribed() | ChainsBelieved() if name in OF_WORKERS:
            for worker, value in zip(table["workers"], _by_worker(event, name), strict=True):
                worker[OF_WORKERS[name]] = {"rows": value} if name == "chains" else value
        case TasksDescribed(iterations=iterations) if name == "iterations":
            table["job"]["iterations"] = iterations
        case _:
            raise LookupError(name)


def _by_worker(event: object, name: str) -> list[Any]:
    """Raises LookupError where some worker's is not told."""
    groups = getattr(event, name)
    return list(spread(groups, 1 + max(max(numbers_in(numbers)) for numbers, _ in groups)))


def _pack(table: Table, event: ApplicationDescribed, name: str) -> None:
    """What it says of a pack's applications."""
    job, place = table["job"], int(event.job.removeprefix("T")) - 1
    if name != "footprint":
        raise LookupError(name)
    job["jobs"][place]["footprint"] = event.footprint


def _job(table: Table, name: str) -> Table:
    jobs: list[Table] = table["job"]["jobs"]
    return next(it for k, it in enumerate(jobs, 1) if it.get("name", f"J{k}") == name)


def _moved(states: str, what: Alteration) -> str:
    """An owner's letters, one of whose changes comes earlier or later. Raises LookupError where
    that is between two letters."""
    old, new, event = what.was.t, what.now.t, what.now.event
    assert isinstance(event, WorkerChanged)
    if new != int(new) or event.was is None or event.until is not None:
        raise LookupError(new)
    first, last = sorted((int(old), int(new)))
    states += states[-1] * (last - len(states))
    letter = LETTERS[event.was if new > old else event.state]
    return states[:first] + letter * (last - first) + states[last:]


def _speed(changes: list[list[float]], what: Alteration) -> None:
    was, now = what.was, what.now
    assert isinstance(was.event, WorkerSpeedChanged) and isinstance(now.event, WorkerSpeedChanged)
    changes[_place(changes, [was.t, was.event.speed])] = [now.t, now.event.speed]


def _place(those: Sequence[object], it: object) -> int:
    """Raises LookupError where it is none of those."""
    if it not in those:
        raise LookupError(it)
    return those.index(it)
