"""Read availability traces: the Failure Trace Archive's, SimGrid's profiles, and CSV tables of
intervals.

`trace_states.py` defines what a trace's own values mean for a worker.
"""

from __future__ import annotations

import csv
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

from policies.availability import WorkerState
from sims.errors import InputError, visible
from sims.readers.files import finite, taken, whole
from sims.readers.lanl import LanlTable
from sims.readers.timeline import Change, Timeline
from sims.readers.trace_states import FtaStates, NodeId, Origin, ProfileStates
from sims.readers.unread import Unread
from sims.telling import counted


def _gap_of(path: Path, key: str, gap: WorkerState | None, seen: Set[WorkerState]) -> WorkerState:
    """Return the state that a node has in gaps between its entries: `gap`, or by default DOWN.

    `seen` has the states of all entries of the file at `path`. Raises InputError, naming the
    scenario's `key` that would set the gaps, where `gap` is None and no entry is UP: a list of
    outages would otherwise be read as a worker that is never UP.
    """
    if gap is not None or WorkerState.UP in seen:
        return gap or WorkerState.DOWN
    raise _never_up(path, key, "all that it lists", seen)


def with_known_gaps(
    timeline: Timeline, worker: str, path: Path, key: str, gap: WorkerState | None
) -> Timeline:
    """Return `timeline`, that of one worker of the file at `path`, after a check.

    Raises InputError where `gap` is None and the worker is never UP: the file may list only outages
    of this worker, although it has other entries of others. The error names the worker and the
    scenario's `key` that would set the state between entries.
    """
    seen = {state for _, state in timeline.changes}
    if gap is None and WorkerState.UP not in seen:
        raise _never_up(path, key, f"all that it lists of {visible(worker)}", seen)
    return timeline


def _never_up(path: Path, key: str, what: str, seen: Set[WorkerState]) -> InputError:
    """Return the error on entries none of which is UP.

    `what` is the subject of its sentence, `seen` has the states of the entries, and `key` is the
    scenario's key that would set the state between them.
    """
    states = " or ".join(sorted(it.name for it in seen))
    return InputError(
        str(path),
        key,
        f"missing: {what} is {states}, and nothing says what a worker is between",
        f'{key} = "u" (the file lists outages: UP between them), '
        f'or {key} = "d" (what it does not list is DOWN: never UP)',
    )


# --- Failure Trace Archive: `event_trace.tab`, one line per event of one node ---------------------

COLUMNS = (
    "event_id component_id node_id platform_id node_name event_type event_start_time "
    "event_stop_time event_end_reason"
)
HEADER = COLUMNS.partition(" ")[0]
"""First word of a line that names the columns."""
LEAST_COLUMNS = 8
"""Smallest number of columns in a line; files may leave out the last one, the reason."""

_DEFAULT_STATES = FtaStates()


class FtaEvent(NamedTuple):
    """An event of a node: the node is available, or is not, from `start` to `stop`."""

    node: NodeId
    start: float
    stop: float
    available: bool
    component: int


def read_fta_trace(
    path: Path,
    states: FtaStates = _DEFAULT_STATES,
    origin: Origin = Origin.TRACE,
    component: int | None = None,
) -> dict[NodeId, Timeline]:
    """Read a trace of the Failure Trace Archive, plain or compressed, into a timeline for each
    node.

    Nodes are in order of platform and number. Times are in seconds; `origin` says whether time 0 is
    the earliest start in the file, or of each node's own events. Each timeline ends at the node's
    own last stop. `states` says which worker state an event of either type and a gap between events
    stand for. Where events of a node overlap (clocks, several components), unavailable wins. Only
    events whose component_id is `component` are read, or all for None. Raises InputError where the
    file cannot be read, a line is malformed (named by its number), an event stops before it starts,
    no event is left, or none of them stands for UP and `states` does not set the state of gaps.
    """
    nodes: defaultdict[NodeId, list[FtaEvent]] = defaultdict(list)
    for event in read_fta_events(path, component):
        if event.start < event.stop:
            nodes[event.node].append(event)
    if not nodes:
        raise InputError(str(path), "", "no event that lasts", f"lines of {COLUMNS}")
    earliest = min(events[0].start for events in nodes.values())
    kinds = {event.available for events in nodes.values() for event in events}
    seen = {states.available if it else states.unavailable for it in kinds}
    gap = _gap_of(path, "states.gap", states.gap, seen)
    return {
        node: _sweep(events, events[0].start if origin is Origin.NODE else earliest, states, gap)
        for node, events in nodes.items()
    }


