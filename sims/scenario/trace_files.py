"""Availability as traces in files, in the formats of others.

Readers are imported where a file is read: no run waits for what others need.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from numpy.random import Generator
from pydantic import Field, PrivateAttr

from actors.events import WorkerPriced
from actors.hazards import Change
from policies.availability import WorkerState
from sims.errors import InputError, unfit
from sims.readers.traces import FtaStates, Origin, ProfileStates
from sims.scenario.availability import After, AlwaysUp, Letters, Markov, Trace, cut
from sims.tables import Held, OneOf
from sims.tables.fields import Accepts, Duration, Time
from sims.telling import in_units

if TYPE_CHECKING:
    from sims.readers.spot import SpotTrace
    from sims.readers.timeline import Timeline

HOUR = 3600  # s
Start = Annotated[
    Time | Literal["random"], Accepts("a finite number, 0 or above, within the trace, or random")
]


class TraceFile(Trace):
    """A trace in a file, cut into slots."""

    file: str
    """Path, from the scenario file's folder; `.gz` and `.xz` are unpacked."""
    slot: Duration | None = None
    """Seconds per slot, where the unit is a slot; default: the tick of a spot trace. Where the unit
    is s it is left out: a trace is in seconds."""
    start: Start = 0
    """Where the run begins in it; `random`: as the run's seed says, at the same share of all its
    traces, so that those of one length keep their common clock."""
    after: After = After.ERROR
    """What comes after its end; `error`: a run that lasts longer is refused."""

    _share: float = PrivateAttr(0.0)
    """Where a random start is."""
    _folder: Path = PrivateAttr(Path())
    """Where the file is sought."""

    def placed(self, in_seconds: bool, share: float, folder: Path) -> Self:
        """As a run has it whose unit is a second or not, and whose random start is at this share;
        its file is sought in `folder`. Raises InputError for a slot of another length than a
        second's."""
        if in_seconds and self.slot not in (None, 1):
            problem = f"{self.slot!r} s in a slot, and the unit is s: the trace would run "
            problem += f"{self.slot!r} times too fast"
            raise unfit(
                "workers.availability.slot",
                problem,
                'slot left out (the file says how long its ticks are), or unit = "slot"',
            )
        placed = self.model_copy(update={"slot": 1} if in_seconds else {})
        placed._share, placed._folder = share, folder
        return placed

    @property
    def path(self) -> Path:
        """The file."""
        return self._folder / self.file

    def read(self) -> Timeline:
        """The file's timeline, in seconds."""
        raise AssertionError("a file is read")

    def seconds(self) -> float:
        """In a slot. Raises InputError where nothing says it."""
        if self.slot is None:
            raise unfit(
                "workers.availability.slot",
                "missing: the unit is a slot, and the trace has no tick",
                "seconds per slot",
            )
        return self.slot

    def timeline(self) -> Timeline:
        """The file's timeline in slots; InputError where its repetition never meets them."""
        try:
            return self.read().slotted(self.seconds())
        except (ValueError, OverflowError) as error:
            raise InputError(
                str(self.path),
                "slot",
                str(error),
                "a slot that divides the period, or a few of them",
            ) from None

    def changes(self, rng: Generator) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        timeline = self.timeline()
        start = self.begin(timeline)
        changes = self.ending(timeline)
        if self.after is After.ERROR and timeline.end is not None:
            changes = self._refused_after(changes, timeline.end, start)
        if not start:
            return changes
        return ((time - start, state) for time, state in cut(changes, [start]) if time >= start)

    def begin(self, timeline: Timeline) -> int:
        """The slot of the trace at which the run begins. Raises InputError where it has ended."""
        end = timeline.end or timeline.period or timeline.changes[-1][0] + 1
        start = int(self._share * end) if isinstance(self.start, str) else int(self.start)
        if start >= end and timeline.period is None:
            raise unfit(
                "workers.availability.start",
                f"{self.start!r} is not accepted: the trace ends at {end:g}",
                "an earlier time",
            )
        return start

    def _refused_after(self, changes: Iterator[Change], end: float, start: int) -> Iterator[Change]:
        state = WorkerState.UP
        for time, state in changes:
            yield time, state
        yield end * (1 + 1e-9), state  # a run that ends then, and not later, needs no more of it
        slot = self.seconds()
        since = f", {in_units((end - start) * slot, 's')} after the run's start" if start else ""
        raise InputError(
            str(self.path),
            "",
            f"the trace ends at {in_units(end * slot, 's')}{since}, and the run goes on",
            'availability.after = "repeat" or "up", or a shorter run',
        )


class SpotFile(TraceFile):
    """`{kind = "spot", file = "zone.json", states = {1 = "u", 0 = "d"}, after = "repeat"}`; the
    file says how long a tick is."""

    kind: Literal["spot"]
    states: dict[int, WorkerState]
    """Number of instances -> state (u, r or d)."""

    def read(self) -> Timeline:
        return self._trace().mapped(self.states)

    def seconds(self) -> float:
        return self.slot or self._trace().gap_seconds

    def _trace(self) -> SpotTrace:
        from sims.readers.spot import read_spot_trace

        return read_spot_trace(self.path)

    def priced(self, worker: int) -> WorkerPriced | None:
        trace, slot = self._trace(), self.seconds()
        if not trace.prices:
            return None
        tick, ticks = trace.gap_seconds / slot, len(trace.prices)
        start = self.begin(self.timeline())
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

    def read(self) -> Timeline:
        from sims.readers.traces import read_fta_trace

        path, origin = self.path, self.origin
        nodes = read_fta_trace(path, self.states, origin, self.component)
        for node, timeline in nodes.items():
            if (node.platform, node.node) == (self.platform, self.node):
                return timeline
        known = ", ".join(f"{node.platform}/{node.node}" for node in nodes)
        raise InputError(
            str(path),
            "node_id",
            f"no node {self.node} on platform {self.platform}",
            f"platform/node: {known}",
        )


class SimGridFile(TraceFile):
    """`{kind = "simgrid", file = "host.state", slot = 60}`."""

    kind: Literal["simgrid"]
    states: Annotated[ProfileStates, Held()] = Field(default_factory=ProfileStates)
    """Which state each value stands for."""

    def read(self) -> Timeline:
        from sims.readers.traces import read_simgrid_profile

        return read_simgrid_profile(self.path, self.states)


class IntervalFile(TraceFile):
    """`{kind = "csv", file = "nodes.csv", worker = "n7", slot = 60}`: intervals of workers, a line
    `worker,start,end,state` each."""

    kind: Literal["csv"]
    worker: str
    """As the file calls it."""
    gap: WorkerState | None = None
    """Where it has no interval: u, r or d; default: d, where some interval of the file is UP."""

    def read(self) -> Timeline:
        from sims.readers.traces import read_intervals

        path = self.path
        workers = read_intervals(path, self.gap)
        if self.worker not in workers:
            raise InputError(str(path), "worker", f"no worker {self.worker!r}", ", ".join(workers))
        return workers[self.worker]


Availability = Annotated[
    AlwaysUp | Markov | Letters | SpotFile | FtaFile | SimGridFile | IntervalFile, OneOf()
]
