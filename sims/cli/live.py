"""A run watched: workers' states and the queue, in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

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

    What an event means is noted in a word, and worked out only when a picture is drawn: events are
    many, pictures few.
    """

    wants = ShowProgress.wants | {
        *(JobSubmitted, RunStarted, RunEnded, CopiesPlaced, CopiesSettled, WorkerChanged)
    }

    def __init__(self, title: str, unit: str, end: float, workers: int) -> None:
        super().__init__(title, unit, end)
        self._workers = workers
        self._states: dict[int, WorkerState] = {}
        self._held: dict[tuple[str, int], str] = {}
        """(job, run) -> its workers."""
        self._placed: CopiesPlaced | None = None
        """All copies under way, where all are placed at once."""
        self._alive: dict[str, None] = {}
        """Jobs submitted and not over."""

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RunStarted):
            self._held[event.job, event.run] = event.processors
        elif isinstance(event, RunEnded):
            self._held.pop((event.job, event.run), None)
        elif isinstance(event, WorkerChanged):
            self._states[event.worker] = event.state
        elif isinstance(event, JobSubmitted):
            self._alive[event.job] = None
        elif isinstance(event, CopiesPlaced | CopiesSettled):
            self._placed = event if isinstance(event, CopiesPlaced) else None
        else:
            if isinstance(event, JobCompleted | JobKilled):
                self._alive.pop(event.job, None)
            super().__call__(record)

    def picture(self) -> RenderableType:
        """What a terminal shows."""
        return Group(super().picture(), *self._rows(), self._queue())

    def held(self) -> dict[tuple[str, int], str]:
        """(job, run) -> its workers, of every run under way."""
        held, placed = self._held.copy(), self._placed  # the run goes on meanwhile
        for run in placed.parts() if placed else ():
            held[run.job, run.run] = run.processors
        return held

    def waiting(self) -> list[str]:
        """Jobs that have no run, in the order in which they were submitted."""
        running = {job for job, _ in self.held()}
        return [job for job in list(self._alive) if job not in running]

    def states(self) -> list[str]:
        """Of every worker: busy, idle, reclaimed or down."""
        states = ["idle"] * self._workers
        for processors in self.held().values():
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
        waiting, running = self.waiting(), len({job for job, _ in self.held()})
        more = ", ..." if len(waiting) > WAITING else ""
        who = f": {', '.join(waiting[:WAITING])}{more}" if waiting else ""
        return Text(f"{running:,} running, {len(waiting):,} waiting{who}")
