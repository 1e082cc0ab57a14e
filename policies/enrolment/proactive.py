"""The proactive heuristics C-H: change what runs where criterion C prefers H's (volatile13,
section VI.B)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from numpy.random import Generator

from policies.enrolment.criteria import Criterion, bar
from policies.enrolment.incremental import Incremental
from policies.enrolment.tree import Assignment, Tree
from policies.enrolment.walk import CLOSE, FromScratch, Walk
from policies.interface import (
    Configuration,
    Enrolment,
    EnrolmentView,
    RunningView,
    Wake,
)

Value = tuple[float, float]
"""(ln P, E in slots) of a configuration."""


@frozen
class Proactive:
    """Asks the passive heuristic again from scratch and takes its answer if that is better.

    The running configuration is valued by what it still lacks and has left to do, its RECLAIMED
    members as if UP; it stays at a tie, and where the answer is the same allocation.
    """

    criterion: Criterion
    passive: Incremental

    @property
    def wake(self) -> Wake:
        """Between two changes the running configuration only comes closer to its end.

        So P, E and AY only grow for it, and a passive heuristic that does not look at the time
        repeats its answer: it will not win later. The yield of both falls with time, at
        different rates.
        """
        timeless = self.criterion is not Criterion.Y and self.passive.timeless
        return Wake.ON_CHANGE if timeless else Wake.EVERY_SLOT

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        running = view.running
        if running is None:
            return self.passive(view, rng)
        fresh = FromScratch.of(view)
        if self.passive.timeless:
            return self._walked(view, running, fresh)
        chosen = self.passive(fresh, rng)
        if chosen is None or chosen == running.configuration:
            return None
        return (
            chosen if self._score(_begun(fresh, chosen), view) > self._kept(view, running) else None
        )

    def _walked(
        self, view: EnrolmentView, running: RunningView, fresh: FromScratch
    ) -> Configuration | None:
        """The same with a heuristic whose walk is known but for what changed.

        It is walked no further than it may lead to a change: Y-IE 1.2 times as fast for that.
        """
        walk = self._walk(view.enrolment)
        whole = walk.again(fresh)
        if whole is not None and whole.configuration() == running.configuration:
            return None
        kept = self._kept(view, running)
        whole = whole or walk.on(fresh, self._hopeless(view, walk.tree, kept))
        if whole is None or whole.configuration() == running.configuration:
            return None
        better = self._score(walk.tree.value(whole), view) > kept
        return whole.configuration() if better else None

    def _walk(self, enrolment: Enrolment) -> Walk:
        """The heuristic's last walk for this enrolment."""
        return enrolment.belief.recall(
            (Walk, self.passive.criterion, enrolment), lambda: Walk(self.passive.tree(enrolment))
        )

    def _hopeless(
        self, view: EnrolmentView, tree: Tree, kept: float
    ) -> Callable[[Assignment], bool]:
        """Whether nothing that goes on from an assignment scores `kept`, whatever the rounding."""
        score, elapsed, enough = self.criterion.score, view.elapsed, kept - CLOSE * (1 + abs(kept))
        return lambda part: score(*tree.ceiling(part), elapsed) < enough

    def _kept(self, view: EnrolmentView, running: RunningView) -> float:
        """What a candidate must score more than, to replace what runs."""
        return bar(self._score(_left(view.enrolment, running), view))

    def _score(self, value: Value, view: EnrolmentView) -> float:
        return self.criterion.score(*value, view.elapsed)


def _begun(fresh: FromScratch, configuration: Configuration) -> Value:
    """A configuration valued as if it began now."""
    enrolment, members = fresh.enrolment, configuration.members
    needs = [(worker, fresh.missing(worker, tasks)) for worker, tasks in members]
    work = max(tasks * enrolment.speeds[worker] for worker, tasks in members)
    return enrolment.belief.estimate(needs, work, enrolment.channels)


def _left(enrolment: Enrolment, running: RunningView) -> Value:
    """What the running configuration still has to do."""
    members = (worker for worker, _ in running.configuration.members)
    needs = zip(members, running.missing(), strict=True)
    return enrolment.belief.estimate(needs, running.work_left, enrolment.channels)
