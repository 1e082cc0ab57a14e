"""A malleable job is redistributed among other numbers of workers as it runs (malleable17)."""

from __future__ import annotations

import math

from attrs import astuple, define, evolve, field

from actors.copy import Copy
from actors.events import (
    ApplicationDescribed,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    Outcome,
    RedistributionPlanned,
    Stage,
)
from actors.job import AT_WORK
from actors.messages import MembersArrived, PromiseCopy, ResizeCopy, StartCopy
from actors.progress import remaining
from actors.progress_reports import awaiting_report, report, running_report
from actors.protection.plan import Plan, State
from actors.run import Run
from actors.runs import JobOfRuns
from actors.runtime import handles
from policies.maths.cosched import Costs, round_count

MOVING = Stage.REDISTRIBUTING


@define(eq=False)
class MalleableJob(JobOfRuns):
    """A job whose number of workers changes while it runs (malleable17, section 3.3).

    A resize ends the run and starts the next at once from its running state, saved or not. New
    members fetch program and data, where there is a master; then data moves between the workers,
    which takes the redistribution cost RC. Under buddies a checkpoint among the new members closes
    the redistribution, with its verification where one precedes checkpoints. Under other
    protections, and where no checkpoints are taken, members hold nothing that is saved, and nothing
    has to be closed. A copy that waits for its members to be UP again can be resized, too: its next
    run recovers among the workers that hold what is saved, then moves data.
    """

    costs: Costs = field(kw_only=True, repr=False)
    application: ApplicationDescribed = field(kw_only=True, repr=False)
    """The parameters from which `costs` was computed."""

    def describe(self, cause: int) -> int:
        super().describe(cause)
        self.record(cause, ApplicationDescribed, *astuple(self.application, recurse=False))
        return cause

    def work(self, copy: Copy[Run]) -> float:
        """Return the time t_ij that the whole work takes on j workers, j being the number of the
        copy's members. Members that another copy has promised to it, and still computes on, count
        (malleable17, section 5)."""
        return self.costs.times[self.costs.row(len(copy.members))]

    def log_tasks(self, copy: Copy[Run], message: StartCopy | None, cause: int) -> int:
        """Log the planned redistribution (numbers of workers before and after, and rounds of
        transfers) if the copy's run, which starts now, has one. Return the number (seq) of that
        event, or `cause` if there is none. `message` does not matter here."""
        assert copy.run is not None
        if any(stage is MOVING for stage, _ in copy.run.plan.before):
            before, after = copy.holders, len(copy.members)
            sizes = before, after, round_count(before, after)
            cause = self.record(cause, RedistributionPlanned, self.name, copy.last, *sizes)
        return cause

    # --- its size changes ---------------------------------------------------------------------

    @handles(ResizeCopy, during=AT_WORK)
    def resize(self, message: ResizeCopy, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is None:
            return
        run, size = copy.run, len(copy.members)
        if run is None:
            self._resize_kept(copy, message, cause)
        elif run.computes:
            state, cause = _hand_over(run, cause)
            self._exchange(copy, message, cause)
            copy.holders = size
            plan = evolve(self.protection.plan(copy), begins=state)
            plan = self._moved(copy, plan)
            self.start_run(copy, plan, cause)  # no start-up: its processes go on
            if not plan.closes:
                copy.holders = len(copy.members)
        else:
            # A fault has struck at this instant; without a downtime, the recovery or start-up has
            # begun.
            cause = run.end(Outcome.CANCELLED, cause)
            self._exchange(copy, message, cause)
            plan = self.resumed(copy) if self.protection.keeps else self._again(copy, run.plan)
            self.start_run(copy, plan, cause, before=self.parts.before(first=False))

    def _again(self, copy: Copy[Run], plan: Plan) -> Plan:
        """Return `plan`, that of a run which ended before it had computed, with the period and cost
        of checkpoints that suit the copy's new number of members. The next run passes the same
        parts."""
        of_size = self.protection.plan(copy)
        return evolve(plan, period=of_size.period, cost=of_size.cost)

    def _resize_kept(self, copy: Copy[Run], message: ResizeCopy, cause: int) -> None:
        self._exchange(copy, message, cause)
        copy.cause = self.record(cause, MembersChanged, self.name, copy.last, copy.text)
        self.report_progress(copy, copy.cause)
        self.resume_soon()

    def _exchange(self, copy: Copy[Run], message: ResizeCopy, cause: int) -> None:
        stayed = copy.members
        left = copy.exchange(message)
        self.protection.exchanged(copy, left)
        copy.dismiss(left, cause, keep=False)
        copy.dismiss(sorted(set(stayed).difference(left)), cause, keep=True)

    def resumed(self, copy: Copy[Run]) -> Plan:
        """Return the plan of the copy's next run, on members that it has kept. If what is saved is
        spread over another number of members than the copy has now, a redistribution follows the
        recovery: a fault has interrupted it, or it was decided since."""
        plan = super().resumed(copy)
        return plan if copy.holders == len(copy.members) else self._moved(copy, plan)

    def _moved(self, copy: Copy[Run], plan: Plan) -> Plan:
        cost = self.costs.redistribution(copy.holders, len(copy.members))
        before = (*plan.before, (MOVING, cost))
        closes = self.protection.keeps and plan.period < math.inf
        if closes and plan.rules.verified and plan.begins is not None:
            # If no work is left, the verification before the checkpoint completes the job (P7).
            closes = remaining(1, plan.begins.fraction) > 0
        return evolve(plan, before=before, closes=closes)

    # --- workers that are promised ------------------------------------------------------------

    @handles(PromiseCopy, during=AT_WORK)
    def promise(self, message: PromiseCopy, cause: int) -> None:
        copy = self.copies[message.copy]
        self.record(cause, MembersPromised, self.name, copy.last, copy.text)

    @handles(MembersArrived, during=AT_WORK)
    def join(self, message: MembersArrived, cause: int) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None:
            copy.text = message.text
            self.record(cause, MembersJoined, self.name, copy.last, message.joined)

    # --- where it stands ----------------------------------------------------------------------

    def report_progress(self, copy: Copy[Run], cause: int) -> None:
        """Report to the scheduler when a copy computes again and how much work is left then;
        nothing if the copy has ended. `cause` is the number of the event that leads to it."""
        if copy.number not in self.copies:
            return
        if copy.run is None:
            told = awaiting_report(self.index, copy, self.resumed(copy))
        else:
            told = running_report(self.index, copy, copy.run, self.needs is not None)
        self.send(self.scheduler, told, cause)

    def saved(self, run: Run, state: State, cause: int) -> None:
        """Store the state of a complete checkpoint of the run. If speeds vary or verifications
        precede checkpoints, the scheduler cannot foresee when the next period begins: report that
        it begins now. `cause` is the number of the event that logs the checkpoint."""
        super().saved(run, state, cause)
        if run.plan.rules.verified or run.copy.speeds is not None:
            told = report(self.index, run.copy, self.now, (), run.done(self.now) / run.work)
            self.send(self.scheduler, told, cause)

    def pass_part(self, run: Run) -> None:
        """End the run's present part, whose time is over, and go on with the next. Report the
        copy's progress to the scheduler if the part was a save to shared storage or a load from it,
        because its end was not known beforehand."""
        shared = run.shares
        cause = run.pass_part(run.cause)
        if shared:
            self.report_progress(run.copy, cause)


def _hand_over(run: Run, cause: int) -> tuple[State, int]:
    """End a run as cancelled, so that a run on other members can go on from its present state,
    saved or not. Return that state and the number (seq) of the event that ends the run. `cause` is
    the number of the event that leads to it.

    The part of a checkpoint that has passed counts as work (malleable17, section 3.3.2, read
    literally), but for bytes that went to shared storage.
    """
    now = run.actor.now
    if run.stage is Stage.CHECKPOINTING and not run.shares:
        run.base = min(run.base + run.part.at(now), run.work)
    state = run.state(now)
    return state, run.end(Outcome.CANCELLED, cause)
