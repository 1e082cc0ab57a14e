"""Copies of one job: how many, and how they end (WORLD.md, P5)."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    DeciderKind,
    JobKilled,
    MembersReleased,
    Outcome,
    ProtectionKind,
    RunEnded,
    RunStarted,
)
from sims.audit.facts import LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

COMPLETED, CANCELLED = Outcome.COMPLETED, Outcome.CANCELLED


@define(eq=False)
class CopiesAuditor(Auditor):
    """At most r copies; the first to complete ends the others, at that instant; nobody else is
    cancelled but by a policy that changes its mind, or with a job that is killed."""

    world: World
    completed: dict[str, int] = field(factory=dict)
    """Jobs of which a run completed at this instant -> seq."""
    cancelled: dict[str, int] = field(factory=dict)
    """Jobs of which a run was cancelled for no reason yet told -> seq."""
    started: set[str] = field(factory=set)
    """Jobs that a preemptive queue started at this instant."""

    @property
    def handlers(self) -> Handlers:
        return {
            RunStarted: self._start,
            RunEnded: self._end,
            JobKilled: self._kill,
            MembersReleased: self._release,
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
        for name, ended in self.cancelled.items() if not self.world.cut else ():
            job = self.world.jobs.get(name)
            saves = job is not None and job.kind is ProtectionKind.IMAGES
            if self.started <= {name} or not saves:
                why = f"a run of {name} is cancelled; no other has completed, and nobody preempts"
                self.world.breaks(Law.COPIES, (ended, seq), why)
        self.completed.clear()
        self.cancelled.clear()
        self.started.clear()

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        assert run is not None
        job = run.job
        if run.former is not None:
            self.cancelled.pop(event.job, None)
        started = self.world.started
        if event.keeps is None and started is not None and started.preempts:
            self.started.add(event.job)
        if event.rotates and not run.told:
            why = f"{run.name} goes round its workers, and holds them alone"
            self.world.breaks(Law.DECISION, (seq,), why)
        self._serve(run)
        most = job.protection.copies if job.protection is not None else 1
        copies = len(job.open) + len(job.kept)
        if copies > most:
            why = f"{event.job} has {copies} copies; it may have {most}"
            others = (other.seq for other in job.open.values())
            self.world.breaks(Law.COPIES, tuple(others), why)

    def _serve(self, run: LoggedRun) -> None:
        """Where copies are what is decided, each is on one worker, and there may be one on each."""
        started, rules = self.world.started, run.job.protection
        if started is None or started.decider is not DeciderKind.COPIES or run.told:
            return
        if run.copy.size != 1 or rules is None or rules.copies != started.processors:
            why = f"{run.name} is on {run.event.processors}, one copy of those that {rules} lets"
            self.world.breaks(Law.COPIES, (run.seq,), why)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or run.told:
            return
        if event.outcome is COMPLETED:
            if event.job in self.completed:
                why = f"two copies of {event.job} complete"
                self.world.breaks(Law.COPIES, (self.completed[event.job], seq), why)
            self.completed[event.job] = seq
        elif event.job in self.completed and event.outcome is not CANCELLED:
            why = f"{run.name} is {event.outcome.value}, and another copy was first"
            self.world.breaks(Law.COPIES, (self.completed[event.job], seq), why)
        elif event.outcome is CANCELLED and event.job not in self.completed and self._queued():
            self.cancelled.setdefault(event.job, seq)

    def _release(self, event: MembersReleased, t: float, seq: int) -> None:
        """Members that were kept: only because another copy was first, or the job is killed."""
        if event.job not in self.completed and self._queued():
            self.cancelled.setdefault(event.job, seq)

    def _queued(self) -> bool:
        """Whether nobody may take workers from a run that goes on, but for another job's sake."""
        started = self.world.started
        return started is None or not started.cancels or started.preempts

    def _kill(self, event: JobKilled, t: float, seq: int) -> None:
        self.cancelled.pop(event.job, None)
