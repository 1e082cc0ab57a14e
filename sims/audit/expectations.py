"""What a pack's decider counts with: since when an application computes, how much is left, and when
it is expected to end (003, section 3.3.2)."""

from __future__ import annotations

from math import inf, isclose

from attrs import define, field

from actors.events import EndExpected, JobCompleted, RunEnded, RunStarted, Stage
from sims.audit.facts import Copy
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.packs import checkpoint, expected, moving, recovery
from sims.audit.progress import WAITING, Account, ProgressAuditor, speed
from sims.audit.world import World

ROUNDING = 1e-9
Where = tuple[float, float]
"""Since when it computes (inf: nobody knows), and what is left then."""


@define
class _Beliefs:
    """What has been seen of one application."""

    times: dict[int, float] = field(factory=dict)
    """Size -> t_ij."""
    fits: bool = False
    """Whether one t^U has been what the model says of the whole pack's faults."""
    misfits: list[tuple[int, str]] = field(factory=list)
    """Those that have not: lawful only where the job counts with an MTBF of its own."""


@define(eq=False)
class ExpectationAuditor(Auditor):
    """Whoever starts, is struck or changes its pace is looked at again, and as it stands."""

    world: World
    progress: ProgressAuditor
    told: dict[str, tuple[EndExpected, int]] = field(factory=dict)
    """Job -> the last of this instant, seq."""
    due: dict[str, int] = field(factory=dict)
    """Jobs of which a run started, or waits for its members since this instant -> seq."""
    beliefs: dict[str, _Beliefs] = field(factory=dict)

    @property
    def handlers(self) -> Handlers:
        return {
            EndExpected: self._tell,
            RunStarted: self._start,
            RunEnded: self._end,
            JobCompleted: self._leave,
        }

    def passed(self, t: float, seq: int) -> None:
        if not (self.told or self.due):
            return
        now = self.world.now
        for name, (event, at) in self.told.items():
            self._check(name, event, now, at)
        for name, at in self.due.items():
            job = self.world.jobs.get(name)
            if name not in self.told and job is not None and job.stands is not None:
                self._check(name, job.stands, now, at)
            elif job is not None and job.stands is None and not self.world.cut:
                why = f"nothing is expected of {name}, which has started"
                self.world.breaks(Law.DECISION, (at, seq), why)
        self.told.clear()
        self.due.clear()

    def close(self, t: float, seq: int) -> None:
        for name in list(self.beliefs):
            self._judge(name)

    def _tell(self, event: EndExpected, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        if job is None or job.application is None:
            self.world.breaks(Law.LIFE, (seq,), f"{event.job} is under way in no pack")
            return
        before = self.told.get(event.job)
        single = job.protection is not None and job.protection.copies == 1
        if before is not None and before[0] == event and event.since is not None and single:
            why = f"nothing has changed since {event}"
            self.world.breaks(Law.DECISION, (before[1], seq), why)
        self.told[event.job] = event, seq

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is not None and run.job.application is not None:
            self.due[event.job] = seq
            self.beliefs.setdefault(event.job, _Beliefs()).times[run.copy.full] = event.work

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if event.kept and run is not None and run.job.application is not None:
            self.due[event.job] = seq

    def _leave(self, event: JobCompleted, t: float, seq: int) -> None:
        self.told.pop(event.job, None)
        self._judge(event.job)

    def _judge(self, name: str) -> None:
        beliefs = self.beliefs.pop(name, None)
        if beliefs is not None and beliefs.fits:
            for seq, why in beliefs.misfits:
                self.world.breaks(Law.DECISION, (seq,), why)

    # --- where it stands ----------------------------------------------------------------------

    def _check(self, name: str, event: EndExpected, t: float, seq: int) -> None:
        job = self.world.jobs.get(name)
        copies = job.copies() if job is not None else []
        rules = job.protection if job is not None else None
        if rules is None or rules.copies > 1 or len(copies) != 1:
            return  # of several, the log does not say which one it is told of
        copy = copies[0]
        lawful = self._where(copy, t)
        if not speed(self.world, copy):
            lawful = [(inf, left) for _, left in lawful]
        says = (inf if event.since is None else event.since), event.left
        if event.processors != copy.full or not any(_same(says, it) for it in lawful):
            why = f"{name} on {copy.full} computes since and has left {lawful}; it says {event}"
            self.world.breaks(Law.DECISION, (seq,), why)
            return
        self._believe(copy, event, seq)

    def _where(self, copy: Copy, t: float) -> list[Where]:
        if copy.run is None:
            return self._kept(copy, t)
        account = self.progress.accounts.get(copy.run)
        return self._under_way(account, t) if account is not None else []

    def _kept(self, copy: Copy, t: float) -> list[Where]:
        job, saved = copy.job, copy.saved
        untils = [self.world.worker(n).until for n in copy.away]
        back = max((inf if it is None else it for it in untils), default=t)
        since, left = back + recovery(copy), 1 - (saved.fraction if saved is not None else 0)
        if copy.holders == copy.full:
            return [(since, left)]
        since += moving(job, copy.holders, copy.full)
        return [(since + closing, left) for closing in _closings(copy)]

    @staticmethod
    def _under_way(account: Account, t: float) -> list[Where]:
        run, stage, plan = account.run, account.step, account.plan
        account.settle(t)
        done = run.done - (account.passed if stage is Stage.COMPUTING else 0)
        left = 1 - done / run.event.work if run.event.work else 1
        if stage in WAITING or not account.rate or not isinstance(stage, Stage) or plan is None:
            return [(inf, left)]
        if stage is Stage.COMPUTING:
            return [(t - account.passed / account.rate, left)]
        over = t + ((account.length or 0) - account.passed) / account.rate
        if run.computes:
            return [(over, left)]
        closings = _closings(run.copy) if plan.closes is None else [0.0]
        return [(over + plan.ahead(stage) + closing, left) for closing in closings]

    # --- when it ends -------------------------------------------------------------------------

    def _believe(self, copy: Copy, event: EndExpected, seq: int) -> None:
        """t^U."""
        known = self.beliefs.setdefault(event.job, _Beliefs())
        work, pace = known.times.get(copy.full), speed(self.world, copy)
        if (event.since is None) != (event.expected is None):
            self.world.breaks(Law.DECISION, (seq,), f"{event}")
        if event.since is None or event.expected is None or work is None or not pace:
            return
        times = expected(copy.job, copy.full, work * event.left)
        ends = [event.since + time / pace for time in times]
        if any(isclose(event.expected, end, rel_tol=ROUNDING) for end in ends):
            known.fits = True
        else:
            why = f"{event.job} is expected at {event.expected!r}, not at {ends}"
            known.misfits.append((seq, why))


def _closings(copy: Copy) -> list[float]:
    """What a closing checkpoint may take."""
    rules, job = copy.job.protection, copy.job
    if rules is None or rules.kind != "buddies":
        return [0.0]
    cost = checkpoint(job, copy.full) if rules.cost is None else rules.cost
    whole = cost + (job.verification if rules.verified else 0)
    return [0.0, whole] if job.closes is None else [whole if job.closes else 0.0]


def _same(one: Where, other: Where) -> bool:
    apart = isclose(one[0], other[0], rel_tol=ROUNDING, abs_tol=ROUNDING)
    return apart and isclose(one[1], other[1], rel_tol=ROUNDING, abs_tol=ROUNDING)
