"""Exact progress: the work done so far and the rate at which it goes on; nothing is stepped."""

from __future__ import annotations

from attrs import define, field

from actors.runtime import NOTHING, Actor, Phase, Timer
from policies.maths.tolerance import ROUNDING


def remaining(work: float, done: float) -> float:
    """Return how much of `work` is left when `done` is done; 0 if what is left is no more than
    1e-12 of `work`, or negative."""
    left = work - done
    return left if left > ROUNDING * work else 0


@define
class Progress:
    """Account of some work that advances at a rate: the amount done until a time, and the rate
    since then.

    Work and rate are in whatever units the job counts in (slots, seconds at unit speed, a
    fraction), per unit of time. A change of rate settles the account; the owner moves its timer to
    `end`.
    """

    work: float
    """Whole work to do."""
    done: float = 0
    """Work done until `since`."""
    rate: float = 0
    """Work per unit of time since then."""
    since: float = 0
    """Time at which the account was settled last."""

    def at(self, now: float) -> float:
        """Return the work done until the time `now`, in the account's unit of work."""
        return self.done + self.rate * (now - self.since) if self.rate else self.done

    def added(self, before: float, most: float, now: float) -> float:
        """Return `before` plus the work done until `now`, but no more than `most`. The bound
        matters where a real process takes longer than its nominal time, as it does no more work for
        that."""
        rate = self.rate  # `at`, inlined for speed
        done = before + (self.done + rate * (now - self.since) if rate else self.done)
        return done if done <= most * (1 + ROUNDING) else most

    def left(self, now: float) -> float:
        """Return the work still to do at `now`, never negative."""
        return remaining(self.work, self.at(now))

    def change(self, now: float, rate: float) -> None:
        """Settle the account at `now`, and set the rate from then on."""
        self.done = self.at(now)
        self.since = now
        self.rate = rate

    def end(self) -> float | None:
        """Return the time at which the work will be done at the present rate; None if it never
        will."""
        if not self.rate:
            return None
        # A part that begins has all of its work to do.
        left = remaining(self.work, self.done) if self.done else self.work
        # Whole numbers of slots stay whole: no division where it would change nothing.
        return self.since + (left if self.rate == 1 else left / self.rate)


IDLE = Progress(0)
"""Progress of a part that does not advance; shared, and never changed."""


@define(eq=False)
class PartBeside:
    """A part of a run whose time passes beside the steps of the run's plan, such as a checkpoint
    during which the run computes on, or a pause."""

    due: object
    """The message by which the actor tells itself that the part is over."""
    part: Progress | None = field(init=False, default=None)
    """Account of the time that the part takes; None: it ends with a message."""
    cause: int = field(init=False, default=NOTHING)
    """Number of the event for which the timer was last set."""
    end: float | None = field(init=False, default=None)
    """Time at which the part will be over; None: it is not known."""
    _timer: Timer | None = field(init=False, default=None)

    def begin(self, actor: Actor, cost: float, passes: bool, cause: int) -> None:
        """Begin the part, which takes `cost` time units. With `passes` its time passes from now on;
        otherwise it stands still until `pass_on` is called. `actor` is the job whose timers it
        uses, and `cause` the number of the event that leads to it."""
        self.part = Progress(cost, 0, 0, actor.now)
        self.pass_on(actor, passes, cause)

    def pass_on(self, actor: Actor, passes: bool, cause: int) -> None:
        """Let the part's time pass from now on (`passes`) or stand still, and move its timer if
        that is a change. `actor` is the run's job, and `cause` the number of the event that leads
        to it."""
        if self.part is None or passes == bool(self.part.rate):
            return
        self.part.change(actor.now, int(passes))
        self.aim(actor, cause)

    def aim(self, actor: Actor, cause: int) -> None:
        """Set the timer to the time at which the part ends at its present rate, and no timer if it
        stands still. `actor` is the run's job, and `cause` the number of the event that leads to
        it."""
        assert self.part is not None
        self.stop(actor)
        self.end, self.cause = self.part.end(), cause
        if self.end is not None:
            self._timer = actor.at(self.end, self.due, cause, Phase.PARTS_END)

    def stop(self, actor: Actor) -> None:
        """Cancel the part's timer, so that its end is not reported."""
        if self._timer is not None:
            actor.cancel(self._timer)
            self._timer = self.end = None
