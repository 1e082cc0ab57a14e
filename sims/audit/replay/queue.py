"""What a queue's policy would have started, promised and opened (001, 000)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from attrs import define, field

from actors.deciders.queue import QueueDecider
from actors.deciders.queue.placement import Programmed
from actors.events import (
    BatchOpened,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    ProtectionDescribed,
    ProtectionKind,
    ReservationDropped,
    ReservationMade,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    ShelfOpened,
    TasksDescribed,
    TransferEnded,
    TransferKind,
    WorkerChanged,
)
from actors.intervals import Intervals, Numbers, spread
from actors.messages import CopyOver, ProgramReceived, StartCopy, Submit, WorkerMoved
from actors.pool import Pool
from actors.runtime import Event, Record
from policies.interface.queue import BatchJob, BatchPolicy, Strategy
from policies.maths.speedup import Lockstep, Profile
from policies.queue.names import order_named, strategy_named
from policies.queue.preemption import Preemptive
from sims.audit.replay.ahead import Ahead, Batches, Local, ToldTimes, Untied
from sims.audit.replay.shadow import NUMBERED, Shadow, Told, Unreplayable, as_job, place_of, shadow
from sims.ledger.slices import ranges
from sims.scenario.policies import load_part, load_policy
from sims.scenario.policy import PolicySection

SAID = (ShelfOpened, BatchOpened, ReservationMade, ReservationDropped)
COMPLETED, FAILED = Outcome.COMPLETED, Outcome.FAILED


@define(eq=False)
class QueueReplay:
    """A queue's decider, told what the log tells, an instant at a time."""

    section: PolicySection
    started: ScenarioStarted
    ahead: Mapping[str, Ahead]
    indices: dict[str, int] = field(factory=dict)
    """Job -> its place in the job set."""
    names: dict[int, str] = field(factory=dict)
    labels: dict[int, str] = field(factory=dict)
    submitted: dict[str, float] = field(factory=dict)
    copies: dict[tuple[str, int], int] = field(factory=dict)
    """(job, its last run) -> copy, of those that hold workers."""
    got: dict[int, list[Intervals]] = field(factory=dict)
    """Job index -> whom its copies get at this instant."""
    lockstep: dict[str, JobDescribed] = field(factory=dict)
    """Iterative jobs whose tasks are not described yet."""
    resumable: set[int] = field(factory=set)
    """Indices of jobs that keep images: they can be preempted."""
    decider: QueueDecider = field(init=False)
    pool: Pool = field(init=False)
    scheduler: Shadow = field(init=False)

    def __attrs_post_init__(self) -> None:
        section, folder = self.section, Path()
        policy = self._policy(section, folder)
        self.decider = QueueDecider(policy, resumable=self.resumable)
        take = self._follow
        self.pool = Pool(self.started.processors, True, True, take)
        self.scheduler = shadow(self.started.seed, self.pool, self.decider)
        if section.placement == "programmed":
            self.pool.take = Programmed(self.scheduler, self.labels)

    def _policy(self, section: PolicySection, folder: Path) -> BatchPolicy:
        strategy = load_policy(section, lambda it: strategy_named(it, section.reading), folder)
        order = load_part(section, "order", "LPT", order_named, folder)
        if not all(map(NUMBERED.fullmatch, self.ahead)):
            order = Untied(order)
        rule = (Batches if section.allocation == "BATCH" else Local)(self.ahead)
        if section.preemption:
            strategy = Preemptive(cast(Strategy, strategy))
        return BatchPolicy(order, strategy, rule, section.name)

    def _follow(self, free: Numbers, many: int, former: Intervals, index: int) -> Intervals:
        """Whom the log says that it gets, if they are free: laws of placement are the audit's."""
        told = self.got.get(index)
        taken = told.pop(0) if told else ()
        if sum(last - first + 1 for first, last in taken) != many or not free.has(taken):
            return free.lowest(many)
        free.remove(taken)
        return taken

    # --- what the log tells -------------------------------------------------------------------

    def instant(self, t: float, records: Sequence[Record]) -> str | None:
        """All that is told of `t`; what the policy would have decided instead."""
        events = [record.event for record in records]
        self.scheduler.system.loop.now = t
        over = {it.job for it in events if isinstance(it, JobCompleted | JobKilled)}
        self._hear(t, events, over)
        told = [it for it in events if isinstance(it, RunStarted) and it.keeps is None]
        self.got = {}
        for it in told:
            self.got.setdefault(self.indices.get(it.job, -1), []).append(ranges(it.processors))
        decided = self.scheduler.decides()
        starts = self.scheduler.starts if decided else []
        wrong = self._compare(starts, told) or self._said(decided, events)
        for it, copy in zip(told, starts, strict=False):
            self.copies[it.job, it.run] = copy.copy
        return wrong

    def due(self) -> float | None:
        """When the policy wants to be asked though nothing happens."""
        return self.decider.wake

    def _compare(self, starts: Sequence[StartCopy], told: Sequence[RunStarted]) -> str | None:
        names, held = self.names, self.scheduler.held
        wanted = [(names[held[it.copy][0]], it.numbers) for it in starts]
        found = [(it.job, ranges(it.processors)) for it in told]
        if wanted == found:
            return None
        return f"would start {_told(wanted)}; the log starts {_told(found)}"

    def _said(self, decided: bool, events: Sequence[Event]) -> str | None:
        found = [it for it in events if isinstance(it, SAID)]
        wanted = list(self.scheduler.said) if decided else []
        return None if wanted == found else f"would tell {wanted}; the log tells {found}"

    def _hear(self, t: float, events: Sequence[Event], over: set[str]) -> None:
        completed: dict[str, int] = {}
        for event in events:
            match event:
                case RunStarted() | RunEnded() | MembersReleased():
                    self._follow_run(event, over, completed)
                case WorkerChanged():
                    moved = WorkerMoved(event.worker, event.state, event.until)
                    self.scheduler.worker_moved(moved)
                case TransferEnded(kind=TransferKind.PROGRAM):
                    self._program(event.worker)
                case _:
                    self._describe(event, t)
        for job, run in completed.items():
            self._end(job, run, COMPLETED, job in over)

    def _describe(self, event: Event, t: float) -> None:
        match event:
            case JobSubmitted(job=job):
                self.submitted[job] = t
            case JobDescribed():
                self._describe_job(event)
            case TasksDescribed():
                self._submit_iterative(event)
            case ProtectionDescribed():
                index = self.indices[event.job]
                if event.copies > 1:
                    self.decider.most[index] = event.copies
                if event.kind is ProtectionKind.IMAGES:
                    self.resumable.add(index)
            case MessagesDescribed():
                self.labels[self.indices[event.job]] = event.label

    def _follow_run(
        self,
        event: RunStarted | RunEnded | MembersReleased,
        over: set[str],
        completed: dict[str, int],
    ) -> None:
        job, run = event.job, event.run
        if isinstance(event, RunStarted):
            if event.keeps is not None:
                self.copies[job, run] = self._known(job, event.keeps)
        elif isinstance(event, MembersReleased):
            self._end(job, run, Outcome.WITHDRAWN, job in over, job in completed)
        elif event.outcome is COMPLETED:
            completed[job] = run
        elif not event.kept:
            self._end(job, run, event.outcome, job in over, job in completed)

    def _describe_job(self, event: JobDescribed) -> None:
        self._place(event.job)
        if event.kind == "iterative":
            self.lockstep[event.job] = event
        else:
            self._submit(event, ToldTimes(self._ahead(event.job).times))

    def _ahead(self, job: str) -> Ahead:
        return self.ahead.get(job) or Ahead()

    def _submit_iterative(self, tasks: TasksDescribed) -> None:
        """It is believed to take what its tasks take on average (see Lockstep)."""
        sizes = self._ahead(tasks.job).allotted or [1]
        times = spread(tasks.times, self.started.processors)
        profile = Lockstep(sizes[0], tasks.tasks, sum(times) / len(times))
        self._submit(self.lockstep.pop(tasks.job), profile)

    def _place(self, job: str) -> None:
        index = place_of(job, len(self.indices))
        self.indices[job], self.names[index], self.labels[index] = index, job, ""

    def _submit(self, event: JobDescribed, profile: Profile) -> None:
        name = event.job
        about = (event.verification, event.estimate, self.submitted[name], event.kind)
        job = BatchJob(self.indices[name], name, profile, *about)
        self.scheduler.hear_of(Submit(as_job(Told(job))))

    def _program(self, worker: int) -> None:
        held = self.scheduler.held.get(self.pool.holder(worker))
        if held is not None:
            received = ProgramReceived(worker, self.labels[held[0]])
            self.scheduler.program_received(received)

    def _known(self, job: str, run: int) -> int:
        copy = self.copies.pop((job, run), None)
        if copy is None:
            raise Unreplayable(f"the beginning of run {run} of {job}")
        return copy

    def _end(
        self, job: str, run: int, outcome: Outcome, over: bool, completed: bool = False
    ) -> None:
        """`over`: the job is gone now; `completed`: another copy of it was first."""
        copy = self._known(job, run)
        last = not completed and all(name != job for name, _ in self.copies)
        gone = over and last
        message = CopyOver(self.indices[job], copy, outcome, last and not over, gone)
        self.scheduler.take_back(message)


def _told(starts: Sequence[tuple[str, Intervals]]) -> str:
    parts = (f"{name} on {' '.join(f'{a}-{b}' for a, b in taken)}" for name, taken in starts)
    return ", ".join(parts) or "nothing"
