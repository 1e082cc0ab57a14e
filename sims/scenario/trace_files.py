"""Availability of workers from trace files, in formats of other projects.

Readers are imported where a file is read, so that no run pays for the imports of another format.
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
from policies.maths.tolerance import SAME
from sims.errors import InputError, unfit
from sims.readers.trace_states import FtaStates, Origin, ProfileStates
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
    """Path of the trace, relative to the scenario's folder; `.gz` and `.xz` are unpacked."""
    slot: Duration | None = None
    """Seconds per slot, where the unit is a slot; default: the tick of a spot trace. Leave it out
    where the unit is s, because traces are in seconds."""
    start: Start = 0
    """Time in the trace at which the run begins; `random`: drawn with the run's seed, at the same
    share of all traces, so that traces of one length keep their common clock."""
    after: After = After.ERROR
    """State after the end of the trace; `error`: the simulation ends with an error if it lasts
    longer."""

    _share: float = PrivateAttr(0.0)
    """Share of the trace at which a random start is."""
    _folder: Path = PrivateAttr(Path())
    """Folder in which the file is looked for."""

    def placed(self, in_seconds: bool, share: float, folder: Path) -> Self:
        """Return the trace as one run uses it: with its unit, its random start and its folder set.

        `in_seconds` says whether the scenario's unit is a second, and `share`, from 0 to 1, where
        in the trace a random start is. Raises InputError where the unit is a second and a slot has
        another length.
        """
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
        """Path of the trace's file."""
        return self._folder / self.file

    def read(self) -> Timeline:
        """Read the trace's file, and return the worker's states over time, in seconds from the
        trace's start."""
        raise AssertionError("a file is read")

    def seconds(self) -> float:
        """Return the length of a slot of this trace, in seconds.

        Raises InputError where neither the scenario nor the trace gives it.
        """
        if self.slot is None:
            raise unfit(
                "workers.availability.slot",
                "missing: the unit is a slot, and the trace has no tick",
                "seconds per slot",
            )
        return self.slot

    def timeline(self) -> Timeline:
        """Return the file's states by slot, from the trace's start on, wherever in it the run
        begins.

        Raises InputError where the trace repeats and its period is not a whole number of slots even
        after thousands of repetitions.
        """
        try:
            return self.read().slotted(self.seconds())
        except (ValueError, OverflowError) as error:
            raise InputError(
                str(self.path),
                "slot",
                str(error),
                "a slot that divides the period, or a few of them",
            ) from None

    def away(self) -> tuple[int, int]:
        """Return how often the trace's worker is away, DOWN or RECLAIMED, and how many of these
        times are in no slot, since they begin and end between the starts of two."""
        whole, up = self.read(), WorkerState.UP
        unseen = whole.unseen(self.seconds())
        return sum(it is not up for _, it in whole.changes), sum(it is not up for it in unseen)

    def changes(self, rng: Generator) -> Iterator[Change]:
        """Yield (slot, state from then on) for each change of the worker's state; slot 0 is the
        trace's slot `begin`, at which the run begins.

        With `after = "error"` the iterator raises InputError once it is read beyond the trace's
        end. Nothing is random: `rng` is not used.
        """
        timeline = self.timeline()
        start = self.begin(timeline)
        changes = self.ending(timeline)
        if self.after is After.ERROR and timeline.end is not None:
            changes = self._refused_after(changes, timeline.end, start)
        if not start:
            return changes
        return ((time - start, state) for time, state in cut(changes, [start]) if time >= start)

    def begin(self, timeline: Timeline) -> int:
        """Return the slot of the trace at which the run begins.

        Raises InputError where the trace has ended by then.
        """
        # Without an end or a period, the last change is the last slot that is known.
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
        yield end * (1 + SAME), state  # a run that ends then, and not later, needs no more of it
        slot = self.seconds()
        since = f", {in_units((end - start) * slot, 's')} after the run's start" if start else ""
        raise InputError(
            str(self.path),
            "",
            f"the trace ends at {in_units(end * slot, 's')}{since}, and the run goes on",
            'availability.after = "repeat" or "up", or a shorter run',
        )


class SpotFile(TraceFile):
    """`{kind = "spot", file = "zone.json", after = "repeat"}`: a trace of spot instances, whose
    counts are so many workers UP; the file gives the length of a tick."""

    kind: Literal["spot"]
    states: dict[int, WorkerState] = Field(default_factory=dict)
    """State (u, r or d) of the worker for each number of instances; default: of the workers of one
    table as many are UP as there are instances, the first ones, and the others DOWN."""

    _place: int = PrivateAttr(0)
    """Number of the worker among those of its table, from 0."""

    def of_worker(self, place: int) -> Self:
        """Return the trace of the worker that is number `place`, from 0, of its table."""
        placed = self.model_copy()
        placed._place = place
        return placed

    def read(self) -> Timeline:
        trace = self._trace()
        return trace.mapped(self.states) if self.states else trace.worker(self._place)

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
    """`{kind = "fta", file = "event_trace.tab", node = 7, slot = 60}`: a node's availability in a
    trace of the Failure Trace Archive."""

    kind: Literal["fta"]
    node: int
    """node_id of the worker."""
    platform: int = 0
    """platform_id of the worker."""
    component: int | None = None
    """component_id of the events that count; default: all events count, and unavailable wins."""
    origin: Origin = Origin.TRACE
    """Time that is slot 0: `trace`, the earliest start in the file; `node`, the earliest start of
    this node."""
    states: Annotated[FtaStates, Held()] = Field(default_factory=FtaStates)
    """State that `available` and `unavailable` each stand for."""

    def read(self) -> Timeline:
        from sims.readers.traces import read_fta_trace, with_known_gaps

        path, origin = self.path, self.origin
        nodes = read_fta_trace(path, self.states, origin, self.component)
        for node, timeline in nodes.items():
            if (node.platform, node.node) == (self.platform, self.node):
                name, gap = f"node {self.platform}/{self.node}", self.states.gap
                return with_known_gaps(timeline, name, path, "states.gap", gap)
        known = ", ".join(f"{node.platform}/{node.node}" for node in nodes)
        raise InputError(
            str(path),
            "node_id",
            f"no node {self.node} on platform {self.platform}",
            f"platform/node: {known}",
        )


class SimGridFile(TraceFile):
    """`{kind = "simgrid", file = "host.state", slot = 60}`: a state profile of SimGrid."""

    kind: Literal["simgrid"]
    states: Annotated[ProfileStates, Held()] = Field(default_factory=ProfileStates)
    """State that each value stands for."""

    def read(self) -> Timeline:
        from sims.readers.traces import read_simgrid_profile

        return read_simgrid_profile(self.path, self.states)


class IntervalFile(TraceFile):
    """`{kind = "csv", file = "nodes.csv", worker = "n7", slot = 60}`: intervals of workers, each a
    line `worker,start,end,state`."""

    kind: Literal["csv"]
    worker: str
    """Name of the worker in the file."""
    gap: WorkerState | None = None
    """State between the worker's intervals: u, r or d; default: d, if some interval of the worker
    is UP."""

    def read(self) -> Timeline:
        from sims.readers.traces import read_intervals, with_known_gaps

        path = self.path
        workers = read_intervals(path, self.gap)
        if self.worker not in workers:
            raise InputError(str(path), "worker", f"no worker {self.worker!r}", ", ".join(workers))
        return with_known_gaps(workers[self.worker], self.worker, path, "gap", self.gap)


Availability = Annotated[
    AlwaysUp | Markov | Letters | SpotFile | FtaFile | SimGridFile | IntervalFile, OneOf()
]
