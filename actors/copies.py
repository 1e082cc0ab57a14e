"""Jobs whose runs have members that matter: how copies are placed and end (WORLD.md, P5)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    MembersReleased,
    MessagesDescribed,
    Outcome,
    ProtectionDescribed,
)
from actors.hazards import SilentErrors
from actors.intervals import members
from actors.job import RUNNING, WAITING, Job, Life
from actors.messages import LimitReached, MembersWait, Settle, StartCopy, WithdrawCopy
from actors.plan import Plan, State, furthest
from actors.protection import Protection
from actors.protection.by_size import alike
from actors.run import Run
from actors.runtime import handles
from actors.worker_messages import LeaveRun, Needs
from actors.workforce import Workforce
from policies.availability import WorkerState

COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED
LOST, WITHDRAWN = Outcome.LOST, Outcome.WITHDRAWN
DOWN = WorkerState.DOWN
AT_WORK = (Life.RUNNING,)
GONE = (Life.COMPLETED, Life.KILLED)


@define(eq=False)
class JobOfCopies(Job):
    """A job that runs as up to r copies at once: it places them, starts their runs, ends them."""

    protection: Protection = field(kw_only=True)
    errors: SilentErrors = field(kw_only=True)
    needs: Needs | None = field(kw_only=True, default=None)
    """What members fetch; None: there is no master."""
    workforce: Workforce | None = field(kw_only=True, default=None)
    speeds: Sequence[float] | None = field(kw_only=True, default=None)
    """Live: the speed of every worker; None: all 1, for ever."""
    reuse: bool = field(kw_only=True, default=False)
    """Whether a member of a run that ended early, enrolled again at that very decision, keeps its
    data and the part of a message that has passed (002)."""
    copies: dict[int, Copy] = field(init=False, factory=dict)
    """By number, in the order in which they were placed."""
    next_run: int = field(init=False, default=0)
    former: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """Under `reuse`: members of runs that ended at this instant -> their copy, seq of that end."""

    def describe(self) -> None:
        """See Job."""
        super().describe()
        rules, describe = self.protection.rules, self.system.journal.describe
        describe(
            ProtectionDescribed,
            self.name,
            rules.kind,
            alike(rules.period),
            alike(rules.cost),
            alike(rules.recovery),
            rules.verified,
            rules.copies,
            rules.cloning,
            rules.delay,
        )
        if self.needs is not None:
            needs = self.needs
            sizes = (needs.program, needs.data, needs.image, needs.label)
            describe(MessagesDescribed, self.name, *sizes)

    # --- what its kind says -------------------------------------------------------------------

    def units(self, message: StartCopy) -> tuple[int, ...]:
        """Units of data, by member."""
        return (1,) * message.processors

    def work(self, copy: Copy) -> float:
        """The whole work of a run on these members, in time at speed 1."""
        return self.described.profile.time(len(copy.members))

    def resumed(self, copy: Copy) -> Plan:
        """The next run on members that were kept."""
        return self.protection.resumed(copy)

    def settled(self, copy: Copy) -> None:
        """Tell whoever counts on it that a copy goes on otherwise than before."""

    def saved(self, run: Run) -> None:
        """A checkpoint is complete."""
        self.protection.save(run)

    @abstractmethod
    def over(self, run: Run, outcome: Outcome) -> None:
        """A verification has ended this run."""

    def last_work(self) -> bool:
        """Whether the run that completes now completes the job."""
        return True

    def complete_work(self) -> None:
        """Tell the log what its kind says of a completed run."""

    # --- copies -------------------------------------------------------------------------------

    @handles(StartCopy, during=(Life.WAITING, Life.RUNNING))
    def begin_copy(self, message: StartCopy) -> None:
        if self.state is WAITING:
            self.become(RUNNING)
        held = members(message.numbers)
        known = self.speeds
        speeds = None if known is None else {n: known[n] for n in held} if known else {}
        copy = Copy(
            *(message.copy, held, message.text, self.units(message)),
            *(speeds or None, self.workforce),
        )
        for worker in held if self.former else ():
            self.former.pop(worker, None)
        self.copies[copy.number] = copy
        self._start_run(copy, self.plan(copy), message)

    def plan(self, copy: Copy) -> Plan:
        """What the first run of a copy is to do."""
        return self.protection.placed(copy, self.furthest())

    def furthest(self) -> State | None:
        """The state of the run under way that has most work done."""
        if not self.copies:
            return None
        now = self.now
        return furthest(
            copy.run.state(now) for copy in self.copies.values() if copy.run is not None
        )

    def _start_run(
        self,
        copy: Copy,
        plan: Plan,
        message: StartCopy | None = None,
        keeps: int | None = None,
    ) -> None:
        number, self.next_run = self.next_run, self.next_run + 1
        run = Run(
            *(self, number, copy, self.work(copy), plan),
            strike=self._strike(copy),
            saved=self.saved,
            recovered=self._recovered,
            over=self.over,
        )
        copy.run, copy.last = run, number
        run.begin(keeps)
        if self.killed_at is not None:
            self.after(self.killed_at, LimitReached(number))
        self.tell_tasks(copy, message)
        if self.needs is None:
            run.advance()
        else:
            run.feed()
            copy.feed(self, self.needs, plan.image)
        self.settled(copy)

    def _strike(self, copy: Copy) -> Callable[[float], bool]:
        if not self.errors.per_work:
            return self.errors.strike
        area = len(copy.members) * self.work(copy)
        return partial(self.errors.strike, density=self.described.profile.work / area)

    def tell_tasks(self, copy: Copy, message: StartCopy | None) -> None:
        """Tell the log what its kind says of a run that starts."""

    def _recovered(self, run: Run) -> None:
        self.protection.recovered(run.copy)

    @handles(WithdrawCopy, during=AT_WORK)
    def withdraw(self, message: WithdrawCopy) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None:
            self._drop(copy, WITHDRAWN, early=True)

    @handles(WithdrawCopy, during=(Life.WAITING, *GONE))
    def withdrawn_too_late(self, message: WithdrawCopy) -> None:
        """It ended at this very instant."""

    @handles(Settle)
    def settle(self, _: Settle) -> None:
        """Whoever is not enrolled again leaves."""
        if self.workforce is not None:
            for worker, (copy, end) in self.former.items():
                self.system.loop.cause = end
                self.send(self.workforce(worker), LeaveRun(copy, keep=False))
        self.former.clear()

    def _drop(self, copy: Copy, outcome: Outcome, gone: bool = False, early: bool = False) -> None:
        """End the copy, and give its members back."""
        if copy.run is not None:
            copy.run.end(outcome)
        else:
            self.record(MembersReleased, self.name, copy.last)
        copy.run = None
        if early and self.reuse:
            left = copy.number, self.system.loop.cause
            self.former.update(dict.fromkeys(copy.members, left))
            self.send(self.scheduler, MembersWait(self))
        else:
            copy.leave(self, keep=False)
        del self.copies[copy.number]
        waits = not self.copies and not gone
        if waits:
            self.become(WAITING)
        self.give_back(copy.number, outcome, waits, gone and not self.copies)

    # --- how they end -------------------------------------------------------------------------

    def _complete_by(self, first: Copy) -> None:
        """This copy was first: the others end at this instant."""
        gone = self.last_work()
        others = [copy for copy in self.copies.values() if copy is not first]
        assert first.run is not None
        first.run.end(COMPLETED)
        first.run, end = None, self.system.loop.cause
        for copy in others:
            self._drop(copy, WITHDRAWN, gone)
            self.system.loop.cause = end
        self.protection.forget()
        self._leave(first, gone)

    def _leave(self, first: Copy, gone: bool) -> None:
        first.leave(self, keep=False)
        self.copies.clear()
        loop = self.system.loop
        end = loop.cause
        self.complete_work()
        since, loop.cause = loop.cause, end
        if gone:
            self.give_back(first.number, COMPLETED, False, True)
            loop.cause = since
            self.complete()
        else:
            self.become(WAITING)
            self.give_back(first.number, COMPLETED, True, since=since)

    @handles(LimitReached)
    def reach_limit(self, message: LimitReached) -> None:
        runs = {copy.run.number: copy for copy in self.copies.values() if copy.run is not None}
        reached = runs.get(message.run)
        if reached is None:
            return
        cause = self.system.loop.cause
        # Last of all, as the job is over because of it.
        for copy in [*(it for it in self.copies.values() if it is not reached), reached]:
            self.system.loop.cause = cause
            self._drop(copy, WITHDRAWN, gone=True)
        self.die()

    def waits_for(self) -> str | None:
        copies = self.copies.values()
        absent = sorted(worker for copy in copies for worker in copy.absent)
        if absent:
            return f"{self._names(absent)} to be UP again"
        lack = sorted(worker for copy in copies if copy.run for worker in copy.run.missing)
        return f"messages of {self._names(lack)}" if lack else super().waits_for()

    def _names(self, workers: Sequence[int]) -> str:
        known = self.workforce.known if self.workforce is not None else {}
        return ", ".join(known[n].name if n in known else f"worker {n}" for n in workers)
