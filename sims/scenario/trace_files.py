"""Traces in the formats of others.

Readers are imported where a file is read: no run waits for what others need.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from actors.events import WorkerPriced
from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.states import FtaStates, Origin, ProfileStates
from sims.scenario.traces import After, TraceFile
from sims.tables.section import Held

if TYPE_CHECKING:
    from sims.readers.spot import SpotTrace
    from sims.readers.timeline import Timeline

HOUR = 3600  # s


class SpotFile(TraceFile):
    """`{kind = "spot", file = "zone.json", states = {1 = "u", 0 = "d"}, after = "repeat"}`; the
    file says how long a tick is."""

    kind: Literal["spot"]
    states: dict[int, WorkerState]
    """Number of instances -> state (u, r or d)."""

    def read(self, folder: Path) -> Timeline:
        return self._trace(folder).mapped(self.states)

    def seconds(self, folder: Path) -> float:
        return self.slot or self._trace(folder).gap_seconds

    def _trace(self, folder: Path) -> SpotTrace:
        from sims.readers.spot import read_spot_trace

        return read_spot_trace(self.path(folder))

    def priced(self, worker: int, folder: Path) -> WorkerPriced | None:
        """What the file says that a worker costs while it is UP; None: nothing."""
        trace, slot = self._trace(folder), self.seconds(folder)
        if not trace.prices:
            return None
        tick, ticks = trace.gap_seconds / slot, len(trace.prices)
        start = self.begin(self.timeline(folder))
        period = ticks * tick if self.after is After.REPEAT else None
        end = start + period if period else ticks * tick
        shown = [k for k in range(int(start / tick), 2 * ticks) if tick * k < end]
        each = tuple(trace.prices[k % ticks] * slot / HOUR for k in shown)
        return WorkerPriced(worker, tuple(max(0, tick * k - start) for k in shown), each, period)


class FtaFile(TraceFile):
    """`{kind = "fta", file = "event_trace.tab", node = 7, slot = 60}`."""

    kind: Literal["fta"]
    node: int
    """node_id of the worker."""
    platform: int = 0
    """platform_id of the worker."""
    component: int | None = None
    """component_id whose events count; default: all do, and unavailable wins."""
    origin: Origin = Origin.TRACE
    """What is slot 0."""
    states: Annotated[FtaStates, Held()] = Field(default_factory=FtaStates)
    """Which state `available` and `unavailable` stand for."""

    def read(self, folder: Path) -> Timeline:
        from sims.readers.fta import read_fta_trace

        path, origin = self.path(folder), self.origin
        nodes = read_fta_trace(path, self.states, origin, self.component)
        for node, timeline in nodes.items():
            if (node.platform, node.node) == (self.platform, self.node):
                return timeline
        known = ", ".join(f"{node.platform}/{node.node}" for node in nodes)
        missing = f"no node {self.node} on platform {self.platform}"
        raise InputError(str(path), "node_id", missing, f"platform/node: {known}")


class SimGridFile(TraceFile):
    """`{kind = "simgrid", file = "host.state", slot = 60}`."""

    kind: Literal["simgrid"]
    states: Annotated[ProfileStates, Held()] = Field(default_factory=ProfileStates)
    """Which state each value stands for."""

    def read(self, folder: Path) -> Timeline:
        from sims.readers.simgrid import read_simgrid_profile

        return read_simgrid_profile(self.path(folder), self.states)


class IntervalFile(TraceFile):
    """`{kind = "csv", file = "nodes.csv", worker = "n7", slot = 60}`: intervals of workers, a line
    `worker,start,end,state` each."""

    kind: Literal["csv"]
    worker: str
    """As the file calls it."""
    gap: WorkerState = WorkerState.DOWN
    """Where it has no interval: u, r or d."""

    def read(self, folder: Path) -> Timeline:
        from sims.readers.intervals import read_intervals

        path = self.path(folder)
        workers = read_intervals(path, self.gap)
        if self.worker not in workers:
            problem = f"no worker {self.worker!r}"
            raise InputError(str(path), "worker", problem, ", ".join(workers))
        return workers[self.worker]
