"""Copies that are all placed at once and all end at once, a share of a worker each (redundancy17,
section III)."""

from __future__ import annotations

from math import isclose, ulp

from attrs import define, field

from actors.events import JobCompleted, JobKilled, Outcome, ProtectionKind, RunEnded, RunStarted
from actors.events import copies as copies_events
from actors.events.copies import GainDescribed
from sims.audit.facts import LoggedJob, LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

ROUNDING = 1e-9
ROUNDINGS = 64
"""Roundings of a time that may add up between two checkpoints."""


@define(eq=False)
class SharingAuditor(Auditor):
    """A copy begins from a state in which one of its job's last copies ended, and comes as far as
    its workers carry it. Where jobs progress by g(r, t) that is not in the log: what is checked
    there is that a copy does not go back, nor beyond its work."""

    wakes = frozenset(copies_events.VOCABULARY)
    world: World
    states: dict[str, dict[int, float]] = field(factory=dict)
    """Job -> its runs that ended at its last checkpoint -> work done."""
    older: dict[str, dict[int, float]] = field(factory=dict)
    """Job -> the same of runs before, from whose states none has begun: without cloning, a copy
    that is not placed for a while goes on from its own."""
    ended: dict[str, float] = field(factory=dict)
    """Job -> when that was."""
    used: set[tuple[str, int]] = field(factory=set)
    """Runs of the last checkpoint, and their jobs, from whose states one has begun."""
    cloning: bool | None = None
    """Whether copies go on from the furthest one's state, once a job has said so."""
    gains: bool = False
    """Whether jobs progress by g(r, t), which is not in the log."""

    @property
    def handlers(self) -> Handlers:
        return {
            GainDescribed: self._gain,
            RunStarted: self._start,
            RunEnded: self._end,
            JobCompleted: self._leave,
            JobKilled: self._leave,
        }

    def _gain(self, event: GainDescribed, t: float, seq: int) -> None:
        self.gains = True

    def _leave(self, event: JobCompleted | JobKilled, t: float, seq: int) -> None:
        self._age(event.job)
        self.states.pop(event.job, None)
        self.ended.pop(event.job, None)
        self.older.pop(event.job, None)

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        if not self.world.compound:
            return
        job = self.world.jobs[event.job]
        if job.submitted is not None:
            self._bare(job, seq)
        states, older = self.states.get(event.job, {}), self.older.setdefault(event.job, {})
        due: float | None = 0.0
        if event.source is not None:
            due = states.get(event.source, older.pop(event.source, None))
            self.used.add((event.job, event.source))
        if due is None or not isclose(event.begun, due, rel_tol=ROUNDING):
            why = f"{event.job} begins from {event.begun!r} of run {event.source}; "
            why += f"its copies came to {states}"
            self.world.breaks(Law.CLONE, (seq,), why)

    def _bare(self, job: LoggedJob, seq: int) -> None:
        """A copy on each worker at most; nothing but work takes time, cloned or not like all."""
        rules, described = job.protection, job.described
        if self.cloning is None and rules is not None:
            self.cloning = rules.cloning
        told = rules is not None and (rules.copies, rules.cloning, rules.delay, rules.kind)
        plain = described is not None and described.estimate is None and not described.verification
        if not plain or told != (self.world.processors, self.cloning, 0, ProtectionKind.NONE):
            why = f"copies of {job.name} are placed with others'; it is {described}, {rules}"
            self.world.breaks(Law.FRAME, (job.told, seq), why)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or not run.told:
            return
        if self.ended.get(event.job) != t:
            self._age(event.job)
            self.ended[event.job], self.states[event.job] = t, {}
        self.states[event.job][event.run] = event.done
        self._measure(run, event, t, seq)

    def _age(self, job: str) -> None:
        """A new checkpoint: states of the last that nobody began from stay as they are."""
        for run, done in self.states.get(job, {}).items():
            if (job, run) not in self.used:
                self.older.setdefault(job, {})[run] = done
            self.used.discard((job, run))

    def _measure(self, run: LoggedRun, event: RunEnded, t: float, seq: int) -> None:
        begun, work = run.event.begun, run.event.work
        slack = ROUNDING * work + ROUNDINGS * ulp(t) * max(run.rate, 1)
        most = work if self.gains else min(work, run.at(t))
        least = begun if self.gains else most
        if not least - slack <= event.done <= most + slack:
            why = f"{run.name} comes to {event.done!r}; its workers carry it to {most!r}"
            self.world.breaks(Law.SPEED, (run.seq, seq), why)
        completed = event.outcome is Outcome.COMPLETED
        if completed and not isclose(event.done, work, rel_tol=ROUNDING, abs_tol=slack):
            why = f"{run.name} completes with {event.done!r} of {work!r} done"
            self.world.breaks(Law.PROGRESS, (run.seq, seq), why)
