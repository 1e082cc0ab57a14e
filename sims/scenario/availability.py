"""What a scenario file may say of one worker's availability."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from attrs import frozen
from numpy.random import Generator

from actors.owners import Change, markov_changes
from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from sims.scenario.trace_files import FtaFile, IntervalFile, SimGridFile, SpotFile
from sims.scenario.traces import Letters, Owned, cut
from sims.tables.fields import Accepts
from sims.tables.section import OneOf

Row = Annotated[tuple[float, float, float], Accepts("a list of 3 probabilities")]


class AlwaysUp(Owned):
    """`"always"` or `{kind = "always"}`: never reclaimed, never down."""

    kind: Literal["always"] = "always"

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        return iter(((0, WorkerState.UP),))

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default."""
        return MarkovChain(((1.0, 0.0, 0.0),) * 3)


class Markov(Owned):
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

    def notices(self, rng: Generator, folder: Path) -> Iterator[tuple[float, float | None]]:
        """See Owned."""
        return self.under.notices(rng, folder)

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(time, state) from time 0 on: RECLAIMED within a span unless DOWN (WORLD.md, W1)."""
        bounds = sorted({time for span in self.spans for time in span if time > 0})
        for time, state in cut(self.under.changes(rng, folder), bounds):
            if state is WorkerState.UP and any(a <= time < b for a, b in self.spans):
                state = WorkerState.RECLAIMED
            yield time, state

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default: they know nothing of the spans."""
        return self.under.chain(folder)
