"""The laws of a volatile platform (volatile13, section III), replayed from a run's events alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from actors.events import (
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TasksDealt,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from tests.actors.deciders.enrolment.worlds import World

UP, DOWN = WorkerState.UP, WorkerState.DOWN
PROGRAM = TransferKind.PROGRAM
Transfer = TransferStarted | TransferSuspended | TransferEnded | TransferDropped


@define
class Memory:
    """What one worker holds, kept by the simplest bookkeeping there is."""

    state: WorkerState = UP
    tasks: int = 0
    """0: not enrolled."""
    program: bool = False
    data: int = 0
    part: int = 0
    """Slots received of the message in progress."""
    receiving: TransferKind | None = None

    def unenrol(self) -> None:
        self.tasks = self.data = self.part = 0

    def crash(self) -> None:
        self.data = self.part = 0
        self.program = False


@define
class Laws:
    """Fold that fails an assertion at the first record that breaks a law."""

    world: World
    memories: list[Memory] = field(init=False)
    computing: bool = False
    done: int = 0
    """Slots of computation of the present run."""
    work: float = 0
    now: float = 0
    seen: Counter[str] = field(factory=Counter)
    """How often each kind of event was met: a law of nothing proves nothing."""

    def __attrs_post_init__(self) -> None:
        self.memories = [Memory() for _ in self.world.platform]

    @classmethod
    def of(cls, records: Iterable[Record], world: World) -> Laws:
        laws = cls(world)
        for record in records:
            if record.t > laws.now:
                laws.hold_until(record.t)
            laws.seen[type(record.event).__name__] += 1
            laws.take(record.event)
        return laws

    def lacks(self, memory: Memory) -> bool:
        """Whether an enrolled worker lacks program or data."""
        costs = self.world.costs
        no_program = bool(costs.program) and not memory.program
        return no_program or (bool(costs.data) and memory.data < memory.tasks)

    # --- what holds while time passes ---------------------------------------------------------

    def hold_until(self, then: float) -> None:
        slots, self.now = int(then - self.now), then
        for memory in self.memories:
            if not memory.tasks:
                memory.unenrol()  # nobody enrolled it again at that very instant
        enrolled = [memory for memory in self.memories if memory.tasks]
        ready = [memory for memory in enrolled if memory.state is UP and not self.lacks(memory)]
        assert self.computing == (bool(enrolled) and len(ready) == len(enrolled))
        self.done += slots * self.computing
        receiving = [memory for memory in self.memories if memory.receiving]
        assert len(receiving) <= self.world.costs.channels
        for memory in receiving:
            assert memory.state is UP
            assert memory.tasks
            assert self.lacks(memory)
            memory.part += slots
        waiting = [m for m in enrolled if m.state is UP and self.lacks(m) and not m.receiving]
        assert not waiting or len(receiving) == self.world.costs.channels

    # --- what happens at an instant -----------------------------------------------------------

    def take(self, event: Event) -> None:
        match event:
            case WorkerChanged(worker=worker, state=state):
                self.change(self.memories[worker], state)
            case TransferStarted() | TransferSuspended() | TransferEnded() | TransferDropped():
                self.transfer(event)
            case RunStarted(work=work):
                self.done, self.work = 0, work
            case TasksDealt(tasks=tasks):
                self.deal(dict(tasks))
            case StageStarted(stage=stage, rate=rate, done=done):
                self.computing = stage is Stage.COMPUTING and rate > 0
                assert done == self.done
            case RateChanged(rate=rate, done=done):
                self.computing = rate > 0
                assert done == self.done
            case RunEnded(outcome=outcome, done=done):
                self.end(outcome is Outcome.COMPLETED, done)

    def change(self, memory: Memory, state: WorkerState) -> None:
        assert memory.state is not state
        memory.state = state
        if state is DOWN:
            memory.crash()

    def transfer(self, event: Transfer) -> None:
        memory, costs = self.memories[event.worker], self.world.costs
        size = costs.program if event.kind is PROGRAM else costs.data
        match event:
            case TransferStarted(left=left):
                assert memory.program or event.kind is PROGRAM or not costs.program
                assert memory.receiving is None
                assert left == size - memory.part
                memory.receiving = event.kind
            case TransferSuspended(left=left):
                assert memory.receiving is event.kind
                assert left == size - memory.part
                memory.receiving = None
            case TransferDropped():
                assert memory.receiving in (event.kind, None)
                memory.part, memory.receiving = 0, None
            case TransferEnded():
                assert memory.receiving is event.kind
                assert memory.part == size
                memory.receiving, memory.part = None, 0
                memory.program |= event.kind is PROGRAM
                memory.data += event.kind is not PROGRAM

    def deal(self, members: dict[int, int]) -> None:
        [job], platform = self.world.jobs, self.world.platform
        assert sum(members.values()) == job.tasks
        for worker, tasks in members.items():
            memory = self.memories[worker]
            memory.tasks = tasks
            bound = platform[worker].memory
            assert memory.state is UP
            assert 1 <= tasks <= (job.tasks if bound is None else bound)
        assert self.work == max(x * platform[q].task_time for q, x in members.items())

    def end(self, completed: bool, done: float) -> None:
        assert done == self.done
        assert (self.done == self.work) == completed
        self.computing = False
        for memory in self.memories:
            memory.tasks = 0
            if completed:
                memory.unenrol()
