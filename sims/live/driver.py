"""Translates a simulated world for its real processes: events change the runs' records, and each
timer entry that takes real time becomes a coroutine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any

from attrs import define, field

from actors.events import (
    CheckpointStarted,
    CheckpointStored,
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
from actors.protection.saving import CheckpointDue
from actors.run import PartDue
from actors.runtime import Record, Timer
from policies.availability import WorkerState
from sims.history import History, Run
from sims.live.activities import Activities, Lineage, RunContext
from sims.live.carrier import LiveError
from sims.live.holder import State, States, Work

UNKNOWN = 0
"""Number of steps of a task's chain before the first tasks are dealt."""
Activity = Coroutine[Any, Any, None]
"""Real work that one timer entry waits for."""


@define(eq=False)
class Driver(Activities):
    """Follows a run's events and makes the coroutines for its timer entries.

    The simulation calls all methods of this class, at the instants of the log; only the coroutines
    that `activity` returns run on the client's loop.
    """

    given: Mapping[str, State] = field(factory=dict)
    """Maps jobs to the state that they begin from, where that is the user's."""
    history: History = field(init=False, factory=History)
    works: dict[str, Work] = field(init=False, factory=dict)
    contexts: dict[tuple[str, int], RunContext] = field(init=False, factory=dict)
    _labels: dict[str, str] = field(init=False, factory=dict)
    """Maps each job that has a program to the program's label."""
    _channels: int = field(init=False, default=0)
    _handlers: Mapping[type, Callable[[Record, Any], None]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._handlers = {
            TasksDescribed: lambda _, it: self.tasks.update({it.job: it.tasks}),
            MessagesDescribed: self._describe,
            RunStarted: self._start,
            TasksDealt: self._deal,
            CheckpointStarted: self._freeze,
            CheckpointTaken: self._commit,
            CheckpointStored: self._store,
            MemberReplaced: self._replace,
            RunEnded: self._end,
            IterationCompleted: lambda _, it: self.works[it.job].iterate(),
            WorkerChanged: self._turn,
            TransferDropped: self._pass,
            TransferEnded: self._pass,
            LinkDescribed: self._link,
        }

    def __call__(self, record: Record) -> None:
        """Take in the next record of the run."""
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
            if self.carrier.free and event.job in self.tasks:
                steps = UNKNOWN  # until the tasks are dealt
            given = self.given.get(event.job)
            work = self.works[event.job] = Work(event.job, chains, steps, given)
        kept = None if before is None else self.contexts[event.job, before].lineage
        lineage = kept or Lineage(members)
        shares = {
            worker: list(range(place, work.chains, len(lineage.places)))
            for place, worker in enumerate(lineage.places)
        }
        context = RunContext(
            *(f"{self.name}{event.job}/{event.run}", work, shares, lineage),
            label=f"{self.name}{event.job}:{work.iteration}",
            program=self._labels.get(event.job, ""),
        )
        self.contexts[event.job, event.run] = context
        context.restores = event.source is not None and kept is not None
        if context.restores:
            # After two buddies' deaths the next run begins from the image at the master.
            context.in_memory = lineage.done == event.saved
            context.origin = lineage.image
        elif event.source is not None:
            context.origin = self._state_of(event.job, event.source)

    def _state_of(self, job: str, run: int) -> States | Future[States]:
        """Return the present states of a run that is under way, or those that the master has
        saved."""
        under_way = self.history.runs.get((job, run))
        if under_way is not None and under_way.end is None:
            return self.carrier.aside(self.snapshot(self.contexts[job, run]))
        return self.works[job].saved[run]

    def _deal(self, _: Record, event: TasksDealt) -> None:
        context = self.contexts[event.job, event.run]
        free = dict.fromkeys(range(context.work.chains))
        shares: dict[int, list[int]] = {}
        for worker, count in event.tasks:  # tasks whose data the worker holds need no transfer
            local = [it for it in sorted(self.holds(worker, context.label)) if it in free][:count]
            shares[worker] = local
            for chain in local:
                del free[chain]
        left = iter(list(free))
        for worker, count in event.tasks:
            shares[worker] += [next(left) for _ in range(count - len(shares[worker]))]
        context.shares, context.lineage.places = shares, list(shares)
        if context.work.steps == UNKNOWN:
            # The work is that of the member with the most tasks, which computes them in turn.
            most = max(count for _, count in event.tasks)
            whole: float = self.history.runs[event.job, event.run].event.work
            context.work.steps = max(1, round(whole / most * self.scale / self.pace))

    def _freeze(self, _: Record, event: CheckpointStarted) -> None:
        """Have members keep the states that are saved while they compute on. The second level of a
        checkpoint saves what the first has saved."""
        context = self.contexts[event.job, event.run]
        context.second = event.done == self.history.runs[event.job, event.run].checkpoint
        if not context.second:
            context.frozen = f"{context.name}&"
            context.freezing = self.carrier.aside(self.freeze(context))

    def _commit(self, _: Record, event: CheckpointTaken) -> None:
        context = self.contexts[event.job, event.run]
        if not self._in_memory(self.history.runs[event.job, event.run]):
            context.work.saved[event.run], context.sent = context.sent, {}
            return
        lineage = context.lineage
        self.carrier.aside(self.drop(lineage, lineage.name))
        lineage.name, lineage.kept, lineage.taking = lineage.taken, lineage.taking, {}
        lineage.done = event.done

    def _store(self, _: Record, event: CheckpointStored) -> None:
        context = self.contexts[event.job, event.run]
        context.lineage.image, context.sent = context.sent, {}

    @staticmethod
    def _in_memory(run: Run) -> bool:
        """Return whether members keep checkpoints for each other."""
        kept = run.job.protection
        return kept is not None and kept.kind is ProtectionKind.BUDDIES

    def _replace(self, _: Record, event: MemberReplaced) -> None:
        places = self.contexts[event.job, event.run].lineage.places
        places[places.index(event.worker)] = event.replacement

    def _end(self, _: Record, event: RunEnded) -> None:
        context = self.contexts[event.job, event.run]
        if event.outcome is Outcome.COMPLETED:
            context.work.results = dict(context.latest)
        self.carrier.aside(self.forget(context))
        if not event.kept:
            for name in {context.lineage.name, context.lineage.taken}:
                self.carrier.aside(self.drop(context.lineage, name))

    def _turn(self, _: Record, event: WorkerChanged) -> None:
        worker = event.worker
        self.reclaimed[worker] = event.state is WorkerState.RECLAIMED
        if event.state is WorkerState.DOWN:
            self.messages.pop(worker, None)
            self.processes.kill(worker)
        # Only a reclaimed worker's runs go on later: those on a killed one have lost their states.
        runs = self.history.holders(worker) if self.reclaimed[worker] else ()
        contexts = [self.contexts[run.key] for run in runs if run.end is None]
        self.carrier.aside(self.stop(worker, contexts))

    def _pass(self, _: Record, event: TransferDropped | TransferEnded) -> None:
        self.messages.pop(event.worker, None)

    # --- what takes real time -----------------------------------------------------------------

    def activity(self, entry: Timer) -> Activity:
        """Return the coroutine whose work should be complete at the entry's due time.

        Raises LiveError when more messages pass at once than the master has channels (n_com).
        """
        due: float = entry[0]
        target, message = entry[2], entry[3]
        if isinstance(message, PartDue | CheckpointDue):
            run = self.history.runs[target.name, message.run]
            context = self.contexts[run.key]
            if isinstance(message, CheckpointDue):
                return self._checkpoint(run, context, context.second)
            # Where the part that goes on is late, the log knows less than the run itself.
            reach = target.copies[message.copy].run.reach
            return self._part(run, context, reach, due)
        if isinstance(message, AttemptOver):
            (run,) = (it for it in self.history.runs.values() if it.job.name == target.name)
            return self.compute(self.contexts[run.key], 1, due)
        passing = [it for it in self.history.workers.values() if it.transfer is not None]
        if len(passing) > self._channels:
            raise LiveError(f"{len(passing)} messages at once on {self._channels} channels")
        transfer = self.history.workers[target.index].transfer
        assert transfer is not None
        context = self.contexts[transfer.job, transfer.run]
        number, _ = self.messages.setdefault(target.index, (next(self.numbers), 0))
        return self.transfer(transfer, context, number, due)

    def subject(self, entry: Timer) -> tuple[str, int, int | None]:
        """Return the job and the run that the entry is about, and the worker where it is the end of
        a message."""
        target, message = entry[2], entry[3]
        if isinstance(message, PartDue | CheckpointDue):
            return target.name, message.run, None
        if isinstance(message, AttemptOver):
            return target.name, target.attempt, None
        transfer = self.history.workers[target.index].transfer
        assert transfer is not None
        return transfer.job, transfer.run, target.index

    def _part(self, run: Run, context: RunContext, reach: float, due: float) -> Activity:
        stage = run.stage
        if stage is Stage.COMPUTING:
            return self.compute(context, reach / run.event.work, due)
        if stage is Stage.RECOVERING:
            return self.recover(context)
        if stage is Stage.CHECKPOINTING:
            return self._checkpoint(run, context, run.done == run.checkpoint)
        return self.verify(context)

    def _checkpoint(self, run: Run, context: RunContext, second: bool) -> Activity:
        """Return the work of a level of a checkpoint, which is not sent in messages."""
        return self.share(context) if self._in_memory(run) and not second else self.save(context)