def read_fta_events(path: Path, component: int | None = None) -> list[FtaEvent]:
    """Read the events of a trace of the Failure Trace Archive, in order of their nodes and starts;
    or the failures of Los Alamos' own CSV, which its header tells.

    Only events whose component_id is `component` are read, or all for None. Raises InputError where
    the file cannot be read, more than a tenth of its lines are malformed or stop before they start
    (the first is named by its number), or there is no event. Fewer such lines are left out, with a
    warning.
    """
    every, unread, read = list[FtaEvent](), Unread(), _event
    for number, line in taken(path, str, COLUMNS, "#"):
        if line.split(maxsplit=1)[0].lower() == HEADER:
            continue
        if not unread.lines and (table := LanlTable.of(line)) is not None:
            read = partial(_failure, table)
            continue
        unread.lines += 1
        try:
            every.append(read(line))
        except ValueError as error:
            problem = InputError(str(path), f"line {number}", str(error), COLUMNS)
            unread.leave_out("cannot be read", problem)
    _warn_of(path, unread, bool(every))
    events = sorted(it for it in every if component in (None, it.component))
    if not events:
        which = "" if component is None else f" of component {component}"
        raise InputError(str(path), "", f"no event{which}", f"lines of {COLUMNS}")
    return events


def _warn_of(path: Path, unread: Unread, any_read: bool) -> None:
    """Warn of the lines of a file that are left out, by reason. Raises InputError where they are
    more than a tenth, or all (`any_read` is false)."""
    for why, count in unread.settle(any_read).items():
        warnings.warn(f"{path}: {counted(count, 'line')} left out: {why}", stacklevel=3)


def _failure(table: LanlTable, line: str) -> FtaEvent:
    """Parse a line of Los Alamos' own CSV with the columns of `table`. Raises ValueError for a
    malformed line."""
    system, node, start, end = table.failure(line)
    return FtaEvent(NodeId(system, node), start, end, False, 0)


def _event(line: str) -> FtaEvent:
    """Parse a line of the trace, whose columns are divided by tabs, so that a name may be empty, or
    by blanks. Raises ValueError for a malformed line."""
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) < LEAST_COLUMNS:
        fields = line.split(maxsplit=LEAST_COLUMNS)
    if len(fields) < LEAST_COLUMNS:
        raise ValueError(counted(len(fields), "column"))
    component, node, platform = (whole(field) for field in fields[1:4])
    start, stop = finite(fields[6]), finite(fields[7])
    if fields[5] not in ("0", "1"):
        raise ValueError(f"event_type {fields[5]} is neither 0 (unavailable) nor 1 (available)")
    if not 0 <= start <= stop:
        raise ValueError(f"the event lasts from {fields[6]} to {fields[7]}")
    return FtaEvent(NodeId(platform, node), start, stop, fields[5] == "1", component)


def _sweep(
    events: Sequence[FtaEvent], zero: float, states: FtaStates, gap: WorkerState
) -> Timeline:
    """Return the timeline of a node from its events, from the file's time `zero` to the last stop;
    the node is in the state `gap` where no event covers a time.

    One pass over all starts and stops counts the events of either type that cover each stretch.
    """
    edges = [
        edge
        for event in events
        for edge in ((event.start, event.available, 1), (event.stop, event.available, -1))
    ]
    covering = Counter[bool]()
    changes = [(0.0, gap)]
    for time, available, step in sorted(edges, key=lambda edge: edge[0]):
        covering[available] += step
        up = states.available if covering[True] else gap
        changes.append((time - zero, states.unavailable if covering[False] else up))
    return Timeline.of(changes, changes[-1][0])


# --- SimGrid: when a host is switched off and on --------------------------------------------------

PROFILE = "`date value`, `LOOPAFTER seconds`, `PERIODICITY seconds`, or a # or % comment"
LOOP_AFTER, PERIODICITY = "LOOPAFTER", "PERIODICITY"
"""Keywords of a repetition. LOOPAFTER gives the seconds from the last event to time 0 of the next
lap; PERIODICITY the seconds from time 0 of one lap to that of the next."""

_DEFAULT_PROFILE = ProfileStates()


def read_simgrid_profile(path: Path, states: ProfileStates = _DEFAULT_PROFILE) -> Timeline:
    """Read a SimGrid profile of a host, plain or compressed; times are in seconds.

    Before its first event a host is on. A repetition shifts the whole profile: its period is the
    last date plus LOOPAFTER, or PERIODICITY itself. Each lap's first event comes `first date` after
    the lap's time 0, and the previous lap's last state lasts until then; so the part from the first
    date on repeats. Without a repetition the last state lasts for ever. Of several events at one
    date the last holds. Lines that are malformed, or whose date comes before that above, are left
    out, with a warning. Raises InputError where the file cannot be read, more than a tenth of its
    lines are such (the first is named by its number), or the repetition is too short for the
    profile.
    """
    events: list[Change] = []
    loops: list[tuple[str, float]] = []
    unread = Unread()
    for number, line in taken(path, str, PROFILE, "#%"):
        unread.lines += 1
        try:
            _take(line, states, events, loops)
        except ValueError as error:
            place = f"line {number}"
            unread.leave_out("cannot be read", InputError(str(path), place, str(error), PROFILE))
    _warn_of(path, unread, bool(events or loops))
    if not events:
        raise InputError(str(path), "", "no event", PROFILE)
    once = Timeline.of([(0.0, states.on), *events])
    if not loops:
        return once
    [(loop, seconds)], first, last = loops, events[0][0], events[-1][0]
    period = last + seconds if loop == LOOP_AFTER else seconds
    if not last <= period < inf or period == 0:
        problem = f"a repetition of {period:g} s for events up to {last:g} s"
        raise InputError(str(path), loop, problem, "a period that holds all events")
    # An event on the period's very end gives way to the repetition's first at the same instant.
    cycle = tuple(change for change in once.changes if change[0] < first + period)
    return Timeline(cycle, period=period, cycle_start=first)


