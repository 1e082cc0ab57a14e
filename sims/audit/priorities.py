"""Derives which of two waiting jobs comes first in the queue, where the order is first come, first
served, or Slurm's weighted sum of factors (rules.md, G3 and G8)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from math import log
from typing import Any

from attrs import Factory, define, field

from sims.audit import cells
from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.law import allowed, framed, same
from sims.audit.workers import numbers
from sims.audit.world import PartRules, World

WEEK = "604800"
MULTIFACTOR = "MULTIFACTOR"
LENGTHS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}
"""Lengths, in seconds, of the units of times in a log's head."""
PART = re.compile(r"\s*([\d.]+(?:[eE][+-]?\d+)?)\s*([a-z]+)")
"""A number and its unit, of a time such as `2 h 30 min`."""


@define(eq=False)
class UsedByUser:
    """Decayed processor-time of one user."""

    past: float = 0.0
    """Usage by copies that have ended, decayed to the time `at`."""
    at: float = 0.0
    running: dict[ExpectedCopy, float] = Factory(dict)
    """Maps the user's copies that hold workers to the times since which they do."""


@define(eq=False)
class Priorities:
    """Derives the order of the queue from users' usage and the jobs' sizes."""

    w: World
    settings: Mapping[str, str]
    order: str
    users: defaultdict[str, UsedByUser] = Factory(lambda: defaultdict(UsedByUser))
    sizes: Mapping[str, int] = field(factory=dict)
    """Maps jobs to the number of workers that they ask for, where it is known."""
    sure: bool = True
    """Whether the log says how many processors count as used: not where copies hold workers
    ready."""

    @property
    def known(self) -> bool:
        """Whether this class knows the order."""
        return self.order == "FCFS" or (self.order == MULTIFACTOR and self.sure)

    # --- notifications --------------------------------------------------------------------------

    def submitted(self, job: ExpectedJob) -> None:
        """Note that a job has been submitted now."""
        self.users[job.whose.user].running  # noqa: B018  (the user has been seen)
        self.sure = self.sure and not job.asked.ready

    def started(self, copy: ExpectedCopy) -> None:
        """Note that a copy holds workers from now on."""
        self.users[copy.job.whose.user].running[copy] = self.w.now

    def ended(self, copy: ExpectedCopy) -> None:
        """Note that a copy holds no workers any more."""
        user = self.users[copy.job.whose.user]
        past = user.past * self._half(self.w.now - user.at)
        user.past, user.at = past + self._held(copy, user.running.pop(copy)), self.w.now

    # --- questions --------------------------------------------------------------------------------

    def ahead(self, one: ExpectedJob, other: ExpectedJob) -> bool | None:
        """Return whether a waiting job is ahead of another one for certain; None where the log does
        not say it."""
        w, tiers = (
            self.w,
            [it.partition.tier if it.partition else 0 for it in (one, other)],
        )
        if tiers[0] != tiers[1]:
            return bool(tiers[0] > tiers[1])
        if self.order == MULTIFACTOR:
            (least, most), (low, high) = self._number(one), self._number(other)
            if least > high and not same(least, high):
                return True
            if most < low and not same(most, low):
                return False
            if least < most or low < high:
                return None
        if one.came == other.came and any(it.reorders() for it in w.parts[PartRules.reorders]):
            return None  # the log need not have them in the queue's order
        return one.submitted < other.submitted

    def _number(self, job: ExpectedJob) -> tuple[float, float]:
        """Return bounds of the job's sum of weight x factor now: they differ where its size counts,
        and is not known."""
        size, weight, able = self.sizes.get(job.name), self._value("size"), self.w.able
        parts = (1 / able, 1.0) if size is None else (size / able, size / able)
        if self.settings.get("favour", "large") != "large":
            parts = 1 - parts[1], 1 - parts[0]
        age = min((self.w.now - job.came) / self._value("age_max", WEEK), 1.0)
        fair = self._fair(job.whose.user) if self._value("fair_share") else 0.0
        sums = self._value("age") * age + self._value("fair_share") * fair
        sums += self._value("tier") * self._tier(job)
        return sums + weight * parts[0], sums + weight * parts[1]

    def _tier(self, job: ExpectedJob) -> float:
        """Return the tier of the job's partition over the highest; 1 where all are alike."""
        own = job.partition
        return 1.0 if own is None or own.highest is None else float(own.tier / own.highest)

    def _fair(self, user: str) -> float:
        """Return 2 to the power of minus the user's part of all usage times the number of users."""
        total = sum(map(self._used, self.users))
        return float(2.0 ** -(self._used(user) / total * len(self.users))) if total else 1.0

    def _used(self, user: str) -> float:
        it = self.users[user]
        now = sum(self._held(copy, since) for copy, since in it.running.items())
        return it.past * self._half(self.w.now - it.at) + now

    def _held(self, copy: ExpectedCopy, since: float) -> float:
        """Return what is left now of the processor-time for which a copy has held its workers: the
        integral of n 2^(-t / half_life)."""
        length = self._value("half_life", WEEK) / log(2)
        count = copy.full + len(copy.rest)
        return count * length * (1 - self._half(self.w.now - since))

    def _half(self, time: float) -> float:
        return float(2.0 ** -(time / self._value("half_life", WEEK)))

    def _value(self, key: str, otherwise: str = "0") -> float:
        text = self.settings.get(key, otherwise)
        try:
            return float(text)
        except ValueError:
            parts = PART.findall(text)
            readable = PART.sub("", text).strip() == "" and all(it in LENGTHS for _, it in parts)
            framed(readable, "its weights cannot be read")
            return sum(float(number) * LENGTHS[unit] for number, unit in parts)


def priorities_of(w: World, settings: Mapping[str, Any], usual: str) -> Priorities:
    """Return the order of a queue whose settings are those of the log's head; `usual` is the order
    of its policy where they name none."""
    return Priorities(w, settings, settings.get("order", usual))


def check_starts(
    order: Priorities, starts: Collection[ExpectedCopy], waiting: Collection[ExpectedJob]
) -> None:
    """Check that no job of this instant's only decision starts before one that still waits, is
    ahead of it in the queue, and could have its workers. Under FCFS that is each one whose
    partition shares workers with its own; under greedy list scheduling and EASY one that fits on
    the free workers and those of the start, if no reservation of another job is in its way."""
    w = order.w
    first = [it for it in starts if it.job.copies and it.job.copies[0] is it]
    for copy in first if order.known else ():
        for job in waiting:
            if not cells.share(job, copy.job) or not order.ahead(job, copy.job):
                continue
            fits = w.head.policy == "FCFS" or _fits(order, job, copy)
            allowed(not fits, "{} starts, and {} is ahead of it", copy.job.name, job.name)


def _fits(order: Priorities, job: ExpectedJob, copy: ExpectedCopy) -> bool:
    """Return whether a waiting job fits for certain on the workers that are free, or were until
    this copy started."""
    w, size = order.w, order.sizes.get(job.name)
    promised = w.decider.promises.keys() - {job.name}
    others = any(cells.share(job, w.jobs[it]) for it in promised if it in w.jobs)
    if size is None or w.windows or job.asked.ready or others:
        return False
    own = job.partition.workers if job.partition is not None else range(w.able)
    free = [n for n in (*numbers(w.free.spans), *numbers(copy.held)) if n in own]
    if cells.is_exclusive(job):
        return sum(map(len, cells.in_whole_nodes(w, free).values())) >= size
    return len(free) >= size
