"""Traces of one worker's availability: strings of states, and files of others.

Readers of files are imported where one is read: no run waits for what others need.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from numpy.random import Generator
from pydantic import PrivateAttr

from actors.owners import Change
from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from sims.errors import InputError
from sims.tables.fields import Accepts, Duration, Time, Unacceptable
from sims.tables.section import Section
from sims.telling import in_units

if TYPE_CHECKING:
    from sims.readers.timeline import Timeline


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

    def notices(self, rng: Generator, folder: Path) -> Iterator[tuple[float, float | None]]:
        """(when it says so, when it takes the worker DOWN; None: it does nothing of the kind)."""
        with suppress(InputError):  # a trace has ended: its changes say so in time
            for time, state in self.changes(rng, folder):
                yield max(0, time - self.notice), time if state is WorkerState.DOWN else None

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(time, state) from time 0 on."""
        raise AssertionError("an availability knows its changes")


class Trace(Owned):
    """Whatever has a timeline of slots."""

    after: After = After.UP
    """What comes after its end."""

    def timeline(self, folder: Path) -> Timeline:
        """The states in slots of length 1."""
        raise AssertionError("a trace knows its timeline")

    def known(self, folder: Path) -> Timeline:
        """The part of its timeline that was seen."""
        timeline = self.timeline(folder)
        if timeline.end is not None:
            return timeline
        return timeline.clipped(timeline.changes[-1][0] + 1)

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        timeline = self.timeline(folder)
        return self.ending(timeline, timeline.end)

    def ending(self, timeline: Timeline, end: float | None) -> Iterator[Change]:
        """The changes of a timeline, and what comes after them where it ends."""
        if self.after is After.REPEAT and end is not None:
            timeline = timeline.repeated()
        state = WorkerState.UP
        for time, state in timeline.transitions():
            yield int(time), state
        if end is not None and self.after is After.UP and state is not WorkerState.UP:
            yield int(end), WorkerState.UP

    def chain(self, folder: Path) -> MarkovChain:
        """What policies believe by default: the chain that fits the trace best."""
        from sims.readers.markov_fit import fit_markov

        return fit_markov(self.known(folder)).chain

    def failures(self, folder: Path) -> tuple[int, int]:
        """Slots that it is UP, and how often it goes DOWN."""
        runs = self.known(folder).runs()
        up = sum(slots for state, slots in runs if state is WorkerState.UP)
        return up, sum(state is WorkerState.DOWN for state, _ in runs[1:])


class Letters(Trace):
    """`"uurrdu"` or `{kind = "letters", states = "uurrdu"}`: one state per unit of time."""

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((str,), "states")

    kind: Literal["letters"] = "letters"
    states: str
    """u UP, r RECLAIMED, d DOWN; slot 0 first."""

    def check(self) -> None:
        self.timeline(Path())
        if self.after is After.ERROR:
            raise Unacceptable("after", "error", "up, repeat or hold, where states are listed")

    def timeline(self, folder: Path) -> Timeline:
        from sims.readers.timeline import read_letters

        return read_letters(self.states, "scenario", "")


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

    def placed(self, in_seconds: bool, share: float) -> Self:
        """As a run has it whose unit is a second or not, and whose random start is at this share.
        Raises InputError for a slot of another length than a second's."""
        if in_seconds and self.slot not in (None, 1):
            problem = f"{self.slot!r} s in a slot, and the unit is s: the trace would run "
            problem += f"{self.slot!r} times too fast"
            accepted = 'slot left out (the file says how long its ticks are), or unit = "slot"'
            raise InputError("scenario", "workers.availability.slot", problem, accepted)
        placed = self.model_copy(update={"slot": 1} if in_seconds else {})
        placed._share = share
        return placed

    def path(self, folder: Path) -> Path:
        """The file."""
        return folder / self.file

    def read(self, folder: Path) -> Timeline:
        """The file's timeline, in seconds."""
        raise AssertionError("a file is read")

    def seconds(self, folder: Path) -> float:
        """In a slot. Raises InputError where nothing says it."""
        if self.slot is None:
            problem = "missing: the unit is a slot, and the trace has no tick"
            raise InputError("scenario", "workers.availability.slot", problem, "seconds per slot")
        return self.slot

    def timeline(self, folder: Path) -> Timeline:
        """The file's timeline in slots; InputError where its repetition never meets them."""
        try:
            return self.read(folder).slotted(self.seconds(folder))
        except ValueError as error:
            accepted = "a slot that divides the period, or a few of them"
            raise InputError(str(self.path(folder)), "slot", str(error), accepted) from None

    def changes(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """(slot, state) from slot 0 on."""
        timeline = self.timeline(folder)
        start = self.begin(timeline)
        changes = self.ending(timeline, timeline.end)
        if self.after is After.ERROR and timeline.end is not None:
            changes = self._refused_after(changes, timeline.end, start, folder)
        if not start:
            return changes
        return ((time - start, state) for time, state in cut(changes, [start]) if time >= start)

    def begin(self, timeline: Timeline) -> int:
        """The slot of the trace at which the run begins. Raises InputError where it has ended."""
        end = timeline.end or timeline.period or timeline.changes[-1][0] + 1
        start = int(self._share * end) if isinstance(self.start, str) else int(self.start)
        if start >= end and timeline.period is None:
            problem = f"{self.start!r} is not accepted: the trace ends at {end:g}"
            raise InputError("scenario", "workers.availability.start", problem, "an earlier time")
        return start

    def _refused_after(
        self, changes: Iterator[Change], end: float, start: int, folder: Path
    ) -> Iterator[Change]:
        state = WorkerState.UP
        for time, state in changes:
            yield time, state
        yield end * (1 + 1e-9), state  # a run that ends then, and not later, needs no more of it
        slot = self.seconds(folder)
        since = f", {in_units((end - start) * slot, 's')} after the run's start" if start else ""
        problem = f"the trace ends at {in_units(end * slot, 's')}{since}, and the run goes on"
        accepted = 'availability.after = "repeat" or "up", or a shorter run'
        raise InputError(str(self.path(folder)), "", problem, accepted)


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
