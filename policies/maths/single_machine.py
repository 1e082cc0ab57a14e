"""Computes lower bounds on the overall flowtime of any schedule (redundancy17, sections III.C and
IV)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.maths.speeds import Change

Floats = NDArray[np.float64]


def srpt_flowtime(arrivals: Floats, sizes: Floats, speed: float = 1.0) -> float:
    """Return the overall flowtime (the sum of completion minus arrival over all jobs) of SRPT,
    shortest remaining processing time first, on one machine of constant `speed`; no schedule there
    has less.

    `arrivals` are in time order, in time units; `sizes` are work, in the same order of jobs.
    """
    work_times = np.asarray(arrivals, dtype=float) * speed
    return float((srpt_completions(work_times, sizes) / speed - arrivals).sum())


def srpt_completions(arrivals: Floats, sizes: Floats) -> Floats:
    """Return each job's completion time under SRPT on one machine of unit speed; `arrivals` are in
    time order, and `sizes` and the result in the order of `arrivals`."""
    completions, clock = np.zeros(len(sizes)), 0.0
    waiting: list[tuple[float, int]] = []
    """Pairs (work left, job), the smallest first."""
    jobs = zip(arrivals.tolist(), sizes.tolist(), strict=True)
    # The last entry only ends the loop.
    for job, (time, size) in enumerate(chain(jobs, [(np.inf, 0.0)])):
        # SRPT: always the job with the least work left, until the next arrival.
        while waiting and clock < time:
            left, smallest = waiting.pop(0)
            if clock + left > time:
                waiting.insert(0, (left - (time - clock), smallest))
                clock = time
            else:
                clock += left
                completions[smallest] = clock
        clock = max(clock, time)
        insort(waiting, (size, job))
    return completions


def mean_bound(arrivals: Floats, sizes: Floats, servers: int, peak: float) -> float:
    """Return a lower bound on the overall flowtime of any schedule under Assumption 2 of
    redundancy17, in which progress is the mean service.

    It is the larger of two: SRPT's flowtime on one machine of speed M = `servers`, as M machines
    are no better than that, and the sum of size / `peak`, as no job runs faster than the peak.
    """
    return max(srpt_flowtime(arrivals, sizes, servers), float(sizes.sum()) / peak)


@frozen(eq=False)
class Capacity:
    """The work C(t) that all servers together can do in (0, t], piecewise linear: `work` is C at
    each of `times`, which ascend from 0 to the horizon."""

    times: Floats
    work: Floats

    @classmethod
    def of(cls, paths: Sequence[Iterable[Change]], horizon: float) -> Capacity:
        """Build the capacity from the speed changes (time, speed from then on) of each server.
        Changes from `horizon` on are left out, and C(t) is known up to the horizon."""
        steps: list[tuple[float, float]] = [(0.0, 0.0)]
        for path in paths:
            steps += _steps(path, horizon)
        steps.sort()
        times, jumps = np.array(steps).T
        speeds = jumps.cumsum()
        work = np.concatenate(([0.0], (np.diff(times) * speeds[:-1]).cumsum()))
        return cls(
            np.append(times, horizon),
            np.append(work, work[-1] + speeds[-1] * (horizon - times[-1])),
        )

    def until(self, times: Floats) -> Floats:
        """Return the capacity C(t), in work units, at each of `times`, none of which may be beyond
        the horizon."""
        return np.interp(times, self.times, self.work)

    def when(self, work: Floats) -> Floats:
        """Return, for each amount of `work`, the first time at which all servers together can have
        done it.

        Raises ValueError where any of these times is beyond the horizon.
        """
        if len(work) and work.max() > self.work[-1]:
            raise ValueError("The capacity is not known for long enough to finish all jobs.")
        place = np.searchsorted(self.work, work, side="left").clip(1)
        low, high = self.work[place - 1], self.work[place]
        # No work is possible while all servers stand still: avoid a division by zero there.
        span = np.where(high > low, high - low, 1.0)
        part = (work - low) / span
        return np.asarray(
            self.times[place - 1] + part * (self.times[place] - self.times[place - 1])
        )


def _steps(path: Iterable[Change], horizon: float) -> list[tuple[float, float]]:
    """Return the pairs (time, change of speed) of one server, whose speed is 0 before its first
    change, for all changes before `horizon`."""
    steps, before = [], 0.0
    for time, speed in path:
        if time >= horizon:
            break
        steps.append((time, speed - before))
        before = speed
    return steps


def sample_path_bound(arrivals: Floats, sizes: Floats, capacity: Capacity) -> float:
    """Return a lower bound on the overall flowtime of any schedule on these realised speeds, with
    redundant copies or without: that of SRPT on one machine with the speed of all servers together.

    The machine's own clock is C(t), the work of all servers until t: in it, this is SRPT at unit
    speed.
    """
    ends = srpt_completions(capacity.until(arrivals), sizes)
    return float((capacity.when(ends) - arrivals).sum())


def srpt_drain(remaining: Sequence[float], servers: int, speed: float = 1.0) -> float:
    """Return F(t) of redundancy17's Lemma 5: the sum of the flowtimes still to come of the jobs
    present under SRPT on M = `servers` machines of speed 1 + epsilon = `speed`, if no other job
    arrives.

    `remaining` is the jobs' remaining work, in rising order.
    """
    n = len(remaining)
    weights = ((n - j) // servers + 1 for j in range(1, n + 1))
    return sum(weight * left for weight, left in zip(weights, remaining, strict=True)) / speed


def proof_constant(peak: float, epsilon: float) -> float:
    """Return the competitive ratio that redundancy17's Theorem 1 proves for SRPT+R at speed 1 +
    epsilon, (1 + 2 Delta)(1 + 1/epsilon), where Delta = `peak` is the servers' peak speed."""
    return (1 + 2 * peak) * (1 + 1 / epsilon)
