"""Runs scripts: determines which emitter (a job, a worker) has to log which line next, at each
instant of a log."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Generator
from contextlib import suppress
from math import inf
from typing import Any, Protocol

from attrs import Factory, define, field

from actors.events import Outcome, TransferDropped, TransferSuspended
from actors.runtime import Event
from sims.audit.law import IMMEDIATE, REVEALED, Broken, Law, LinePhase, as_text, check, fits

INSTANT = NEGLIGIBLE = 1e-12
"""Relative tolerance below which two times are one instant and a remainder is zero (rules.md, One
instant)."""
LATER = 1 << 40
"""Number larger than any number of runs: sorts a turn behind those of runs."""
DONE = object()
Script = Generator[Any, Any, Any]
"""Generator of the lines that must come.

It yields (event, causes) and receives the sequence number of the line; or None, and receives the
next event to look at; or what it waits for; or another script, which replaces it.
"""
Make = Callable[[], Script | None]


@define(eq=False)
class DueScript:
    """A script (a generator of the lines that must come) whose next line, `want`, is due at this
    instant."""

    phase: int
    script: Script
    want: Any

    def remainder(self) -> Script:
        """Return the rest of the script as a generator that first yields the line for which it
        waits now."""
        want = self.want
        with suppress(StopIteration):
            while True:
                want = self.script.send((yield want))


@define(eq=False)
class Emitter:
    """An emitter of lines, such as a job or a worker. Its scripts (generators of the lines that
    must come) of one instant run one after the other."""

    turns: list[tuple[int, int, int, Make]] = field(init=False, factory=list)
    """Scripts not begun, as (phase, number, order, function that makes the script), the first
    first."""
    front: DueScript | None = field(init=False, default=None)
    """Turn whose line comes next."""

    def may_emit(self, event: Event) -> bool:
        """Return whether this event may be the emitter's next line, as far as that is known before
        its script is begun: any event may while no script has begun but one is scheduled."""
        if self.front is None:
            return bool(self.turns)
        return self.front.want is None or fits(self.front.want[0], event)


@define(eq=False)
class Timer:
    """A script that `emitter` begins at the time `due`, unless the timer is cancelled before."""

    due: float
    phase: int
    emitter: Emitter
    number: int
    make: Make
    begun: float
    live: bool = True


@define(eq=False)
class PartEnd:
    """The end of the present part of a run, for which the run's script (a generator of the lines
    that must come) can wait."""

    script: Script | None = None

    def take(self) -> Script | None:
        """Return the waiting script, so that it can go on, and forget it, as it may go on only
        once; None if no script waits."""
        script, self.script = self.script, None
        return script


BUSY = DueScript(LinePhase.DECISION, None, None)  # type: ignore[arg-type]
"""Marks an emitter whose script is under way outside of its turns."""


class Origin(Protocol):
    """Tells where a line comes from, as far as the scripts have to know."""

    def emitter_of(self, event: Any) -> Emitter | None:
        """Return the emitter (a job, a worker) that would log this event; None if it is an input or
        a decision that none logs."""

    def brought_about(self, event: Event) -> Script | None:
        """Return the script of a line that no script leads to: an input or a decision. Return None
        if no such line may come."""


@define(eq=False)
class Turns:
    """The scripts (generators of the lines that must come) of all emitters, and the lines that they
    must log at the present instant.

    A line is compared with the script under way; else with the script of the job or worker that the
    line is about, if that has one for this instant; else the line is an input or a decision, and
    `origin` makes the script that checks it.
    """

    origin: Origin
    now: float = 0
    end: float = 0
    """Latest time that belongs to the present instant."""
    phase: int = 0
    """Phase of the line being checked."""
    script: Script | None = None
    """Script under way: its lines follow each other without others between."""
    want: Any = None
    emitter: Emitter | None = None
    """Emitter of the script under way."""
    pending: dict[Emitter, DueScript] = Factory(dict)
    """Maps emitters to the turns whose lines must come at this instant."""
    waiting: dict[Emitter, None] = Factory(dict)
    """Emitters with scripts that have not begun yet."""
    dues: list[tuple[float, int, int, Timer]] = Factory(list)
    order: int = 0
    deciding: bool = False
    """Whether a decision has been made at this instant."""
    after: list[Callable[[], None]] = Factory(list)
    """Checks that run when an instant is over, in order; the last one clears the instant's data."""
    ended: bool = False
    """Whether the log has ended and nothing more is due."""
    measured: bool = False
    """Whether parts that real processes carry out end with the line that says how long they took,
    and not at their nominal times."""
    lateness: float = 0
    """Largest delay, in time units, with which a part carried out by a real process may end."""

    def meet(self, event: Event, cause: int | None, seq: int) -> None:
        """Compare the next line, `event` with its cause and its number `seq`, with the one that
        must come. Raises Broken where they differ."""
        if self.script is None:
            self._find(event)
        assert self.script is not None
        while self.want is None:
            self.want = self.script.send(event)
        expected, causes = self.want
        check(event, expected, cause, causes)
        self._go_on(seq)

    def _go_on(self, seq: int) -> None:
        """Send the number of the line just checked to the script under way, and keep what it
        expects next."""
        assert self.script is not None
        try:
            want = self.script.send(seq)
            if isinstance(want, Generator):
                # The other script's lines follow at once, as part of the same turn.
                self.script, want = want, next(want)
        except StopIteration:
            want = self.script = None
        if isinstance(want, PartEnd):
            want.script, self.script = self.script, None
        self.want = want
        if self.script is None:
            emitter, self.emitter = self.emitter, None
            if emitter is not None and emitter not in self.pending:
                emitter.front = None
            if self.waiting or (self.dues and self.dues[0][0] <= self.end):
                # What jobs do about changes of states can still be changed by further ones.
                self.advance(LinePhase.STATES)

    def _find(self, event: Event) -> None:
        """Make the script to which the line `event` belongs the one under way. Raises Broken if
        there is none."""
        emitter = self.origin.emitter_of(event)
        if emitter is not None and event.__class__ not in REVEALED:
            emitter = self._begin_next(emitter, event)
        front = emitter.front if emitter is not None else None
        if emitter is not None and front is not None and emitter.may_emit(event):
            del self.pending[emitter]
            self.script, self.want, self.emitter = front.script, front.want, emitter
            self.phase = front.phase
            return
        self.phase = LinePhase.DECISION
        script = self.origin.brought_about(event)
        self.want = DONE if script is None else next(script, DONE)
        if self.want is DONE:
            due = (
                f"{as_text(front.want[0])} must come first"
                if front and front.want
                else "it may not"
            )
            raise Broken(Law.FOLLOWS, f"nothing leads to this now; {due}")
        self.script = script
        if emitter is not None:
            self.emitter = emitter
            emitter.front = emitter.front or BUSY

    def _begin_next(self, emitter: Emitter, event: Event) -> Emitter:
        """Begin the emitter's next script, unless one has begun, as `event` may be its first line;
        return the emitter.

        If it has no script that logs a line, do the same for the next emitter that would log the
        event, and return that one.
        """
        self._hasten(emitter, event)
        early = event.__class__ in IMMEDIATE
        if emitter.front is None and (early or not emitter.turns):
            # What others do about changes of states may concern it, such as its lost message.
            self.advance(LinePhase.RESUME)
        while emitter.front is None and emitter.turns:
            # Lines of earlier phases have to be complete before its next script can begin.
            if not early:
                self.settle(emitter.turns[0][0])
            if emitter.front is None:
                self._prime(emitter)
        other = self.origin.emitter_of(event) if emitter.front is None else None
        return emitter if other in (None, emitter) else self._begin_next(other, event)

    def at(
        self,
        due: float,
        phase: int,
        emitter: Emitter,
        number: int,
        make: Make,
        carried: bool = False,
    ) -> Timer:
        """Set a timer: `emitter` begins the script that `make` makes at the time `due`, in this
        phase of its instant, ordered by `number` among its other scripts. Return the timer, which
        can be cancelled.

        `carried` says that a real process may carry the part out: its end may come up to `lateness`
        later, or when the log says.
        """
        timer = Timer(due, phase, emitter, number, make, self.now)
        # A last verification may take no time; any other part is work.
        told = carried and self.measured and (due > self.end or phase != LinePhase.RUNS)
        if due < inf and not told:
            self.order += 1
            # The line of a real process may come until then; `_hasten` fires the timer when it
            # does.
            latest = due + self.lateness if carried and due > self.end else due
            insort(self.dues, (latest, phase, self.order, timer))
        return timer

    def _hasten(self, emitter: Emitter, event: Any) -> None:
        """Fire the timer of a part of `emitter` that a real process carries out, if `event` logs
        its end: that may come at any time between the nominal and the latest one."""
        # These lines interrupt the part, which is not over.
        early = getattr(event, "outcome", None) in (Outcome.LOST, Outcome.CANCELLED)
        early = early or isinstance(event, TransferDropped | TransferSuspended)
        if not self.lateness or emitter.front or emitter.turns or early:
            return
        for latest, _, _, timer in self.dues:
            own = timer.emitter is emitter and timer.due <= self.end < latest
            if own and getattr(event, "run", timer.number) == timer.number:
                self.fire(timer)
        self.advance(LinePhase.STATES)

    def push(self, emitter: Emitter, phase: int, number: int, make: Make) -> None:
        """Schedule the script that `make` makes, for `emitter` at this instant, after all lines of
        phases before `phase`; `number` orders it among the emitter's other scripts of the phase."""
        self.order += 1
        insort(emitter.turns, (phase, number, self.order, make))
        self.waiting[emitter] = None

    def _prime(self, emitter: Emitter) -> None:
        """Begin the emitter's next script, to learn which line it expects first."""
        phase, _, _, make = emitter.turns.pop(0)
        self.phase = phase
        script = make()
        want: Any = DONE if script is None else next(script, DONE)
        if isinstance(want, PartEnd):
            want.script = script
        elif want is not DONE:
            assert script is not None
            emitter.front = self.pending[emitter] = DueScript(phase, script, want)
        if not emitter.turns:
            self.waiting.pop(emitter, None)

    def advance(self, before: int) -> None:
        """Begin all scripts of this instant whose phase is below `before`.

        Scripts of a later phase begin only when all lines of earlier phases have come, as these
        lines can change what later ones say.
        """
        while True:
            while self.dues and self.dues[0][0] <= self.end:
                self.fire(self.dues.pop(0)[3])
            if not self.waiting:
                return
            phase = min([it.turns[0][0] for it in self.waiting])
            # What comes in this phase depends on lines of earlier ones that have not come yet.
            if phase >= before or any(it.phase < phase for it in self.pending.values()):
                return
            ready = [it for it in self.waiting if it.front is None and it.turns[0][0] == phase]
            if not ready:
                return
            for emitter in ready:
                self._prime(emitter)

    def fire(self, timer: Timer) -> None:
        """Schedule a timer's script for the present instant, whenever the timer is due; do nothing
        if the timer was cancelled or has been fired."""
        if timer.live:
            timer.live = False
            self.push(timer.emitter, timer.phase, timer.number, timer.make)

    def settle(self, phase: int) -> None:
        """Check that all lines of phases before `phase` have come at this instant. Raises Broken if
        one is missing."""
        if self.script is not None:
            self.lacks(self.want)
        self.advance(phase)
        for turn in self.pending.values():
            if turn.phase < phase:
                self.lacks(turn.want)

    def emits_now(self, emitter: Emitter) -> Script | None:
        """Return the rest of the script of an emitter that has to log a line at this instant, and
        forget that it is due; None if it has none."""
        self.advance(LinePhase.DECISION + 1)
        return self.pending.pop(emitter).remainder() if emitter in self.pending else None

    def decides(self) -> None:
        """Note that the present line belongs to a decision. Raises Broken if a line of this instant
        is missing that has to precede all decisions."""
        if not self.deciding:
            self.settle(LinePhase.DECISION)
            self.deciding = True

    def lacks(self, want: Any) -> None:
        """Raise Broken with a message that names the missing line, `want`."""
        what = as_text(want[0]) if want is not None else "what follows this instant's lines"
        raise Broken(Law.MISSING, f"{what} must come at {self.now!r}")

    def pass_to(self, t: float) -> None:
        """Close the present instant, and go on to time `t`.

        Raises Broken if something was due between the two, as the log has no line for it.
        """
        self.close()
        while self.dues and self.dues[0][0] < t * (1 - INSTANT):
            # An instant without a line of the log, at which something is due: `close` reports what
            # is missing.
            due, _, _, timer = self.dues[0]
            if timer.live:
                self._enter(due)
                self.close()
            else:
                self.dues.pop(0)
        self._enter(t)
        self.advance(LinePhase.STATES)

    def close(self) -> None:
        """Check at the end of an instant that no line of it is missing. Raises Broken if one is."""
        if not self.ended:
            self.settle(LinePhase.DECISION + 1)
            for look in self.after:
                look()

    def _enter(self, t: float) -> None:
        self.now, self.end, self.deciding = t, t * (1 + INSTANT), False
