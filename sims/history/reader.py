"""Rebuilds the state of a simulated system from a log's records (workers, runs, waiting jobs), and
writes the log's facts as rows.

History is the one reader of events: what else reads a log reads a history's rows, or asks it for
the state; no other reader rebuilds the state by itself.

*To read rows*: call `take` with a class of rows (`WRITERS`) and a function. The history calls it
with each row of that class once the row is complete, and a second function, if you give one, with
each row as it begins, with what is known by then. Rows come as the log is read; memory grows with
what is in the system, never with the log.

    history = History()
    history.take(RunRow, lambda row: print(row.job, row.run, row.start, row.end, row.outcome))
    history.read(LogFile(path))

*To ask*: call `History.of(records)`, or `apply` record by record, up to the instant in question.
`jobs` has the jobs in the system (`queue`: those that wait; `waiting` and `running`: their
numbers), `runs` the runs that hold members (under way, or ended with their members kept), `workers`
the workers that are away or have a message under way, `speeds` the speeds that the log gives;
`free` and `holders(worker)` say which workers are held. A worker without an entry is as at the
start: UP, at speed 1, without a message. A job that is over and a run whose members are released
are dropped.

*To follow the state*: a subclass of `Listener` overrides the hooks that it needs, and
`history.listen` adds it. The writers of rows are listeners, and what explains a job's life
(`sims.trace`) asks for the state as it changes. Spans of time come without matching on events:
`run_span` and `run_ended` say that what a run did since `run.since` is over, and `run` is then
still as it was over that time; `worker_span` does the same for a worker. All other hooks come after
the change, in the order of the log. `run_over` and `job_over` report every run and every job once,
ended or still under way where the log ends.

*To handle an event that is no state and no row* (a price, a sign in a picture), call
`history.on(WorkerPriced, handler)`: the history calls `handler(record, event)` once its state
includes the event.

One line of a log may stand for many runs (`Compound`): rows and hooks come for each of them; if
nobody needs runs, the history makes none before `runs` is asked for. A log of which only some lines
are decoded (a million are too many) suffices for jobs, runs, workers' states, `queue` and `free` if
every line of a class in `HOLDING` is among them; `sims.history.lines` picks these lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field

from actors.events import FaultsExpected, ScenarioStarted, WorkerChanged
from actors.runtime import Event, Record
from sims.history.head import Head
from sims.history.iterations import IterationWriter
from sims.history.measured import MeasuredWriter
from sims.history.partitions import Partitions
from sims.history.promises import PromiseWriter
from sims.history.repair import RepairWriter
from sims.history.replacement import Replacement
from sims.history.replicas import Replicas
from sims.history.runs import DECISIONS, HELD, Part, Runs
from sims.history.saving import Checkpoints, CheckpointWriter
from sims.history.spans import SpanWriter
from sims.history.spares import SpareWriter
from sims.history.standbys import Standbys
from sims.history.states import HOOKS, Job, Key, Listener, Run, Worker
from sims.history.storage import Storage, StorageWriter
from sims.history.summary import Summary
from sims.history.transfers import TransferWriter
from sims.history.whole_nodes import WholeNodes
from sims.history.workers import Handler
from sims.history.writers import JobWriter, QueueWriter, RunWriter, StateWriter, Writer

if TYPE_CHECKING:
    from sims.scenario import Scenario

__all__ = ["DECISIONS", "HOLDING", "History", "Job", "Key", "Listener", "Run", "Worker"]

TABLES: Mapping[str, type[Writer]] = {
    "jobs": JobWriter,
    "runs": RunWriter,
    "spans": SpanWriter,
    "states": StateWriter,
    "spares": SpareWriter,
    "transfers": TransferWriter,
    "checkpoints": CheckpointWriter,
    "iterations": IterationWriter,
    "promises": PromiseWriter,
    "repairs": RepairWriter,
    "queue": QueueWriter,
    "storage": StorageWriter,
    "measured": MeasuredWriter,
}
"""Maps the name of each table of rows to the class that writes them."""
WRITERS: Mapping[type, type[Writer]] = {it.row: it for it in TABLES.values()}
"""Maps each class of rows to the class that writes them."""
PARTS: tuple[type[Part], ...] = (
    *(Checkpoints, Standbys, Replacement, Replicas, Storage),
    *(WholeNodes, Partitions),
)
"""Mechanisms of runs, each with the events by which it changes the state."""
HOLDING: frozenset[type[Event]] = HELD.union(*(part.holds for part in PARTS))
"""Event classes that determine which jobs wait, which runs hold which workers, and which workers
are away, or will be; a log's other events are not needed for these questions."""

Hook = Callable[..., object]
L = TypeVar("L", bound=Listener)
R = TypeVar("R")


