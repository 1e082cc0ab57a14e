"""A run watched: workers' states and the queue, in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from rich.console import Group, RenderableType
from rich.text import Text

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    RunEnded,
    RunStarted,
    WorkerChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.cli.progress import ShowProgress
from sims.parts import parts

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
    """As ShowProgress, and below it every worker and who waits."""

    wants = ShowProgress.wants | {
        *(JobSubmitted, RunStarted, RunEnded, CopiesPlaced, CopiesSettled, WorkerChanged)
    }

    def __init__(
        self, title: str, unit: str, end: float, workers: int, ahead: str | None = None
    ) -> None:
        super().__init__(title, unit, end, ahead)
        self._workers = workers
        self._states: dict[int, WorkerState] = {}
        self._held: dict[tuple[str, int], str] = {}
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, None] = {}

    def __call__(self, record: Record) -> None:
        for part in parts(record):
            self._tell(part)

    def _tell(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RunStarted):
            self._held[event.job, event.run] = event.processors
            self._running[event.job] += 1
            self._waiting.pop(event.job, None)
        elif isinstance(event, RunEnded):
            if self._held.pop((event.job, event.run), None) is not None:
                self._running[event.job] -= 1
            if not self._running[event.job]:
                self._waiting[event.job] = None
        elif isinstance(event, WorkerChanged):
            self._states[event.worker] = event.state
        elif isinstance(event, JobSubmitted):
            self._waiting[event.job] = None
        else:
            if isinstance(event, JobCompleted | JobKilled):
                self._waiting.pop(event.job, None)
            super().__call__(record)

    def picture(self) -> RenderableType:
        """What a terminal shows."""
        return Group(super().picture(), *self._rows(), self._queue())

    def states(self) -> list[str]:
        """Of every worker: busy, idle, reclaimed or down."""
        # Copied first: the run goes on meanwhile.
        states = ["idle"] * self._workers
        for processors in list(self._held.values()):
            for worker in numbers_in(processors):
                states[worker] = "busy"
        for worker, state in list(self._states.items()):
            if state is not WorkerState.UP:
                states[worker] = state.name.lower()
        return states

    def _rows(self) -> Iterator[Text]:
        states = self.states()
        if self._workers <= DRAWN:
            for first in range(0, self._workers, ROW):
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
        names = list(islice(list(self._waiting), WAITING + 1))
        more = ", ..." if len(names) > WAITING else ""
        who = f": {', '.join(names[:WAITING])}{more}" if names else ""
        running = sum(1 for runs in list(self._running.values()) if runs)
        return Text(f"{running:,} running, {len(self._waiting):,} waiting{who}")
