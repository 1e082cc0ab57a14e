"""What a scenario file may say of one worker's availability.

Readers of files are imported where one is read: no run waits for what others need.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from attrs import frozen
from numpy.random import Generator
from pydantic import Field

from actors.events import WorkerPriced
from actors.owners import Change, markov_changes
from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from sims.errors import InputError
from sims.readers.fta import FtaStates, Origin, read_fta_trace
from sims.readers.simgrid import ProfileStates, read_simgrid_profile
from sims.readers.timeline import Timeline, read_letters
from sims.tables.fields import Accepts, Duration, Time
from sims.tables.section import Held, OneOf, Section

Row = Annotated[tuple[float, float, float], Accepts("a list of 3 probabilities")]
HOUR = 3600  # s


class After(enum.Enum):
    """What comes after the end of a trace."""

    HOLD = "hold"
    """Its last state, for ever."""
    UP = "up"
    """UP, for ever."""
    REPEAT = "repeat"
    """The trace again, from its start."""


class _Owned(Section):
    """What an owner who takes a worker away may do."""

    notice: Time = 0
    """How long before it takes the worker DOWN the owner says so."""

    def notices(self, changes: Iterator[Change]) -> Iterator[tuple[float, float]]:
        """(when it says so, when it takes the worker DOWN)."""
        return ((max(0, t - self.notice), t) for t, state in changes if state is WorkerState.DOWN)


class AlwaysUp(_Owned):
    """`"always"` or `{kind = "always"}`: never reclaimed, never down."""

    kind: Literal["always"] = "always"

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        return iter(((0, WorkerState.UP),))

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default."""
        return MarkovChain(((1.0, 0.0, 0.0),) * 3)


class Markov(_Owned):
    """`{kind = "markov", rows = [[uu, ur, ud], [ru, rr, rd], [du, dr, dd]]}` (volatile13,
    section V.A)."""

    kind: Literal["markov"] = "markov"
    rows: tuple[Row, Row, Row]
    """Probabilities from slot to slot, rows and columns in the order UP, RECLAIMED, DOWN."""
    first: WorkerState = WorkerState.UP
    """State in slot 0."""

    def check(self) -> None:
        MarkovChain(self.rows)

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        return markov_changes(MarkovChain(self.rows), rng, self.first)

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default: the truth."""
        return MarkovChain(self.rows)


class _Trace(_Owned):
    """Whatever has a timeline of slots."""

    then: After = After.UP
    """What comes after its end."""

    def timeline(self, folder: Path) -> Timeline:
        """The states in slots of length 1."""
        raise AssertionError("a trace knows its timeline")

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        timeline = self.timeline(folder)
        if self.then is After.REPEAT and timeline.end is not None:
            timeline = timeline.repeated()
        changes = ((int(time), state) for time, state in timeline.transitions())
        up = self.then is After.UP and timeline.end is not None
        return _then_up(changes, int(timeline.end or 0)) if up else changes

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default: the chain that fits the trace best."""
        from sims.readers.markov_fit import fit_markov

        timeline = self.timeline(folder)
        if timeline.end is None:
            timeline = timeline.clipped(timeline.changes[-1][0] + 1)
        return fit_markov(timeline).chain


class Letters(_Trace):
    """`"uurrdu"` or `{kind = "letters", states = "uurrdu"}`: one state per unit of time."""

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((str,), "states")

    kind: Literal["letters"] = "letters"
    states: str
    """u UP, r RECLAIMED, d DOWN; slot 0 first."""

    def check(self) -> None:
        read_letters(self.states, "scenario", "")

    def timeline(self, folder: Path) -> Timeline:
        return read_letters(self.states, "scenario", "availability")


class _TraceFile(_Trace):
    """A trace in a file, cut into slots."""

    file: str
    """Path, from the scenario file's folder; `.gz` and `.xz` are unpacked."""
    slot: Duration
    """Seconds per slot."""

    def path(self, folder: Path) -> Path:
        """The file."""
        return folder / self.file

    def cut(self, timeline: Timeline, folder: Path) -> Timeline:
        """The file's timeline in slots; InputError where its repetition never meets them."""
        try:
            return timeline.slotted(self.slot)
        except ValueError as error:
            accepted = "a slot that divides the period, or a few of them"
            raise InputError(str(self.path(folder)), "slot", str(error), accepted) from None


