"""Packs: what is decided is carried out, and moves what it says (malleable17, sections 3 and 5)."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    ApplicationDescribed,
    JobCompleted,
    MembersChanged,
    MembersPromised,
    PackDescribed,
    RedistributionDecided,
    RedistributionPlanned,
    RunStarted,
    Stage,
    StageStarted,
    WorkerChanged,
)
from actors.events import pack as pack_events
from actors.runtime import Event
from policies.availability import WorkerState
from policies.interface.pack import Cause
from policies.maths.redistribution import round_count
from policies.pack.names import CATALOGUE
from sims.audit.facts import LoggedCopy, LoggedRun
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.packs import closes
from sims.audit.world import World
from sims.telling import counted

NOBODY, LOCAL = "none", "EndLocal"
"""Policies at ends: one redistributes nobody, one gives idle processors away and takes none."""


@define(eq=False)
class RedistributionAuditor(Auditor):
    """Sizes are whole groups and change only as decided; a run says what it moves."""

    wakes = frozenset(pack_events.VOCABULARY)
    world: World
    due: dict[str, tuple[int, int]] = field(factory=dict)
    """Job whose size is to change at this instant -> the new one, seq of the decision."""
    planned: dict[LoggedRun, bool] = field(factory=dict)
    """Runs that started at this instant and must move data -> whether they say so."""
    struck: set[str] = field(factory=set)
    """Jobs of which a member went DOWN at this instant."""
    ended: set[str] = field(factory=set)
    """Jobs that ended at this instant."""

    @property
    def handlers(self) -> Handlers:
        return {
            PackDescribed: self._describe_pack,
            ApplicationDescribed: self._describe,
            WorkerChanged: self._strike,
            JobCompleted: self._leave,
            RedistributionDecided: self._decide,
            MembersPromised: self._promise,
            RunStarted: self._start,
            RedistributionPlanned: self._plan,
            MembersChanged: self._change,
            StageStarted: self._enter,
        }

    def passed(self, t: float, seq: int) -> None:
        for job, (size, decided) in self.due.items():
            why = f"{job} was to go to {counted(size, 'worker')} and did not"
            self.world.breaks(Law.DECISION, (decided, seq), why)
        for run, told in self.planned.items():
            if not told:
                why = f"{run.name} has its data on {run.copy.holders}, is on {run.copy.full}, "
                why += "and nothing says what moves"
                self.world.breaks(Law.REDISTRIBUTION, (run.seq, seq), why)
        for instant in (self.due, self.planned, self.struck, self.ended):
            if instant:
                instant.clear()

    # --- what there is ------------------------------------------------------------------------

    def _describe_pack(self, event: PackDescribed, t: float, seq: int) -> None:
        times = (event.downtime, event.unit, event.latency, event.startup)
        if t or event.pair < 1 or min(times) < 0 or (event.mtbf is not None and event.mtbf <= 0):
            self.world.breaks(Law.FRAME, (seq,), f"{event} at {t}")

    def _describe(self, event: ApplicationDescribed, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        kind = job.described.kind if job is not None and job.described is not None else None
        last = (job.submitted or 0) + 2 + (job.messages is not None) if job is not None else 0
        if seq - 1 != last or self.world.pack is None or kind != "malleable" or event.footprint < 0:
            why = f"{event} of a {kind} job, pack {self.world.pack}"
            self.world.breaks(Law.FRAME, (seq,), why)

    def _strike(self, event: WorkerChanged, t: float, seq: int) -> None:
        if self.world.pack is not None and event.state is WorkerState.DOWN:
            self.struck.update(copy.job.name for copy in self.world.held.on(event.worker))

    def _leave(self, event: JobCompleted, t: float, seq: int) -> None:
        if self.world.pack is not None:
            self.ended.add(event.job)

    # --- decisions ----------------------------------------------------------------------------

    def _decide(self, event: RedistributionDecided, t: float, seq: int) -> None:
        answered = self.struck if event.why is Cause.FAULT else self.ended
        known = event.job in answered or (event.job is None and event.why is Cause.END)
        if not known or not event.moves:
            why = f"it answers the {event.why.value} of {event.job}, which is not now, by "
            self.world.breaks(Law.DECISION, (seq,), f"{why}{counted(len(event.moves), 'move')}")
        self._answers(event, seq)
        pair = self.world.pack.pair if self.world.pack is not None else 1
        for name, before, after in (move for move in event.moves if len(move) == 3):
            copy = self._oldest(name)
            if copy is None or copy.full != before or after < pair or after % pair:
                size = copy.full if copy is not None else 0
                why = f"{name} has {size} and goes from {before} to {after}, in groups of {pair}"
                self.world.breaks(Law.DECISION, (seq,), why)
            if name in self.due:
                why = f"{name}'s size is decided twice"
                self.world.breaks(Law.DECISION, (self.due[name][1], seq), why)
            if copy is not None and after != copy.full:
                self.due[name] = after, seq

    def _promise(self, event: MembersPromised, t: float, seq: int) -> None:
        self._decides(event, Cause.FAULT, False, seq)

    def _answers(self, event: RedistributionDecided, seq: int) -> None:
        shrinks = any(after < before for _, before, after in event.moves)
        self._decides(event, event.why, shrinks, seq)

    def _decides(self, event: Event, why: Cause, shrinks: bool, seq: int) -> None:
        """Whether its policy, by its name, ever does so; of a user's nothing is known."""
        policy = self.world.started.policy if self.world.started is not None else ""
        if policy not in CATALOGUE:
            return
        at_end, _, at_fault = policy.rpartition("-")[::-1]
        when = {Cause.END} if at_end != NOBODY else set()
        when |= {Cause.FAULT} if at_fault else set()
        if why not in when or (shrinks and (why, at_end) == (Cause.END, LOCAL)):
            self.world.breaks(Law.POLICY, (0, seq), f"{policy} decides no {event}")

    def _oldest(self, name: str) -> LoggedCopy | None:
        """The copy of a job that was placed first, which is the one that is resized."""
        job = self.world.jobs.get(name)
        copies = job.copies() if job is not None else []
        return min(copies, key=lambda copy: copy.placed, default=None)

    # --- what comes of them -------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or run.job.application is None:
            return
        copy = run.copy
        size, _ = self.due.pop(event.job, (None, 0)) if run.former is not None else (None, 0)
        if run.former is not None and size is None:
            why = f"{event.job} changes its members, and nobody has decided so"
            self.world.breaks(Law.DECISION, (seq,), why)
        self._fits(copy, seq)
        if copy.holders != copy.full:
            self.planned[run] = False

    def _fits(self, copy: LoggedCopy, seq: int) -> None:
        """A copy has its whole size, but for members that were promised."""
        missing, pair = copy.full - copy.size, self.world.pack.pair if self.world.pack else 1
        if copy.full % pair:
            why = f"{copy.job.name} has {copy.full}, and no whole groups of {pair}"
            self.world.breaks(Law.REDISTRIBUTION, (seq,), why)
        if missing < 0 or (missing and self.world.pack is not None and self.world.pack.fatal):
            why = f"{copy.job.name} is to have {counted(copy.full, 'worker')} and has {copy.size}"
            self.world.breaks(Law.REDISTRIBUTION, (seq,), why)

    def _change(self, event: MembersChanged, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        copy = job.kept.get(event.run) if job is not None else None
        if copy is None:
            return  # told by capacity
        size, _ = self.due.pop(event.job, (None, 0))
        if size is None:
            why = f"{event.job} changes its members, and nobody has decided so"
            self.world.breaks(Law.DECISION, (seq,), why)
            return
        copy.full = size
        self._fits(copy, seq)

    def _plan(self, event: RedistributionPlanned, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        if run is None or run.seq != seq - 1:
            why = f"no run {event.run} of {event.job} has just started"
            self.world.breaks(Law.REDISTRIBUTION, (seq,), why)
            return
        before, after = run.copy.holders, run.copy.full
        found = (before, after, round_count(before, after))
        if run not in self.planned or found != (event.before, event.after, event.rounds):
            why = f"from, to and rounds are {found}; it says {event}"
            self.world.breaks(Law.REDISTRIBUTION, (run.seq, seq), why)
        self.planned[run] = True
        if run.former is not None and run.former.computes and closes(run.job) is False:
            run.copy.holders = run.copy.full  # what runs is with all of them at once

    def _enter(self, event: StageStarted, t: float, seq: int) -> None:
        """Data that no checkpoint follows is where it was moved to."""
        run = self.world.run(event.job, event.run)
        if run is not None and run.former is not None and event.stage is Stage.COMPUTING:
            run.copy.holders = run.copy.full
