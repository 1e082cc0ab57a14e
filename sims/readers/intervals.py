"""Availability as CSV: `worker,start,end,state`, a line for each interval of one worker."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from attrs import frozen

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.files import numbered_lines
from sims.readers.timeline import Change, Timeline
from sims.readers.words import finite

COLUMNS = ("worker", "start", "end", "state")
STATES = {word: it for it in WorkerState for word in (it.value.upper(), it.name)}
"""A letter or a word, in either case."""


@frozen
class _Span:
    line: int
    start: float
    end: float
    state: WorkerState


def read_intervals(path: Path, gap: WorkerState = WorkerState.DOWN) -> dict[str, Timeline]:
    """Read a table, plain or compressed, into one timeline per worker, in the order of their first
    lines; seconds from 0, known up to the worker's own last end.

    States are u, r, d or UP, RECLAIMED, DOWN in either case; `gap` is the state where a worker has
    no interval. Lines may come in any order. Raises InputError where the file is unreadable, a line
    is malformed (by number), two intervals of one worker overlap, or there is none.
    """
    workers: defaultdict[str, list[_Span]] = defaultdict(list)
    for number, line in numbered_lines(path):
        words = [word.strip() for word in next(csv.reader([line]), [])]
        if not any(words) or (tuple(words) == COLUMNS and not workers):
            continue
        try:
            worker, span = _span(number, words)
        except ValueError as error:
            raise _refused(path, number, str(error)) from None
        workers[worker].append(span)
    if not workers:
        raise InputError(str(path), "", "no interval", f"lines of {','.join(COLUMNS)}")
    return {worker: _timeline(path, spans, gap) for worker, spans in workers.items()}


def _span(number: int, words: list[str]) -> tuple[str, _Span]:
    if len(words) != len(COLUMNS):
        raise ValueError(f"{len(words)} columns")
    worker, start, end = words[0], finite(words[1]), finite(words[2])
    if not 0 <= start < end:
        raise ValueError(f"the interval lasts from {words[1]} to {words[2]}")
    state = STATES.get(words[3].upper())
    if state is None:
        raise ValueError(f"{words[3]!r} is no state: u, r, d or UP, RECLAIMED, DOWN")
    return worker, _Span(number, start, end, state)


def _timeline(path: Path, spans: list[_Span], gap: WorkerState) -> Timeline:
    changes: list[Change] = [(0.0, gap)]
    last = 0.0
    for span in sorted(spans, key=lambda span: span.start):
        if span.start < last:
            raise _refused(path, span.line, f"the worker has another interval until {last:.15g}")
        changes += [(span.start, span.state), (span.end, gap)]
        last = span.end
    return Timeline.of(changes[:-1], last)


def _refused(path: Path, line: int, problem: str) -> InputError:
    return InputError(str(path), f"line {line}", problem, ",".join(COLUMNS))