class SpotFile(_TraceFile):
    """`{kind = "spot", file = "zone.json", states = {1 = "u", 0 = "d"}, slot = 195}`."""

    kind: Literal["spot"]
    states: dict[int, WorkerState]
    """Number of instances -> state (u, r or d)."""

    def timeline(self, folder: Path) -> Timeline:
        from sims.readers.spot import read_spot_trace

        return self.cut(read_spot_trace(self.path(folder)).mapped(self.states), folder)

    def priced(self, worker: int, folder: Path) -> WorkerPriced | None:
        """What the file says that a worker costs while it is UP; None: nothing."""
        from sims.readers.spot import read_spot_trace

        trace = read_spot_trace(self.path(folder))
        ticks = range(len(trace.prices))
        if not ticks:
            return None
        tick = trace.gap_seconds / self.slot
        each = tuple(price * self.slot / HOUR for price in trace.prices)
        period = len(ticks) * tick if self.then is After.REPEAT else None
        return WorkerPriced(worker, tuple(tick * k for k in ticks), each, period)


class FtaFile(_TraceFile):
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

    def timeline(self, folder: Path) -> Timeline:
        path, origin = self.path(folder), self.origin
        nodes = read_fta_trace(path, self.states, origin, self.component)
        for node, timeline in nodes.items():
            if (node.platform, node.node) == (self.platform, self.node):
                return self.cut(timeline, folder)
        known = ", ".join(f"{node.platform}/{node.node}" for node in nodes)
        missing = f"no node {self.node} on platform {self.platform}"
        raise InputError(str(path), "node_id", missing, f"platform/node: {known}")


class SimGridFile(_TraceFile):
    """`{kind = "simgrid", file = "host.state", slot = 60}`."""

    kind: Literal["simgrid"]
    states: Annotated[ProfileStates, Held()] = Field(default_factory=ProfileStates)
    """Which state each value stands for."""

    def timeline(self, folder: Path) -> Timeline:
        return self.cut(read_simgrid_profile(self.path(folder), self.states), folder)


class IntervalFile(_TraceFile):
    """`{kind = "csv", file = "nodes.csv", worker = "n7", slot = 60}`: intervals of workers, a line
    `worker,start,end,state` each."""

    kind: Literal["csv"]
    worker: str
    """As the file calls it."""
    gap: WorkerState = WorkerState.DOWN
    """Where it has no interval: u, r or d."""

    def timeline(self, folder: Path) -> Timeline:
        from sims.readers.intervals import read_intervals

        path = self.path(folder)
        workers = read_intervals(path, self.gap)
        if self.worker not in workers:
            problem = f"no worker {self.worker!r}"
            raise InputError(str(path), "worker", problem, ", ".join(workers))
        return self.cut(workers[self.worker], folder)


def _then_up(changes: Iterator[Change], end: int) -> Iterator[Change]:
    """Those changes, and UP from `end` on."""
    state = WorkerState.UP
    for time, state in changes:
        yield time, state
    if state is not WorkerState.UP:
        yield end, WorkerState.UP


Availability = Annotated[
    AlwaysUp | Markov | Letters | SpotFile | FtaFile | SimGridFile | IntervalFile, OneOf()
]


@frozen
class Overlaid:
    """An availability, and times at which the owner takes the worker back whatever it says."""

    under: Availability
    spans: tuple[tuple[float, float], ...]
    """[from, until), in any order."""

    @property
    def notice(self) -> float:
        """Of the owner that takes it DOWN."""
        return self.under.notice

    def notices(self, changes: Iterator[Change]) -> Iterator[tuple[float, float]]:
        """See _Owned."""
        return self.under.notices(changes)

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(time, state) from time 0 on: RECLAIMED within a span unless DOWN (WORLD.md, W1)."""
        bounds = sorted({time for span in self.spans for time in span if time > 0})
        last: WorkerState | None = None
        for time, state in _cut(self.under.changes(rng, folder), bounds):
            if state is WorkerState.UP and any(a <= time < b for a, b in self.spans):
                state = WorkerState.RECLAIMED
            if state is not last:
                yield time, state
            last = state

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default: they know nothing of the spans."""
        return self.under.chain(folder)


def _cut(changes: Iterator[Change], bounds: Sequence[float]) -> Iterator[Change]:
    """The changes, and at each bound between them the state once more."""
    _, state = first = next(changes)
    yield first
    following = next(changes, None)
    for bound in bounds:
        while following is not None and following[0] <= bound:
            state = following[1]
            yield following
            following = next(changes, None)
        yield bound, state
    if following is not None:
        yield following
    yield from changes
