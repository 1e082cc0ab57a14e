"""Exact progress: the work done so far and the rate at which it goes on; nothing is stepped."""

from __future__ import annotations

from attrs import define

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
