"""Long tasks of a caller's own: what is known of them while they are computed, and their run.

Each task is a job of a scenario that is carried out live: the same world as in a simulation decides
where it runs, when its state is saved, and from which state it goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from attrs import define, evolve, field, frozen

from actors.events import CheckpointTaken, Outcome, RunEnded, RunStarted
from actors.runtime import Record, Sink
from sims.live.calls import Call, Progress, arguments, job
from sims.live.checkpoint_folder import CheckpointFolder, identity
from sims.live.failures import ClusterLost, StepFailed
from sims.live.holder import State, pickled, unpickled
from sims.live.live import live, opened
from sims.live.processes import Processes
from sims.live.trial import trial
from sims.log_writer import LogWriter

S = TypeVar("S")
T = TypeVar("T")


@frozen
class Cost:
    """Steps, checkpoints and time that a task has taken in one call."""

    computed: int
    """Number of steps computed, with those that were computed again."""
    again: int
    """Number of steps that were computed again after losses, as far as they were heard of: a
    worker's process says about every second how far it is."""
    checkpoints: int
    """Number of checkpoints taken."""
    losses: int
    """Number of times that a worker was lost which computed the task."""
    lost: float
    """Seconds between the last checkpoint, or the start, of each lost run and its loss."""
    seconds: float
    """Seconds from the call until the task ended, or until now."""
    log: Path | None
    """Log of the call's run; None where there is none."""


@frozen
class Finished(Generic[S]):
    """A completed task of several."""

    number: int
    """Place of the task's state among those given, from 0."""
    state: S
    """State after all steps."""
    cost: Cost


@define(eq=False)
class TaskState:
    """State of one task while it is computed: steps, checkpoints and losses so far."""

    number: int
    """Place of the task's state among those given, from 0."""
    begun: int
    """Number of steps done before the call."""
    saved: State
    """Last state that has reached this program, with its pickle."""
    reached: int
    """Largest number of steps that a worker's process has said that it has done since the last
    loss."""
    again: int = 0
    checkpoints: int = 0
    losses: int = 0
    lost: float = 0.0
    """Seconds of runs lost, as in `Cost`."""
    mark: float = 0.0
    """Time of the last checkpoint, or else of the start, of the present run, in time units."""
    seconds: float | None = None
    """Seconds from the call to the task's end; None while it has not ended."""


@define(eq=False)
class Tasks:
    """The tasks of one call, with their last saved states and their costs.

    It follows their live run (`sims.live.live.Watch`) and its events. Methods are called on several
    threads.
    """

    call: Call
    ended: Callable[[Finished[Any]], object]
    """Function that is called with each completed task."""
    tell: Callable[[Progress], object] | None = None
    """Function that is called when a task goes on, besides the caller's own."""
    folder: CheckpointFolder | None = field(init=False, default=None)
    tasks: dict[str, TaskState] = field(init=False, factory=dict)
    """Maps the name of each task's job to the task's state."""
    scale: float = field(init=False, default=1.0)
    """Seconds per time unit of the run."""
    cancelled: bool = field(init=False, default=False)
    _began: float = field(init=False, factory=time.monotonic)
    _end: Callable[[BaseException], object] | None = field(init=False, default=None)
    _lock: Lock = field(init=False, factory=Lock)

    def load(self) -> None:
        """Take the states that the tasks begin from: those of the call, or of its checkpoints.

        Raises InputError for a start state that cannot be pickled, and for checkpoints of another
        call.
        """
        call = self.call
        begun: dict[int, State] = {}
        for number, it in enumerate(call.states):
            with arguments(f"states[{number}]" if len(call.states) > 1 else "state"):
                begun[number] = 0, pickled(it, 0)
        if call.checkpoints is not None:
            same = identity(call.function, call.states, call.steps)
            digests = [sha256(data).hexdigest() for _, data in begun.values()]
            place = str(call.checkpoints)
            self.folder = CheckpointFolder(place, call.called, same, digests)
            begun |= self.folder.found(call.fresh)
        self.tasks = {job(k): TaskState(k, it[0], it, it[0]) for k, it in begun.items()}
        for task in self.tasks.values():
            self._finish(task)

    @property
    def open(self) -> dict[str, TaskState]:
        """Map the names of the jobs whose tasks have steps left to their states."""
        return {it: task for it, task in self.tasks.items() if task.saved[0] < self.call.steps}

    # --- a live run -------------------------------------------------------------------------

    def begin(self, end: Callable[[BaseException], object]) -> None:
        """Keep the function that ends what is under way by raising an error in it."""
        with self._lock:
            self._end = end
            cancelled = self.cancelled
        if cancelled:
            end(CancelledError())

    def cancel(self) -> None:
        """End the computation; where it is computed, CancelledError is raised."""
        with self._lock:
            self.cancelled, end = True, self._end
        if end is not None:
            end(CancelledError())

    async def keep(self, name: str, state: State) -> None:
        """Keep a state of a task in the folder, if there is one, and as its last one."""
        task = self.tasks[name]
        if self.folder is not None:
            await asyncio.to_thread(self.folder.write, task.number, state)
        if state[0] > task.saved[0]:
            task.saved = state
            task.reached = max(task.reached, state[0])
            self._tell(task)
            self._finish(task)

    def _finish(self, task: TaskState) -> None:
        if task.saved[0] == self.call.steps and task.seconds is None:
            task.seconds = time.monotonic() - self._began
            state = unpickled(task.saved[1], task.saved[0])
            self.ended(Finished(task.number, state, self.cost(task)))

    def stepped(self, name: str, step: int) -> None:
        """Learn that a run of a task has done so many steps."""
        task = self.tasks[name]
        if step > task.reached:
            task.reached = step
            self._tell(task)

    def __call__(self, record: Record) -> None:
        """Follow an event of the run."""
        match record.event:
            case RunStarted(job=name):
                self.tasks[name].mark = record.t
            case CheckpointTaken(job=name):
                task = self.tasks[name]
                task.checkpoints += 1
                task.mark = record.t
            case RunEnded(job=name, outcome=Outcome.LOST):
                task = self.tasks[name]
                task.losses += 1
                task.lost += (record.t - task.mark) * self.scale
                task.again += task.reached - task.saved[0]
                task.reached = task.saved[0]
                self._tell(task)

    def _tell(self, task: TaskState) -> None:
        """Tell the callbacks how far a task is; an error of theirs ends the run."""
        about = Progress(*(task.number, task.reached, self.call.steps, task.saved[0], task.losses))
        for told in (self.tell, self.call.callback):
            if told is None:
                continue
            try:
                with self._lock:
                    told(about)
            except BaseException as error:
                if self._end is None:
                    raise
                self._end(error)

    def cost(self, task: TaskState) -> Cost:
        """Return the cost of a task so far."""
        seconds = time.monotonic() - self._began if task.seconds is None else task.seconds
        computed = task.reached - task.begun + task.again
        log = None if self.call.log is None else Path(self.call.log)
        taken = task.checkpoints, task.losses, task.lost
        return Cost(computed, task.again, *taken, seconds, log)

    def first_cost(self) -> Cost:
        """Return the cost of the call's first task so far; nothing before it has begun."""
        for task in self.tasks.values():
            return self.cost(task)
        return self.cost(TaskState(0, 0, (0, b""), 0))


