"""The proactive heuristics C-H: change what runs where criterion C prefers H's (002, VI.B)."""

from __future__ import annotations

from attrs import frozen
from numpy.random import Generator

from policies.enrolment.criteria import Criterion, better
from policies.enrolment.incremental import Incremental
from policies.interface import (
    Configuration,
    Enrolment,
    EnrolmentView,
    Reason,
    RunningView,
    Wake,
)
from policies.maths.markov import Estimate


@frozen
class FromScratch:
    """The same instant as if no task were allocated to any worker (002, VI.B).

    Complete programs count; data and parts of messages do not.
    """

    real: EnrolmentView

    @property
    def enrolment(self) -> Enrolment:
        return self.real.enrolment

    @property
    def reason(self) -> Reason:
        return Reason.START

    @property
    def elapsed(self) -> int:
        return self.real.elapsed

    @property
    def up(self) -> int:
        return self.real.up

    @property
    def programmed(self) -> int:
        return self.real.programmed

    @property
    def running(self) -> None:
        return None

    def missing(self, worker: int, tasks: int) -> int:
        """Slots to send the program, unless it is there, and the data of `tasks` tasks."""
        enrolment = self.real.enrolment
        program = 0 if self.real.programmed >> worker & 1 else enrolment.program
        return program + tasks * enrolment.data


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
        fresh = FromScratch(view)
        candidate = self.passive(fresh, rng)
        if candidate is None or candidate == running.configuration:
            return None
        kept = self.criterion.score(_running(view.enrolment, running), view.elapsed)
        new = self.criterion.score(_candidate(fresh, candidate), view.elapsed)
        return candidate if better(new, kept) else None


def _running(enrolment: Enrolment, running: RunningView) -> Estimate:
    members = (worker for worker, _ in running.configuration.members)
    needs = zip(members, running.missing(), strict=True)
    return enrolment.belief.estimate(needs, running.work_left, enrolment.channels)


def _candidate(fresh: FromScratch, candidate: Configuration) -> Estimate:
    enrolment = fresh.enrolment
    needs = [(worker, fresh.missing(worker, tasks)) for worker, tasks in candidate.members]
    work = max(tasks * enrolment.speeds[worker] for worker, tasks in candidate.members)
    return enrolment.belief.estimate(needs, work, enrolment.channels)
