"""Iterations and their tasks (002, III.A; WORLD.md, R1)."""

from __future__ import annotations

from math import isclose

from attrs import define, field

from actors.events import (
    DeciderKind,
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    Outcome,
    RunEnded,
    RunStarted,
    TasksDealt,
)
from policies.interface import Reason
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

ROUNDING = 1e-9
REMEMBERED = 1000
"""Dealings of a job that are looked at again at the end: a long log has 10^5."""
REASONS = {
    Outcome.COMPLETED: Reason.START,
    Outcome.LOST: Reason.FAILURE,
    Outcome.FAILED: Reason.ERROR,
    Outcome.WITHDRAWN: Reason.PROACTIVE,
}
"""How a run ended -> why a policy is asked for the next one (002, VI)."""
Dealt = tuple[tuple[int, int], ...]


@define
class _Iterations:
    """Of one job."""

    now: int = -1
    under_way: bool = False
    tasks: int | None = None
    """m."""
    slowest: dict[int, float] = field(factory=dict)
    """Worker -> the most time that a task can take it, by the works told."""
    works: dict[Dealt, float] = field(factory=dict)
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
    """Iterations follow each other; each run has all tasks, and W = max x_q w_q."""

    wakes = frozenset((IterationStarted, IterationCompleted, TasksDealt))
    world: World
    jobs: dict[str, _Iterations] = field(factory=dict)
    stirred: set[str] = field(factory=set)
    """Jobs that were told of at this instant."""
    withdrawn: dict[str, int] = field(factory=dict)
    """Jobs of which a policy withdrew a run at this instant, for another to come -> seq."""

    @property
    def handlers(self) -> Handlers:
        return {
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
            it.undealt = it.completed = None
            if not it.under_way and name in self.world.jobs:
                why = (
                    f"iteration {it.now} of {name} is over, and neither {name} nor the next begins"
                )
                self.world.breaks(Law.SEQUENCE, (seq,), why)
        self.stirred.clear()
        for name, ended in self.withdrawn.items() if not self.world.cut else ():
            why = f"a run of {name} is withdrawn, and none comes in its place"
            self.world.breaks(Law.DECISION, (ended, seq), why)
        self.withdrawn.clear()

    def close(self, t: float, seq: int) -> None:
        for name, it in self.jobs.items():
            for dealt, work in it.works.items():
                self._reached(name, it, dealt, work, seq)

    def _iterations(self, name: str) -> _Iterations | None:
        job = self.world.jobs.get(name)
        if job is None or job.described is None or job.described.kind != "iterative":
            return None
        self.stirred.add(name)
        return self.jobs.setdefault(name, _Iterations())

    # --- iterations ---------------------------------------------------------------------------

    def _begin(self, event: IterationStarted, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None or it.under_way or event.iteration != it.now + 1:
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
        if it is not None and (it.under_way or it.completed is not None):
            why = f"{event.job} completes within iteration {it.now}"
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
        self.withdrawn.pop(event.job, None)
        it.undealt = event.run, seq
        it.reasons = self._enrolled() and event.keeps is None

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        it = self._iterations(event.job)
        if it is None:
            return
        it.last = event.outcome, t
        if event.outcome is Outcome.COMPLETED:
            it.completed = seq
        elif event.outcome is Outcome.WITHDRAWN and self._enrolled():
            self.withdrawn[event.job] = seq

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
        if any(tasks < 0 for _, tasks in event.tasks):
            self.world.breaks(Law.DECISION, (seq,), f"tasks {event.tasks}")
        reason = self._reason(it, t) if it.reasons else None
        if event.reason != reason:
            why = f"{run.name} starts for {event.reason}; what happened is {reason}"
            self.world.breaks(Law.DECISION, (run.seq, seq), why)
        self._sum(it, event, seq)
        self._work(it, event, run.event.work, seq)

    @staticmethod
    def _reason(it: _Iterations, t: float) -> str:
        """Why the policy was asked: what has just ended the run before. If it did not answer at
        once, nothing is held any more, and it is as at the start."""
        outcome, ended = it.last if it.last is not None else (Outcome.COMPLETED, t)
        return REASONS[outcome].value if ended == t else Reason.START.value

    def _sum(self, it: _Iterations, event: TasksDealt, seq: int) -> None:
        tasks = sum(tasks for _, tasks in event.tasks)
        if it.tasks is None:
            it.tasks = tasks
        if tasks != it.tasks:
            why = f"{tasks} tasks of {event.job} are dealt; it has {it.tasks}"
            self.world.breaks(Law.DECISION, (seq,), why)

    def _work(self, it: _Iterations, event: TasksDealt, work: float, seq: int) -> None:
        """The log does not tell w_q: each work bounds those of its members, and one reaches it."""
        for worker, tasks in event.tasks:
            if tasks > 0:
                most = min(work / tasks, it.slowest.get(worker, float("inf")))
                it.slowest[worker] = most
        self._reached(event.job, it, event.tasks, work, seq)
        if len(it.works) < REMEMBERED:
            it.works[event.tasks] = work

    def _reached(self, name: str, it: _Iterations, dealt: Dealt, work: float, seq: int) -> None:
        found = max((tasks * it.slowest.get(q, 0) for q, tasks in dealt), default=0.0)
        if not isclose(found, work, rel_tol=ROUNDING):
            why = f"W = {work!r}; with these tasks {name} was faster before: {found!r} at most"
            self.world.breaks(Law.LOCKSTEP, (seq,), why)
