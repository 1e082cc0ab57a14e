"""Iterations and their tasks (volatile13, section III.A; WORLD.md, R1)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose
from typing import TypeVar, cast

from attrs import define, field

from actors.events import (
    BoundsDescribed,
    ChainsBelieved,
    DeciderKind,
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    Outcome,
    RunEnded,
    RunStarted,
    TasksDealt,
    TasksDescribed,
)
from policies.interface import Reason
from policies.maths.markov import MarkovChain
from policies.maths.spectrum import Rows
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

ROUNDING = 1e-9
REASONS = {
    Outcome.COMPLETED: Reason.START,
    Outcome.LOST: Reason.FAILURE,
    Outcome.FAILED: Reason.ERROR,
    Outcome.CANCELLED: Reason.PROACTIVE,
}
"""How a run ended -> why a policy is asked for the next one (volatile13, section VI)."""
V = TypeVar("V")


@define
class _Iterations:
    """Of one job."""

    described: TasksDescribed | None = None
    times: tuple[float, ...] = ()
    """w_q, by worker."""
    bounds: tuple[int, ...] = ()
    """mu_q, by worker."""
    now: int = -1
    under_way: bool = False
    undealt: tuple[int, int] | None = None
    """(run, seq) of a run whose tasks must follow."""
    completed: int | None = None
    """seq of a completed run, whose iteration must be told."""
    last: tuple[Outcome, float] | None = None
    """How and when a run of this iteration ended last."""
    reasons: bool = False
    """Whether a policy was asked for the run that starts."""


@define(eq=False)
class IterationAuditor(Auditor):
    """Iterations follow each other, as many as there are; each run has all tasks, nobody more than
    he holds, and W = max x_q w_q."""

    wakes = frozenset(
        (ChainsBelieved, TasksDescribed, IterationStarted, IterationCompleted, TasksDealt)
    )
    world: World
    jobs: dict[str, _Iterations] = field(factory=dict)
    stirred: set[str] = field(factory=set)
    """Jobs that were told of at this instant."""
    believed: bool = False
    """Whether it was told what is believed of the workers."""
    cancelled: dict[str, int] = field(factory=dict)
    """Jobs of which a policy cancelled a run at this instant, for another to come -> seq."""

    @property
    def handlers(self) -> Handlers:
        return {
            ChainsBelieved: self._believe,
            TasksDescribed: self._describe,
            BoundsDescribed: self._bound,
            IterationStarted: self._begin,
            IterationCompleted: self._complete,
            RunStarted: self._start,
            TasksDealt: self._deal,
            RunEnded: self._end,
            JobCompleted: self._leave,
        }

    def passed(self, t: float, seq: int) -> None:
        for name in sorted(self.stirred) if self.stirred else ():
            it = self.jobs[name]
            if it.undealt is not None:
                why = f"nothing says who has which tasks of {name}"
                self.world.breaks(Law.DECISION, (it.undealt[1], seq), why)
            if it.completed is not None:
                why = f"a run of {name} completes, and its iteration does not"
                self.world.breaks(Law.SEQUENCE, (it.completed, seq), why)
            if self._enrolled() and not (it.bounds and self.believed):
                why = f"nothing says what the enrolment of {name} depends on"
                self.world.breaks(Law.FRAME, (seq,), why)
            it.undealt = it.completed = None
            if not it.under_way and name in self.world.jobs:
                why = (
                    f"iteration {it.now} of {name} is over, and neither {name} nor the next begins"
                )
                self.world.breaks(Law.SEQUENCE, (seq,), why)
        self.stirred.clear()
        for name, ended in self.cancelled.items() if not self.world.cut else ():
            why = f"a run of {name} is cancelled, and none comes in its place"
            self.world.breaks(Law.DECISION, (ended, seq), why)
        self.cancelled.clear()

    def _iterations(self, name: str) -> _Iterations | None:
        job = self.world.jobs.get(name)
        if job is None or job.described is None or job.described.kind != "iterative":
            return None
        self.stirred.add(name)
        return self.jobs.setdefault(name, _Iterations())

    # --- what is described --------------------------------------------------------------------

    def _describe(self, event: TasksDescribed, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        known = it is None or it.described is not None
        times = self._by_worker(event.times, 0.0, seq)
        if known or event.tasks < 1 or event.iterations < 1 or any(time < 0 for time in times):
            why = f"{event.iterations} iterations of {event.tasks} tasks of {event.job}"
            self.world.breaks(Law.FRAME, (seq,), why)
        if it is not None:
            it.described, it.times = event, times

    def _bound(self, event: BoundsDescribed, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None or it.bounds or it.now != 0 or not self._enrolled():
            why = f"no enrolment has just been asked for {event.job}"
            self.world.breaks(Law.FRAME, (seq,), why)
        if it is not None:
            it.bounds = self._by_worker(event.bounds, 0, seq)

    def _believe(self, event: ChainsBelieved, t: float, seq: int) -> None:
        if self.believed or t:
            self.world.breaks(Law.FRAME, (seq,), f"beliefs at {t}, not once at the start")
        self.believed = True
        told: Sequence[object] = self._by_worker(event.chains, (), seq)
        try:
            for rows in told:
                MarkovChain(cast(Rows, rows))
        except ValueError as wrong:
            self.world.breaks(Law.FRAME, (seq,), str(wrong))

    def _by_worker(self, groups: Sequence[tuple[str, V]], none: V, seq: int) -> tuple[V, ...]:
        """Of every worker; `none` where that is not told."""
        workers, told, found = self.world.processors, 0, dict[int, V]()
        if any(len(group) != 2 for group in groups):
            self.world.breaks(Law.FRAME, (seq,), f"{groups}")
            return (none,) * workers
        for numbers, value in groups:
            for first, last in self.world.spans(numbers, seq):
                told += last - first + 1
                found.update(dict.fromkeys(range(first, min(last + 1, workers)), value))
        if not len(found) == told == workers:
            why = f"it is told of {told} workers what holds for each of {workers}"
            self.world.breaks(Law.FRAME, (seq,), why)
        return tuple(found.get(number, none) for number in range(workers))

    # --- iterations ---------------------------------------------------------------------------

    def _begin(self, event: IterationStarted, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None or it.under_way or event.iteration != it.now + 1 or it.described is None:
            why = f"iteration {event.iteration} of {event.job} cannot begin now"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
        if it is not None:
            it.now, it.under_way = event.iteration, True

    def _complete(self, event: IterationCompleted, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None or it.completed is None or event.iteration != it.now or not it.under_way:
            why = f"iteration {event.iteration} of {event.job} was not about to end"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
        if it is not None:
            it.under_way, it.completed = False, None

    def _leave(self, event: JobCompleted, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None:
            return
        if it.under_way or it.completed is not None:
            why = f"{event.job} completes within iteration {it.now}"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
        if it.described is not None and it.now + 1 != it.described.iterations:
            why = (
                f"{event.job} completes after {it.now + 1} of {it.described.iterations} iterations"
            )
            self.world.breaks(Law.SEQUENCE, (seq,), why)

    # --- runs ---------------------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None:
            return
        if not it.under_way:
            why = f"run {event.run} of {event.job} belongs to no iteration"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
        if it.undealt is not None:
            self.world.breaks(Law.DECISION, (it.undealt[1], seq), "its tasks were not dealt")
        self.cancelled.pop(event.job, None)
        it.undealt = event.run, seq
        it.reasons = self._enrolled() and event.keeps is None

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None:
            return
        it.last = event.outcome, t
        if event.outcome is Outcome.COMPLETED:
            it.completed = seq
        elif event.outcome is Outcome.CANCELLED and self._enrolled():
            self.cancelled[event.job] = seq

    def _enrolled(self) -> bool:
        started = self.world.started
        return started is not None and started.decider is DeciderKind.ENROLMENT

    def _deal(self, event: TasksDealt, t: float, seq: int) -> None:
        it, run = self._iterations(event.job), self.world.run(event.job, event.run)
        if it is None or run is None or it.undealt != (event.run, seq - 1):
            why = f"no run {event.run} of {event.job} has just started"
            self.world.breaks(Law.DECISION, (seq,), why)
            return
        it.undealt = None
        if any(len(pair) != 2 for pair in event.tasks):
            self.world.breaks(Law.FRAME, (seq,), f"tasks {event.tasks}")
            return
        if event.iteration != it.now:
            why = f"iteration {event.iteration} is not under way, {it.now} is"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
        if tuple(worker for worker, _ in event.tasks) != run.copy.members:
            why = f"{run.name} is on {run.event.processors}, its tasks on {event.tasks}"
            self.world.breaks(Law.DECISION, (run.seq, seq), why)
        reason = self._reason(it, t) if it.reasons else None
        if event.reason != reason:
            why = f"{run.name} starts for {event.reason}; what happened is {reason}"
            self.world.breaks(Law.DECISION, (run.seq, seq), why)
        if it.described is not None:
            self._check(it, it.described, event, run.event.work, seq)

    @staticmethod
    def _reason(it: _Iterations, t: float) -> str:
        """Why the policy was asked: what has just ended the run before. If it did not answer at
        once, nothing is held any more, and it is as at the start."""
        outcome, ended = it.last if it.last is not None else (Outcome.COMPLETED, t)
        return REASONS[outcome].value if ended == t else Reason.START.value

    def _check(
        self, it: _Iterations, described: TasksDescribed, event: TasksDealt, work: float, seq: int
    ) -> None:
        least, workers = int(self._enrolled()), self.world.processors
        if any(not 0 <= q < workers or tasks < least for q, tasks in event.tasks):
            self.world.breaks(Law.DECISION, (seq,), f"tasks {event.tasks}")
            return
        if sum(tasks for _, tasks in event.tasks) != described.tasks:
            why = f"{event.tasks} of {event.job} are dealt; it has {described.tasks}"
            self.world.breaks(Law.DECISION, (seq,), why)
        if it.bounds and any(tasks > it.bounds[q] for q, tasks in event.tasks):
            why = f"{event.tasks}: somebody holds no more than {it.bounds}"
            self.world.breaks(Law.DECISION, (seq,), why)
        slowest = max((tasks * it.times[q] for q, tasks in event.tasks), default=0.0)
        if not isclose(slowest, work, rel_tol=ROUNDING):
            why = f"W = {work!r}; with these tasks it is {slowest!r}"
            self.world.breaks(Law.LOCKSTEP, (seq,), why)
