"""Plans a queue around windows of maintenance (rules.md, M2).

Workers that share their windows are a group; of each group the profile counts the free workers over
time. A job uses workers of the groups that no window closes to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

import numpy as np
from attrs import define
from numpy.typing import NDArray

from policies.interface.maintenance import Maintenance
from policies.interface.queue import BatchView, Decision, Queued, Reservation

Change = tuple[float, int, int]
"""A time, a group, and the number of workers of it that become free then."""


Chosen = tuple[NDArray[np.int64], Sequence[int]]
"""Number of workers of each group, and the workers, where they are known."""


@define(eq=False)
class WindowedProfile:
    """The free workers over time where windows of maintenance are ahead, by group of workers with
    the same windows: counts[g, i] workers of group g are free over [times[i], times[i+1]). Windows
    are not counted as used: `_chosen` looks at them."""

    times: list[float]
    counts: NDArray[np.int64]
    maintenance: Maintenance
    vacant: list[int]
    """Workers that are free now, by number."""
    place: Callable[[Sequence[int], int], Sequence[int]]
    """Returns the workers that a job which starts now gets, from the free ones and their number."""

    overdue = True
    """Whether the profile has to be made anew at the next decision: always."""

    @classmethod
    def of(cls, view: BatchView, promises: Iterable[Reservation] = ()) -> WindowedProfile:
        """Build the profile of this instant: workers become free as `view` expects runs to end and
        workers to come back. Each of `promises` (reservations) takes its job's workers from its
        start on."""
        now, maintenance = view.now, view.maintenance
        assert maintenance is not None
        group_of = maintenance.group_of
        vacant = [n for first, last in view.vacant for n in range(first, last + 1)]
        changes = sorted(_changes(view, maintenance))
        free = np.zeros((len(maintenance.groups), 1), dtype=np.int64)
        for worker in vacant:
            free[group_of[worker]] += 1
        times, columns = [now], [free]
        for time, group, count in changes:
            # The first column is what is free right now: a run that outlives its estimate is
            # expected to end at any moment, but its workers cannot be used before it does.
            if len(times) == 1 or time > times[-1]:
                times.append(max(time, now))
                columns.append(columns[-1].copy())
            columns[-1][group] += count
        profile = cls(times, np.hstack(columns), maintenance, vacant, view.place)
        for promise in promises:
            waiting = promise.waiting
            step = profile._break(promise.start, 0)
            profile.take(step, waiting.processors, waiting.held)
        return profile

    def __deepcopy__(self, _: object) -> WindowedProfile:
        """Return the profile itself instead of a copy: whatever keeps one makes another at its next
        decision."""
        return self

    def fits(self, step: int, processors: int, held: float) -> bool:
        """Return whether a job that needs `processors` workers for a duration `held` can start at
        times[step]: enough are free all the time, in groups that no window takes DOWN meanwhile."""
        return self._chosen(step, processors, held) is not None

    def earliest(self, processors: int, held: float, since: float | None = None) -> tuple[int, int]:
        """Return the first step, beginning at `since` or later (None: of all), at which a job that
        needs `processors` workers for a duration `held` can start; the last step if there is none.
        Return `processors` as the second value, in place of the room beside the job that other
        profiles return."""
        first = 0 if since is None else bisect_left(self.times, since)
        steps = range(first, len(self.times))
        found = (step for step in steps if self.fits(step, processors, held))
        return next(found, len(self.times) - 1), processors

    def take(self, step: int, processors: int, held: float) -> None:
        """Reserve `processors` workers for a duration `held` from times[step] on, those that the
        job would get; nothing is reserved if it cannot start then."""
        chosen, workers = self._chosen(step, processors, held) or self._nobody()
        end = self._break(self.times[step] + held, step)
        self.counts[:, step:end] -= chosen[:, None]
        for worker in workers:
            self.vacant.remove(worker)

    def _nobody(self) -> Chosen:
        return np.zeros(len(self.counts), dtype=np.int64), ()

    def _chosen(self, step: int, processors: int, held: float) -> Chosen | None:
        """Return how many workers of each group a job gets that starts at times[step] and takes a
        duration `held`, and the workers themselves if that is now. Return None if too few are free
        until its end in groups that no window takes DOWN meanwhile.

        Which workers it will get at a later time is not known: those of the first groups are
        counted.
        """
        start = self.times[step]
        end = bisect_left(self.times, start + held, step + 1)
        least = np.maximum(self.counts[:, step:end].min(axis=1), 0)
        may = self.maintenance.open_to(processors, held, start)
        chosen = np.zeros(len(may), dtype=np.int64)
        if step == 0:
            group_of = self.maintenance.group_of
            open_to_it = [worker for worker in self.vacant if may[group_of[worker]]]
            if len(open_to_it) < processors:
                return None
            workers = self.place(open_to_it, processors)
            for worker in workers:
                chosen[group_of[worker]] += 1
            return (chosen, workers) if (chosen <= least).all() else None
        left = processors
        for group, free in enumerate(least.tolist()):
            chosen[group] = min(left, free) if may[group] else 0
            left -= int(chosen[group])
        return None if left else (chosen, ())

    def _break(self, time: float, after: int) -> int:
        """Return the index of the step that begins at `time`; insert one if there is none. The
        search begins behind step `after`."""
        at = bisect_left(self.times, time, after + 1)
        if at == len(self.times) or self.times[at] != time:
            self.times.insert(at, time)
            self.counts = np.insert(self.counts, at, self.counts[:, at - 1], axis=1)
        return at


def _changes(view: BatchView, maintenance: Maintenance) -> Iterator[Change]:
    """Yield (time, group, number of its workers that become free then), in no order, for the
    expected ends of runs and the returns of absent workers. The ends of windows are yielded with
    the number 0, because jobs may start then."""
    now, group_of = view.now, maintenance.group_of
    for run in view.running:
        end, absent = run.end, run.entry is None
        for first, last in run.numbers:
            for worker in range(first, min(last, len(group_of) - 1) + 1):
                back = maintenance.back(worker, now, end) if absent else end
                yield back, group_of[worker], 1
    for windows in maintenance.groups:
        yield from ((over, 0, 0) for _, over in windows if now < over < inf)


def fitting(view: BatchView, queue: Iterable[Queued], skips: bool = True) -> list[Queued]:
    """Return the jobs that start now, in the order of `queue`: those for which enough workers are
    free until their end, windows of maintenance included. With `skips` jobs that do not fit are
    passed over; without it only the jobs before the first of these start."""
    profile, starts = WindowedProfile.of(view), list[Queued]()
    for waiting in queue:
        if profile.fits(0, waiting.processors, waiting.held):
            profile.take(0, waiting.processors, waiting.held)
            starts.append(waiting)
        elif not skips:
            break
    return starts


def planned(view: BatchView, most: int | None, counted: bool) -> Decision:
    """Return the decision around windows of maintenance with `most` reservations, which are logged,
    or with one for each job of the queue (None), none of which is logged. With `counted` a job that
    starts at once uses one of them."""
    profile, starts, promises = WindowedProfile.of(view), list[Queued](), list[Reservation]()
    made, queue = 0, view.queue
    for waiting in queue:
        size = waiting.processors, waiting.held
        step = 0
        if most is None or made < most:
            step, _ = profile.earliest(*size)
            made += counted or step > 0
        elif not profile.fits(0, *size):
            continue
        time = profile.times[step]
        profile.take(step, *size)
        if step == 0:
            starts.append(waiting)
        elif most is not None:
            promises.append(Reservation(time, waiting))
    return Decision(starts, reservations=promises)
