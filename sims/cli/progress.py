"""How far a run, or any number of tasks, is, wherever it is stuck: on a terminal rich's bars, in a
pipe a line now and then; and what Ctrl-C leaves."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from actors.events import IterationCompleted, JobCompleted, JobKilled
from actors.runtime import Record
from sims.cli.commands import Teller
from sims.errors import visible
from sims.telling import counted, units

if TYPE_CHECKING:
    from rich.console import RenderableType

T = TypeVar("T")
Watch = Callable[[int, int], None]
"""Is told (tasks done, tasks asked for)."""

PATIENCE = 1.0
"""Seconds of wall time before anything is shown on a terminal."""
REFRESH = 0.5
"""Seconds between two pictures of a run: one takes up to 10 ms of it."""


class ShowProgress(Teller):
    """Sink and context manager: how far a run is, on stderr.

    A thread looks at it, for a policy may think for minutes in which no event happens: on a
    terminal twice a second, elsewhere in a line now and then.
    """

    stuck = "still the same: a policy is thinking, or this instant has no end"
    wants: frozenset[type] = frozenset((JobCompleted, JobKilled, IterationCompleted))

    def __init__(self, title: str, unit: str, end: float) -> None:
        """`end`: when it is over at the latest, in virtual time."""
        super().__init__()
        self._title, self._unit, self._end = title, unit, end
        self._jobs: int | None = None
        self._done = self._iterations = 0
        self._now: Callable[[], float] = lambda: 0.0

    def begins(self, jobs: int, now: Callable[[], float]) -> None:
        """All is set up: so many jobs will come; `now` tells the virtual time."""
        self._jobs, self._now = jobs, now

    def __call__(self, record: Record) -> None:
        if isinstance(record.event, IterationCompleted):
            self._iterations += 1
        else:
            self._done += 1

    # --- telling ------------------------------------------------------------------------------

    @property
    def part(self) -> float:
        """How much of the run is over, as far as its end is known: from 0 to 1."""
        parts = [self._done / self._jobs] if self._jobs else [0.0]
        if isfinite(self._end) and self._end > 0:
            parts.append(self._now() / self._end)
        return min(max(parts), 1.0)

    def line(self) -> str:
        """`time 300 of 1,000 slots, 2 of 5 jobs done, about 12 s left`."""
        if self._jobs is None:
            return "setting up the run"
        limit = f" of {self._end:,.0f}" if isfinite(self._end) else ""
        told = [f"time {self._now():,.0f}{limit} {units(self._unit)}"]
        if self._iterations:
            told.append(counted(self._iterations, "iteration"))
        told.append(f"{self._done:,} of {counted(self._jobs, 'job')} done")
        left = self._left()
        return ", ".join(told if left is None else [*told, f"about {left} left"])

    def _left(self) -> str | None:
        """At this pace; None while there is none."""
        part, taken = self.part, self.taken
        if part <= 0:
            return None
        seconds = taken * (1 - part) / part
        hours, minutes = seconds / 3600, seconds / 60
        if hours >= 2:
            return f"{hours:,.0f} h"
        return f"{minutes:.0f} min" if minutes >= 2 else f"{seconds:.0f} s"

    def picture(self) -> RenderableType:
        """What a terminal shows."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        # A bar alone does not end its line.
        bar = Padding(ProgressBar(total=1, completed=self.part), 0)
        return Group(Text(visible(f"{self._title}: {self.line()}")), bar)

    # --- the thread ---------------------------------------------------------------------------

    def _watch(self) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            self._show()
        else:
            super()._watch()

    def _show(self) -> None:
        if self._over.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.live import Live

        shown = Live(
            get_renderable=self.picture,
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=1 / REFRESH,
        )
        with shown:
            self._over.wait()


class Count(Teller):
    """Where nobody watches: how many tasks are done, in a line now and then."""

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
    """Told (done, asked for), it shows a progress bar on stderr where that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        with Count(title) as count:
            yield count
        return
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        """Tasks a second; unknown until some have ended."""

        def render(self, task: progress.Task) -> Text:
            return Text(f"{task.speed:,.3g}/s" if task.speed else "-/s")

    columns = (
        progress.TextColumn(visible(title), markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        Rate(),
        progress.TimeRemainingColumn(),
    )
    # Replications ended at once, minutes apart: the rate is that of a quarter of an hour.
    console = Console(stderr=True)
    shown = progress.Progress(*columns, console=console, transient=True, speed_estimate_period=900)
    with shown:
        one = shown.add_task(title, total=None)

        def watch(done: int, total: int) -> None:
            if shown.tasks[0].total is None:
                # What was there before says nothing of the rate.
                shown.reset(one, total=total, completed=done)
            shown.update(one, completed=done, total=total)

        yield watch


def tracked(results: Iterable[T], tasks: Collection[object], title: str) -> Iterator[T]:
    """The results of these tasks, as they come."""
    with bar(title) as watch:
        watch(0, len(tasks))
        for done, result in enumerate(results, start=1):
            watch(done, len(tasks))
            yield result


@contextmanager
def interruptible(more: str) -> Iterator[None]:
    """Ctrl-C and SIGTERM within say `more`."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        # Whoever presses again while workers are stopped would only see a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise type(interrupt)(f"; {more}") from None
