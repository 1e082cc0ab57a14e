"""Campaigns watched: a bar with rate and time left, or lines; and a line where Ctrl-C ends them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from sims.campaign.engine import Watch
from sims.cli.patience import Teller
from sims.telling import counted


class Rate(ProgressColumn):
    """Cells a second."""

    def render(self, task: Task) -> Text:
        """Unknown until some have ended."""
        return Text(f"{task.speed:,.3g}/s" if task.speed else "-/s")


class Count(Teller):
    """Where nobody watches: how many cells are done, in a line now and then."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title, self._done, self._total = title, 0, 0

    def __call__(self, done: int, total: int) -> None:
        """So many are, of so many."""
        self._done, self._total = done, total

    def line(self) -> str:
        """How far it is."""
        if not self._total:
            return f"{self._title}: setting up"
        return f"{self._title}: {self._done:,} of {counted(self._total, 'run')} done"


@contextmanager
def bar(title: str) -> Iterator[Watch]:
    """To be told (done, asked for): a progress bar on stderr where that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        with Count(title) as count:
            yield count
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    # Replications ended at once, minutes apart: the rate is that of a quarter of an hour.
    progress = Progress(*columns, console=console, transient=True, speed_estimate_period=900)
    with progress:
        task = progress.add_task(title, total=None)

        def watch(done: int, total: int) -> None:
            if progress.tasks[0].total is None:
                # What was there before says nothing of the rate.
                progress.reset(task, total=total, completed=done)
            progress.update(task, completed=done, total=total)

        yield watch


@contextmanager
def interruptible(more: str) -> Iterator[None]:
    """Ctrl-C within says `more`."""
    try:
        yield
    except KeyboardInterrupt:
        # Whoever presses again while workers are stopped would only see a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt(f"; {more}") from None
