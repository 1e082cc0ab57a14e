"""The lives of jobs and runs: submitted, started, ended, completed, each once."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    ProtectionDescribed,
    RunEnded,
    RunStarted,
    WorkloadEnded,
)
from actors.runtime import Event
from sims.audit.facts import LoggedJob
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World

COMPLETED, CANCELLED = Outcome.COMPLETED, Outcome.CANCELLED
DETAILS: dict[type[Event], int] = {ProtectionDescribed: 2, MessagesDescribed: 3}
"""At most so many events after a job's submission."""


@define(eq=False)
class LifeAuditor(Auditor):
    """Jobs and runs, numbered in sequence; what belongs to one instant comes in it."""

    world: World
    undescribed: dict[str, int] = field(factory=dict)
    """Submitted at this instant, not described -> seq."""
    ending: dict[str, tuple[Outcome, int]] = field(factory=dict)
    """Job that must be gone by the end of this instant -> how its run ended, seq."""
    completed: int = 0
    killed: int = 0
    copies: int = 0
    """Those that are over."""

    @property
    def handlers(self) -> Handlers:
        return {
            JobSubmitted: self._submit,
            JobDescribed: self._describe,
            ProtectionDescribed: self._detail,
            MessagesDescribed: self._detail,
            RunStarted: self._start,
            RunEnded: self._end,
            MembersReleased: self._release,
            JobCompleted: self._complete,
            JobKilled: self._kill,
            WorkloadEnded: self._count,
        }

    def passed(self, t: float, seq: int) -> None:
        for name, submitted in self.undescribed.items():
            self.world.breaks(Law.FRAME, (submitted, seq), f"{name} is submitted, not described")
        for name, (outcome, ended) in self.ending.items():
            job = self.world.jobs.get(name)
            if outcome is COMPLETED and job is not None and not _iterates(job):
                why = f"a run of {name} completes, and {name} does not"
                self.world.breaks(Law.LIFE, (ended, seq), why)
        self.undescribed.clear()
        self.ending.clear()

    # --- jobs ---------------------------------------------------------------------------------

    def _submit(self, event: JobSubmitted, t: float, seq: int) -> None:
        self.undescribed[event.job] = seq

    def _describe(self, event: JobDescribed, t: float, seq: int) -> None:
        started = self.world.started
        kinds = started.kinds if started is not None else ()
        if event.kind not in kinds or (event.kind == "iterative" and event.work):
            why = f"{event.job} is {event.kind}, of work {event.work!r}; there are {kinds}"
            self.world.breaks(Law.FRAME, (seq,), why)
        if event.estimate is not None and event.kind != "rigid":
            self.world.breaks(Law.FRAME, (seq,), f"{event.kind} jobs have no estimates")
        if self.undescribed.pop(event.job, None) is None:
            why = f"{event.job} is described when it is not just being submitted"
            self.world.breaks(Law.FRAME, (seq,), why)

    def _detail(self, event: Event, t: float, seq: int) -> None:
        job = self.world.jobs.get(event.job)  # type: ignore[attr-defined]
        twice = job is not None and seq - (job.submitted or 0) > DETAILS[type(event)]
        if job is None or job.described is None or twice:
            why = f"{type(event).__name__} is not of a job that is just being submitted"
            self.world.breaks(Law.FRAME, (seq,), why)
        if isinstance(event, MessagesDescribed):
            self._sizes(event, seq)

    def _sizes(self, event: MessagesDescribed, seq: int) -> None:
        if self.world.link is None or min(event.program, event.data, event.image) < 0:
            link = "and no link" if self.world.link is None else "of negative sizes"
            self.world.breaks(Law.FRAME, (seq,), f"messages are described, {link}")

    def _complete(self, event: JobCompleted, t: float, seq: int) -> None:
        self.completed += 1
        self._leave(event.job, COMPLETED, seq)

    def _kill(self, event: JobKilled, t: float, seq: int) -> None:
        self.killed += 1
        self._leave(event.job, CANCELLED, seq)

    def _leave(self, name: str, after: Outcome, seq: int) -> None:
        """The job is gone, after a run that ended so."""
        job = self.world.jobs.get(name)
        if job is None or job.submitted is None:
            self.world.breaks(Law.LIFE, (seq,), f"{name} ends and was not under way")
            return
        if job.open or job.kept:
            others = (run.seq for run in job.open.values())
            self.world.breaks(Law.LIFE, (*others, seq), f"{name} ends with a run going on")
        outcome, _ = self.ending.get(name, (None, 0))
        if outcome is not after:
            how = outcome.value if outcome else "none"
            why = f"{name} ends after a run {how}, not {after.value}"
            self.world.breaks(Law.LIFE, (seq,), why)

    def _count(self, event: WorkloadEnded, t: float, seq: int) -> None:
        found = (self.completed, self.killed, self.copies)
        if found != (event.completed, event.killed, event.runs) or self.world.jobs:
            why = f"{found} jobs completed, killed, and copies over by the log; it says {event}"
            self.world.breaks(Law.ATTEMPTS, (seq,), why)
        for job in self.world.jobs.values():
            events = (seq,) if job.submitted is None else (job.submitted, seq)
            self.world.breaks(Law.LIFE, events, f"the workload ended and {job.name} did not")
        if not any(outcome in (COMPLETED, CANCELLED) for outcome, _ in self.ending.values()):
            self.world.breaks(Law.FRAME, (seq,), "no job is over at the workload's end")

    # --- runs ---------------------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        job = self.world.jobs[event.job]
        if job.submitted is None:
            why = f"{event.job} runs before it is submitted, or after its end"
            self.world.breaks(Law.LIFE, (seq,), why)
        if event.run != job.runs:
            why = f"run {event.run} of {event.job} comes where {job.runs} should"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
        job.runs = event.run + 1
        run = self.world.present
        if run is not None and run.former is not None:
            self.copies -= 1  # its copy goes on, on other members
            self.ending.pop(event.job, None)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        name, outcome = event.job, event.outcome
        run = self.world.run(name, event.run)
        if run is None:
            why = f"run {event.run} of {name} ends and was not going on"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
            return
        if not event.kept:
            self.copies += 1
        if self.ending.get(name, (None, 0))[0] is COMPLETED:
            return
        if outcome in (COMPLETED, CANCELLED):
            self.ending[name] = outcome, seq

    def _release(self, event: MembersReleased, t: float, seq: int) -> None:
        self.copies += 1


def _iterates(job: LoggedJob) -> bool:
    return job.described is not None and job.described.kind == "iterative"
