"""Exact progress: the work done so far and the rate at which it goes on; nothing is stepped."""

from __future__ import annotations

from attrs import define, field

from actors.runtime import NOTHING, Actor, Phase, Timer
from policies.maths.tolerance import ROUNDING


def remaining(work: float, done: float) -> float:
    """Return what is left of `work`, never negative."""
    left = work - done
    return left if left > ROUNDING * work else 0


@define
class Progress:
    """Keeps the account of some work.

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
        """Return the work done until `now`."""
        return self.done + self.rate * (now - self.since) if self.rate else self.done

    def added(self, before: float, most: float, now: float) -> float:
        """Return `before` and the work done until `now`, at most `most`: a real process may take
        longer than its nominal time, and is not done for that."""
        done = before + self.at(now)
        return done if done <= most * (1 + ROUNDING) else most

    def left(self, now: float) -> float:
        """Return the work still to do at `now`, never negative."""
        return remaining(self.work, self.at(now))

    def change(self, now: float, rate: float) -> None:
        """Settle the account at `now`; go on at `rate`."""
        self.done = self.at(now)
        self.since = now
        self.rate = rate

    def end(self) -> float | None:
        """Return when the work will be done at the present rate; None: never."""
        if not self.rate:
            return None
        left = remaining(self.work, self.done)
        # Whole numbers of slots stay whole: no division where it would change nothing.
        return self.since + (left if self.rate == 1 else left / self.rate)


@define(eq=False)
class PartBeside:
    """A part that passes beside those of a run's plan, such as a checkpoint that does not block."""

    due: object
    """The message by which its actor tells itself that the part is over."""
    part: Progress | None = field(init=False, default=None)
    """Progress of the time that it takes; None: it is over with a message."""
    cause: int = field(init=False, default=NOTHING)
    """Number of the event since which its timer is set."""
    end: float | None = field(init=False, default=None)
    """When it will be over, where that is known."""
    _timer: Timer | None = field(init=False, default=None)

    def begin(self, actor: Actor, cost: float, passes: bool, cause: int) -> None:
        """Begin to spend the time `cost`; `passes`: whether it passes, or stands still."""
        self.part = Progress(cost, 0, 0, actor.now)
        self.pass_on(actor, passes, cause)

    def pass_on(self, actor: Actor, passes: bool, cause: int) -> None:
        """Let its time pass from now on, or stand still."""
        if self.part is None or passes == bool(self.part.rate):
            return
        self.part.change(actor.now, int(passes))
        self.aim(actor, cause)

    def aim(self, actor: Actor, cause: int) -> None:
        """Move its timer to the time at which its part ends at the present rate."""
        assert self.part is not None
        self.stop(actor)
        self.end, self.cause = self.part.end(), cause
        if self.end is not None:
            self._timer = actor.at(self.end, self.due, cause, Phase.PARTS_END)

    def stop(self, actor: Actor) -> None:
        """Cancel its timer."""
        if self._timer is not None:
            actor.cancel(self._timer)
            self._timer = self.end = None
