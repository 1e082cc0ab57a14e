"""Availability as CSV: `worker,start,end,state`, a line for each interval of one worker."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.files import finite, taken
from sims.readers.timeline import Change, Timeline

COLUMNS = ("worker", "start", "end", "state")
Span = tuple[float, float, WorkerState, int]
"""From when, until when, in what state; and its line."""
STATES = {word: it for it in WorkerState for word in (it.value.upper(), it.name)}
"""A letter or a word, in either case."""


def read_intervals(path: Path, gap: WorkerState = WorkerState.DOWN) -> dict[str, Timeline]:
    """Read a table, plain or compressed, into one timeline per worker, in the order of their first
    lines; seconds from 0, known up to the worker's own last end.

    States are u, r, d or UP, RECLAIMED, DOWN in either case; `gap` is the state where a worker has
    no interval. Lines may come in any order. Raises InputError where the file is unreadable, a line
    is malformed (by number), two intervals of one worker overlap, or there is none.
    """
    workers: defaultdict[str, list[Span]] = defaultdict(list)
    for number, read in taken(path, lambda line: _span(line, not workers), ",".join(COLUMNS)):
        if read is not None:
            worker, span = read
            workers[worker].append((*span, number))
    if not workers:
        raise InputError(str(path), "", "no interval", f"lines of {','.join(COLUMNS)}")
    return {worker: _timeline(path, spans, gap) for worker, spans in workers.items()}


def _span(line: str, first: bool) -> tuple[str, tuple[float, float, WorkerState]] | None:
    """None: it is the head of the table, or empty."""
    words = [word.strip() for word in next(csv.reader([line]))]
    if not any(words) or (tuple(words) == COLUMNS and first):
        return None
    if len(words) != len(COLUMNS):
        raise ValueError(f"{len(words)} columns")
    worker, start, end = words[0], finite(words[1]), finite(words[2])
    if not 0 <= start < end:
        raise ValueError(f"the interval lasts from {words[1]} to {words[2]}")
    state = STATES.get(words[3].upper())
    if state is None:
        raise ValueError(f"{words[3]!r} is no state: u, r, d or UP, RECLAIMED, DOWN")
    return worker, (start, end, state)


def _timeline(path: Path, spans: list[Span], gap: WorkerState) -> Timeline:
    changes: list[Change] = [(0.0, gap)]
    last = 0.0
    for start, end, state, line in sorted(spans, key=lambda span: span[0]):
        if start < last:
            problem = f"the worker has another interval until {last:.15g}"
            raise InputError(str(path), f"line {line}", problem, ",".join(COLUMNS))
        changes += [(start, state), (end, gap)]
        last = end
    return Timeline.of(changes[:-1], last)
