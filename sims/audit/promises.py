"""Workers that are promised, and faults that change nothing: malleable17's own rules (sections 5,
6.1)."""

from __future__ import annotations

from math import inf, isclose

from attrs import define, field

from actors.events import (
    FaultIgnored,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    Outcome,
    RunEnded,
    RunStarted,
    WhyIgnored,
    WorkerChanged,
)
from actors.events import pack as pack_events
from policies.availability import WorkerState
from sims.audit.facts import LoggedCopy, LoggedJob
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World


@define(eq=False)
class PromiseAuditor(Auditor):
    """Who promises its workers completes on them before the struck one needs them, and they join
    whoever was given them; a fault is ignored where nobody is there to be hurt, or who is has not
    computed since the last one."""

    wakes = frozenset(pack_events.VOCABULARY)
    world: World
    limits: dict[LoggedCopy, float] = field(factory=dict)
    """Copy that has promised its workers -> when a struck one needs them."""
    free: set[int] = field(factory=set)
    """Workers promised by a copy that ended at this instant."""
    lacking: dict[LoggedCopy, int] = field(factory=dict)
    """Copies some of whose members have been promised and have not come -> seq of their runs."""
    struck: dict[str, int] = field(factory=dict)
    """Jobs of which a member went DOWN at this instant -> seq."""
    excused: list[tuple[str | None, int, str]] = field(factory=list)
    """Faults that were ignored because of another one of this instant, which is told after them:
    whose, seq, and what is wrong unless there is one."""

    @property
    def handlers(self) -> Handlers:
        return {
            WorkerChanged: self._strike,
            FaultIgnored: self._ignore,
            MembersPromised: self._promise,
            MembersJoined: self._join,
            MembersChanged: self._change,
            RunStarted: self._start,
            RunEnded: self._end,
        }

    def passed(self, t: float, seq: int) -> None:
        for copy, came in self.lacking.items():
            missing = copy.full - copy.size
            if missing > sum(it.size for it in self.limits):
                why = f"{copy.job.name} lacks {missing} workers, and nobody has promised them"
                self.world.breaks(Law.PROMISE, (came, seq), why)
        if self.lacking:
            left = self.lacking.items()
            self.lacking = {it: came for it, came in left if it.full > it.size}
        for name, ignored, why in self.excused:
            if name not in self.struck:
                self.world.breaks(Law.STATE, (ignored,), why)
        self.excused.clear()
        if self.struck:
            self.struck.clear()
        if self.free:
            self.free.clear()

    @property
    def _counts(self) -> bool:
        """Whether every fault does."""
        return self.world.pack is None or self.world.pack.fatal

    @property
    def _keeps(self) -> bool:
        """Whether nobody promises its workers to others."""
        return self._counts or (self.world.pack is not None and self.world.pack.releases is False)

    # --- promises -----------------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        assert run is not None
        if run.copy.full > run.copy.size:
            self.lacking[run.copy] = seq

    def _change(self, event: MembersChanged, t: float, seq: int) -> None:
        copy = self.world.copy(event.job, event.run)
        if copy is not None and copy.full > copy.size:
            self.lacking[copy] = seq

    def _promise(self, event: MembersPromised, t: float, seq: int) -> None:
        run = self.world.run(event.job, event.run)
        spans = self.world.spans(event.processors, seq)
        if run is None or run.copy.spans != spans or run.copy in self.limits or self._keeps:
            why = f"run {event.run} of {event.job} cannot promise {event.processors}"
            self.world.breaks(Law.PROMISE, (seq,), why)
            return
        stands = (self._stands(self.world.jobs[name]) for name in self.struck)
        self.limits[run.copy] = max(stands, default=t)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        limit = self.limits.pop(run.copy, None) if run is not None else None
        if run is None or limit is None:
            return
        self.free.update(run.copy.members)
        if event.outcome is not Outcome.COMPLETED or t > limit:
            why = f"{run.name} promised its workers for {limit!r}; it ends {event.outcome.value}"
            self.world.breaks(Law.PROMISE, (run.seq, seq), why)

    def _join(self, event: MembersJoined, t: float, seq: int) -> None:
        copy = self.world.copy(event.job, event.run)
        spans = self.world.spans(event.processors, seq)
        came = {n for first, last in spans for n in range(first, last + 1)}
        room = copy.full - copy.size if copy is not None else 0
        if not came or not came <= self.free or len(came) > room:
            why = f"{event.processors} were not promised to {event.job}, or are not free yet"
            self.world.breaks(Law.PROMISE, (seq,), why)
        self.free -= came

    # --- faults -------------------------------------------------------------------------------

    def _strike(self, event: WorkerChanged, t: float, seq: int) -> None:
        if self.world.pack is None or event.state is not WorkerState.DOWN:
            return
        holders = list(self.world.held.on(event.worker))
        if event.until is not None and not self._counts:
            hurt = [copy for copy in holders if not self._busy(copy.job, t)]
            if not hurt or any(copy in self.limits for copy in hurt):
                why = f"the fault of worker {event.worker} should have been ignored"
                self.world.breaks(Law.STATE, (seq,), why)
        for copy in holders:
            self.struck.setdefault(copy.job.name, seq)

    def _ignore(self, event: FaultIgnored, t: float, seq: int) -> None:
        holders = list(self.world.held.on(event.worker))
        promised = any(copy in self.limits for copy in holders)
        job = self.world.jobs.get(event.job) if event.job is not None else None
        if self._counts or not 0 <= event.worker < self.world.processors:
            self.world.breaks(Law.STATE, (seq,), f"{event}, where every fault counts")
        elif event.why is WhyIgnored.IDLE:
            told = [copy for copy in holders if copy.job.stands is not None]
            if event.job is not None or (told and not promised):
                names = ", ".join(copy.job.name for copy in holders)
                why = f"{names or event.job} holds worker {event.worker}"
                self.world.breaks(Law.STATE, (seq,), why)
        elif job is None or not self._busy(job, t):
            stands = job.stands if job is not None else None
            why = f"{event.job} computes by {stands}, and the fault is ignored"
            self.excused.append((event.job, seq, why))
        elif not promised and all(copy.job is not job for copy in holders):
            why = f"{event.job} does not hold worker {event.worker}"
            self.world.breaks(Law.CAPACITY, (seq,), why)

    def _busy(self, job: LoggedJob, t: float) -> bool:
        """Whether it has not computed since its last fault or redistribution."""
        since = self._stands(job)
        return job.name in self.struck or (t < since and not isclose(t, since, rel_tol=1e-12))

    @staticmethod
    def _stands(job: LoggedJob) -> float:
        """Since when it computes."""
        since = job.stands.since if job.stands is not None else None
        return inf if since is None else since
