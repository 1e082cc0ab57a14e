"""Translates a simulated world for its real processes: events change the runs' records, and each
timer entry that takes real time becomes a coroutine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from attrs import define, field

from actors.events import (
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    IterationCompleted,
    MemberReplaced,
    MessagesDescribed,
    Outcome,
    RunEnded,
    RunStarted,
    Stage,
    TasksDealt,
    TasksDescribed,
    WorkerChanged,
)
from actors.intervals import count_in, numbers_in
from actors.job import AttemptOver
from actors.protection.saving import CheckpointDue
from actors.run import PartDue
from actors.runtime import Event, Record, Timer
from policies.availability import WorkerState
from sims.history import Run
from sims.live.activities import Activities, Lineage, RunContext
from sims.live.carrier import Subject
from sims.live.holder import State, Work

UNKNOWN = 0
"""Number of steps of a task's chain before the first tasks are dealt."""
Activity = Coroutine[Any, Any, None]
"""Real work that one timer entry waits for."""


@define(eq=False)
class Driver(Activities):
    """Makes the coroutines that do the real work of a run's timer entries; it follows the run's
    events to know what that work is.

    The simulation calls all methods of this class, at the instants of the log; only the coroutines
    that `activity` returns run on the client's loop.
    """

    given: Mapping[str, State] = field(factory=dict)
    """Maps jobs to the state that they begin from, where that is the user's."""
    works: dict[str, Work] = field(init=False, factory=dict)
    contexts: dict[tuple[str, int], RunContext] = field(init=False, factory=dict)
    _labels: dict[str, str] = field(init=False, factory=dict)
    """Maps each job that has a program to the program's label."""

    def __attrs_post_init__(self) -> None:
        handlers: dict[type[Event], Callable[[Record, Any], object]] = {
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
        }
        for kind, handler in handlers.items():
            self.history.on(kind, handler)

    def __call__(self, record: Record) -> None:
        """Follow the next event of the run."""
        self.history.apply(record)

    # --- what events change -------------------------------------------------------------------

    def _describe(self, _: Record, event: MessagesDescribed) -> None:
        if event.program:
            self._labels[event.job] = f"program {self.name}{event.label}"

    def _start(self, _: Record, event: RunStarted) -> None:
        members, before = list(numbers_in(event.processors)), event.keeps
        work = self.works.get(event.job)
        if work is None:
            steps = self._steps(event.work)
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
            if self.history.runs[event.job, event.run].clones:
                source = self.contexts[event.job, event.source]
                context.origin = self.carrier.aside(self.snapshot(source))
            else:
                context.origin = work.saved[event.source]

    def _steps(self, work: float) -> int:
        """Return the number of steps that a chain has to compute for so much work, in the
        scenario's unit."""
        about = self.settings
        step = (about.step or about.scale) if about.pace == "free" else about.pace
        return max(1, round(work * about.scale / step))

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
            whole = self.history.runs[event.job, event.run].event.work
            context.work.steps = self._steps(whole / most)

    def _freeze(self, _: Record, event: CheckpointStarted) -> None:
        """Have members keep the states of the checkpoint that begins, as they compute on meanwhile.
        The second level of a checkpoint saves what the first has saved."""
        context = self.contexts[event.job, event.run]
        if not self.history.runs[event.job, event.run].second_level:
            context.frozen = f"{context.name}&"
            context.freezing = self.carrier.aside(self.freeze(context))

    def _commit(self, _: Record, event: CheckpointTaken) -> None:
        context = self.contexts[event.job, event.run]
        if not self.history.runs[event.job, event.run].saves_in_memory:
            context.work.saved[event.run], context.sent = context.sent, {}
            return
        lineage = context.lineage
        self.carrier.aside(self.drop(lineage, lineage.name))
        lineage.name, lineage.done = lineage.taken, event.done

    def _store(self, _: Record, event: CheckpointStored) -> None:
        context = self.contexts[event.job, event.run]
        context.lineage.image, context.sent = context.sent, {}

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
        if event.state is WorkerState.DOWN:
            self.carrier.aside(self.processes.kill(worker))
        # Only a reclaimed worker's runs go on later: those on a killed one have lost their states.
        runs = self.history.holders(worker) if self.is_reclaimed(worker) else ()
        contexts = [self.contexts[run.key] for run in runs if run.end is None]
        self.carrier.aside(self.stop(worker, contexts))

    # --- what takes real time -----------------------------------------------------------------

    def activity(self, entry: Timer) -> tuple[Activity, Subject]:
        """Return the coroutine whose work should be complete at the entry's due time, and what the
        entry is about."""
        due: float = entry[0]
        target, message = entry[2], entry[3]
        if not isinstance(message, AttemptOver | CheckpointDue | PartDue):
            event = self.history.message(target.index)
            work = self.transfer(event, self.contexts[event.job, event.run], due)
            return work, (event.job, event.run, event.worker)
        number = target.attempt if isinstance(message, AttemptOver) else message.run
        run = self.history.runs[target.name, number]
        context = self.contexts[run.key]
        if isinstance(message, AttemptOver):
            work = self.compute(context, 1, due)
        elif isinstance(message, CheckpointDue):
            work = self._checkpoint(run, context)
        else:
            # Where the part that goes on is late, the log knows less than the run itself.
            work = self._part(run, context, target.copies[message.copy].run.reach, due)
        return work, (*run.key, None)

    def _part(self, run: Run, context: RunContext, reach: float, due: float) -> Activity:
        stage = run.stage
        if stage is Stage.COMPUTING:
            return self.compute(context, reach / run.event.work, due)
        if stage is Stage.RECOVERING:
            return self.recover(context)
        if stage is Stage.CHECKPOINTING:
            return self._checkpoint(run, context)
        return self.verify(context)

    def _checkpoint(self, run: Run, context: RunContext) -> Activity:
        """Return the coroutine that takes one level of a checkpoint, for levels that are not sent
        as messages."""
        return self.share(context) if run.saves_in_memory else self.save(context)
