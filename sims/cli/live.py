"""A run watched: workers' states and the queue, in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from threading import Lock

from rich.console import Group, RenderableType
from rich.text import Text

from actors.intervals import spans_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.cli.progress import ShowProgress
from sims.errors import visible
from sims.history import HOLDING, History

DRAWN = 400
"""Workers drawn one by one; of more only how many are in which state is told."""
ROW = 80
"""Workers in a row."""
WAITING = 12
"""Waiting jobs that are named."""

SIGNS = {
    "busy": ("\N{FULL BLOCK}", "green"),
    "idle": ("\N{MIDDLE DOT}", "default"),
    "reclaimed": ("\N{MEDIUM SHADE}", "yellow"),
    "down": ("\N{LIGHT SHADE}", "red"),
}
"""How a worker is drawn, by what it is or does; the shape alone tells them apart."""


class ShowLive(ShowProgress):
    """As ShowProgress, and below it every worker and who waits.

    A picture is worked out from the run's history only when it is drawn: events are many, pictures
    few.
    """

    wants = ShowProgress.wants | HOLDING

    def __init__(self, title: str, unit: str, end: float, workers: int) -> None:
        super().__init__(title, unit, end)
        self._history = History(workers)
        self._lock = Lock()
        """The run goes on while a picture is drawn."""

    def __call__(self, record: Record) -> None:
        with self._lock:
            self._history.apply(record)
        if type(record.event) in ShowProgress.wants:
            super().__call__(record)

    def picture(self) -> RenderableType:
        """What a terminal shows."""
        return Group(super().picture(), *self._rows(), self._queue())

    def waiting(self) -> list[str]:
        """Jobs that hold no workers, in the order in which they were submitted."""
        with self._lock:
            return [job.name for job in self._history.queue]

    def states(self) -> list[str]:
        """Of every worker: busy, idle, reclaimed or down."""
        states = ["idle"] * self._history.processors
        with self._lock:
            for run in self._history.runs.values():
                for first, last in spans_in(run.processors):
                    states[first : last + 1] = ["busy"] * (last + 1 - first)
            for worker in self._history.workers.values():
                if worker.state is not WorkerState.UP:
                    states[worker.number] = worker.state.name.lower()
        return states

    def _rows(self) -> Iterator[Text]:
        states = self.states()
        if len(states) <= DRAWN:
            for first in range(0, len(states), ROW):
                row = Text()
                for state in states[first : first + ROW]:
                    row.append(*SIGNS[state])
                yield row
        counts = Counter(states)
        told = Text()
        for state, (sign, style) in SIGNS.items():
            told.append(sign, style).append(f" {state} {counts[state]:,}   ")
        yield told

    def _queue(self) -> Text:
        waiting, running = self.waiting(), self._history.running
        more = ", ..." if len(waiting) > WAITING else ""
        who = f": {', '.join(waiting[:WAITING])}{more}" if waiting else ""
        return Text(visible(f"{running:,} running, {len(waiting):,} waiting{who}"))