def carry_out(tasks: Tasks) -> None:
    """Compute all tasks of a call.

    Raises what a step of the caller's raised; CancelledError where the call was cancelled;
    ClusterLost, with the states that have reached this program, where the scheduler is gone; and
    InputError for all else that the caller can mend.
    """
    try:
        with arguments():
            tasks.load()
            if tasks.open:
                _compute(tasks)
        return
    except StepFailed as failed:
        error = failed.opened()
    except ClusterLost as gone:
        states = {it.number: it.saved for it in tasks.open.values()}
        last = {it: (done, unpickled(data, done)) for it, (done, data) in states.items()}
        error = evolve(gone, states=last, accepted=_going_on(tasks))
    raise error  # not within a handler: the error stands by itself


def _going_on(tasks: Tasks) -> str:
    if tasks.folder is not None:
        return "a scheduler that runs, and the same call, which goes on from its checkpoints"
    return "a scheduler that runs, and a call that begins from this error's `state`"


def _compute(tasks: Tasks) -> None:
    """Compute the unfinished tasks of a call on its cluster."""
    call = tasks.call
    given = call.workers, call.function, call.scheduler
    with ExitStack() as stack:
        processes = stack.enter_context(opened(*given, open_to_all=None, folder=call.folder))
        processes.patience = call.patience
        step, cost = _tried(tasks, processes)
        if not tasks.open:
            return
        tasks.scale = step
        left = {it.number: call.steps - it.saved[0] for it in tasks.open.values()}
        scenario = call.scenario(len(processes.seats), left, step, cost)
        writers = [LogWriter(Path(call.log))] if call.log is not None else []
        sinks: list[Sink] = [tasks, *(stack.enter_context(it) for it in writers)]
        states = {name: it.saved for name, it in tasks.open.items()}
        live(scenario, processes, call.folder, sinks, states, tasks)


def _tried(tasks: Tasks, processes: Processes) -> tuple[float, float]:
    """Compute the first steps of the first unfinished task, and return the seconds of a step and of
    a checkpoint."""
    name, task = next(iter(tasks.open.items()))
    processes.stepped = tasks.stepped

    def waited(work: Coroutine[Any, Any, T]) -> T:
        future = processes.post(work)
        errors: list[BaseException] = []

        def end(error: BaseException) -> None:
            errors.append(error)
            future.cancel()

        tasks.begin(end)
        try:
            return future.result()
        except CancelledError:
            pass
        raise errors[0] if errors else CancelledError()

    first, step, cost = waited(trial(processes, name, task.saved, tasks.call.steps))
    begun = time.monotonic()
    waited(tasks.keep(name, first))
    return step, cost + time.monotonic() - begun


@contextmanager
def bar(call: Call) -> Iterator[Callable[[Progress], None] | None]:
    """Yield a function that shows progress as bars on stderr, None where the call asks for none: by
    default outside of terminals and notebooks."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    # In a notebook rich needs ipywidgets, and prints a warning without it.
    in_notebook = console.is_jupyter and find_spec("ipywidgets") is not None
    default = in_notebook if console.is_jupyter else console.is_terminal
    if not (default if call.progress is None else call.progress):
        yield None
        return
    about = TextColumn("saved {task.fields[saved]}{task.fields[losses]}")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Bars(*columns, TimeRemainingColumn(), about, console=console) as bars:
        kept = {
            number: bars.add_task(job(number), total=call.steps, saved=0, losses="")
            for number in range(len(call.states))
        }

        def show(it: Progress) -> None:
            losses = f", {it.losses} lost" if it.losses else ""
            bars.update(kept[it.task], completed=it.step, saved=it.checkpoint, losses=losses)

        yield show
