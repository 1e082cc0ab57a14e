"""Derives when a job that follows others is submitted, and because of what (rules.md, G9)."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any, ClassVar

from attrs import Factory, define

from actors.events import DependenciesDescribed, End, JobCompleted, JobKilled, LogReplayed
from actors.runtime import Event
from sims.audit.facts import HeadLine
from sims.audit.law import LinePhase, comes, follows, framed, possible, same
from sims.audit.turns import Emitter
from sims.audit.world import PartRules


@define(eq=False)
class Follower:
    """A job that follows others and has not been submitted."""

    described: DependenciesDescribed
    left: set[str]
    """Names of the jobs that it follows and that are not over."""
    due: float = inf
    """Time of its submission; inf while one of those jobs is not over."""
    cause: int = 0
    """Event that leads to its submission: the last end, or the log's first line where it waits for
    its release."""


@define(eq=False)
class DependencyRules(PartRules):
    """The rules of jobs that follow others, and the jobs among these that have not been
    submitted."""

    head: ClassVar = HeadLine(DependenciesDescribed, after=LogReplayed, once=False)
    followers: dict[str, Follower] = Factory(dict)
    """Maps a job's name to what is known of its submission."""
    followed_by: dict[str, list[str]] = Factory(dict)
    """Maps the name of each job that others follow to their names."""

    def describe(self, event: Any) -> None:
        """Check the head's line on the jobs that a job follows, and keep it until the job's
        submission."""
        if not self.followers:
            self.w.hearers.append(self)
        names = set(event.after)
        possible(event.job not in self.followers, "{} follows others already", event.job)
        possible(names and event.job not in names and len(names) == len(event.after))
        self.followers[event.job] = Follower(event, names)
        for name in names:
            self.followed_by.setdefault(name, []).append(event.job)

    def sends(self, job: str) -> int:
        """Return the event that must cause a job's submission, and forget that it follows others.

        Raises Broken if it is not due now.
        """
        it = self.followers.pop(job, None)
        if it is None:
            return 0
        left = ", ".join(sorted(it.left))
        follows(not left, "{} is submitted before the end of {}", job, left)
        follows(same(self.w.now, it.due), "{} is due at {!r}", job, it.due)
        return it.cause

    def hear(self, event: Event, seq: int) -> None:
        """Note whether event number `seq` is the end of a job: each job that follows it, and no
        other that is not over, is due once the time to think has passed, and not before its
        release."""
        if not isinstance(event, JobCompleted | JobKilled):
            return
        for name in self.followed_by.get(event.job, ()):
            it = self.followers.get(name)
            if it is not None and it.left:
                it.left.discard(event.job)
                if not it.left:
                    self._plan(it, seq)

    def _plan(self, it: Follower, seq: int) -> None:
        """Expect the submission of a job the last of whose predecessors is over with event
        `seq`."""
        after, release = self.w.now + it.described.think, it.described.release
        it.due, it.cause = (after, seq) if after >= release else (release, 0)
        check = partial(self._check_submitted, it.described.job)
        self.w.turns.at(it.due, LinePhase.DECISION, Emitter(), 0, check)

    def _check_submitted(self, job: str) -> None:
        """Check, at the end of the instant at which it is due, that a job has been submitted."""
        there = job not in self.followers or self.w.capped
        comes(there, "{} is submitted at {!r}", job, self.w.now)

    def reorders(self) -> bool:
        return bool(self.followed_by)

    def ended(self, end: End) -> None:
        over = end is not End.COMPLETED or not self.followers
        framed(over, "jobs that follow others were not submitted")
