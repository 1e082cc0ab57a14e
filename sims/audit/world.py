"""What a log has told so far, kept once for all auditors."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    ApplicationDescribed,
    EndExpected,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    LinkDescribed,
    MembersJoined,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    PackDescribed,
    ProtectionDescribed,
    RedistributionDecided,
    RunEnded,
    RunStarted,
    ScenarioStarted,
)
from actors.runtime import Record
from sims.audit.facts import LoggedCopy, LoggedJob, LoggedRun, LoggedWorker
from sims.audit.holders import CopyHolders
from sims.audit.law import Handlers, Law, Violation
from sims.ledger.slices import Range, ranges

Described = JobDescribed | ProtectionDescribed | MessagesDescribed | ApplicationDescribed


@define(eq=False)
class World:
    """The facts, and the violations found."""

    found: list[Violation] = field(factory=list)
    broken: bool = False
    """Whether a law is."""
    record: Record | None = None
    """The present one."""
    now: float = 0
    cut: bool = False
    """Whether the log ended with work unfinished: then its last instant is not whole."""
    ended: bool = False
    """Whether ScenarioEnded has been told."""
    processors: int = 0
    started: ScenarioStarted | None = None
    link: LinkDescribed | None = None
    pack: PackDescribed | None = None
    sizes: dict[str, int] = field(factory=dict)
    """Job of a pack -> what its size is to be, by a decision of this instant."""
    cancelled: tuple[int, LoggedRun] | None = None
    """A pack's run that was cancelled last, and seq: the next on these members follows at once."""
    workers: dict[int, LoggedWorker] = field(factory=dict)
    away: set[int] = field(factory=set)
    """Workers that are not UP."""
    sped: bool = False
    """Whether a speed has been told."""
    jobs: dict[str, LoggedJob] = field(factory=dict)
    gone: set[str] = field(factory=set)
    """Jobs that have completed or been killed."""
    held: CopyHolders = field(factory=CopyHolders)
    touched: dict[LoggedCopy, None] = field(factory=dict)
    """Copies of which, at this instant, a member changed, or whose run did."""
    present: LoggedRun | None = None
    """The run that the present event starts or ends; None: there is none that it could end."""
    compound: bool = False
    """Whether the present event is part of a compound."""

    def breaks(self, law: Law, events: tuple[int, ...], why: str) -> None:
        """A law is broken."""
        self.broken = True
        self.found.append(Violation(law, events, why))

    def worker(self, number: int) -> LoggedWorker:
        """The worker of this number."""
        worker = self.workers.get(number)
        if worker is None:
            worker = self.workers[number] = LoggedWorker()
        return worker

    def run(self, job: str, number: int) -> LoggedRun | None:
        """One that is under way."""
        known = self.jobs.get(job)
        return known.open.get(number) if known is not None else None

    def copy(self, job: str, number: int) -> LoggedCopy | None:
        """The members of a run that is under way, or that are kept after it."""
        run, known = self.run(job, number), self.jobs.get(job)
        if run is not None:
            return run.copy
        return known.kept.get(number) if known is not None else None

    def spans(self, processors: str, seq: int) -> tuple[Range, ...]:
        """Of an interval set as logs write it."""
        try:
            return ranges(processors)
        except ValueError:
            self.breaks(Law.FRAME, (seq,), f"{processors!r} is no interval set")
            return ()

    # --- before the auditors see an event -----------------------------------------------------

    @property
    def first(self) -> Handlers:
        """What is so once an event has been told."""
        return {
            ScenarioStarted: self._begin,
            LinkDescribed: self._describe_link,
            PackDescribed: self._describe_pack,
            RedistributionDecided: self._decide,
            EndExpected: self._stand,
            JobSubmitted: self._submit,
            JobDescribed: self._describe,
            ProtectionDescribed: self._describe,
            MessagesDescribed: self._describe,
            ApplicationDescribed: self._describe,
            RunStarted: self._start,
            RunEnded: self._find,
        }

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        if self.started is not None:
            self.breaks(Law.FRAME, (seq,), "the scenario starts a second time")
            return
        self.started, self.processors = event, event.processors

    def _describe_link(self, event: LinkDescribed, t: float, seq: int) -> None:
        if self.link is not None:
            self.breaks(Law.FRAME, (seq,), "the link is described twice")
        self.link = event

    def _submit(self, event: JobSubmitted, t: float, seq: int) -> None:
        name = event.job
        if name in self.jobs or name in self.gone:
            self.breaks(Law.LIFE, (seq,), f"{name} is submitted a second time")
            return
        self.jobs[name] = LoggedJob(name, seq, seq)

    def _describe(self, event: Described, t: float, seq: int) -> None:
        job = self.jobs.get(event.job)
        if job is None:
            return
        if job.told != seq - 1:
            why = f"{type(event).__name__} of {job.name} does not follow its submission at once"
            self.breaks(Law.FRAME, (job.told, seq), why)
        job.told = seq
        if isinstance(event, JobDescribed):
            job.described = event
        elif isinstance(event, ProtectionDescribed):
            job.protection = event
        elif isinstance(event, MessagesDescribed):
            job.messages = event
        else:
            job.application, job.pack = event, self.pack

    def _describe_pack(self, event: PackDescribed, t: float, seq: int) -> None:
        if self.pack is not None:
            self.breaks(Law.FRAME, (seq,), "the pack is described twice")
        self.pack = event

    def _decide(self, event: RedistributionDecided, t: float, seq: int) -> None:
        self.sizes.update({job: after for job, _, after in event.moves})

    def _stand(self, event: EndExpected, t: float, seq: int) -> None:
        job = self.jobs.get(event.job)
        if job is not None:
            job.stands = event

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        job = self.jobs.get(event.job)
        if job is None:
            job = self.jobs[event.job] = LoggedJob(event.job, None, -1)
        keeps = event.keeps
        copy = job.kept.pop(keeps) if keeps is not None and keeps in job.kept else None
        if copy is None:
            spans = self.spans(event.processors, seq)
            copy = LoggedCopy(job, spans, event.share, event.rotates, seq)
        run = LoggedRun(job, copy, event, seq, t, self.compound, event.begun, t)
        if self.cancelled is not None:
            self._take_over(run, *self.cancelled)
        copy.run, copy.last = run, event.run
        self.present = run
        if not job.open:
            job.open = {}
        job.open[event.run] = run

    def _find(self, event: RunEnded, t: float, seq: int) -> None:
        self.present = self.run(event.job, event.run)

    def _take_over(self, run: LoggedRun, ended: int, former: LoggedRun) -> None:
        """It may follow a run on other members."""
        self.cancelled = None
        if former.job is run.job and ended == run.seq - 1:
            copy, old = run.copy, former.copy
            run.former, copy.full = former, self.sizes.get(run.job.name, old.full)
            copy.holders = old.full if former.computes else old.holders
            copy.placed = old.placed
            copy.saved, copy.struck = old.saved, old.struck.intersection(copy.members)

    # --- once they have -----------------------------------------------------------------------

    @property
    def last(self) -> Handlers:
        """What is over once an event has been told."""
        return {
            RunEnded: self._end,
            MembersReleased: self._release,
            MembersJoined: self._join,
            JobCompleted: self._leave,
            JobKilled: self._leave,
        }

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        job = self.jobs.get(event.job)
        run = job.open.pop(event.run) if job is not None and event.run in job.open else None
        if job is None or run is None:
            return
        run.copy.run = None
        if event.kept:
            if not job.kept:
                job.kept = {}
            job.kept[event.run] = run.copy
        elif event.outcome is Outcome.CANCELLED and job.application is not None:
            run.done, self.cancelled = event.done, (seq, run)

    def _release(self, event: MembersReleased, t: float, seq: int) -> None:
        job = self.jobs.get(event.job)
        if job is not None and event.run in job.kept:
            del job.kept[event.run]

    def _join(self, event: MembersJoined, t: float, seq: int) -> None:
        copy = self.copy(event.job, event.run)
        if copy is not None:
            copy.join(self.spans(event.processors, seq))

    def _leave(self, event: JobCompleted | JobKilled, t: float, seq: int) -> None:
        if self.jobs.pop(event.job, None) is not None:
            self.gone.add(event.job)
