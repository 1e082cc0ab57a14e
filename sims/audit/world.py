"""The course of a log: at each line, what must be told at its instant, by whom, and what not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import Factory, define, field

from actors.events import (
    CopiesSettled,
    DeciderKind,
    EndExpected,
    MemberReplaced,
    PlatformDescribed,
    ScenarioStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Event, Record
from sims.audit.facts import Copy, Job, Run
from sims.audit.law import Broken, Law, allowed, framed, possible
from sims.audit.turns import Script, Teller, Turns
from sims.audit.workers import UP, Free, Spans, Worker, joined, numbers

TRANSFERS = frozenset((TransferStarted, TransferSuspended, TransferEnded, TransferDropped))
ALIKE = PlatformDescribed(1, 0, ())
Handler = Callable[["World", Any], Script | None]
"""Makes the script of a line that nothing but its own decides, its first line that one."""


@define(eq=False)
class World(Turns):
    """All that a log has told."""

    course: Callable[..., Script] = field(kw_only=True)
    """Makes the script of a run."""
    head: ScenarioStarted = field(init=False)
    """The first line."""
    first: int = 0
    """seq of the first line of this instant."""
    closed: int | None = None
    """seq of WorkloadEnded."""
    capped: int | None = None
    """seq of a cancellation that only a cap on the makespan explains."""
    jobs: dict[str, Job] = Factory(dict)
    gone: set[str] = Factory(set)
    kinds: set[str] = Factory(set)
    """Of the jobs submitted so far."""
    workers: dict[int, Worker] = Factory(dict)
    free: Free = Factory(Free)
    spare: Free = Factory(Free)
    able: int = 0
    """Workers but spares."""
    sped: bool = False
    """Whether a speed has been told."""
    holders: dict[int, Copy] | None = None
    """Who holds each worker, once something has happened to one."""
    counts: list[int] = field(factory=lambda: [0, 0, 0])
    """Jobs that completed, jobs that were killed, runs."""
    last_end: int = 0
    """seq of the last end of a job's run."""
    heads: set[type[Event]] = Factory(set)
    """Kinds of lines that have come, of those that come once."""
    deadlines: set[str] = Factory(set)
    """Jobs that have one."""
    priced: dict[type[Event], int] = Factory(dict)
    """Of which worker a price was told last, of each kind of price."""
    service: Any = None
    """Who wants a channel of the link."""
    reuses: bool = False
    """Whether who is enrolled again at once keeps data (volatile13)."""
    former: dict[int, tuple[Copy, int]] = Factory(dict)
    """Members of runs that ended at this instant, who may be -> their copy, seq of that end."""
    changeover: float = 0
    """Time before a run does anything on workers that its job did not hold."""
    pack: Any = None
    """PackDescribed, where one decides."""
    reporters: dict[str, Teller] = Factory(dict)
    """By job of a pack: what tells when it is expected to end."""
    platform: PlatformDescribed = ALIKE
    late: bool = False
    """Whether faults are detected late."""
    replaces: bool = False
    """Whether members are replaced."""
    noticed: float = -1
    """When an owner gave notice last."""
    decider: Any = None

    # --- line after line ----------------------------------------------------------------------

    @property
    def copies_decide(self) -> bool:
        """Whether what is decided is copies, each a run on one worker (redundancy17)."""
        return self.head.decider is DeciderKind.COPIES

    def read(self, record: Record) -> None:
        """The next line. Raises Broken where a law is."""
        seq, t, event, cause = record.seq, record.t, record.event, record.cause
        self.line = record
        if self.seq < 0:
            framed(isinstance(event, ScenarioStarted), "the first event is not ScenarioStarted")
        elif self.ended:
            raise Broken(Law.FRAME, "it comes after the end")
        elif cause is None or not 0 <= cause < seq:
            raise Broken(Law.ORDER, f"its cause is {cause}")
        if seq != self.seq + 1 or t < self.now:
            raise Broken(Law.ORDER, f"it follows #{self.seq} at {self.now}")
        if t != self.now:
            self.pass_to(t)
            self.first = seq
            framed(self.closed is None, "something happens after the workload's end")
        self.seq = seq
        self.meet(event, cause, seq)

    def teller_of(self, event: Any) -> Teller | None:
        """The job that the event is about, or the worker whose message it is."""
        kind = event.__class__
        if kind in TRANSFERS:
            return self.workers.get(event.worker)
        if kind is EndExpected:
            return self.reporters.get(event.job)
        if kind is CopiesSettled:
            return getattr(self.decider, "teller", None)
        if kind is MemberReplaced:
            return None  # whose runs start once all are replaced
        job = self.jobs.get(getattr(event, "job", ""))
        if job is not None and not job.manner.blocking:
            run = self.run_of(event)
            able = (it for it in (run.tellers if run is not None else ()) if it.may_tell(event))
            return max(able, key=lambda it: it.front is not None, default=job)
        return job

    def copies(self, job: str) -> list[Copy]:
        """Those of the job of that name, the oldest first; none where there is no such job."""
        return self.jobs[job].copies if job in self.jobs else []

    def copy_of(self, event: Any) -> Copy | None:
        """Whose last run a line is about."""
        run = getattr(event, "run", None)
        return next((it for it in self.copies(event.job) if it.last == run), None)

    def run_of(self, event: Any) -> Run | None:
        """The run under way that a line is about."""
        copy = self.copy_of(event)
        return copy.run if copy is not None else None

    # --- workers ------------------------------------------------------------------------------

    def worker(self, number: int) -> Worker:
        """The worker of this number. Raises Broken where there is none."""
        worker = self.workers.get(number)
        if worker is None:
            size = self.head.processors
            possible(0 <= number < size, f"worker {number} of {size}")
            worker = self.workers[number] = Worker(number)
        return worker

    def holder(self, number: int) -> Copy | None:
        """Who holds a worker."""
        if self.holders is None:
            copies = [copy for job in self.jobs.values() for copy in job.copies]
            self.holders = {n: copy for copy in copies for n in copy.members}
        return self.holders.get(number)

    def take(self, copy: Copy, spans: Spans) -> None:
        """The copy holds these free workers."""
        for pool, own in self._pools(spans):
            allowed(pool.take(own), "{} gets {}: not all are free", copy.job.name, copy.text)
        if self.holders is not None:
            self.holders.update(dict.fromkeys(numbers(spans), copy))

    def give(self, copy: Copy, spans: Spans) -> None:
        """It gives them back."""
        if self.holders is not None:
            members = numbers(spans)
            for number in members:
                self.holders.pop(number, None)
            spans = joined(filter(self.is_up, members))
        for pool, own in self._pools(spans):
            pool.give(own)

    def _pools(self, spans: Spans) -> Iterator[tuple[Free, Spans]]:
        """Which of them are spares."""
        if spans and spans[-1] > self.able:
            members = numbers(spans)
            yield self.spare, joined(n for n in members if n >= self.able)
            spans = joined(n for n in members if n < self.able)
        yield self.free, spans

    def pool(self, number: int) -> Free:
        """Spares start no job (P10)."""
        return self.free if number < self.able else self.spare

    def is_up(self, number: int) -> bool:
        """Whether a worker is."""
        worker = self.workers.get(number)
        return worker is None or worker.state is UP

    def speed(self, copy: Copy) -> float:
        """The slowest member's (R1)."""
        return 1 if copy.speeds is None else min(copy.speeds.values())

    def pace(self, copy: Copy) -> None:
        """What a copy knows of its members' speeds as they join it."""
        if self.sped:
            workers = self.workers
            copy.speeds = {n: workers[n].speed if n in workers else 1 for n in copy.members}
