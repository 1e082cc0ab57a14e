"""The proactive heuristics C-H: change what runs where criterion C prefers H's (002, VI.B)."""

from __future__ import annotations

from attrs import frozen
from numpy.random import Generator

from policies.enrolment.criteria import Criterion, bar
from policies.enrolment.incremental import Incremental
from policies.enrolment.scratch import FromScratch
from policies.enrolment.walk import Walk
from policies.interface import (
    Configuration,
    Enrolment,
    EnrolmentView,
    Reason,
    RunningView,
    Wake,
)


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
        if view.reason is not Reason.PROACTIVE or running is None:
            return self.passive(view, rng)
        candidate = self._candidate(FromScratch.of(view), rng)
        if candidate is None or candidate.configuration == running.configuration:
            return None
        elapsed = view.elapsed
        kept = self.criterion.score(*_value(view.enrolment, running), elapsed)
        new = self.criterion.score(candidate.log_success, candidate.duration, elapsed)
        return candidate.configuration if new > bar(kept) else None

    def _candidate(self, fresh: FromScratch, rng: Generator) -> Candidate | None:
        """What the passive heuristic would enrol from scratch."""
        if not self.passive.timeless:
            return _candidate(fresh, self.passive(fresh, rng))
        criterion, enrolment = self.passive.criterion, fresh.enrolment
        walk = enrolment.belief.recall(
            (Walk, criterion, enrolment), lambda: Walk(self.passive.tree(enrolment))
        )
        chosen = walk.again(fresh)
        if chosen is None:
            return None
        return Candidate(chosen.configuration(), *walk.tree.value(chosen))


@frozen
class Candidate:
    """A configuration, valued as if it began now."""

    configuration: Configuration
    log_success: float
    """ln P."""
    duration: float
    """E, slots."""


def _candidate(fresh: FromScratch, configuration: Configuration | None) -> Candidate | None:
    if configuration is None:
        return None
    enrolment, members = fresh.enrolment, configuration.members
    needs = [(worker, fresh.missing(worker, tasks)) for worker, tasks in members]
    work = max(tasks * enrolment.speeds[worker] for worker, tasks in members)
    return Candidate(configuration, *enrolment.belief.estimate(needs, work, enrolment.channels))


def _value(enrolment: Enrolment, running: RunningView) -> tuple[float, float]:
    """(ln P, E in slots) of what the running configuration still has to do."""
    members = (worker for worker, _ in running.configuration.members)
    needs = zip(members, running.missing(), strict=True)
    return enrolment.belief.estimate(needs, running.work_left, enrolment.channels)
