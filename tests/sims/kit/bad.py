"""Policies that do something wrong, one each, and what each does."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from itertools import count, repeat

import numpy as np

from policies.interface import Configuration, CopyAllocation, Decision, Resize


def offers_who_is_down(view, rng):
    """Enrols whoever has the lowest numbers."""
    left, members = view.enrolment.tasks, []
    for q, bound in enumerate(view.enrolment.bounds):
        share = min(left, bound)
        members += [(q, share)] if share else []
        left -= share
    return Configuration(tuple(members)) if not left else None


def starts_more_than_fit(view):
    """All of the queue."""
    return Decision(list(view.queue))


def gives_more_than_is_idle(view) -> list[Resize]:
    """One group more to every candidate."""
    return [Resize(it.index, it.size + view.pair) for it in view.candidates]


def serves_all(waiting, channels, now):
    """More than there are channels."""
    return waiting


def too_many_copies(jobs, rng):
    """As many of each job as there are workers."""
    return CopyAllocation(np.arange(len(jobs)), np.full(len(jobs), jobs.servers + 1))


def no_number(job, processors, time, platform, draw):
    """A priority that is none."""
    return float("nan") if processors > 2 else 0.0


def no_processors(jobs, processors):
    """None for the last job."""
    return [1] * (len(jobs) - 1) + [0]


class FewerAttempts:
    """Leaves attempts out."""

    def allot(self, jobs, attempts, processors):
        return [((1, 1),) for _ in jobs]


def shares_beyond_the_platform(view) -> list[int]:
    """Everybody gets the largest size."""
    return [it.largest for it in view.applications]


def raises(view):
    """Fails where two jobs wait."""
    return Decision([{}["nothing"] for _ in view.queue[1:2]])


def pops_the_queue(view):
    """Starts the first job, and takes it out of the view."""
    fits = [it for it in view.queue if it.processors <= view.free]
    if fits:
        view.queue.remove(fits[0])
        view.queue.append(fits[0])
    return Decision(fits[:1])


def draws_by_itself(job, processors, time, platform, draw):
    """Randomness of nobody's stream."""
    return random.random()


class Remembers:
    """Answers by how often it was asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, job, processors, time, platform, draw):
        self.asked += 1
        return float(self.asked)


def sleeps(jobs, processors):
    """Takes its time over larger platforms."""
    if processors > 3:
        time.sleep(0.3)
    return [1] * len(jobs)


def never_ends(waiting, channels, now):
    """Looks for what is not there."""
    while len(waiting) > 1:
        channels += 1
    return waiting[:channels]


def sums_without_end(waiting, channels, now):
    """A sum that never returns to the interpreter, where two wait."""
    return waiting[: channels if len(waiting) < 2 else sum(count())]


def matches_without_end(waiting, channels, now):
    """A search that takes ages, where two wait."""
    re.match("(a+)+b", "a" * 100 * (len(waiting) > 1))
    return waiting[:channels]


def ends_nowhere(waiting, channels, now):
    """Catches whatever is raised to end it, where two wait, and goes on."""
    while len(waiting) > 1:
        try:
            time.sleep(1)
        except BaseException:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return waiting[:channels]


class ServesAllThenNeverEnds:
    """Serves more than there are channels, and never answers a later question."""

    def __init__(self):
        self.wrong = 0

    def __call__(self, waiting, channels, now):
        self.wrong += len(waiting) > channels
        return waiting if self.wrong < 3 else sum(count())


def leaves(waiting, channels, now):
    """Ends the process, where two wait."""
    return waiting[:channels] if len(waiting) < 2 else os._exit(7)


def kills_itself(waiting, channels, now):
    """Is killed, as by a machine that lacks memory, where two wait."""
    if len(waiting) > 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return waiting[:channels]


def starts_nothing(view):
    """Waits for ever."""
    return Decision()


def serves_without_end(waiting, channels, now):
    """An iterator that never stops, where two wait."""
    return count() if len(waiting) > 1 else waiting[:channels]


def lists_without_end(waiting, channels, now):
    """A list that would take all memory, where two wait."""
    return list(count()) if len(waiting) > 1 else waiting[:channels]


def enrols_without_end(view, rng):
    """The same worker again and again."""
    return Configuration(repeat((0, 1)))
