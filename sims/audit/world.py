"""Keeps the state that a log has reached, and reads the log line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import Factory, define, field

from actors.events import (
    CopiesSettled,
    DeciderKind,
    EndExpected,
    MemberReplaced,
    PartMeasured,
    PlatformDescribed,
    RunHung,
    ScenarioStarted,
    StandbyJoined,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.audit.facts import Copy, Job, Run
from sims.audit.law import Broken, Law, allowed, framed, possible
from sims.audit.scenario import Given
from sims.audit.turns import Emitter, Script, Turns
from sims.audit.workers import DOWN, UP, Free, Spans, Worker, joined, numbers

TRANSFERS = frozenset((TransferStarted, TransferSuspended, TransferEnded, TransferDropped))
ALIKE = PlatformDescribed(1, 0, ())
Handler = Callable[["World", Any], Script | None]
"""Makes the script of a line that an input or a decision has brought about; the script begins with
that line."""


@define(eq=False)
class World(Turns):
    """State of the simulated system as the lines read so far imply it."""

    course: Callable[..., Script] = field(kw_only=True)
    """Makes the script of a run."""
    gather: Callable[..., Script | None] = field(kw_only=True)
    """Makes the script of a copy whose replicas load and rejoin its run."""
    load_state: Callable[..., None] = field(kw_only=True)
    """Lets a replica load from shared storage once it has its program and data."""
    head: ScenarioStarted = field(init=False)
    """First line of the log."""
    given: Given = field(init=False)
    """What the scenario in that line gives."""
    first: int = 0
    """Sequence number of the first line of this instant."""
    closed: int | None = None
    """Sequence number of WorkloadEnded; None before that line."""
    capped: int | None = None
    """Sequence number of a cancellation that only a cap on the makespan explains."""
    jobs: dict[str, Job] = Factory(dict)
    gone: set[str] = Factory(set)
    kinds: set[str] = Factory(set)
    """Kinds of the jobs submitted so far."""
    workers: dict[int, Worker] = Factory(dict)
    free: Free = Factory(Free)
    spare: Free = Factory(Free)
    able: int = 0
    """Number of workers without spares."""
    speeds_vary: bool = False
    """Whether the log has had a change of speed."""
    holders: dict[int, Copy] | None = None
    """Maps workers to the copies that hold them; None until something has happened to a worker."""
    counts: list[int] = field(factory=lambda: [0, 0, 0])
    """Numbers of jobs that completed, of jobs that were killed, and of copies that ended."""
    last_end: int = 0
    """Sequence number of the event that ended the last run of the job that left last."""
    told: list[Event] = Factory(list)
    """Lines of the head on jobs that were left out or changed."""
    heads: set[type[Event]] = Factory(set)
    """Event classes that have come, of those that may come once."""
    place: int = 0
    """Position of the last line of the head in the order in which such lines have to come."""
    deadlines: set[str] = Factory(set)
    """Names of jobs that have a deadline."""
    dependencies: Any = None
    """Jobs that follow others and have not been submitted; None where the log describes none."""
    priced: dict[type[Event], int] = Factory(dict)
    """Maps each class of prices to the worker of its last line."""
    service: Any = None
    """Channels of the master's link, if there is a master."""
    storage: Any = None
    """Shared storage, if there is one."""
    repairs: Any = None
    """Repairs of what faults strike, if faults have no downtimes."""
    reuses: bool = False
    """Whether a worker that is enrolled again at once keeps its data (volatile13)."""
    former: dict[int, tuple[Copy, int]] = Factory(dict)
    """Maps members of runs that ended at this instant, which may be enrolled again, to (copy, event
    that ended the run)."""
    changeover: float = 0
    """Time before a run does anything on workers that its job did not hold."""
    pack: Any = None
    """PackDescribed, where a pack decides."""
    reporters: dict[str, Emitter] = Factory(dict)
    """Maps a pack's jobs to the emitters of lines about their expected ends."""
    reserve: Any = None
    """Workers that their owner keeps until they are called, if there are any."""
    platform: PlatformDescribed = ALIKE
    windows: list[tuple[float, float, Spans]] = Factory(list)
    """Windows of maintenance: from, to, and the workers."""
    begin: list[tuple[float, float, Spans]] = Factory(list)
    """Windows of maintenance that have not begun: start, end and workers. At the end of the instant
    at which one begins, its workers must be DOWN."""
    unowned: frozenset[int] = frozenset()
    """Workers that no owner takes away but in windows of maintenance and in the reserve; empty if
    the log does not say it."""
    late: bool = False
    """Whether faults are detected late."""
    joined: float = -1
    """Time of the last decision before which repaired workers became standbys."""
    replaces: bool = False
    """Whether members are replaced."""
    last_notice: int = -1
    """Sequence number of the last notice of an owner."""
    taken: list[Worker] = Factory(list)
    """Workers that their owners have announced to take at this instant."""
    decider: Any = None

    # --- line after line ----------------------------------------------------------------------

    @property
    def copies_decide(self) -> bool:
        """Whether the decider schedules copies, each a run on one worker (redundancy17)."""
        return self.head.decider is DeciderKind.COPIES

    def read(self, record: Record) -> None:
        """Check the next line of the log, and bring the state up to date. Raises Broken where the
        line breaks a law."""
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
        if self.dependencies is not None:
            self.dependencies.hear(event, seq)

    def emitter_of(self, event: Any) -> Emitter | None:
        """Return the emitter (an object with the lines that it has to log) of this event: the job
        that it is about, or the worker whose message it is; None if it is an input or a
        decision."""
        kind = event.__class__
        if kind in TRANSFERS:
            return self.workers.get(event.worker)
        if kind is EndExpected:
            return self.reporters.get(event.job)
        if kind is CopiesSettled:
            return getattr(self.decider, "emitter", None)
        if kind in (StandbyJoined, RunHung, PartMeasured):
            return None  # the scheduler, chance or a process decides on it, and not the job
        if kind is MemberReplaced:
            copy = self.copy_of(event)
            if copy is None or event.replacement not in copy.standbys:
                return None  # the job's runs start once all members are replaced
        job = self.jobs.get(getattr(event, "job", ""))
        if job is not None and not job.checkpointing.blocking:
            run = self.run_of(event)
            able = (it for it in (run.emitters if run is not None else ()) if it.may_emit(event))
            return max(able, key=lambda it: it.front is not None, default=job)
        return job

    def copies(self, job: str) -> list[Copy]:
        """Return the copies of the job of that name, the oldest first; none where there is no such
        job."""
        return self.jobs[job].copies if job in self.jobs else []

    def copy_of(self, event: Any) -> Copy | None:
        """Return the copy, of those that hold workers, whose last run the line is about; None if
        there is none."""
        run = getattr(event, "run", None)
        return next((it for it in self.copies(event.job) if it.last == run), None)

    def run_of(self, event: Any) -> Run | None:
        """Return the run under way of the copy that the line is about; None if there is none."""
        copy = self.copy_of(event)
        return copy.run if copy is not None else None

    # --- workers ------------------------------------------------------------------------------

    def tell_state(
        self,
        worker: int,
        state: WorkerState,
        copy: Copy | None,
        seq: int,
        held: Copy | None = None,
    ) -> None:
        """Tell the decider, and the repairs, that the state of worker number `worker` is known now,
        by event `seq`.

        `copy` holds the worker (None: no copy does); `held` did so until now.
        """
        self.decider.state_changed(worker, state, copy, seq)
        if state is DOWN and self.repairs is not None:
            self.repairs.known_down(worker, copy or held, seq)

    def worker(self, number: int) -> Worker:
        """Return the record of the worker of this number, made if needed. Raises Broken if the
        platform has no such worker."""
        worker = self.workers.get(number)
        if worker is None:
            size = self.head.processors
            possible(0 <= number < size, f"worker {number} of {size}")
            worker = self.workers[number] = Worker(number)
        return worker

    def holder(self, number: int) -> Copy | None:
        """Return the copy that holds the worker of this number as a member or standby, or None."""
        if self.holders is None:
            # Built only now: many logs have no event of a worker, and never need this index.
            copies = [copy for job in self.jobs.values() for copy in job.copies]
            self.holders = {n: copy for copy in copies for n in numbers(copy.held)}
        return self.holders.get(number)

    def take(self, copy: Copy, spans: Spans) -> None:
        """Have the copy hold these workers, which are free no longer. Raises Broken unless all of
        them are free."""
        for pool, own in self._pools(spans):
            allowed(pool.take(own), "{} gets {}: not all are free", copy.job.name, copy.text)
        if self.holders is not None:
            self.holders.update(dict.fromkeys(numbers(spans), copy))

    def give(self, copy: Copy, spans: Spans) -> None:
        """Release these workers of the copy; those that are UP are free from now on, the others
        once they are UP again."""
        if self.holders is not None:
            members = numbers(spans)
            for number in members:
                self.holders.pop(number, None)
            # Members that are away become free when they are UP again (`copies.change`).
            spans = joined(filter(self.is_up, members))
        for pool, own in self._pools(spans):
            pool.give(own)

    def _pools(self, spans: Spans) -> Iterator[tuple[Free, Spans]]:
        """Yield the set of free spares and that of all other free workers, each with those of
        `spans` that belong to it. Without spares in `spans`, the second alone."""
        if spans and spans[-1] > self.able:
            members = numbers(spans)
            yield self.spare, joined(n for n in members if n >= self.able)
            spans = joined(n for n in members if n < self.able)
        yield self.free, spans

    def pool(self, number: int) -> Free:
        """Return the set of free workers to which worker `number` belongs when it is free; spares
        have a set of their own, as no job starts on them (P10)."""
        return self.free if number < self.able else self.spare

    def is_up(self, number: int) -> bool:
        """Return whether the worker of this number is UP; one to which nothing has happened is."""
        worker = self.workers.get(number)
        return worker is None or worker.state is UP

    def speed(self, copy: Copy) -> float:
        """Return the speed of a copy, which is that of the slowest member on which it computes
        (R1)."""
        return 1 if copy.speeds is None else min(copy.speeds[n] for n in copy.working)

    def pace(self, copy: Copy) -> None:
        """Give the copy the present speeds of its members, if a speed has changed in this log."""
        if self.speeds_vary:
            workers = self.workers
            copy.speeds = {n: workers[n].speed if n in workers else 1 for n in copy.members}
