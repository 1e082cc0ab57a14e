"""The state that a log tells of, folded from its records: who is UP, who holds whom, who waits.

Everything that reads a log asks a `History` for it, or listens to one; none rebuilds it.

*To ask*: `History.of(records)`, or `apply` record by record, up to the instant in question. `jobs`
are in the system (`queue`: those that wait; `waiting` and `running`: how many), `runs` hold members
(under way, or ended with their members kept), `workers` are away or have a message under way,
`speeds` were told, `free` and `holders(worker)` say who holds whom. What has no entry is as at the
start: a worker UP, at speed 1, without a message. Memory grows with what is in the system, never
with the log: a job that is over and a run that is released are forgotten.

*To listen*: subclass `Listener`, override what you want to be notified of, and hand it to
`history.listen`. Spans come without matching on events: `run_span` and `run_ended` tell that what a
run did since `run.since` is over, and `run` is then still as it was over that time; `worker_span`
likewise; `time_passed` comes before anything changes at a later instant, with the state of the time
that has passed. All other hooks come after the change, in the order of the log. `run_over` and
`job_over` tell of every run and job once, ended or still under way where the log ends. A listener
that counts or draws asks its `history` in a hook; it never changes it.

    class Busy(Listener):
        def run_ended(self, run, record, done):
            print(run.job.name, run.number, run.processors, run.start, run.end, run.outcome)

    History.of(LogFile(path), Busy())

*An event that is your own subject* and no state (a reservation's change, a price, an expected end):
`history.on(WorkerPriced, handler)`; `handler(record, event)` is called once the state knows of it.

One line may tell of many runs (`Compound`): listeners hear of each; where no one listens to runs,
none is made before `runs` is asked for. A log whose lines are picked before they are decoded (a
million are too many to decode) is enough for jobs, runs, workers' states, `queue` and `free` where
every line of a class in `HOLDING` is among them; `sims.history.lines` picks them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from attrs import define, field

from actors.events import ScenarioStarted
from actors.runtime import Event, Record
from sims.history.runs import HOLDING, Runs
from sims.history.states import HOOKS, Job, Key, Listener, Run, Worker
from sims.history.workers import Handler

__all__ = ["HOLDING", "History", "Job", "Key", "Listener", "Run", "Worker"]


Hook = Callable[..., None]
L = TypeVar("L", bound=Listener)


@define(eq=False)
class History(Runs):
    """Fold: `apply` it to each record of a log, in order, or to those of `HOLDING`.

    Raises LookupError where an event contradicts those before.
    """

    now: float = 0
    """Virtual time of the last record."""
    events: int = 0
    """How many the log has had."""
    header: ScenarioStarted | None = None
    _on: defaultdict[type, list[Handler]] = field(init=False)
    _heard: defaultdict[str, list[Hook]] = field(init=False, factory=lambda: defaultdict(list))
    """By hook: the methods that override it."""

    def __attrs_post_init__(self) -> None:
        handlers = self.handlers() | {ScenarioStarted: self._begin}
        self._on = defaultdict(list, {kind: [handler] for kind, handler in handlers.items()})

    @classmethod
    def of(cls, records: Iterable[Record], *listeners: Listener) -> History:
        """The history of whole records, once all of them have been applied."""
        history = cls()
        for listener in listeners:
            history.listen(listener)
        for record in records:
            history.apply(record)
        history.close()
        return history

    def listen(self, listener: L) -> L:
        """Notify `listener` of all from now on, after those that listen already."""
        listener.history = self
        for hook in HOOKS:
            if getattr(type(listener), hook) is not getattr(Listener, hook):
                self._heard[hook].append(getattr(listener, hook))
                setattr(self._notify, hook, _together(self._heard[hook]))
        return listener

    def on(self, kind: type[Event], handler: Handler) -> None:
        """Call `handler(record, event)` with each event of this class, once the state knows of it.
        It is not called with what a `Compound` stands for."""
        self._on[kind].append(handler)

    def apply(self, record: Record) -> None:
        """The log goes on with this record."""
        if record.t > self.now:
            self._notify.time_passed(record.t)
        self.now = record.t
        self.events = record.seq + 1
        handlers = self._on.get(type(record.event))
        if handlers is not None:
            for handler in handlers:
                handler(record, record.event)

    def close(self) -> None:
        """The log ends here."""
        for run in self.runs.values():
            if run.end is None:
                self._notify.run_over(run, self.now)
        for job in self.jobs.values():
            self._notify.job_over(job, self.now)
        self._notify.log_ended(self.now)

    def _begin(self, record: Record, event: ScenarioStarted) -> None:
        self.header, self.processors = event, event.processors


def _together(methods: list[Hook]) -> Hook:
    """One that calls all of them."""
    if len(methods) == 1:
        return methods[0]

    def notify(*what: object) -> None:
        for method in methods:
            method(*what)

    return notify
