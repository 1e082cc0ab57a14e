"""Availability of one worker: always UP, a Markov chain, or a string of states.

Readers of files and strings are imported where one is read, so that no run pays for the imports of
another kind.
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
    """State of a worker after the end of its trace."""

    ERROR = "error"
    """Nothing: a run that lasts longer ends with an error."""
    HOLD = "hold"
    """The trace's last state, for ever."""
    UP = "up"
    """UP, for ever."""
    REPEAT = "repeat"
    """The trace again from its start, for ever."""


class Owned(Section):
    """An availability of a worker with an owner, who may give notice before taking the worker
    DOWN."""

    notice: Time = 0
    """Time between the owner's notice and the moment the worker goes DOWN, time units; default: no
    notice."""

    def notices(self, rng: Generator) -> Iterator[tuple[float, float | None]]:
        """Yield, for each change of state by the owner in time order, (time at which it is
        announced, time at which the worker goes DOWN).

        The second time is None for a change to another state, which announces nothing. `rng` draws
        the changes, and the announcement comes `notice` before the change, at 0 at the earliest.
        """
        yield from self.noticed(self.changes(rng))

    def noticed(self, changes: Iterator[Change]) -> Iterator[tuple[float, float | None]]:
        """Yield (time of notice, time at which the worker goes DOWN) for each of these changes of
        state, given as (time, state) in time order. The notice comes `notice` before the change, at
        0 at the earliest.

        The second time is None for a change that is not to DOWN, which cancels an earlier notice.
        An iterator of changes that raises InputError, as a trace does at its end, ends the notices.
        """
        with suppress(InputError):  # a trace that has ended: its `changes` raises the error in time
            for time, state in changes:
                yield max(0, time - self.notice), time if state is WorkerState.DOWN else None

    def priced(self, worker: int) -> WorkerPriced | None:
        """Return the prices of worker number `worker` while it is UP, as the event that describes
        them in the log; None where the availability has no prices."""
        return None

    def changes(self, rng: Generator) -> Iterator[Change]:
        """Yield (time, state from then on) for the first state, at time 0, and each change of the
        worker's state in time order; `rng` draws what is random."""
        raise AssertionError("an availability knows its changes")


class AlwaysUp(Owned):
    """`"always"` or `{kind = "always"}`: never RECLAIMED, never DOWN."""

    kind: Literal["always"] = "always"

    def changes(self, rng: Generator) -> Iterator[Change]:
        """Yield the only change: (0, UP)."""
        return iter(((0, WorkerState.UP),))

    def chain(self) -> MarkovChain:
        """Return the Markov chain that policies assume by default for this worker: it stays UP for
        certain."""
        return MarkovChain(((1.0, 0.0, 0.0),) * 3)


class Markov(Owned):
    """`{kind = "markov", rows = [[uu, ur, ud], [ru, rr, rd], [du, dr, dd]]}`: a Markov chain from
    slot to slot (volatile13, section V.A)."""

    kind: Literal["markov"] = "markov"
    rows: tuple[Row, Row, Row]
    """Probabilities from slot to slot; rows and columns are in the order UP, RECLAIMED, DOWN."""
    first: WorkerState = WorkerState.UP
    """State in slot 0."""

    def check(self) -> None:
        MarkovChain(self.rows)

    def changes(self, rng: Generator) -> Iterator[Change]:
        """Yield (slot, state from then on) for each change of the worker's state, from slot 0 on
        without end, drawn from the chain with `rng`."""
        return markov_changes(MarkovChain(self.rows), rng, self.first)

    def chain(self) -> MarkovChain:
        """Return the Markov chain that policies assume by default for this worker: its true one."""
        return MarkovChain(self.rows)


class Trace(Owned):
    """An availability that a timeline gives: a list of the worker's states by slot, perhaps with an
    end."""

    after: After = After.UP
    """State after the end of the trace: `up`, `hold` or `repeat`, for files also `error`."""

    def timeline(self) -> Timeline:
        """Return the worker's states by slot, from the trace's first slot on."""
        raise AssertionError("a trace knows its timeline")

    def known(self) -> Timeline:
        """Return the part of the timeline that was observed: up to its end, or, if its end is not
        known, up to one slot after the last change."""
        timeline = self.timeline()
        if timeline.end is not None:
            return timeline
        return timeline.clipped(timeline.changes[-1][0] + 1)

    def changes(self, rng: Generator) -> Iterator[Change]:
        """Yield (slot, state from then on) for each change of the worker's state, from slot 0 on.
        Nothing is random: `rng` is not used."""
        return self.ending(self.timeline())

    def ending(self, timeline: Timeline) -> Iterator[Change]:
        """Yield the changes of a timeline as (slot, state from then on), and after its end what
        `after` says: UP from then on, the last state for ever, or the timeline again and again.

        A timeline without an end, and `after = "error"`, add nothing.
        """
        end = timeline.end
        if self.after is After.REPEAT and end is not None:
            timeline = timeline.repeated()
        state = WorkerState.UP
        for time, state in timeline.transitions():
            yield int(time), state
        if end is not None and self.after is After.UP and state is not WorkerState.UP:
            yield int(end), WorkerState.UP

    def chain(self) -> MarkovChain:
        """Return the Markov chain that policies assume by default for this worker: the one that
        fits the observed part of the trace best."""
        from sims.readers.fits import fit_markov

        return fit_markov(self.known()).chain

    def failures(self) -> tuple[int, int]:
        """Return (number of slots in which the worker is UP, number of times it goes DOWN) in the
        observed part of the trace."""
        runs = self.known().runs()
        up = sum(slots for state, slots in runs if state is WorkerState.UP)
        return up, sum(state is WorkerState.DOWN for state, _ in runs[1:])


class Letters(Trace):
    """`"uurrdu"` or `{kind = "letters", states = "uurrdu"}`: one state per unit of time."""

    SHORT = ((str,), "states")

    kind: Literal["letters"] = "letters"
    states: str
    """State of each slot from slot 0 on: u UP, r RECLAIMED, d DOWN."""

    def check(self) -> None:
        self.timeline()
        if self.after is After.ERROR:
            raise Unacceptable("after", "error", "up, repeat or hold, where states are listed")

    def timeline(self) -> Timeline:
        from sims.readers.timeline import read_letters

        return read_letters(self.states, "scenario", "")


def cut(changes: Iterator[Change], bounds: Sequence[float]) -> Iterator[Change]:
    """Yield the changes (time, state from then on), in time order, and at each time in `bounds` the
    state that holds there once more, after any change at that time.

    `changes` has at least one entry, and `bounds` ascend.
    """
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
