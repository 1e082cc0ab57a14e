"""The laws of a volatile platform (002, III), replayed from a run's events alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from actors.events import Outcome, RunEnded
from actors.runtime import Record
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    ConfigurationChosen,
    PlatformDescribed,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from policies.availability import WorkerState

UP, DOWN = WorkerState.UP, WorkerState.DOWN
PROGRAM = TransferKind.PROGRAM


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
        self.unenrol()
        self.program = False


@define
class Laws:
    """Fold that fails an assertion at the first record that breaks a law."""

    platform: PlatformDescribed | None = None
    memories: dict[str, Memory] = field(factory=dict)
    computing: bool = False
    done: int = 0
    """Slots of computation of the present run."""
    work: int = 0
    now: float = 0
    seen: Counter[str] = field(factory=Counter)
    """How often each kind of event was met: a law of nothing proves nothing."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> Laws:
        laws = cls()
        for record in records:
            if record.t > laws.now:
                laws.hold_until(record.t)
            laws.seen[type(record.event).__name__] += 1
            laws.take(record)
        return laws

    def described(self) -> PlatformDescribed:
        assert self.platform is not None
        return self.platform

    def lacks(self, memory: Memory) -> bool:
        """Whether an enrolled worker lacks program or data."""
        platform = self.described()
        no_program = bool(platform.program) and not memory.program
        return no_program or (bool(platform.data) and memory.data < memory.tasks)

    # --- what holds while time passes ---------------------------------------------------------

    def hold_until(self, then: float) -> None:
        slots, self.now = int(then - self.now), then
        memories = self.memories.values()
        enrolled = [memory for memory in memories if memory.tasks]
        ready = [memory for memory in enrolled if memory.state is UP and not self.lacks(memory)]
        assert self.computing == (bool(enrolled) and len(ready) == len(enrolled))
        self.done += slots * self.computing
        receiving = [memory for memory in memories if memory.receiving]
        assert len(receiving) <= self.described().channels
        for memory in receiving:
            assert memory.state is UP
            assert memory.tasks
            assert self.lacks(memory)
            memory.part += slots
        waiting = [m for m in enrolled if m.state is UP and self.lacks(m) and not m.receiving]
        assert not waiting or len(receiving) == self.described().channels

    # --- what happens at an instant -----------------------------------------------------------

    def take(self, record: Record) -> None:
        match record.event:
            case PlatformDescribed() as platform:
                self.platform = platform
            case WorkerChanged(worker=worker, state=state):
                self.change(worker, state)
            case WorkerEnrolled(worker=worker, tasks=tasks):
                self.memories[worker].tasks = tasks
            case WorkerReleased(worker=worker):
                self.memories[worker].unenrol()
            case TransferStarted() | TransferSuspended() | TransferEnded():
                self.transfer(record.event)
            case _:
                self.take_of_run(record)

    def take_of_run(self, record: Record) -> None:
        match record.event:
            case ConfigurationChosen():
                self.configure(record.event)
            case ComputationStarted():
                self.computing = True
            case ComputationSuspended(done=done):
                self.computing = False
                assert done == self.done
            case RunEnded(outcome=outcome):
                self.computing = False
                assert (self.done == self.work) == (outcome is Outcome.COMPLETED)

    def change(self, worker: str, state: WorkerState) -> None:
        memory = self.memories.setdefault(worker, Memory())
        memory.state = state
        if state is DOWN:
            memory.crash()

    def transfer(self, event: TransferStarted | TransferSuspended | TransferEnded) -> None:
        memory = self.memories[event.worker]
        size = self.described().program if event.kind is PROGRAM else self.described().data
        match event:
            case TransferStarted(left=left):
                assert memory.program or event.kind is PROGRAM or not self.described().program
                assert memory.receiving is None
                assert left == size - memory.part
                memory.receiving = event.kind
            case TransferSuspended(left=left):
                assert memory.receiving is event.kind
                assert left == size - memory.part or memory.state is DOWN
                memory.receiving = None
            case TransferEnded():
                assert memory.receiving is event.kind
                assert memory.part == size
                memory.receiving, memory.part = None, 0
                memory.program |= event.kind is PROGRAM
                memory.data += event.kind is not PROGRAM

    def configure(self, event: ConfigurationChosen) -> None:
        platform, members = self.described(), dict(event.members)
        names = list(self.memories)
        assert sum(members.values()) == platform.tasks
        assert len(members) == len(event.members)
        for worker, tasks in members.items():
            assert self.memories[worker].state is UP
            assert 1 <= tasks <= platform.bounds[names.index(worker)]
        self.done = 0
        self.work = max(x * platform.speeds[names.index(w)] for w, x in members.items())
        assert event.work == self.work
