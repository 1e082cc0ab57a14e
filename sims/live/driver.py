"""Translates a simulated world for its real processes: events change the runs' records, and each
timer entry that takes real time becomes a coroutine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatchmethod
from itertools import islice

from attrs import define, field

from actors.events import (
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    IterationCompleted,
    MemberReplaced,
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
from actors.runtime import Event, Record, Timer
from actors.worker_messages import TransferDue
from policies.availability import WorkerState
from sims.live.activities import Activities, Lineage, RunContext
from sims.live.carrier import Activity, Subject
from sims.live.holder import State, Work

UNKNOWN = 0
"""Number of steps of a task's chain before the first tasks are dealt."""


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

    def __call__(self, record: Record) -> None:
        """Follow the next event of the run."""
        self.history.apply(record)
        self.follow(record.event)

    # --- what events change -------------------------------------------------------------------

    @singledispatchmethod
    def follow(self, event: Event) -> None:
        """Change what is known of runs and of their real work as an event of the simulation asks;
        most events change nothing."""

    @follow.register
    def _count_tasks(self, event: TasksDescribed) -> None:
        self.tasks[event.job] = event.tasks

    @follow.register
    def _start(self, event: RunStarted) -> None:
        run, work = self.history.runs[event.job, event.run], self.works.get(event.job)
        if work is None:
            # Tasks of an iteration have one chain each, whose steps are known once they are dealt.
            tasks = self.tasks.get(event.job)
            steps = UNKNOWN if tasks and self.carrier.free else self._steps(event.work)
            chains = tasks or count_in(event.processors)
            work = Work(event.job, chains, steps, self.given.get(event.job))
            self.works[event.job] = work
        former = None if event.keeps is None else self.contexts[event.job, event.keeps]
        lineage = former.lineage if former else Lineage(list(numbers_in(event.processors)))
        shares = {
            worker: list(range(place, work.chains, len(lineage.places)))
            for place, worker in enumerate(lineage.places)
        }
        context = self.contexts[run.key] = RunContext(
            *(run, f"{self.name}{event.job}/{event.run}", work, shares, lineage),
            label=f"{self.name}{event.job}:{work.iteration}",
            program=self._program(event.job),
            saved=former.saved if former else None,
        )
        if event.source is None:
            return
        if former is not None:
            context.restores = True
            # After two buddies' deaths the next run begins from the image at the master.
            context.in_memory = lineage.done == event.saved
            context.origin = former.saved
            return
        source = self.contexts[event.job, event.source]
        if run.clones:
            context.origin = self.carrier.aside(self.snapshot(source))
        else:
            assert source.saved is not None
            context.origin = source.saved

    def _steps(self, work: float) -> int:
        """Return the number of steps that a chain has to compute for so much work, in time units;
        at least 1."""
        about = self.settings
        step = (about.step or about.scale) if about.pace == "free" else about.pace
        return max(1, round(work * about.scale / step))

    def _program(self, job: str) -> str:
        """Return the name of the job's program; empty if it has none."""
        needs = self.history.head.messages(job)
        return f"program {self.name}{needs.label}" if needs is not None and needs.program else ""

    @follow.register
    def _deal(self, event: TasksDealt) -> None:
        context = self.contexts[event.job, event.run]
        free, shares = set(range(context.work.chains)), dict[int, list[int]]()
        for worker, count in event.tasks:  # tasks whose data the worker holds need no transfer
            shares[worker] = sorted(free & self.holds(worker, context.label))[:count]
            free.difference_update(shares[worker])
        left = iter(sorted(free))
        for worker, count in event.tasks:
            shares[worker] += islice(left, count - len(shares[worker]))
        context.shares, context.lineage.places = shares, list(shares)
        if context.work.steps == UNKNOWN:
            # The work is that of the member with the most tasks, which computes them in turn.
            most = max(count for _, count in event.tasks)
            context.work.steps = self._steps(context.run.event.work / most)

    @follow.register
    def _freeze(self, event: CheckpointStarted) -> None:
        """Have members keep the states of the checkpoint that begins, as they compute on meanwhile.
        The second level of a checkpoint saves what the first has saved."""
        context = self.contexts[event.job, event.run]
        if not context.run.second_level:
            context.frozen = f"{context.name}&"
            about = context.name, context.frozen, ()
            context.freezing = self.carrier.aside(self._call_each(context.shares, "share", *about))

    @follow.register
    def _commit(self, event: CheckpointTaken) -> None:
        context = self.contexts[event.job, event.run]
        if not context.run.saves_in_memory:
            context.saved, context.sent = context.sent, {}
            return
        lineage = context.lineage
        self.drop(lineage.places, "", [lineage.name])
        lineage.name, lineage.done = lineage.taken, event.done

    @follow.register
    def _store(self, event: CheckpointStored) -> None:
        context = self.contexts[event.job, event.run]
        context.saved, context.sent = context.sent, {}

    @follow.register
    def _replace(self, event: MemberReplaced) -> None:
        places = self.contexts[event.job, event.run].lineage.places
        places[places.index(event.worker)] = event.replacement

    @follow.register
    def _end(self, event: RunEnded) -> None:
        context = self.contexts[event.job, event.run]
        if event.outcome is Outcome.COMPLETED:
            context.work.results = dict(context.latest)
        lineage, names = context.lineage, [context.frozen]
        if not event.kept:
            names += lineage.name, lineage.taken
        self.drop({*context.shares, *lineage.places}, context.name, names)

    @follow.register
    def _iterate(self, event: IterationCompleted) -> None:
        self.works[event.job].iterate()

    @follow.register
    def _turn(self, event: WorkerChanged) -> None:
        worker = event.worker
        if event.state is WorkerState.DOWN:
            self.carrier.aside(self.processes.kill(worker))
        # Only a reclaimed worker's runs go on later: those on a killed one have lost their states.
        runs = self.history.holders(worker) if self.is_reclaimed(worker) else ()
        contexts = [self.contexts[run.key] for run in runs if run.end is None]
        self.carrier.aside(self.stop(worker, contexts))

    # --- what takes real time -----------------------------------------------------------------

    def activity(self, entry: Timer) -> tuple[Activity, Subject]:
        """Return the coroutine whose real work should be complete at the due time of a timer entry,
        and what the entry is about: job, run, and the worker of a message (else None)."""
        due, _, target, message, _ = entry
        if isinstance(message, TransferDue):
            event = self.history.message(target.index)
            work = self.transfer(event, self.contexts[event.job, event.run], due)
            return work, (event.job, event.run, event.worker)
        whole = isinstance(message, AttemptOver)
        context = self.contexts[target.name, target.attempt if whole else message.run]
        run, stage = context.run, context.run.stage
        if isinstance(message, CheckpointDue) or stage is Stage.CHECKPOINTING:
            # One level of a checkpoint; messages carry the others.
            work = self.share(context) if run.saves_in_memory else self.save(context)
        elif stage is Stage.RECOVERING:
            work = self.recover(context)
        elif stage is Stage.VERIFYING:
            work = self.verify(context)
        else:
            # Where the part that goes on is late, the log knows less than the run itself.
            part = 1 if whole else target.copies[message.copy].run.reach / run.event.work
            work = self.compute(context, part, due)
        return work, (*run.key, None)
