"""Copies of one job: how many, and how they end (WORLD.md, P5)."""

from __future__ import annotations

from attrs import define, field

from actors.events import JobKilled, Outcome, RunEnded, RunStarted
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

COMPLETED, WITHDRAWN = Outcome.COMPLETED, Outcome.WITHDRAWN


@define(eq=False)
class CopiesAuditor(Auditor):
    """At most r copies; the first to complete ends the others, at that instant; nobody else is
    withdrawn but by a policy that changes its mind, or with a job that is killed."""

    world: World
    completed: dict[str, int] = field(factory=dict)
    """Jobs of which a run completed at this instant -> seq."""
    withdrawn: dict[str, int] = field(factory=dict)
    """Jobs of which a run was withdrawn for no reason yet told -> seq."""

    @property
    def handlers(self) -> Handlers:
        return {
            RunStarted: self._start,
            RunEnded: self._end,
            JobKilled: self._kill,
        }

    def passed(self, t: float, seq: int) -> None:
        for name, first in self.completed.items():
            job = self.world.jobs.get(name)
            if job is not None and any(run.t < t and run.seq < first for run in job.open.values()):
                why = f"a copy of {name} completes, and another goes on"
                self.world.breaks(Law.COPIES, (first, seq), why)
            elif job is not None and job.kept:
                why = f"a copy of {name} completes, and another keeps its members"
                self.world.breaks(Law.COPIES, (first, seq), why)
        for name, ended in self.withdrawn.items() if not self.world.cut else ():
            why = f"a run of {name} is withdrawn, and no other has completed"
            self.world.breaks(Law.COPIES, (ended, seq), why)
        self.completed.clear()
        self.withdrawn.clear()

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is None:
            return
        job = run.job
        if run.former is not None:
            self.withdrawn.pop(event.job, None)
        if event.rotates and not run.told:
            why = f"{run.name} goes round its workers, and holds them alone"
            self.world.breaks(Law.DECISION, (seq,), why)
        most = job.protection.copies if job.protection is not None else 1
        copies = len(job.open) + len(job.kept)
        if copies > most:
            why = f"{event.job} has {copies} copies; it may have {most}"
            others = (other.seq for other in job.open.values())
            self.world.breaks(Law.COPIES, tuple(others), why)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is None or run.told:
            return
        if event.outcome is COMPLETED:
            if event.job in self.completed:
                why = f"two copies of {event.job} complete"
                self.world.breaks(Law.COPIES, (self.completed[event.job], seq), why)
            self.completed[event.job] = seq
        elif event.outcome is WITHDRAWN and event.job not in self.completed and self._queued():
            self.withdrawn.setdefault(event.job, seq)

    def _queued(self) -> bool:
        """Whether a queue decides: other deciders may take workers from a run that goes on."""
        started = self.world.started
        return started is None or started.decider == "queue"

    def _kill(self, event: JobKilled, t: float, seq: int) -> None:
        self.withdrawn.pop(event.job, None)
