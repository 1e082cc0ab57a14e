"""From a log's records to the state that they tell of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from attrs import define, field

from actors.events import ScenarioStarted
from actors.runtime import Event, Record
from sims.history.runs import Runs
from sims.history.states import HOOKS, Listener
from sims.history.workers import Handler

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
