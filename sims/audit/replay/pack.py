"""What a pack's policies would have started, resized and promised (003)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile
from math import inf
from pathlib import Path

from attrs import define, field

from actors.deciders.pack import PackDecider
from actors.deciders.pack.books import Standing
from actors.events import (
    ApplicationDescribed,
    CheckpointLost,
    CheckpointTaken,
    EndExpected,
    JobCompleted,
    JobKilled,
    MembersReleased,
    MessagesDescribed,
    Outcome,
    PackDescribed,
    ProtectionDescribed,
    RedistributionPlanned,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    TransferStarted,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import members
from actors.messages import CopyOver, Submit, WorkerMoved, WorkerSped
from actors.pool import Pool
from actors.runtime import Event, Record
from policies.interface.queue import BatchJob
from policies.maths.cosched import Costs
from policies.maths.speedup import Rigid
from sims.audit.replay.orders import PackOrder, order_of, told
from sims.audit.replay.shadow import Shadow, Told, Unreplayable, as_job, shadow
from sims.scenario.deciders.applications import checkpointing, costs_of, saving
from sims.scenario.deciders.pack import policies_of
from sims.scenario.policy import PolicySection

COMPLETED, FAILED, WITHDRAWN = Outcome.COMPLETED, Outcome.FAILED, Outcome.WITHDRAWN
SIZES = "how long an application takes on sizes that it never had (t_ij), and what checkpoints and "
SIZES += "faults it counts with, which logs of before did not tell"


@define(eq=False)
class PackReplay:
    """A pack's decider, told what the log tells in its order; it decides where the log tells the
    first thing that only a decision can bring about, and where an instant is over.

    Where applications stand is what the log says that the decider counted with, which is the
    audit's to judge.
    """

    section: PolicySection
    started: ScenarioStarted
    pack: PackDescribed
    costs: dict[int, Costs] = field(init=False, factory=dict)
    indices: dict[str, int] = field(init=False, factory=dict)
    protections: dict[str, ProtectionDescribed] = field(init=False, factory=dict)
    images: dict[str, float] = field(init=False, factory=dict)
    """Job -> time of its image on a channel."""
    copies: dict[tuple[str, int], int] = field(init=False, factory=dict)
    """(job, its last run) -> copy, of those that hold workers."""
    holders: dict[int, int] = field(init=False, factory=dict)
    """Copy -> members among whom its state is spread."""
    resumed: set[int] = field(init=False, factory=set)
    """Copies whose present run began on members that they had kept."""
    over: set[str] = field(init=False, factory=set)
    """Jobs that are completed or killed at this instant."""
    completed: dict[str, int] = field(init=False, factory=dict)
    """Jobs that are about to be -> the run that was first."""
    wanted: deque[tuple[PackOrder | Event, int]] = field(init=False, factory=deque)
    """What the present decision has brought about, and the log has not told yet."""
    decider: PackDecider = field(init=False)
    pool: Pool = field(init=False)
    scheduler: Shadow = field(init=False)

    def __attrs_post_init__(self) -> None:
        rules = self.pack.pair, self.pack.fatal, bool(self.pack.releases)
        first, policy = policies_of(self.section, Path())
        self.decider = PackDecider(first, policy, self.costs, *rules)
        self.pool = Pool(self.started.processors, True, True)
        self.scheduler = shadow(self.started.seed, self.pool, self.decider)

    # --- an instant ---------------------------------------------------------------------------

    def due(self) -> float | None:
        """Never: it decides where something happens."""
        return None

    def instant(self, t: float, records: Sequence[Record]) -> str | None:
        """All that is told of `t`; what the policies would have decided instead."""
        self.scheduler.system.loop.now = t
        events = [record.event for record in records]
        self.over = {it.job for it in events if isinstance(it, JobCompleted | JobKilled)}
        at = 0
        while at < len(events):
            event = events[at]
            found, many = told(events, at, self.copies)
            if found is None:
                if isinstance(event, TransferStarted):
                    self._decide()  # links are served after the decision
                self._hear(event)
            elif not self._is_next(found):
                rest = (told(events, k, self.copies)[0] for k in range(at, len(events)))
                return self._differs([it for it in rest if it is not None])
            else:
                self._carry_out(events[at : at + many])
            at += many
        self._decide()
        return self._differs([]) if self.wanted else None

    def _is_next(self, found: PackOrder | Event) -> bool:
        """Whether that is what comes next of the decision."""
        if not self.wanted:
            self._decide()
        return bool(self.wanted) and self.wanted[0][0] == found

    def _carry_out(self, events: Sequence[Event]) -> None:
        _, copy = self.wanted.popleft()
        for event in events:
            if isinstance(event, RunEnded):
                del self.copies[event.job, event.run]
            elif isinstance(event, RunStarted):
                self._begin(event, copy)
                self.resumed.discard(copy)

    def _decide(self) -> None:
        """As often as it is called for, until something comes of it."""
        scheduler = self.scheduler
        while not self.wanted and scheduler.decides():
            # What is expected of whom it heard from the log.
            decided = (it for it in scheduler.said if not isinstance(it, EndExpected))
            self.wanted.extend((event, -1) for event in decided)
            for it in scheduler.orders:
                name = self.decider.names[scheduler.held[it.copy][0]]
                self.wanted.append((order_of(it, name), it.copy))

    def _differs(self, found: Sequence[PackOrder | Event]) -> str:
        wanted = [it for it, _ in self.wanted]
        would, tells = (", ".join(map(str, its)) or "nothing" for its in (wanted, found))
        return f"would go on with: {would}; the log goes on with: {tells}"

    # --- what it hears ------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        match event:
            case ProtectionDescribed():
                self.protections[event.job] = event
            case MessagesDescribed():
                self.images[event.job] = event.image
            case ApplicationDescribed():
                self._submit(event)
            case WorkerChanged():
                moved = WorkerMoved(event.worker, event.state, event.until)
                self.scheduler.worker_moved(moved)
            case WorkerSpeedChanged():
                self.scheduler.worker_sped(WorkerSped(event.worker, event.speed))
            case EndExpected():
                self._stand(event)
            case _:
                self._follow(event)

    def _submit(self, event: ApplicationDescribed) -> None:
        name, index, rules = event.job, event.index, self.protections.get(event.job)
        if index is None or event.rule is None or rules is None:
            raise Unreplayable(SIZES)
        cost = saving(rules, self.images.get(name))
        protection = checkpointing(self.pack, event, rules.kind, cost)
        self.costs[index] = costs_of(self.pack, event, protection, self.started.processors)
        self.indices[name] = index
        if rules.copies > 1:
            self.decider.most[index] = rules.copies
        job = BatchJob(index, name, Rigid(1, 0), kind="malleable")
        self.scheduler.hear_of(Submit(as_job(Told(job))))

    def _stand(self, event: EndExpected) -> None:
        """See PackBooks.settle."""
        index, books = self.indices[event.job], self.decider.books
        if index not in books.sizes:
            return  # it ended at this instant, and had said so before
        copy, costs, left = books.first(index), self.costs[index], event.left
        size, speed, since, expected = books.size(index), self._speed(copy), inf, inf
        if event.since is not None:
            since = event.since
            expected = inf if event.expected is None else event.expected
        known = since < inf and speed > 0
        end = since + costs.duration(size, left) / speed if known else inf
        standing = Standing(
            *(index, copy, size, since, left, expected, end),
            *(self.holders[copy] != size, speed),
        )
        books.standings[copy] = standing

    def _speed(self, copy: int) -> float:
        """The slowest member's."""
        speeds, held = self.pool.speeds, members(self.scheduler.held[copy][2])
        return min((speeds[n] for n in held), default=1) if speeds else 1

    # --- runs ---------------------------------------------------------------------------------

    def _follow(self, event: Event) -> None:
        match event:
            case RunStarted(keeps=int(former)):
                copy = self.copies.pop((event.job, former))
                self.resumed.add(copy)
                self._begin(event, copy)
            case RedistributionPlanned():
                self._move(event)
            case CheckpointTaken() | CheckpointLost():
                self._gather(event.job, event.run)
            case RunEnded():
                self._end_run(event)
            case MembersReleased(job=job, run=run):
                self._end(job, run, WITHDRAWN)
            case JobCompleted(job=job):
                self._end(job, self.completed.pop(job), COMPLETED)

    def _begin(self, event: RunStarted, copy: int) -> None:
        self.copies[event.job, event.run] = copy
        self._gather(event.job, event.run)

    def _gather(self, job: str, run: int) -> None:
        """Its present members are those who hold its state."""
        copy = self.copies[job, run]
        self.holders[copy] = self.decider.books.sizes[self.indices[job]][copy]

    def _move(self, event: RedistributionPlanned) -> None:
        """Where no checkpoint closes it, what runs is with its new members at once."""
        copy = self.copies[event.job, event.run]
        closes = self.costs[self.indices[event.job]].computing(event.after) < inf
        if closes or copy in self.resumed:
            self.holders[copy] = event.before

    def _end_run(self, event: RunEnded) -> None:
        job, run = event.job, event.run
        if event.outcome is COMPLETED:
            self.completed[job] = run
        elif not event.kept:
            self._end(job, run, event.outcome)
        elif event.outcome is FAILED and not self.protections[job].verified:
            self._gather(job, run)

    def _end(self, job: str, run: int, outcome: Outcome) -> None:
        copy, index, over = self.copies.pop((job, run)), self.indices[job], job in self.over
        last = all(name != job for name, _ in self.copies)
        self.holders.pop(copy, None)
        self.resumed.discard(copy)
        message = CopyOver(index, copy, outcome, last and not over, last and over)
        self.scheduler.take_back(message)


def pack_replay(
    section: PolicySection, started: ScenarioStarted, records: Iterable[Record]
) -> PackReplay:
    """Of this log. Raises Unreplayable for one of before."""
    events = (record.event for record in records)
    before = takewhile(lambda event: not isinstance(event, ApplicationDescribed), events)
    pack = next((event for event in before if isinstance(event, PackDescribed)), None)
    if pack is None or pack.releases is None:
        raise Unreplayable(SIZES)
    return PackReplay(section, started, pack)
