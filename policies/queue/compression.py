"""Compression of a schedule: where processors are free sooner than was expected, all move up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf

from policies.interface.queue import Queued
from policies.queue.filling import Kind
from policies.queue.outlook import Outlook

Due = tuple[float, tuple[float, int], Queued, int]
"""(start, key, who, which kind)."""


def compress(outlook: Outlook, due: list[Due], kinds: Sequence[Kind], until: float) -> list[Queued]:
    """In the order of their starts, all of `due` take the earliest place that is left; returns who
    starts now, and is due no more. Nothing but processors that are free up to `until` has become
    free since they were compressed last.

    Who starts later than a job does not stand in its way: where it would overlap with them, it
    has its own place already. So nobody has to leave his place before it is known that there is a
    sooner one; and where one of a kind found none, its twins need not look again.

    Nearly all move by a step or two, into what who was before them has left. A sooner place that is
    over before a job's start is looked for only where one can have come into being: it has some of
    what is new in it.
    """
    times, free = outlook.times, outlook.counts
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
            step, room = outlook.before(last, processors, held, since, new)
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
        outlook.slide(start, step, (moved - at) * processors, held, last)
        if step == 0:
            starts += [it[2] for it in due[at:moved]]
    due.sort()
    del due[: len(starts)]
    outlook.merge()
    return starts


def _moved(due: list[Due], at: int, time: float, most: int) -> int:
    """Who is at `at` gets a place at `time`, and so do those next to it who need the same and were
    due when it was, `most` at most; returns where they end."""
    start, key, waiting, kind = due[at]
    due[at], end = (time, key, waiting, kind), at + 1
    limit = min(len(due), at + most)
    while end < limit and due[end][0] == start and due[end][3] == kind:
        due[end] = time, *due[end][1:]
        end += 1
    return end
