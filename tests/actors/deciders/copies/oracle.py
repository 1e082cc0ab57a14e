"""redundancy17's sample-path model over again, in rational arithmetic and without actors or events.

It integrates each server's trace directly between checkpoints, so that it shares no code and no
idea with the simulator but the reading of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

from attrs import define, field, frozen

Steps = tuple[tuple[Fraction, Fraction], ...]


@frozen
class Instance:
    """Jobs and servers; jobs in time order."""

    arrivals: tuple[Fraction, ...]
    sizes: tuple[Fraction, ...]
    traces: tuple[Steps, ...]
    beta: Fraction
    speed: Fraction

    def served(self, server: int, until: Fraction) -> Fraction:
        """S(0, until] of one server."""
        steps, total = self.traces[server], Fraction(0)
        for k, (start, rate) in enumerate(steps):
            end = min(until, steps[k + 1][0]) if k + 1 < len(steps) else until
            total += rate * max(end - start, Fraction(0))
        return total * self.speed


@frozen
class Serving:
    """What one job has until the next checkpoint: the furthest of, or the sum over, servers."""

    servers: tuple[int, ...]
    share: Fraction = Fraction(1)
    together: bool = False


Plan = dict[int, Serving]
Planner = Callable[[Instance, Sequence[int], dict[int, Fraction]], Plan]
"""(instance, active jobs, work left) -> who is served."""


def completions(instance: Instance, planner: Planner) -> list[Fraction]:
    """When each job ends."""
    run = _Run(instance, planner)
    while len(run.ended) < len(instance.sizes):
        run.checkpoint_to_checkpoint()
    return [run.ended[job] for job in range(len(instance.sizes))]


@define
class _Run:
    instance: Instance
    planner: Planner
    now: Fraction = Fraction(0)
    done: dict[int, Fraction] = field(init=False)
    ended: dict[int, Fraction] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.done = dict.fromkeys(range(len(self.instance.sizes)), Fraction(0))

    def checkpoint_to_checkpoint(self) -> None:
        sizes, arrivals = self.instance.sizes, self.instance.arrivals
        active = [j for j, a in enumerate(arrivals) if a <= self.now and j not in self.ended]
        left = {job: sizes[job] - self.done[job] for job in active}
        plan = self.planner(self.instance, active, left) if active else {}
        ends = {job: self._end(job, serving) for job, serving in plan.items()}
        comes = [time for time in arrivals if time > self.now]
        until = min([*ends.values(), *comes])
        for job, serving in plan.items():
            self.done[job] = self._progress(job, serving, until)
            if ends[job] == until:
                self.ended[job] = until
        self.now = until

    def _progress(self, job: int, serving: Serving, time: Fraction) -> Fraction:
        gains = [
            self.instance.served(q, time) - self.instance.served(q, self.now)
            for q in serving.servers
        ]
        gain = sum(gains, Fraction(0)) if serving.together else max(gains)
        return self.done[job] + serving.share * gain

    def _end(self, job: int, serving: Serving) -> Fraction:
        """Between two breaks of any trace, progress is the maximum of straight lines."""
        size, start = self.instance.sizes[job], self.now
        breaks = sorted({t for trace in self.instance.traces for t, _ in trace if t > start})
        for end in breaks:
            if self._progress(job, serving, end) >= size:
                return self._within(job, serving, start, end)
            start = end
        return self._within(job, serving, start, start + 10**6)

    def _within(self, job: int, serving: Serving, low: Fraction, high: Fraction) -> Fraction:
        """Each server's line alone, since their maximum is bent where they cross."""
        size = self.instance.sizes[job]
        lines = (
            [serving]
            if serving.together
            else [Serving((q,), serving.share) for q in serving.servers]
        )
        crossings = []
        for line in lines:
            before, after = (self._progress(job, line, time) for time in (low, high))
            if after >= size:
                crossings.append(low + (size - before) * (high - low) / (after - before))
        return min(crossings)


def _laid_out(jobs: Sequence[int], copies: Sequence[int], servers: int, share: Fraction) -> Plan:
    """The s-th copy, in order of priority, on server s mod M."""
    plan, slot = {}, 0
    for job, count in zip(jobs, copies, strict=True):
        plan[job] = Serving(tuple((slot + k) % servers for k in range(count)), share)
        slot += count
    return plan


def srpt_r(instance: Instance, active: Sequence[int], left: dict[int, Fraction]) -> Plan:
    """Algorithm 1."""
    servers, order = len(instance.traces), sorted(active, key=lambda job: (left[job], job))
    n = len(order)
    if n >= servers:
        return _laid_out(order[:servers], [1] * servers, servers, Fraction(1))
    each = servers // n
    return _laid_out(order, [servers - (n - 1) * each, *[each] * (n - 1)], servers, Fraction(1))


def laps_r(instance: Instance, active: Sequence[int], left: dict[int, Fraction]) -> Plan:
    """Algorithm 2, job n being the newest."""
    servers, newest = len(instance.traces), sorted(active, reverse=True)
    z, alpha = divmod(floor(instance.beta * len(active)), servers)
    if z:
        copies = [servers - alpha, *[1] * (z * servers + alpha)]
    else:
        each = servers // (alpha + 1)
        copies = [servers - alpha * each, *[each] * alpha]
    return _laid_out(newest[: len(copies)], copies, servers, Fraction(1, z + 1))


def _shared(instance: Instance, newest: Sequence[int]) -> Plan:
    servers = len(instance.traces)
    if len(newest) < servers:
        return {job: Serving((k,)) for k, job in enumerate(newest)}
    all_of_them = Serving(tuple(range(servers)), Fraction(1, len(newest)), together=True)
    return dict.fromkeys(newest, all_of_them)


def laps(instance: Instance, active: Sequence[int], left: dict[int, Fraction]) -> Plan:
    """The ceil(beta n) newest jobs share the machines."""
    return _shared(instance, sorted(active, reverse=True)[: ceil(instance.beta * len(active))])


def sharing(instance: Instance, active: Sequence[int], left: dict[int, Fraction]) -> Plan:
    """All jobs share the machines."""
    return _shared(instance, sorted(active, reverse=True))
