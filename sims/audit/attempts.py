"""Attempts: how long one lasts, how it ends, how many there are (rigid21, section 3; moldable21,
section 3)."""

from __future__ import annotations

from math import isclose

from attrs import define, field

from actors.events import (
    JobCompleted,
    JobDescribed,
    JobKilled,
    Outcome,
    RunEnded,
    RunStarted,
    WorkerSpeedChanged,
)
from sims.audit.facts import LoggedJob, LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.progress import speed
from sims.audit.world import World

ROUNDING = 1e-9
COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED


@define
class _Job:
    """What has been seen of a job's attempts."""

    ended: int = 0
    """Verified ones, those not counted that were lost or cancelled."""
    works: dict[int, float] = field(factory=dict)
    """Members -> the work of a run on so many."""


@define(eq=False)
class AttemptAuditor(Auditor):
    """A plain attempt computes for its work and verifies, at its members' speed; a job's attempts
    are as many as its failures, and one."""

    of_touched = True
    world: World
    jobs: dict[str, _Job] = field(factory=dict)

    @property
    def handlers(self) -> Handlers:
        return {
            JobDescribed: self._describe,
            RunStarted: self._start,
            RunEnded: self._end,
            WorkerSpeedChanged: self._speed,
            JobCompleted: self._complete,
            JobKilled: self._kill,
        }

    def passed(self, t: float, seq: int) -> None:
        for copy in self.world.touched:
            run = copy.run
            if run is not None and not run.staged and not run.told:
                self._settle(run, t)

    def _describe(self, event: JobDescribed, t: float, seq: int) -> None:
        sound = event.work >= 0 and event.verification >= 0 and (event.failures or 0) >= 0
        if event.limit is not None:
            due = None if event.estimate is None else event.estimate + event.verification
            sound = sound and due is not None and isclose(event.limit, due, rel_tol=ROUNDING)
        if not sound:
            self.world.breaks(Law.FRAME, (seq,), f"{event}")

    # --- a run --------------------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        assert run is not None
        self._check_work(run, seq)
        run.rate = speed(self.world, run.copy)

    def _check_work(self, run: LoggedRun, seq: int) -> None:
        """It depends on the number of members only: a rigid job's is its area over them."""
        job, described, size = run.job, run.job.described, run.copy.full
        if described is None or described.kind == "iterative" or not size:
            return
        if run.told:
            size = 1  # a copy does all the work, whoever takes turns to serve it (redundancy17)
        works = self.jobs.setdefault(job.name, _Job()).works
        work = run.event.work
        due = works.setdefault(size, work)
        if described.kind == "rigid":
            due = described.work / size if size else work
            if len(works) > 1:
                why = f"{job.name} is rigid and runs on {sorted(works)} workers"
                self.world.breaks(Law.CAPACITY, (run.seq,), why)
        elif size == 1 and described.work:
            due = described.work
        if not isclose(work, due, rel_tol=ROUNDING):
            why = f"{run.name} has work {work!r}, where {due!r} is due on {size}"
            self.world.breaks(Law.DURATION, (run.seq,), why)

    def _speed(self, event: WorkerSpeedChanged, t: float, seq: int) -> None:
        """From now on its runs advance otherwise."""
        for copy in self.world.held.on(event.worker):
            run = copy.run
            if run is not None and not run.staged:
                self._settle(run, t)

    def _settle(self, run: LoggedRun, t: float) -> None:
        if run.since < t:
            run.done, run.since = run.at(t), t
        run.rate = 0 if run.copy.away else speed(self.world, run.copy)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None:
            return
        known = self.jobs.setdefault(event.job, _Job())
        if event.outcome in (COMPLETED, FAILED):
            self._count(run, event, known, seq)
        if not run.staged and not run.told:
            self._last(run, event, t, seq)
        self._limit(run, event, t, seq)

    def _count(self, run: LoggedRun, event: RunEnded, known: _Job, seq: int) -> None:
        described = run.job.described
        attempt, known.ended = known.ended, known.ended + 1
        if described is None or described.failures is None:
            return
        if (event.outcome is FAILED) != (attempt < described.failures):
            why = f"attempt {attempt} of {event.job} is {event.outcome.value}; "
            why += f"f_j = {described.failures}"
            self.world.breaks(Law.ATTEMPTS, (run.seq, seq), why)

    def _last(self, run: LoggedRun, event: RunEnded, t: float, seq: int) -> None:
        """How long a plain attempt lasted, and what was done."""
        work, v, served = run.event.work, run.job.verification, run.at(t)
        whole = event.outcome in (COMPLETED, FAILED)
        early = served < (work + v) * (1 - ROUNDING)
        over = isclose(run.since + self._left(run, work + v), t, rel_tol=1e-12)
        if whole != over and (whole or not early):
            why = f"{run.name} should take {work + v:g} and has advanced by {served:g}"
            self.world.breaks(Law.DURATION, (run.seq, seq), why)
        done = work if whole else min(served, work)
        if not isclose(event.done, done, rel_tol=ROUNDING, abs_tol=ROUNDING * work):
            why = f"{run.name} has done {done!r} by the log; it says {event.done!r}"
            self.world.breaks(Law.PROGRESS, (run.seq, seq), why)

    @staticmethod
    def _left(run: LoggedRun, whole: float) -> float:
        """Time until it has advanced by `whole`."""
        return (whole - run.done) / run.rate if run.rate else float("inf")

    def _limit(self, run: LoggedRun, event: RunEnded, t: float, seq: int) -> None:
        limit = run.job.described.limit if run.job.described is not None else None
        if limit is None:
            return
        lasted = t - run.t
        if lasted > limit and not isclose(run.t + limit, t, rel_tol=1e-12):
            why = f"{run.name} lasts {lasted:g}; its job is killed after {limit:g}"
            self.world.breaks(Law.DURATION, (run.seq, seq), why)

    # --- the job ------------------------------------------------------------------------------

    def _complete(self, event: JobCompleted, t: float, seq: int) -> None:
        job, known = self.world.jobs.get(event.job), self.jobs.pop(event.job, _Job())
        if job is None or job.described is None or job.described.failures is None:
            return
        if known.ended != job.described.failures + 1 and job.described.kind != "iterative":
            why = f"{event.job} made {known.ended} attempts; f_j = {job.described.failures}"
            self.world.breaks(Law.ATTEMPTS, (seq,), why)

    def _kill(self, event: JobKilled, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        self.jobs.pop(event.job, None)
        limit = _limit_of(job)
        if limit is None:
            why = f"{event.job} is killed, and nothing limits its runs"
            self.world.breaks(Law.DURATION, (seq,), why)


def _limit_of(job: LoggedJob | None) -> float | None:
    return job.described.limit if job is not None and job.described is not None else None
