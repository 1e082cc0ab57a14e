"""Who must tell what at each instant of a log, one thing after the other."""

from __future__ import annotations

from abc import abstractmethod
from bisect import insort
from collections.abc import Callable, Generator
from contextlib import suppress
from math import inf
from typing import Any

from attrs import Factory, define, field

from actors.events import Outcome, TransferDropped, TransferSuspended
from actors.runtime import Event, Record
from sims.audit.law import HEARD, Broken, Law, Phase, check, fits, told

INSTANT = NEGLIGIBLE = 1e-12
"""Of a time, that it is one instant; of a whole, that it is nothing (WORLD.md, One instant)."""
LATER = 1 << 40
"""More than there are runs."""
DONE = object()
Script = Generator[Any, Any, Any]
"""What must be told: it yields (event, causes), and gets that line's seq; None, and gets the next
event to look at; what it waits for; or another script, which goes on in its place."""
Make = Callable[[], Script | None]


@define(eq=False)
class Turn:
    """A script whose turn it is to tell."""

    phase: int
    script: Script
    want: Any

    def told(self) -> Script:
        """What is left of it."""
        want = self.want
        with suppress(StopIteration):
            while True:
                want = self.script.send((yield want))


@define(eq=False)
class Teller:
    """A job or a worker: what it has to tell at this instant, one thing after the other."""

    turns: list[tuple[int, int, int, Make]] = field(init=False, factory=list)
    """(phase, number, order, what makes the script), the first first."""
    front: Turn | None = field(init=False, default=None)
    """What it must tell next."""

    def may_tell(self, event: Event) -> bool:
        """Whether this may be what it has to tell now."""
        if self.front is None:
            return bool(self.turns)
        return self.front.want is None or fits(self.front.want[0], event)


@define(eq=False)
class Timer:
    """When something is due."""

    due: float
    phase: int
    teller: Teller
    number: int
    make: Make
    live: bool = True


@define(eq=False)
class Parked:
    """What a script waits for."""

    script: Script | None = field(init=False, default=None)

    def take(self) -> Script | None:
        """That script, which goes on now: once, whoever else has seen that the wait is over."""
        script, self.script = self.script, None
        return script


BUSY = Turn(Phase.DECISION, None, None)  # type: ignore[arg-type]
"""In place of a turn: a script of its own is under way."""


