"""Progress on a terminal, for runs that take more than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from actors.events import IterationCompleted, JobCompleted, JobKilled, JobSubmitted
from actors.runtime import Record
from sims.telling import counted

PATIENCE = 1.0
"""Seconds of wall time before anything is shown."""


class ShowProgress:
    """Sink and context manager: a bar of jobs done, where somebody watches.

    A log says nothing of iterations to come: of those that are done it tells how many there are.
    """

    wants = frozenset((JobSubmitted, JobCompleted, JobKilled, IterationCompleted))

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._total = self._done = self._iterations = 0
        self._bar: Progress | None = None
        self._watched = sys.stderr.isatty()

    def __call__(self, record: Record) -> None:
        match record.event:
            case JobSubmitted():
                self._total += 1
            case JobCompleted() | JobKilled():
                self._done += 1
            case IterationCompleted():
                self._iterations += 1
        if self._watched and time.monotonic() - self._began > PATIENCE:
            self._show(record.t)

    def _show(self, t: float) -> None:
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            console = Console(stderr=True)
            self._bar = Progress(*columns, console=console, transient=True)
            self._bar.start()
            self._bar.add_task(self._title)
        iterations = f", {counted(self._iterations, 'iteration')}" if self._iterations else ""
        title = f"{self._title}: {self._done}/{self._total}{iterations}, time {t:,.0f}"
        self._bar.update(
            self._bar.task_ids[0], completed=self._done, total=self._total, description=title
        )

    def __enter__(self) -> ShowProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
