"""What a scenario file may say of one worker's availability: none, a chain, a string of states.

Readers of files, and of strings, are imported where one is read: no run waits for what others need.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Literal

from numpy.random import Generator

from actors.events import WorkerPriced
from actors.hazards import Change, markov_changes
from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from sims.errors import InputError
from sims.tables import Section
from sims.tables.fields import Accepts, Time, Unacceptable

if TYPE_CHECKING:
    from sims.readers.timeline import Timeline

Row = Annotated[tuple[float, float, float], Accepts("a list of 3 probabilities")]


class After(enum.Enum):
    """What comes after the end of a trace."""

    ERROR = "error"
    """Nothing: a run that lasts longer is refused."""
    HOLD = "hold"
    """Its last state, for ever."""
    UP = "up"
    """UP, for ever."""
    REPEAT = "repeat"
    """The trace again, from its start."""


class Owned(Section):
    """What an owner who takes a worker away may do."""

    notice: Time = 0
    """How long before it takes the worker DOWN the owner says so."""

    def notices(self, rng: Generator) -> Iterator[tuple[float, float | None]]:
        """(when it says so, when it takes the worker DOWN; None: it does nothing of the kind)."""
        with suppress(InputError):  # a trace has ended: its changes say so in time
            for time, state in self.changes(rng):
                yield max(0, time - self.notice), time if state is WorkerState.DOWN else None

    def priced(self, worker: int) -> WorkerPriced | None:
        """What it says that a worker costs while it is UP; None: nothing."""
        return None

    def changes(self, rng: Generator) -> Iterator[Change]:
        """(time, state) from time 0 on."""
        raise AssertionError("an availability knows its changes")


class AlwaysUp(Owned):
    """`"always"` or `{kind = "always"}`: never reclaimed, never down."""

    kind: Literal["always"] = "always"

    def changes(self, rng: Generator) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        return iter(((0, WorkerState.UP),))

    def chain(self) -> MarkovChain:
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

    def changes(self, rng: Generator) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        return markov_changes(MarkovChain(self.rows), rng, self.first)

    def chain(self) -> MarkovChain:
        """What policies believe by default: the truth."""
        return MarkovChain(self.rows)


class Trace(Owned):
    """Whatever has a timeline of slots."""

    after: After = After.UP
    """What comes after its end."""

    def timeline(self) -> Timeline:
        """The states in slots of length 1."""
        raise AssertionError("a trace knows its timeline")

    def known(self) -> Timeline:
        """The part of its timeline that was seen."""
        timeline = self.timeline()
        if timeline.end is not None:
            return timeline
        return timeline.clipped(timeline.changes[-1][0] + 1)

    def changes(self, rng: Generator) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        return self.ending(self.timeline())

    def ending(self, timeline: Timeline) -> Iterator[Change]:
        """The changes of a timeline, and what comes after them where it ends."""
        end = timeline.end
        if self.after is After.REPEAT and end is not None:
            timeline = timeline.repeated()
        state = WorkerState.UP
        for time, state in timeline.transitions():
            yield int(time), state
        if end is not None and self.after is After.UP and state is not WorkerState.UP:
            yield int(end), WorkerState.UP

    def chain(self) -> MarkovChain:
        """What policies believe by default: the chain that fits the trace best."""
        from sims.readers.fits import fit_markov

        return fit_markov(self.known()).chain

    def failures(self) -> tuple[int, int]:
        """Slots that it is UP, and how often it goes DOWN."""
        runs = self.known().runs()
        up = sum(slots for state, slots in runs if state is WorkerState.UP)
        return up, sum(state is WorkerState.DOWN for state, _ in runs[1:])


class Letters(Trace):
    """`"uurrdu"` or `{kind = "letters", states = "uurrdu"}`: one state per unit of time."""

    SHORT = ((str,), "states")

    kind: Literal["letters"] = "letters"
    states: str
    """u UP, r RECLAIMED, d DOWN; slot 0 first."""

    def check(self) -> None:
        self.timeline()
        if self.after is After.ERROR:
            raise Unacceptable("after", "error", "up, repeat or hold, where states are listed")

    def timeline(self) -> Timeline:
        from sims.readers.timeline import read_letters

        return read_letters(self.states, "scenario", "")


def cut(changes: Iterator[Change], bounds: Sequence[float]) -> Iterator[Change]:
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
