"""Failure Trace Archive: `event_trace.tab`, one line per event of one node."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from sims.errors import InputError
from sims.readers.files import finite, taken, whole
from sims.readers.states import FtaStates, Origin
from sims.readers.timeline import Timeline
from sims.telling import counted

COLUMNS = (
    "event_id component_id node_id platform_id node_name event_type event_start_time "
    "event_stop_time event_end_reason"
)
LEAST_COLUMNS = 8
"""Files leave the last column, the reason, empty."""


@frozen(order=True)
class NodeId:
    """A node is numbered within its platform only."""

    platform: int
    node: int


@frozen
class _Event:
    component: int
    node: NodeId
    available: bool
    start: float
    stop: float


_DEFAULT_STATES = FtaStates()


def read_fta_trace(
    path: Path,
    states: FtaStates = _DEFAULT_STATES,
    origin: Origin = Origin.TRACE,
    component: int | None = None,
) -> dict[NodeId, Timeline]:
    """Read a trace, plain or compressed, into one timeline per (platform, node), in this order;
    seconds, known up to the node's own last stop.

    Events of one node may overlap (clocks, several components): unavailable wins. `component`
    keeps the events of that component only. Raises InputError where the file is unreadable, a
    line is malformed (by number), an event stops before it starts, or no event is left.
    """
    lasting = (it for _, it in taken(path, _event, COLUMNS, "#") if it.start < it.stop)
    events = [it for it in lasting if component is None or it.component == component]
    if not events:
        which = "" if component is None else f" of component {component}"
        raise InputError(str(path), "", f"no event{which} that lasts", f"lines of {COLUMNS}")
    earliest = min(event.start for event in events)
    return {
        node: _sweep(own, own[0].start if origin is Origin.NODE else earliest, states)
        for node, own in _by_node(events).items()
    }


def _event(line: str) -> _Event:
    fields = line.split(maxsplit=LEAST_COLUMNS)
    if len(fields) < LEAST_COLUMNS:
        raise ValueError(counted(len(fields), "column"))
    component, node, platform = (whole(field) for field in fields[1:4])
    start, stop = finite(fields[6]), finite(fields[7])
    if fields[5] not in ("0", "1"):
        raise ValueError(f"event_type {fields[5]} is neither 0 (unavailable) nor 1 (available)")
    if not 0 <= start <= stop:
        raise ValueError(f"the event lasts from {fields[6]} to {fields[7]}")
    return _Event(component, NodeId(platform, node), fields[5] == "1", start, stop)


def _by_node(events: Sequence[_Event]) -> dict[NodeId, list[_Event]]:
    """Nodes in order, each with its events by start."""
    nodes: defaultdict[NodeId, list[_Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.start):
        nodes[event.node].append(event)
    return dict(sorted(nodes.items()))


def _sweep(events: Sequence[_Event], zero: float, states: FtaStates) -> Timeline:
    """One pass over all starts and stops of a node, counting what covers each stretch."""
    edges = sorted(
        (
            edge
            for it in events
            for edge in ((it.start, it.available, 1), (it.stop, it.available, -1))
        ),
        key=lambda edge: edge[0],
    )
    covering = Counter[bool]()
    changes = [(0.0, states.gap)]
    for time, available, step in edges[:-1]:
        covering[available] += step
        up = states.available if covering[True] else states.gap
        changes.append((time - zero, states.unavailable if covering[False] else up))
    return Timeline.of(changes, edges[-1][0] - zero)
