"""A tightly-coupled iterative application: m tasks in lockstep, iteration after iteration."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import define, field

from actors.events import End, JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.hazards import SilentErrors
from actors.progress import Progress
from actors.runtime import Actor, Phase, Timer, handles
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    ConfigurationChosen,
    IterationCompleted,
    IterationStarted,
)
from actors.volatile.holding import Holding
from actors.volatile.messages import (
    CapReached,
    ConfigurationNeeded,
    Configure,
    Enrol,
    MemberLost,
    MemberReady,
    MemberStopped,
    Release,
    WorkDue,
)
from actors.volatile.worker import Worker
from policies.interface import Configuration, Reason


class Stage(enum.Enum):
    """What an iterative application is doing."""

    WAITING = "waiting"
    """For a configuration."""
    ENROLLED = "enrolled"
    """A configuration is loading, computing or suspended."""
    ENDED = "ended"


class RunWindow:
    """The running configuration as policies see it (a live `RunningView`)."""

    def __init__(self, job: IterativeJob) -> None:
        self._job = job

    @property
    def configuration(self) -> Configuration:
        return self._job.configuration

    @property
    def work_left(self) -> int:
        return int(self._job.progress.left(self._job.now))

    def missing(self) -> Sequence[int]:
        job, now = self._job, self._job.now
        if not job.loading:
            return job.nothing_missing
        return [job.holdings[index].missing(tasks, now) for index, tasks in job.members.items()]


@define(eq=False)
class IterativeJob(Actor):
    """The application (002, III): one run per configuration that it is given.

    A run advances while all its members are UP and hold all that they need; a member that goes
    DOWN loses it, and a silent error makes it worthless at its end; the iteration then starts again
    from scratch on the next configuration.
    """

    transitions: ClassVar[Mapping[Stage, frozenset[Stage]]] = {
        Stage.WAITING: frozenset((Stage.ENROLLED, Stage.ENDED)),
        Stage.ENROLLED: frozenset((Stage.WAITING, Stage.ENROLLED, Stage.ENDED)),
        Stage.ENDED: frozenset(),
    }
    initial = Stage.WAITING

    iterations: int
    speeds: Sequence[int]
    """w_q, slots per task, by worker index."""
    workers: Sequence[Worker]
    scheduler: Actor
    cap: float
    """Makespan at which the application gives up; infinity: never."""
    errors: SilentErrors | None = None
    iteration: int = field(init=False, default=0)
    run: int = field(init=False, default=-1)
    configuration: Configuration = field(init=False, default=Configuration(()))
    members: dict[int, int] = field(init=False, factory=dict)
    """Worker index -> tasks, of the present or the last configuration."""
    holdings: dict[int, Holding] = field(init=False, factory=dict)
    loading: set[int] = field(init=False, factory=set)
    """Members that still lacked something when heard of last."""
    nothing_missing: tuple[int, ...] = field(init=False, default=())
    progress: Progress = field(init=False, factory=lambda: Progress(0))
    _absent: set[int] = field(init=False, factory=set)
    """Members that are not ready: loading or RECLAIMED."""
    _end: Timer | None = field(init=False, default=None)

    def started(self) -> None:
        self.record(JobSubmitted, self.name)
        if self.cap != float("inf"):
            self.at(self.cap, CapReached(), Phase.DECISION)
        self._begin_iteration()

    def _begin_iteration(self) -> None:
        self.record(IterationStarted, self.name, self.iteration)
        self._ask(Reason.START)

    def _ask(self, reason: Reason) -> None:
        self.send(self.scheduler, ConfigurationNeeded(self, reason, RunWindow(self)))

    # --- the configuration --------------------------------------------------------------------

    @handles(Configure, during=(Stage.WAITING, Stage.ENROLLED))
    def configure(self, decision: Configure) -> None:
        chosen = decision.configuration
        if self.state is Stage.ENROLLED:
            self._end_run(Outcome.WITHDRAWN)
        if chosen is None:
            self._release_all()
            return
        self._begin_run(chosen, decision.reason)
        self._enrol(dict(chosen.members))
        self.become(Stage.ENROLLED)

    def _begin_run(self, chosen: Configuration, reason: Reason) -> None:
        self.run += 1
        self.configuration = chosen
        work = max(tasks * self.speeds[index] for index, tasks in chosen.members)
        self.progress = Progress(work, since=self.now)
        wants = self.system.journal.wants
        named: tuple[tuple[str, int], ...] = ()
        numbers = ""
        if wants(ConfigurationChosen) or wants(RunStarted):
            named = tuple((self.workers[index].name, tasks) for index, tasks in chosen.members)
            numbers = " ".join(str(index) for index, _ in chosen.members)
        self.record(RunStarted, self.name, self.run, numbers)
        self.record(
            ConfigurationChosen, self.name, self.iteration, self.run, reason, named, int(work)
        )

    def _enrol(self, members: dict[int, int]) -> None:
        for index in self.members:
            if index not in members:
                self.send(self.workers[index], Release())
        for index, tasks in members.items():
            self.send(self.workers[index], Enrol(self, self.run, tasks))
        self.members = members
        self.holdings = {index: self.workers[index].holding for index in members}
        self.nothing_missing = (0,) * len(members)
        self.loading = set(members)
        self._absent = set(members)

    def _release_all(self) -> None:
        for index in self.members:
            self.send(self.workers[index], Release())
        self.members = {}

    def _end_run(self, outcome: Outcome) -> None:
        self._suspend()
        self.record(RunEnded, self.name, self.run, outcome)

    # --- its members --------------------------------------------------------------------------

    @handles(MemberReady)
    def member_ready(self, message: MemberReady) -> None:
        self.loading.discard(message.index)
        self._absent.discard(message.index)
        if not self._absent and self.state is Stage.ENROLLED:
            self._compute()

    @handles(MemberStopped)
    def member_stopped(self, message: MemberStopped) -> None:
        self._absent.add(message.index)
        self._suspend()

    @handles(MemberLost)
    def member_lost(self, message: MemberLost) -> None:
        self.members.pop(message.index, None)
        if self.state is Stage.ENROLLED:
            self._end_run(Outcome.LOST)
            self.become(Stage.WAITING)
            self._ask(Reason.FAILURE)

    # --- its computation ----------------------------------------------------------------------

    def _compute(self) -> None:
        progress = self.progress
        progress.change(self.now, 1)
        self.record(ComputationStarted, self.name, self.run)
        self._end = self.after(progress.left(self.now), WorkDue())

    def _suspend(self) -> None:
        if self._end is not None:
            self.cancel(self._end)
            self._end = None
            self.progress.change(self.now, 0)
            done = int(self.progress.done)
            self.record(ComputationSuspended, self.name, self.run, done)

    @handles(WorkDue)
    def finish(self, _: WorkDue) -> None:
        self._end = None
        if self.errors is not None and self.errors.strike(len(self.members) * self.progress.work):
            self._end_run(Outcome.FAILED)
            self.become(Stage.WAITING)
            self._ask(Reason.ERROR)
        else:
            self._complete()

    def _complete(self) -> None:
        self.record(RunEnded, self.name, self.run, Outcome.COMPLETED)
        self.record(IterationCompleted, self.name, self.iteration)
        self.iteration += 1
        self._release_all()
        self.become(Stage.WAITING)
        if self.iteration < self.iterations:
            self._begin_iteration()
        else:
            self.record(JobCompleted, self.name)
            self._leave(End.COMPLETED)

    @handles(CapReached)
    def give_up(self, _: CapReached) -> None:
        if self.state is Stage.ENROLLED:
            self._end_run(Outcome.WITHDRAWN)
        self._leave(End.CAPPED)

    def _leave(self, end: End) -> None:
        self.become(Stage.ENDED)
        # What is still said at this instant does not concern it any more.
        self.stop()
        self.system.finish(end)

    def waits_for(self) -> str | None:
        if self.state is Stage.WAITING:
            return f"a configuration for iteration {self.iteration}"
        names = [self.workers[index].name for index in sorted(self._absent)]
        return f"{', '.join(names)} to be UP with program and data" if names else None
