"""The trace event format, one function for each phase that is used."""

from __future__ import annotations

from collections.abc import Iterator

Json = dict[str, object]
Span = tuple[float, float]

PROCESSORS, JOBS, EVENTS = 1, 2, 3
"""Process numbers."""


def micro(t: float) -> int:
    """Virtual time in whole microseconds, in which the format counts; a unit is a second.

    Whole ones: of a start and a duration in fractions, viewers would make slices that overlap.
    """
    return round(t * 1_000_000)


def meta(what: str, process: int, thread: int, about: Json) -> Json:
    """`M`: the name (or the place in the order) of a process or thread."""
    return {"ph": "M", "pid": process, "tid": thread, "ts": 0, "name": what, "args": about}


def whole(process: int, thread: int, category: str, name: str, span: Span, about: Json) -> Json:
    """`X`: a complete slice."""
    start, end = map(micro, span)
    return {
        "ph": "X",
        "pid": process,
        "tid": thread,
        "cat": category,
        "name": name,
        "ts": start,
        "dur": end - start,
        "args": about,
    }


def pair(
    process: int, category: str, name: str, identity: str, span: Span, about: Json
) -> Iterator[Json]:
    """`b` and `e`: a slice that may overlap others."""
    start, end = map(micro, span)
    common: Json = {"pid": process, "tid": 0, "cat": category, "name": name, "id": identity}
    yield {"ph": "b", "ts": start, "args": about, **common}
    yield {"ph": "e", "ts": end, "args": {}, **common}


def counter(name: str, t: float, levels: Json) -> Json:
    """`C`: levels from t on."""
    return {"ph": "C", "pid": JOBS, "tid": 0, "ts": micro(t), "name": name, "args": levels}


def flow(phase: str, process: int, thread: int, ts: int, identity: int) -> Json:
    """`s` and `f`: an arrow's tail and head, within a slice of their thread at `ts`."""
    where: Json = {"pid": process, "tid": thread, "ts": ts}
    head: Json = {"bp": "e"} if phase == "f" else {}
    return {"ph": phase, "cat": "cause", "name": "cause", "id": identity, **where, **head}