def _take(
    line: str, states: ProfileStates, events: list[Change], loops: list[tuple[str, float]]
) -> None:
    """Parse a line of a profile; append its event to `events`, or its repetition to `loops`. Raises
    ValueError for a malformed line."""
    words = line.split()
    if len(words) != 2:
        raise ValueError(f"{len(words)} words, not 2")
    loop, value = words[0], finite(words[1])
    if loop not in (LOOP_AFTER, PERIODICITY):
        date = finite(words[0])
        if date < (events[-1][0] if events else 0.0):
            raise ValueError(f"date {words[0]} comes before the one above it, or before 0")
        events.append((date, states.of(value)))
    elif loops:
        raise ValueError(f"{loop} after {loops[0][0]}: one repetition only")
    elif value < 0:
        raise ValueError(f"{loop} {words[1]} is negative")
    else:
        loops.append((loop, value))


# --- CSV: `worker,start,end,state`, a line for each interval of one worker ------------------------

HEAD = ("worker", "start", "end", "state")
INTERVALS = ",".join(HEAD)
STATES = {word: it for it in WorkerState for word in (it.value.upper(), it.name)}
"""Maps each name of a state, its letter or its word in upper case, to the state."""

Span = tuple[float, float, WorkerState, int]
"""Start and end of an interval in seconds, its state, and the number of its line."""


def read_intervals(path: Path, gap: WorkerState | None = None) -> dict[str, Timeline]:
    """Read a CSV table with the columns worker, start, end and state into a timeline for each
    worker.

    Workers are in the order of their first lines. Times are in seconds from 0, and each timeline
    ends at the worker's own last end. States are u, r, d or UP, RECLAIMED, DOWN in upper or lower
    case; `gap` is the state where a worker has no interval, by default DOWN. Lines may come in any
    order; the file may be compressed. Lines that are malformed, or whose interval overlaps with an
    earlier one of its worker, are left out, with a warning. Raises InputError where the file cannot
    be read, more than a tenth of its lines are such (the first is named by its number), there is no
    interval, or none of them is UP and `gap` is not given.
    """
    listed, unread = defaultdict[str, list[Span]](list), Unread()
    for number, line in taken(path, str, INTERVALS):
        try:
            read = _span(line, not listed)
        except ValueError as error:
            read = None
            problem = InputError(str(path), f"line {number}", str(error), INTERVALS)
            unread.leave_out("cannot be read", problem)
            unread.lines += 1
        if read is not None:
            unread.lines += 1
            worker, start, end, state = read
            listed[worker].append((start, end, state, number))
    workers = {worker: _apart(path, spans, unread) for worker, spans in listed.items()}
    _warn_of(path, unread, bool(workers))
    if not workers:
        raise InputError(str(path), "", "no interval", f"lines of {INTERVALS}")
    seen = {state for spans in workers.values() for _, _, state, _ in spans}
    between = _gap_of(path, "gap", gap, seen)
    return {worker: _timeline(spans, between) for worker, spans in workers.items()}


def _span(line: str, first: bool) -> tuple[str, float, float, WorkerState] | None:
    """Parse a line into worker, start, end and state, or return None for a line of empty cells or
    the table's head.

    The head is accepted only before any interval, as `first` says. Raises ValueError for a
    malformed line.
    """
    words = [word.strip() for word in next(csv.reader([line]))]
    if not any(words) or (tuple(words) == HEAD and first):
        return None
    if len(words) != len(HEAD):
        raise ValueError(f"{len(words)} columns")
    worker, start, end = words[0], finite(words[1]), finite(words[2])
    if not 0 <= start < end:
        raise ValueError(f"the interval lasts from {words[1]} to {words[2]}")
    state = STATES.get(words[3].upper())
    if state is None:
        raise ValueError(f"{words[3]!r} is no state: u, r, d or UP, RECLAIMED, DOWN")
    return worker, start, end, state


def _apart(path: Path, spans: Sequence[Span], unread: Unread) -> list[Span]:
    """Return the intervals of a worker in order of time, without those that overlap with one
    before, which are counted by `unread`."""
    found: list[Span] = []
    for start, end, state, line in sorted(spans, key=lambda span: span[0]):
        if found and start < found[-1][1]:
            problem = f"the worker has another interval until {found[-1][1]:.15g}"
            error = InputError(str(path), f"line {line}", problem, INTERVALS)
            unread.leave_out("overlaps with another interval of its worker", error)
        else:
            found.append((start, end, state, line))
    return found


def _timeline(spans: Sequence[Span], gap: WorkerState) -> Timeline:
    """Return the timeline of a worker from its intervals, which come in order of time and do not
    overlap, up to the last end; it is in the state `gap` between them."""
    changes: list[Change] = [(0.0, gap)]
    for start, end, state, _ in spans:
        changes += [(start, state), (end, gap)]
    return Timeline.of(changes, changes[-1][0])
