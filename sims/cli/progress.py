"""Shows the progress of a run, or of any number of tasks: with bars on a terminal, by a line now
and then elsewhere."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from actors.runtime import Record
from sims.cli.commands import ProgressReporter
from sims.errors import visible
from sims.history.summary import ENDS, Summary
from sims.telling import counted, time_words, units

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds of wall time before anything is shown on a terminal."""
REFRESH = 0.5
"""Seconds between two pictures of a run; drawing one takes up to 10 ms of the run's time."""


class TerminalReporter(ProgressReporter):
    """Reports progress on a terminal by a picture, drawn twice a second, and elsewhere by lines."""

    @abstractmethod
    def picture(self) -> RenderableType:
        """Return the present progress as an object that rich draws on the terminal."""

    def _watch(self) -> None:
        if sys.stderr is None or not sys.stderr.isatty():
            super()._watch()
        elif not self._over.wait(PATIENCE):
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


class ShowProgress(TerminalReporter):
    """Sink and context manager that shows on stderr how far a run is. The sink receives the run's
    events, and counts jobs and iterations.

    A thread reads the progress, as a policy may compute for minutes without an event.
    """

    stuck = "still the same: a policy is thinking, or this instant has no end"
    wants: frozenset[type] = ENDS

    def __init__(self, title: str, unit: str, end: float) -> None:
        """Prepare for a run named `title` that ends at the virtual time `end` at the latest, in
        `unit`; inf means that no such time is known."""
        super().__init__()
        self._title, self._unit, self._end = title, unit, end
        self._jobs: int | None = None
        self._ends = Summary.brief(ENDS)
        self._now: Callable[[], float] = lambda: 0.0

    def begins(self, jobs: int, now: Callable[[], float]) -> None:
        """Note that the run is set up: `jobs` jobs will come, and `now` returns the virtual
        time."""
        self._jobs, self._now = jobs, now

    def __call__(self, record: Record) -> None:
        self._ends(record)

    # --- telling ------------------------------------------------------------------------------

    @property
    def _done(self) -> int:
        """Number of jobs that are over."""
        return len(self._ends.completed) + len(self._ends.killed)

    @property
    def part(self) -> float:
        """Fraction of the run that is over, from 0 to 1: the larger one of the fraction of its jobs
        that are done and, if its latest end is known, that of its time."""
        parts = [self._done / self._jobs] if self._jobs else [0.0]
        if isfinite(self._end) and self._end > 0:
            parts.append(self._now() / self._end)
        return min(max(parts), 1.0)

    def line(self) -> str:
        """Return a line such as `time 300 of 1,000 slots, 2 of 5 jobs done, about 12 s left`."""
        if self._jobs is None:
            return "setting up the run"
        limit = f" of {self._end:,.0f}" if isfinite(self._end) else ""
        clauses = [f"time {self._now():,.0f}{limit} {units(self._unit)}"]
        if self._ends.iterations:
            clauses.append(counted(self._ends.iterations, "iteration"))
        clauses.append(f"{self._done:,} of {counted(self._jobs, 'job')} done")
        left = self._left()
        return ", ".join(clauses if left is None else [*clauses, f"about {left} left"])

    def _left(self) -> str | None:
        """Return, as text, the wall time left if the rest goes on at the pace so far, or None while
        nothing is over."""
        return time_words(self.taken * (1 - self.part) / self.part) if self.part > 0 else None

    def picture(self) -> RenderableType:
        """Return the progress bar as the terminal shows it."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        # A bar alone does not end its line.
        bar = Padding(ProgressBar(total=1, completed=self.part), 0)
        return Group(Text(visible(f"{self._title}: {self.line()}")), bar)


class Count(TerminalReporter):
    """Reports the number of finished tasks: call it with the numbers of tasks done and asked for.

    With `bound`, the second number is only a bound, and is shown as "at most".
    """

    def __init__(self, title: str, bound: bool = False) -> None:
        super().__init__()
        self._title, self._done, self._total = title, 0, 0
        self._most = "at most " if bound else ""
        # Tasks finished at the first report come from a store: the pace is that of later ones.
        self._known, self._since = 0, 0.0

    def __call__(self, done: int, total: int) -> None:
        """Note that `done` of `total` tasks are finished."""
        if not self._total:
            self._known, self._since = done, self.taken
        self._done, self._total = done, total

    def line(self) -> str:
        """Return the number of finished tasks, and the time left at this pace, as a line."""
        if not self._total:
            return f"{self._title}: setting up"
        fresh = self._done - self._known
        total = f"{self._most}{counted(self._total, 'run')}"
        line = f"{self._title}: {self._done:,} of {total} done"
        if not fresh:
            return line
        left = (self._total - self._done) / fresh * (self.taken - self._since)
        return f"{line}, {self._most or 'about '}{time_words(left)} left"

    @cached_property
    def _bar(self) -> Progress:
        """Progress bar of one task, whose total is not known yet."""
        from rich import progress
        from rich.text import Text

        class Rate(progress.ProgressColumn):
            """Tasks a second; unknown until some have ended."""

            def render(self, task: progress.Task) -> Text:
                return Text(f"{task.speed:,.3g}/s" if task.speed else "-/s")

        columns = (
            progress.TextColumn(visible(self._title), markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(separator=f" of {self._most}" if self._most else "/"),
            Rate(),
            progress.TimeRemainingColumn(),
        )
        # Replications ended at once, minutes apart: the rate is that of a quarter of an hour.
        bar = progress.Progress(*columns, speed_estimate_period=900)
        bar.add_task(self._title, total=None)
        return bar

    def picture(self) -> RenderableType:
        bar, [task] = self._bar, self._bar.tasks
        if self._total:
            if task.total is None:
                # Results of earlier sessions do not count for the rate.
                bar.reset(task.id, total=self._total, completed=self._known)
            bar.update(task.id, total=self._total, completed=self._done)
        return bar.get_renderable()


def tracked(results: Iterable[T], tasks: Collection[object], title: str) -> Iterator[T]:
    """Yield the results of these tasks as they come, and meanwhile show how many have come, under
    `title`."""
    with Count(title) as watch:
        watch(0, len(tasks))
        for done, result in enumerate(results, start=1):
            watch(done, len(tasks))
            yield result
