"""Campaigns on a terminal: a bar with rate and time left, and one line where Ctrl-C ends them."""

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


class Rate(ProgressColumn):
    """Cells a second."""

    def render(self, task: Task) -> Text:
        """Unknown until some have ended."""
        return Text(f"{task.speed:,.3g}/s" if task.speed else "-/s")


@contextmanager
def bar(title: str) -> Iterator[Watch]:
    """A progress bar on stderr where that is a terminal, to be told (done, asked for)."""
    console = Console(stderr=True)
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    # Replications ended at once, minutes apart: the rate is that of a quarter of an hour.
    progress = Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=900,
    )
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
