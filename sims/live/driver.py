"""What the world decides, told to processes: what each entry that takes real time stands for, and
what each event changes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any

from attrs import define, field

from actors.events import (
    CheckpointTaken,
    IterationCompleted,
    LinkDescribed,
    MemberReplaced,
    MessagesDescribed,
    Outcome,
    ProtectionKind,
    RunEnded,
    RunStarted,
    Stage,
    TasksDealt,
    TasksDescribed,
    TransferDropped,
    TransferEnded,
    WorkerChanged,
)
from actors.intervals import count_in, numbers_in
from actors.job import AttemptOver
from actors.run import PartDue
from actors.runtime import Record, Timer
from policies.availability import WorkerState
from sims.history import History, Run
from sims.live.carrier import LiveError
from sims.live.deeds import Crew, Deeds, Lineage
from sims.live.holder import States, Work

Deed = Coroutine[Any, Any, None]


@define(eq=False)
class Driver(Deeds):
    """Listens to a run's events, and makes the deeds of its entries; all but the deeds themselves
    are called by the world, at the instants of the log."""

    history: History = field(init=False, factory=History)
    works: dict[str, Work] = field(init=False, factory=dict)
    crews: dict[tuple[str, int], Crew] = field(init=False, factory=dict)
    _labels: dict[str, str] = field(init=False, factory=dict)
    """By job: what its program is known by, if it has one."""
    _channels: int = field(init=False, default=0)
    _handlers: Mapping[type, Callable[[Record, Any], None]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._handlers = {
            TasksDescribed: lambda _, it: self.tasks.update({it.job: it.tasks}),
            MessagesDescribed: self._describe,
            RunStarted: self._start,
            TasksDealt: self._deal,
            CheckpointTaken: self._commit,
            MemberReplaced: self._replace,
            RunEnded: self._end,
            IterationCompleted: lambda _, it: self.works[it.job].iterate(),
            WorkerChanged: self._turn,
            TransferDropped: self._pass,
            TransferEnded: self._pass,
            LinkDescribed: self._link,
        }

    def __call__(self, record: Record) -> None:
        """A sink of the run's events."""
        self.history.apply(record)
        handler = self._handlers.get(type(record.event))
        if handler is not None:
            handler(record, record.event)

    def _link(self, _: Record, event: LinkDescribed) -> None:
        self._channels = event.channels

    # --- what events change -------------------------------------------------------------------

    def _describe(self, _: Record, event: MessagesDescribed) -> None:
        if event.program:
            self._labels[event.job] = f"{self.name}{event.label}"

    def _start(self, _: Record, event: RunStarted) -> None:
        members, before = list(numbers_in(event.processors)), event.keeps
        work = self.works.get(event.job)
        if work is None:
            steps = max(1, round(event.work * self.scale / self.pace))
            chains = self.tasks.get(event.job) or count_in(event.processors)
            work = self.works[event.job] = Work(event.job, chains, steps)
        kept = None if before is None else self.crews[event.job, before].lineage
        lineage = kept or Lineage(members)
        shares = {
            worker: list(range(place, work.chains, len(lineage.places)))
            for place, worker in enumerate(lineage.places)
        }
        crew = Crew(
            *(f"{self.name}{event.job}/{event.run}", work, shares, lineage),
            label=f"{self.name}{event.job}:{work.iteration}",
            program=self._labels.get(event.job, ""),
        )
        self.crews[event.job, event.run] = crew
        crew.restores = bool(event.source is not None and kept and kept.name)
        if event.source is not None and not crew.restores:
            crew.origin = self._state_of(event.job, event.source)

    def _state_of(self, job: str, run: int) -> States | Future[States]:
        """Of a run that is under way as it is now, or as the master has saved it."""
        under_way = self.history.runs.get((job, run))
        if under_way is not None and under_way.end is None:
            return self.carrier.aside(self.snapshot(self.crews[job, run]))
        return self.works[job].saved[run]

    def _deal(self, _: Record, event: TasksDealt) -> None:
        crew = self.crews[event.job, event.run]
        free = dict.fromkeys(range(crew.work.chains))
        shares: dict[int, list[int]] = {}
        for worker, count in event.tasks:  # those whose data it holds already
            own = [it for it in sorted(self.holds(worker, crew.label)) if it in free][:count]
            shares[worker] = own
            for chain in own:
                del free[chain]
        left = iter(list(free))
        for worker, count in event.tasks:
            shares[worker] += [next(left) for _ in range(count - len(shares[worker]))]
        crew.shares, crew.lineage.places = shares, list(shares)

    def _commit(self, _: Record, event: CheckpointTaken) -> None:
        crew = self.crews[event.job, event.run]
        if crew.sent:
            crew.work.saved[event.run], crew.sent = crew.sent, {}
            return
        lineage = crew.lineage
        if not lineage.taking:
            raise LiveError(f"{event.job}: a live checkpoint takes time; accepted: a cost above 0")
        lineage.name, lineage.kept, lineage.taking = lineage.taken, lineage.taking, {}

    def _replace(self, _: Record, event: MemberReplaced) -> None:
        places = self.crews[event.job, event.run].lineage.places
        places[places.index(event.worker)] = event.replacement

    def _end(self, _: Record, event: RunEnded) -> None:
        crew = self.crews[event.job, event.run]
        if event.outcome is Outcome.COMPLETED:
            crew.work.results = dict(crew.latest)
        self.carrier.aside(self.forget(crew))

    def _turn(self, _: Record, event: WorkerChanged) -> None:
        worker = event.worker
        self.reclaimed[worker] = event.state is WorkerState.RECLAIMED
        if event.state is WorkerState.DOWN:
            self.messages.pop(worker, None)
            self.processes.kill(worker)
        runs = self.history.holders(worker) if self.reclaimed[worker] else ()
        crews = [self.crews[run.key] for run in runs if run.end is None]
        self.carrier.aside(self.stop(worker, crews))

    def _pass(self, _: Record, event: TransferDropped | TransferEnded) -> None:
        self.messages.pop(event.worker, None)

    # --- what takes real time -----------------------------------------------------------------

    def deed(self, entry: Timer) -> Deed:
        """What is complete at the entry's due time."""
        due: float = entry[0]
        target, message = entry[2], entry[3]
        if isinstance(message, PartDue):
            run = self.history.runs[target.name, message.run]
            return self._part(run, self.crews[run.key], due)
        if isinstance(message, AttemptOver):
            (run,) = (it for it in self.history.runs.values() if it.job.name == target.name)
            return self.compute(self.crews[run.key], 1, due)
        passing = [it for it in self.history.workers.values() if it.transfer is not None]
        if len(passing) > self._channels:
            raise LiveError(f"{len(passing)} messages at once on {self._channels} channels")
        transfer = self.history.workers[target.index].transfer
        assert transfer is not None
        crew = self.crews[transfer.job, transfer.run]
        number, _ = self.messages.setdefault(target.index, (next(self.numbers), 0))
        return self.transfer(transfer, crew, number, due)

    def _part(self, run: Run, crew: Crew, due: float) -> Deed:
        stage, kind = run.stage, run.job.protection and run.job.protection.kind
        if stage is Stage.COMPUTING:
            done = run.done + run.rate * (due - self.history.now)
            return self.compute(crew, done / run.event.work, due)
        if stage is Stage.RECOVERING:
            return self.recover(crew)
        if stage is Stage.CHECKPOINTING:
            return self.share(crew) if kind is ProtectionKind.BUDDIES else self.save(crew)
        return self.look(crew)
