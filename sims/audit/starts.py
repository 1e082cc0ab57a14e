"""What can start starts at once, where the queue's rule says so."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    DeciderKind,
    JobCompleted,
    JobDescribed,
    JobKilled,
    MembersReleased,
    Outcome,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    TransferEnded,
    WorkerChanged,
)
from policies.enrolment import CATALOGUE, named
from policies.interface import Wake
from sims.audit.capacity import CapacityAuditor
from sims.audit.facts import LoggedJob
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

GREEDY = "R-LIST-0"
"""Starts all that fits (rigid21, section 4.1): no job waits while as many workers are free."""
WAITS = frozenset(("reading=kept", "allocation=BATCH"))
"""Settings by which a job may wait for its promise, or outside of the queue."""


def _wake(policy: str) -> Wake:
    """When an enrolment policy is asked though nothing happens (volatile13, section VI); of a
    user's, always."""
    if policy not in CATALOGUE:
        return Wake.EVERY_SLOT
    return getattr(named(policy), "wake", Wake.NEVER)


@define(eq=False)
class StartAuditor(Auditor):
    """Nobody waits in a queue while all workers are free; nor, where nothing is reserved, while so
    many are free as he gets in the end. That is known once he starts: until then it is remembered
    when the most were free, each time with all later ones that were more."""

    world: World
    capacity: CapacityAuditor
    waiting: int = 0
    """Jobs without workers."""
    peaks: list[tuple[float, int]] = field(factory=list)
    """(last time, how many were free once it had been decided), ever fewer."""
    greedy: bool = False
    queued: bool = False
    answers: bool = False
    """Whether decisions answer what happens, and are not made for time's sake."""
    wake: Wake = Wake.NEVER
    """When it is decided without news."""
    passive: bool = False
    """Whether that is an enrolment policy's, which then never cancels a run."""
    tick: float = -1
    """A time unit after the last start: then a proactive policy is asked again."""
    news: bool = False
    """Whether something has happened at this instant that calls for a decision."""
    cancelled: int | None = None
    """seq of an end of this instant by which an enrolment policy that only answers what forces it
    to (volatile13, section VI.A) seems to have changed its mind."""

    @property
    def handlers(self) -> Handlers:
        return {
            ScenarioStarted: self._begin,
            JobDescribed: self._submit,
            WorkerChanged: self._hear,
            TransferEnded: self._hear,
            RunStarted: self._start,
            RunEnded: self._end,
            MembersReleased: self._end,
            JobCompleted: self._leave,
            JobKilled: self._leave,
        }

    def passed(self, t: float, seq: int) -> None:
        self.news = False
        if self.cancelled is not None and not self.world.cut:
            policy = self.world.started.policy if self.world.started is not None else ""
            why = f"{policy} is passive, and cancels a run"
            self.world.breaks(Law.POLICY, (self.cancelled, seq), why)
        self.cancelled = None
        if not self.queued or not self.waiting:
            return
        free = self.capacity.count
        if free == self.world.processors and not self.world.ended:
            waits = next(job for job in self.world.jobs.values() if job.waits is not None)
            why = f"{waits.name} waits, and all workers are free"
            self.world.breaks(Law.START, (waits.told, seq), why)
        if self.greedy:
            peaks = self.peaks
            while peaks and peaks[-1][1] <= free:
                peaks.pop()
            peaks.append((self.world.now, free))

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        self.queued = event.decider is DeciderKind.QUEUE and ":" not in event.policy
        self.queued = self.queued and WAITS.isdisjoint(event.settings)
        self.greedy = self.queued and event.policy == GREEDY
        self.answers = self.queued or event.decider is DeciderKind.ENROLMENT
        if event.decider is DeciderKind.ENROLMENT:
            self.wake = _wake(event.policy)
            self.passive = self.wake is Wake.NEVER

    def _hear(self, event: WorkerChanged | TransferEnded, t: float, seq: int) -> None:
        self.news = True

    def _submit(self, event: JobDescribed, t: float, seq: int) -> None:
        self.news = True
        job = self.world.jobs.get(event.job)
        if self.queued and job is not None:
            self._wait(job, t)

    def _wait(self, job: LoggedJob, t: float) -> None:
        if job.waits is None:
            self.waiting += 1
        job.waits = t

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        due = self.wake is Wake.EVERY_SLOT or (self.wake is Wake.ON_CHANGE and t <= self.tick)
        self.tick = t + 1
        if self.answers and not (self.news or due) and event.keeps is None:
            why = f"a run of {event.job} starts, and nothing has happened that calls for it"
            self.world.breaks(Law.START, (seq,), why)
        if run is None or run.job.waits is None:
            return
        since, run.job.waits = run.job.waits, None
        self.waiting -= 1
        if not self.greedy or since >= t:
            return
        size = run.copy.size
        for at, free in reversed(self.peaks):
            if free >= size and at >= since:
                why = f"{event.job} waits for {size} workers, and {free} were free at {at!r}"
                self.world.breaks(Law.START, (run.job.told, seq), why)
                return
            if at < since:
                return

    def _end(self, event: RunEnded | MembersReleased, t: float, seq: int) -> None:
        self.news = True
        job = self.world.jobs.get(event.job)
        if self.passive and isinstance(event, RunEnded) and event.outcome is Outcome.CANCELLED:
            rules = job.protection if job is not None else None
            if rules is None or rules.copies == 1:
                self.cancelled = seq
        if self.queued and job is not None and not getattr(event, "kept", False):
            others = (
                len(job.open) + len(job.kept) - (event.run in job.open or event.run in job.kept)
            )
            if not others:
                self._wait(job, t)

    def _leave(self, event: JobCompleted | JobKilled, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)
        if job is not None and job.waits is not None:
            self.waiting, job.waits = self.waiting - 1, None
