"""How runs that tell their stages advance: each stage in its turn and time, at the rate that the
members have (WORLD.md, R1 to R3, L4)."""

from __future__ import annotations

import math
from math import isclose

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    Outcome,
    ProtectionDescribed,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
)
from sims.audit.facts import LoggedCopy, LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.stages import ROUNDING, StagePlan, Step, plan_of
from sims.audit.world import World

COMPUTING, VERIFYING = Stage.COMPUTING, Stage.VERIFYING
AT_SPEED = frozenset((COMPUTING, VERIFYING))
WAITING = frozenset((Stage.STAGING_IN, Stage.SAVING))
COMPLETED, FAILED, CANCELLED = Outcome.COMPLETED, Outcome.FAILED, Outcome.CANCELLED


@define(eq=False)
class Account:
    """Where a run is: in which stage since when, how far in it."""

    run: LoggedRun
    plan: StagePlan | None
    """None: its job has not said how it is protected."""
    step: Step | None = None
    """None: nothing has been told of it yet."""
    seq: int = 0
    rate: float = 0
    begun: float = 0
    """When the step began."""
    passed: float = 0
    """What the stage had advanced by, when it was settled last."""
    length: float | None = 0

    def settle(self, t: float) -> None:
        """Bring the run's account up to `t`."""
        run = self.run
        self.passed += self.rate * (t - run.since)
        run.done, run.since = run.at(t), t

    def enter(self, step: Step, rate: float, seq: int) -> None:
        """It does something else from now on."""
        run = self.run
        self.step, self.seq, self.rate, self.passed = step, seq, rate, 0
        run.rate, run.advancing, self.begun = rate, step is COMPUTING, run.since
        run.computes = run.computes or step is COMPUTING
        self.length = 0
        if isinstance(step, Stage):
            self.length = self.plan.length(step, run.done) if self.plan is not None else None