@define(eq=False)
class History(Runs):
    """The state that a log tells of, after the records that `apply` has been called with: workers,
    jobs, runs and queue. Each record of a log must be applied, in order.

    The records of the event classes in `HOLDING` suffice for most of the state. Raises LookupError
    where an event contradicts earlier ones.
    """

    now: float = 0
    """Virtual time of the last record."""
    events: int = 0
    """Number of events in the log so far."""
    header: ScenarioStarted | None = None
    _on: defaultdict[type, list[Handler]] = field(init=False)
    _overrides: defaultdict[str, list[Hook]] = field(init=False, factory=lambda: defaultdict(list))
    """Maps each hook to the methods of listeners that override it."""
    _writers: dict[type, Writer] = field(init=False, factory=dict)
    """Maps each class of rows that somebody takes to what writes them."""
    _takers: defaultdict[type, list[Hook]] = field(init=False, factory=lambda: defaultdict(list))

    def __attrs_post_init__(self) -> None:
        handlers = self.handlers() | {ScenarioStarted: self._begin}
        self.parts = [part(self) for part in PARTS]
        self.completing = [it for it in self.parts if type(it).submitted is not Part.submitted]
        for part in self.parts:
            handlers |= part.handlers()
        self._on = defaultdict(list, {kind: [handler] for kind, handler in handlers.items()})

    @classmethod
    def of(cls, records: Iterable[Record], *listeners: Listener) -> History:
        """Apply all these records to a new history, close it, and return it. The listeners are
        notified meanwhile."""
        history = cls()
        for listener in listeners:
            history.listen(listener)
        history.read(records)
        return history

    def read(self, records: Iterable[Record]) -> None:
        """Apply all these records, which are the rest of the log, and close the history."""
        for record in records:
            self.apply(record)
        self.close()

    def take(
        self,
        kind: type[R],
        over: Callable[[R], object],
        begun: Callable[[R], object] | None = None,
    ) -> None:
        """Have `over` called with each row of class `kind` once it is complete, and `begun`, if
        given, with each row as it begins, with what is known then. Rows of spans, of the queue and
        of the storage have no such beginning."""
        writer = self._writers.get(kind)
        if writer is None:
            writer = self._writers[kind] = self.listen(WRITERS[kind]())
            for event, handler in writer.handlers().items():
                self.on(event, handler)
        takers = self._takers[kind]
        takers.append(over)
        writer.over = _together(takers[:])
        if begun is not None:
            known: list[Hook] = [] if writer.begun is None else [writer.begun]
            writer.begun = _together([*known, begun])

    def listen(self, listener: L) -> L:
        """Have the history notify `listener` of all changes from now on, after the listeners before
        it. Return the listener."""
        listener.history = self
        for hook in HOOKS:
            if getattr(type(listener), hook) is not getattr(Listener, hook):
                self._overrides[hook].append(getattr(listener, hook))
                # Set on the instance: a hook without listeners stays the empty method of
                # `Listener`, a cheap call.
                setattr(self._notify, hook, _together(self._overrides[hook]))
        return listener

    def on(self, kind: type[Event], handler: Handler) -> None:
        """Have the history call `handler(record, event)` with each event of class `kind`, once the
        state includes the event.

        The events that a `Compound`, one line for many events, stands for do not reach the handler.
        """
        self._on[kind].append(handler)

    def sum_up(self, summary: Summary) -> None:
        """Have `summary` count the log's events from now on; changes of workers, which may be most
        of a log, only once the log announces expected faults."""
        for kind in summary.wants:
            self.on(kind, lambda record, _: summary(record))

        def count_faults(_: Record, event: FaultsExpected) -> None:
            if not summary.faults.counted:
                summary.faults.counted = True
                self.on(WorkerChanged, lambda record, _: summary(record))

        self.on(FaultsExpected, count_faults)

    def apply(self, record: Record) -> None:
        """Bring the state up to date with the next record of the log, and notify listeners.

        Raises LookupError where the record contradicts earlier ones.
        """
        if record.t > self.now:
            self._report_gone(self.now)
            self._notify.time_passed(record.t)
        self.now = record.t
        self.events = record.seq + 1
        handlers = self._on.get(type(record.event))
        if handlers is not None:
            for handler in handlers:
                handler(record, record.event)

    def close(self) -> None:
        """End the history with the log: notify listeners of all runs that are under way and of all
        jobs that are still in the system, then of the log's end."""
        for run in self.runs.values():
            if run.end is None:
                self._notify.run_over(run, self.now)
        self._report_gone(self.now)
        for job in self.jobs.values():
            self._notify.job_over(job.row(self.now))
        self._notify.log_ended(self.now)

    def _begin(self, record: Record, event: ScenarioStarted) -> None:
        self.header, self.processors = event, event.processors
        if self.head.given is None:
            self.head = Head(event.text)

    def use_scenario(self, scenario: Scenario) -> None:
        """Take what the log's first line has of the scenario from the scenario itself, in the
        process that runs it."""
        self.head = Head(given=scenario)


def _together(methods: list[Hook]) -> Hook:
    """Return one function that calls all of these listeners' methods, in order, with the arguments
    that it gets."""
    if len(methods) == 1:
        return methods[0]

    if len(methods) == 2:
        first, second = methods

        def both(*arguments: object) -> None:
            first(*arguments)
            second(*arguments)

        return both

    def notify(*arguments: object) -> None:
        for method in methods:
            method(*arguments)

    return notify
