"""Compression of a schedule: where processors are free sooner than was expected, all move up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf

from policies.interface.queue import Queued
from policies.queue.filling import Kind
from policies.queue.free_profile import FreeProfile

Due = tuple[float, tuple[float, int], Queued, int]
"""(start, key, who, which kind)."""


def compress(
    free_profile: FreeProfile, due: list[Due], kinds: Sequence[Kind], until: float
) -> list[Queued]:
    """Move all reservations of `due`, in the order of their starts, to the earliest place that is
    left; returns the jobs that start now. Only processors that are free up to `until` have become
    free since the last compression.

    Jobs that start later do not hinder a job: where it would overlap with them, it has its own
    place already. So no job has to leave its place before a sooner one is found; and where one of a
    kind found none, its twins need not look again.

    Nearly all move by a step or two, into the place that the job before them has left. A sooner
    place that is over before a job's start is looked for only where one can have come into being:
    it has some of what is new in it.
    """
    times, free = free_profile.times, free_profile.counts
    now, opened, moved = times[0], inf, 0
    swept = [now] * len(kinds)
    starts: list[Queued] = []
    for at, (start, _, _, kind) in enumerate(due):
        since = swept[kind]
        if since >= start or at < moved:
            continue
        processors, held = kinds[kind]
        room, step = 0, (last := bisect_left(times, start))
        new = start if opened < start else until
        if since < new and since + held <= times[last - 1]:
            step, room = free_profile.before(last, processors, held, since, new)
        if step == last:
            while step and times[step - 1] >= since and (left := free[step - 1]) >= processors:
                room = left if step == last else min(room, left)
                step -= 1
            if step == last:
                swept[kind] = start
                continue
        time = swept[kind] = times[step]
        opened = min(opened, max(start, time + held))
        moved = _moved(due, at, time, room // processors)
        free_profile.slide(start, step, (moved - at) * processors, held, last)
        if step == 0:
            starts += [it[2] for it in due[at:moved]]
    due.sort()
    del due[: len(starts)]
    free_profile.merge()
    return starts


def _moved(due: list[Due], at: int, time: float, most: int) -> int:
    """Move the job at position `at` to `time`, and with it those next to it of the same size and
    start, `most` at most; returns the position after them."""
    start, key, waiting, kind = due[at]
    due[at], end = (time, key, waiting, kind), at + 1
    limit = min(len(due), at + most)
    while end < limit and due[end][0] == start and due[end][3] == kind:
        due[end] = time, *due[end][1:]
        end += 1
    return end
