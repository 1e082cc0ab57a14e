"""What a pack's decider counts with: since when an application computes, how much is left, and when
it is expected to end (malleable17, section 3.3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf, isclose
from operator import attrgetter

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    EndExpected,
    JobCompleted,
    MembersChanged,
    Outcome,
    ProtectionKind,
    RedistributionPlanned,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TransferEnded,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.events import pack as pack_events
from sims.audit.facts import LoggedCopy, LoggedJob
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.packs import closings, expected, moving, recovery
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
    """Those that have not, of an older log, which does not tell an MTBF of the job's own: lawful
    where it counts with one."""


@define(eq=False)
class ExpectationAuditor(Auditor):
    """Whoever starts, is struck or changes its pace is looked at again, and as it stands. Of an
    application with several copies that is the oldest, which is the one that may be resized."""

    wakes = frozenset(pack_events.VOCABULARY)
    world: World
    progress: ProgressAuditor
    told: dict[str, tuple[EndExpected, int]] = field(factory=dict)
    """Job -> the last of this instant, seq."""
    due: dict[str, int] = field(factory=dict)
    """Jobs that are looked at at this instant -> seq of what first calls for it: a run started, or
    waits for its members; a member changed; a message of its passed."""
    gone: set[str] = field(factory=set)
    """Jobs whose oldest copy ended at this instant: what it said of itself may be told after."""
    spoken: set[LoggedCopy] = field(factory=set)
    """Of a job with several copies, those that have said where they stand at this instant."""
    about: dict[str, LoggedCopy] = field(factory=dict)
    """Job -> the copy of which something was told last."""
    looks: Counter[str] = field(factory=Counter)
    """Job -> how often it may be told of at this instant; less what has been told."""
    beliefs: dict[str, _Beliefs] = field(factory=dict)

    @property
    def handlers(self) -> Handlers:
        return {
            EndExpected: self._tell,
            RunStarted: self._start,
            RunEnded: self._end,
            WorkerChanged: self._look,
            WorkerSpeedChanged: self._look,
            TransferEnded: self._look,
            CheckpointTaken: self._save,
            StageStarted: self._go_on,
            MembersChanged: self._allow,
            RedistributionPlanned: self._allow,
            JobCompleted: self._leave,
        }

    def passed(self, t: float, seq: int) -> None:
        if not self.looks:
            return
        now = self.world.now
        for name, (event, at) in self.told.items():
            self._check(name, event, now, at)
        for name in self.gone:
            self._follow(name, now, seq)
        for copy in self.spoken:
            copy.stood = tuple(self._lawful(copy, now))
        for name, at in self.due.items():
            job = self.world.jobs.get(name)
            if name not in self.told and job is not None and job.stands is not None:
                self._check(name, job.stands, now, at)
            elif job is not None and job.stands is None and not self.world.cut:
                why = f"nothing is expected of {name}, which has started"
                self.world.breaks(Law.DECISION, (at, seq), why)
        self.told.clear()
        self.gone.clear()
        self.due.clear()
        self.spoken.clear()
        self.looks.clear()

    def close(self, t: float, seq: int) -> None:
        for name in list(self.beliefs):
            self._judge(name)

    def _tell(self, event: EndExpected, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        if job is None or job.application is None:
            self.world.breaks(Law.LIFE, (seq,), f"{event.job} is under way in no pack")
            return
        before = self.told.get(event.job)
        same = before is not None and before[0] == event and event.since is not None
        self.looks[event.job] -= 1
        if same or self.looks[event.job] < 0:
            why = f"nothing has changed since {event}"
            self.world.breaks(Law.DECISION, (seq,), why)
        if event.job not in self.gone:
            self.told[event.job] = event, seq
        oldest = _oldest(job)
        if oldest is not None:
            self.about[event.job] = oldest

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        if run is not None and run.job.application is not None:
            if run.copy is _oldest(run.job):
                self.about[event.job] = run.copy
            self._call(run.copy, seq)
            self.beliefs.setdefault(event.job, _Beliefs()).times[run.copy.full] = event.work

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or run.job.application is None or run.copy is not _oldest(run.job):
            return
        if event.kept:
            self._call(run.copy, seq)
        else:
            self.told.pop(event.job, None)
            self.due.pop(event.job, None)
            self.gone.add(event.job)
            self.looks[event.job] += event.outcome is not Outcome.CANCELLED

    def _look(
        self, event: WorkerChanged | WorkerSpeedChanged | TransferEnded, t: float, seq: int
    ) -> None:
        for copy in self.world.held.on(event.worker):
            if copy.job.application is not None:
                self._call(copy, seq)

    def _save(self, event: CheckpointTaken, t: float, seq: int) -> None:
        """Where periods are not all alike, the next one is told of."""
        run = self.world.run(event.job, event.run)
        if run is not None and run.job.protection is not None and run.job.protection.verified:
            self._call(run.copy, seq)
        else:
            self.looks[event.job] += 1

    def _go_on(self, event: StageStarted, t: float, seq: int) -> None:
        """Whose members have all that they need at once says so."""
        if event.stage is not Stage.STAGING_IN:
            self.looks[event.job] += 1

    def _allow(self, event: MembersChanged | RedistributionPlanned, t: float, seq: int) -> None:
        self.looks[event.job] += 1

    def _call(self, copy: LoggedCopy, seq: int) -> None:
        """It says where it stands; that is told where it is another place, and it the oldest. One
        that has just become so may have said it before, when nobody asked for it."""
        name = copy.job.name
        self.looks[name] += 1
        if copy.job.protection is not None and copy.job.protection.copies > 1:
            self.spoken.add(copy)
        if copy is _oldest(copy.job) and self.about.get(name) is copy:
            self.due.setdefault(name, seq)

    def _leave(self, event: JobCompleted, t: float, seq: int) -> None:
        self.told.pop(event.job, None)
        self.about.pop(event.job, None)
        self._judge(event.job)

    def _judge(self, name: str) -> None:
        beliefs = self.beliefs.pop(name, None)
        if beliefs is not None and beliefs.fits:
            for seq, why in beliefs.misfits:
                self.world.breaks(Law.DECISION, (seq,), why)

    def _follow(self, name: str, now: float, seq: int) -> None:
        """Whose oldest copy was lost goes by what the next one said last."""
        job = self.world.jobs.get(name)
        copy = _oldest(job) if job is not None else None
        if job is None or copy is None or name in self.due or copy in self.spoken:
            return
        older = job.pack is None or job.pack.releases is None
        if job.stands is not None and copy.stood and not older:
            self._compare(copy, job.stands, copy.stood, seq)

    # --- where it stands ----------------------------------------------------------------------

    def _check(self, name: str, event: EndExpected, t: float, seq: int) -> None:
        job = self.world.jobs.get(name)
        copy = _oldest(job) if job is not None else None
        if copy is None or copy.job.protection is None:
            return
        self._compare(copy, event, self._lawful(copy, t), seq)

    def _compare(
        self, copy: LoggedCopy, event: EndExpected, lawful: Sequence[Where], seq: int
    ) -> None:
        says = (inf if event.since is None else event.since), event.left
        if event.processors == copy.full and any(_same(says, it) for it in lawful):
            self._believe(copy, event, seq)
            return
        why = f"{event.job} on {copy.full} computes since and has left {lawful}; it says {event}"
        self.world.breaks(Law.DECISION, (seq,), why)

    def _lawful(self, copy: LoggedCopy, t: float) -> list[Where]:
        lawful = self._where(copy, t)
        return lawful if speed(self.world, copy) else [(inf, left) for _, left in lawful]

    def _where(self, copy: LoggedCopy, t: float) -> list[Where]:
        if copy.run is None:
            return self._kept(copy, t)
        account = self.progress.accounts.get(copy.run)
        return self._under_way(account, t) if account is not None else []

    def _kept(self, copy: LoggedCopy, t: float) -> list[Where]:
        job, saved = copy.job, copy.saved
        untils = [self.world.worker(n).until for n in copy.away]
        back = max((inf if it is None else it for it in untils), default=t)
        since, left = back + recovery(copy), 1 - (saved.fraction if saved is not None else 0)
        if copy.holders == copy.full:
            return [(since, left)]
        since += moving(job, copy.holders, copy.full)
        return [(since + closing, left) for closing in closings(copy)]

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
        if stage is Stage.VERIFYING and done >= run.event.work:
            # Nothing is left to compute: it says so as it begins to look, or as its pace changes.
            return [(t - account.passed / account.rate, left), (over, left)]
        closes = closings(run.copy) if plan.closes is None else [0.0]
        return [(over + plan.ahead(stage) + closing, left) for closing in closes]

    # --- when it ends -------------------------------------------------------------------------

    def _believe(self, copy: LoggedCopy, event: EndExpected, seq: int) -> None:
        """t^U."""
        known, pace = self.beliefs.setdefault(event.job, _Beliefs()), speed(self.world, copy)
        work = known.times.get(copy.full)
        if (event.since is None) != (event.expected is None):
            self.world.breaks(Law.DECISION, (seq,), f"{event}")
        if event.since is None or event.expected is None or work is None or not pace:
            return
        times = expected(copy.job, copy.full, work * event.left)
        ends = [event.since + time / pace for time in times]
        if any(isclose(event.expected, end, rel_tol=ROUNDING) for end in ends):
            known.fits = True
            return
        why = f"{event.job} is expected at {event.expected!r}, not at {ends}"
        told = copy.job.application
        if copy.job.kind is ProtectionKind.NONE or (told is not None and told.rule is not None):
            self.world.breaks(Law.DECISION, (seq,), why)
        else:
            known.misfits.append((seq, why))


def _oldest(job: LoggedJob) -> LoggedCopy | None:
    return min(job.copies(), key=attrgetter("placed"), default=None)


def _same(one: Where, other: Where) -> bool:
    apart = isclose(one[0], other[0], rel_tol=ROUNDING, abs_tol=ROUNDING)
    return apart and isclose(one[1], other[1], rel_tol=ROUNDING, abs_tol=ROUNDING)
