"""Maintenance, as the scheduler of a queue sees it: windows that are ahead take workers DOWN, and a
job starts only on workers that stay UP to its expected end (rules.md, M2).

Which workers a placement chooses is not always known beforehand. So those that a window takes are
set aside in the pool while a job's workers are chosen, and are free again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from attrs import define

from actors.intervals import Intervals, intervals_of, members
from actors.pool import Pool
from policies.interface.maintenance import Maintenance
from policies.interface.queue import Queued


@define(eq=False)
class WindowsAhead:
    """Keeps the starts of a queue's jobs clear of windows of maintenance."""

    windows: Maintenance
    pool: Pool

    def left(self, now: float) -> Maintenance | None:
        """Return the windows, or None if none is under way at `now` or still to come."""
        return self.windows if self.windows.left(now) else None

    @contextmanager
    def clear_of(self, waiting: Queued, now: float) -> Iterator[bool]:
        """Set aside, within the context, the free workers that a window takes DOWN before the job
        of `waiting` would end if it started now. Yield whether enough workers are left."""
        self.pool.close(self._closed(waiting, now))
        yield waiting.processors <= self.pool.free
        self.pool.reopen()

    def _closed(self, waiting: Queued, now: float) -> Intervals:
        numbers = self.pool.numbers
        assert numbers is not None
        group_of = self.windows.group_of
        may = self.windows.open_to(waiting.processors, waiting.held, now)
        return intervals_of(n for n in members(numbers.intervals()) if not may[group_of[n]])

    def expected(self, end: float, workers: Sequence[int], now: float) -> float:
        """Return when a run on these workers, which would end at `end`, is expected to: then, or
        when a window takes one of them DOWN."""
        return min(end, self.windows.next_from(workers, now))