@define(eq=False)
class ProgressAuditor(Auditor):
    """Rebuilds each run's account from its stages and rates."""

    wakes = frozenset((ProtectionDescribed, StageStarted, RateChanged, CheckpointTaken))
    of_touched = True
    world: World
    accounts: dict[LoggedRun, Account] = field(factory=dict)
    """Of runs that tell their stages."""
    starting: dict[LoggedRun, None] = field(factory=dict)
    """Runs of described protection that began at this instant and have told no stage."""

    @property
    def handlers(self) -> Handlers:
        return {
            RunStarted: self._start,
            StageStarted: self._enter,
            RateChanged: self._change,
            CheckpointTaken: self._save,
            RunEnded: self._end,
        }

    def passed(self, t: float, seq: int) -> None:
        for run in self.starting:
            why = f"{run.name} does nothing"
            self.world.breaks(Law.PROGRESS, (run.seq, seq), why)
        self.starting.clear()
        for copy in self.world.touched:
            account = self.accounts.get(copy.run) if copy.run is not None else None
            if account is not None:
                self._check_rate(copy, account, seq)

    def close(self, t: float, seq: int) -> None:
        for account in self.accounts.values():
            account.settle(t)
            self._not_beyond(account, t, seq)

    # --- events of a run ----------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        if run is not None and run.job.protection is not None and not run.told:
            self.starting[run] = None
            self.world.touched[run.copy] = None
            account = self.accounts[run] = Account(run, plan_of(run), seq=seq, begun=t)
            run.staged, run.advancing = True, False
            account.rate = 0

    def _account(self, job: str, number: int, seq: int) -> Account | None:
        """The run's account, a new one where it is the first that is told of its stages."""
        run = self.world.run(job, number)
        if run is None:
            why = f"run {number} of {job} is not going on"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
            return None
        self.world.touched[run.copy] = None
        self.starting.pop(run, None)
        account = self.accounts.get(run)
        if account is None:
            if not run.told:
                why = f"{job} tells its stages, not how it is protected"
                self.world.breaks(Law.FRAME, (seq,), why)
            account = self.accounts[run] = Account(run, None, seq=run.seq, begun=run.t)
            run.staged = True
        return account

    def _settle(self, account: Account, t: float, done: float, seq: int) -> None:
        """Settle, and compare with what the log says is done."""
        account.settle(t)
        run = account.run
        slack = self._slack(t, account.rate)
        if not isclose(run.done, done, rel_tol=ROUNDING, abs_tol=slack):
            why = f"{run.name} has done {run.done!r} by the log; it says {done!r}"
            self.world.breaks(Law.PROGRESS, (account.seq, seq), why)
        run.done = done

    def _enter(self, event: StageStarted, t: float, seq: int) -> None:
        account = self._account(event.job, event.run, seq)
        if account is None:
            return
        self._settle(account, t, event.done, seq)
        self._follow(account, event.stage, t, seq)
        account.enter(event.stage, event.rate, seq)
        if event.rate < 0 or (event.rate and event.stage in WAITING):
            why = f"{event.stage.value} advances by {event.rate:g}"
            self.world.breaks(Law.PROGRESS, (seq,), why)

    def _change(self, event: RateChanged, t: float, seq: int) -> None:
        account = self._account(event.job, event.run, seq)
        if account is None:
            return
        self._settle(account, t, event.done, seq)
        if account.step in WAITING or account.rate == event.rate:
            why = f"{account.run.name} goes on at {event.rate:g} and advanced at {account.rate:g}"
            self.world.breaks(Law.PROGRESS, (account.seq, seq), why)
        self._not_beyond(account, t, seq)
        account.rate = account.run.rate = event.rate
        account.seq = seq

    def _save(self, event: CheckpointTaken, t: float, seq: int) -> None:
        account = self._account(event.job, event.run, seq)
        if account is None:
            return
        self._settle(account, t, event.done, seq)
        self._follow(account, CheckpointTaken, t, seq)
        account.enter(CheckpointTaken, 0, seq)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        account = self.accounts.pop(run, None) if run is not None else None
        if account is None:
            return
        assert run is not None
        self.starting.pop(run, None)
        if event.outcome is CANCELLED and run.computes and account.step is Stage.CHECKPOINTING:
            self._hand_over(account, event, t)
        self._settle(account, t, event.done, seq)
        if event.outcome in (COMPLETED, FAILED):
            self._judge(account, event, t, seq)
        elif isinstance(account.step, Stage):
            self._not_beyond(account, t, seq)
        else:
            why = f"{run.name} ends {event.outcome.value}, and goes over to nothing before"
            self.world.breaks(Law.PROGRESS, (account.seq, seq), why)
        if event.outcome is COMPLETED and not isclose(event.done, run.event.work, rel_tol=1e-9):
            why = f"{run.name} completes with {event.done!r} of {run.event.work!r} done"
            self.world.breaks(Law.PROGRESS, (run.seq, seq), why)

    @staticmethod
    def _hand_over(account: Account, event: RunEnded, t: float) -> None:
        """What has passed of a checkpoint may count as work (malleable17, section 3.3.2)."""
        account.settle(t)
        run = account.run
        whole = min(run.done + account.passed, run.event.work)
        if run.job.application is not None and isclose(event.done, whole, rel_tol=ROUNDING):
            run.done = whole

    def _judge(self, account: Account, event: RunEnded, t: float, seq: int) -> None:
        """A verification has ended it: its last, or one that precedes a checkpoint."""
        plan, run = account.plan, account.run
        if plan is None:
            return
        if event.outcome is FAILED and plan.verified and not plan.whole(run.done):
            if plan.verification == 0 and account.step is COMPUTING:
                self._over(account, t, seq)
                return
            self._follow(account, RunEnded, t, seq, wanted=account.step is VERIFYING)
        else:
            self._follow(account, RunEnded, t, seq)

    # --- what must be so ----------------------------------------------------------------------

    def _follow(
        self, account: Account, step: Step, t: float, seq: int, wanted: bool | None = None
    ) -> None:
        """`step` may come now: the stage before is over, and this one is due."""
        if account.plan is None:
            return
        self._over(account, t, seq)
        plan = account.plan
        if plan.closes is None and plan.ready(account.step):
            plan.closes = account.run.job.closes = step is not COMPUTING
        due = plan.after(account.step, account.run.done)
        if wanted is None:
            wanted = step is due
        if not wanted:
            why = f"{account.run.name} goes over to {_name(step)} where {_name(due)} is due"
            self.world.breaks(Law.PROGRESS, (account.seq, seq), why)

    def _over(self, account: Account, t: float, seq: int) -> None:
        length = account.length
        if length is None:
            self._learn(account, account.passed)
            return
        if length == math.inf:
            return  # its members tell
        late = t - account.begun if account.step in (None, CheckpointTaken) else 0.0
        slack = self._slack(t, account.rate)
        if late or not isclose(account.passed, length, rel_tol=ROUNDING, abs_tol=slack):
            why = f"{_name(account.step)} of {account.run.name} is over after {account.passed:g}"
            self.world.breaks(Law.DURATION, (account.seq, seq), f"{why} of {length:g}")

    def _learn(self, account: Account, period: float) -> None:
        """The log does not say how much work lies between checkpoints; it is always as much."""
        if account.plan is not None and not account.plan.whole(account.run.done):
            job, size = account.run.job, account.run.copy.full
            account.plan.period = period
            job.periods = {**job.periods, size: period}

    def _not_beyond(self, account: Account, t: float, seq: int) -> None:
        length = account.length
        slack = self._slack(t, account.rate)
        if length is not None and account.passed > length * (1 + ROUNDING) + slack:
            why = f"{_name(account.step)} of {account.run.name} goes on beyond {length:g}"
            self.world.breaks(Law.DURATION, (account.seq, seq), why)

    def _check_rate(self, copy: LoggedCopy, account: Account, seq: int) -> None:
        """At the end of an instant: the rate is that of the members (R1)."""
        stage = account.step
        if not isinstance(stage, Stage):
            what = "nothing" if stage is None else "nothing after a checkpoint"
            why = f"{account.run.name} does {what}"
            self.world.breaks(Law.PROGRESS, (account.seq, seq), why)
            return
        rate = 0.0 if stage in WAITING or copy.away else 1.0
        if rate and stage in AT_SPEED:
            rate = speed(self.world, copy)
        if not isclose(rate, account.rate, rel_tol=ROUNDING):
            away = f", {sorted(copy.away)} not being UP" if copy.away else ""
            why = f"{account.run.name} advances at {account.rate:g}, its members at {rate:g}{away}"
            self.world.breaks(Law.PROGRESS, (account.seq, seq), why)

    @staticmethod
    def _slack(t: float, rate: float) -> float:
        """Work that may be rounding: times are known to so many digits."""
        return 16 * math.ulp(t) * max(rate, 1)


def speed(world: World, copy: LoggedCopy) -> float:
    """What a copy computes by per unit of time while all its members are UP."""
    if not world.sped:
        return copy.share * (copy.size if copy.rotates else 1)
    known = world.workers
    speeds = [known[n].speed if n in known else 1 for n in copy.members]
    return copy.share * (sum(speeds) if copy.rotates else min(speeds, default=1))


def _name(step: Step | None) -> str:
    if step is None:
        return "the start"
    return step.value if isinstance(step, Stage) else step.__name__