@define(eq=False)
class Turns:
    """The scripts of a log, and whose turn it is.

    A line is held against the script that is under way; else against the one whose turn it is, of
    the job or worker that it is about; else it is an input or a decision, whose handler checks it.
    """

    handlers: dict[type[Event], Callable[[Any, Any], Script | None]]
    now: float = 0
    end: float = 0
    """Times up to this one are this instant."""
    seq: int = -1
    line: Record | None = None
    """The one that is held against what must follow."""
    phase: int = 0
    """Of the present line."""
    script: Script | None = None
    """The one under way: its lines follow each other at once."""
    want: Any = None
    teller: Teller | None = None
    """Whose script it is."""
    pending: dict[Teller, Turn] = Factory(dict)
    """What must be told at this instant, by whom."""
    waiting: dict[Teller, None] = Factory(dict)
    """Who has a turn that nothing is known of yet."""
    dues: list[tuple[float, int, int, Timer]] = Factory(list)
    order: int = 0
    deciding: bool = False
    """Whether something has been decided at this instant."""
    after: list[Callable[[], None]] = Factory(list)
    """What is so once an instant has passed, and once it is over."""
    ended: bool = False
    """Whether nothing more is due."""
    lateness: float = 0
    """How late what takes real time may end."""

    @abstractmethod
    def teller_of(self, event: Any) -> Teller | None:
        """Whose turn it would be to tell this."""

    def meet(self, event: Event, cause: int | None, seq: int) -> None:
        """Hold the line against what must come. Raises Broken."""
        if self.script is None:
            self._find(event)
        assert self.script is not None
        while self.want is None:
            self.want = self.script.send(event)
        expected, causes = self.want
        check(event, expected, cause, causes)
        self._go_on(seq)

    def _go_on(self, seq: int) -> None:
        assert self.script is not None
        try:
            want = self.script.send(seq)
            if isinstance(want, Generator):
                self.script, want = want, next(want)
        except StopIteration:
            want = self.script = None
        if isinstance(want, Parked):
            want.script, self.script = self.script, None
        self.want = want
        if self.script is None:
            teller, self.teller = self.teller, None
            if teller is not None and teller not in self.pending:
                teller.front = None
            if self.waiting or (self.dues and self.dues[0][0] <= self.end):
                self.advance(Phase.RESUME)

    def _find(self, event: Event) -> None:
        """The script that this line belongs to."""
        kind = event.__class__
        teller = self.teller_of(event)
        front = None
        if teller is not None:
            self._hasten(teller, event)
            while teller.front is None and teller.turns:
                if kind not in HEARD:
                    self.settle(teller.turns[0][0])
                if teller.front is None:
                    self._prime(teller)
            front = teller.front
        if teller is not None and front is not None and teller.may_tell(event):
            del self.pending[teller]
            self.script, self.want, self.teller = front.script, front.want, teller
            self.phase = front.phase
            return
        self.phase = Phase.DECISION
        handler = self.handlers.get(kind)
        script = handler(self, event) if handler is not None else None
        self.want = DONE if script is None else next(script, DONE)
        if self.want is DONE:
            due = f"{told(front.want[0])} must come first" if front and front.want else "it may not"
            raise Broken(Law.FOLLOWS, f"nothing leads to this now; {due}")
        self.script = script
        if teller is not None:
            self.teller = teller
            teller.front = teller.front or BUSY

    def at(
        self, due: float, phase: int, teller: Teller, number: int, make: Make, carried: bool = False
    ) -> Timer:
        """`teller` has a turn then; `carried`: at the latest so long after as the log allows."""
        timer = Timer(due, phase, teller, number, make)
        if due < inf:
            self.order += 1
            latest = due + self.lateness if carried and due > self.end else due
            insort(self.dues, (latest, phase, self.order, timer))
        return timer

    def _hasten(self, teller: Teller, event: Any) -> None:
        """What is told now ends something that takes real time, and is over."""
        early = getattr(event, "outcome", None) in (Outcome.LOST, Outcome.CANCELLED)
        early = early or isinstance(event, TransferDropped | TransferSuspended)
        if not self.lateness or teller.front or teller.turns or early:
            return
        for latest, _, _, timer in self.dues:
            own = timer.teller is teller and timer.due <= self.end < latest
            if own and getattr(event, "run", timer.number) == timer.number:
                self._fire(timer)
        self.advance(Phase.RESUME)

    def push(self, teller: Teller, phase: int, number: int, make: Make) -> None:
        """`teller` has a turn now, once all that comes before that phase is told."""
        self.order += 1
        insort(teller.turns, (phase, number, self.order, make))
        self.waiting[teller] = None

    def _prime(self, teller: Teller) -> None:
        """Find out what this one must tell next."""
        phase, _, _, make = teller.turns.pop(0)
        self.phase = phase
        script = make()
        want: Any = DONE if script is None else next(script, DONE)
        if isinstance(want, Parked):
            want.script = script
        elif want is not DONE:
            assert script is not None
            teller.front = self.pending[teller] = Turn(phase, script, want)
        if not teller.turns:
            self.waiting.pop(teller, None)

    def advance(self, before: int) -> None:
        """Find out what must be told next at this instant by whom, of phases before this one; of
        later phases nothing is known until all of an earlier one has been told."""
        while True:
            while self.dues and self.dues[0][0] <= self.end:
                self._fire(self.dues.pop(0)[3])
            if not self.waiting:
                return
            phase = min([it.turns[0][0] for it in self.waiting])
            if phase >= before or any(it.phase < phase for it in self.pending.values()):
                return
            ready = [it for it in self.waiting if it.front is None and it.turns[0][0] == phase]
            if not ready:
                return
            for teller in ready:
                self._prime(teller)

    def _fire(self, timer: Timer) -> None:
        if timer.live:
            timer.live = False
            self.push(timer.teller, timer.phase, timer.number, timer.make)

    def settle(self, phase: int) -> None:
        """All that comes before that phase of this instant has been told. Raises Broken."""
        if self.script is not None:
            self.lacks(self.want)
        self.advance(phase)
        for turn in self.pending.values():
            if turn.phase < phase:
                self.lacks(turn.want)

    def told_now(self, teller: Teller) -> Script | None:
        """The script of one that has got something to tell by the line that tells it."""
        self.advance(Phase.DECISION + 1)
        return self.pending.pop(teller).told() if teller in self.pending else None

    def decides(self) -> None:
        """What is told now has been decided: all else of the instant came before."""
        if not self.deciding:
            self.settle(Phase.DECISION)
            self.deciding = True

    def lacks(self, want: Any) -> None:
        """Raises Broken: this must have been told."""
        what = told(want[0]) if want is not None else "what follows this instant's lines"
        raise Broken(Law.MISSING, f"{what} must come at {self.now!r}")

    def pass_to(self, t: float) -> None:
        """The instant is over; the next is `t`."""
        self.close()
        while self.dues and self.dues[0][0] < t * (1 - INSTANT):
            due, _, _, timer = self.dues[0]
            if timer.live:
                self._enter(due)
                self.close()
            else:
                self.dues.pop(0)
        self._enter(t)
        self.advance(Phase.RESUME)

    def close(self) -> None:
        """Nothing is left to tell at this instant."""
        if not self.ended:
            self.settle(Phase.DECISION + 1)
            for look in self.after:
                look()

    def _enter(self, t: float) -> None:
        self.now, self.end, self.deciding = t, t * (1 + INSTANT), False
