"""Copies by arrival: first come first served, and latest arrival processor sharing (redundancy17,
section V).

The newest job is the last listed: of equal arrivals the one with the higher id. redundancy17's
Algorithm 2 sorts by a_1 >= a_2 >= ... and calls n(t) the most recent: the printed order is
inverted.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
from attrs import field, frozen
from numpy.random import Generator

from policies.interface.copies import ActiveJobs, CopyAllocation, Counts, Sharing


@frozen
class Fcfs:
    """The M oldest jobs, one machine each, kept until the job ends."""

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        order = np.arange(min(len(jobs), jobs.servers))
        return CopyAllocation(order, np.ones_like(order), stay=True)


HALF = Fraction(1, 2)


def exact_fraction(value: Fraction | float | str) -> Fraction:
    """The decimal that was written: 0.29 is 29/100, so that 0.29 x 100 floors to 29, not 28.

    Raises ValueError where `value` is not a number.
    """
    return value if isinstance(value, Fraction) else Fraction(str(value))


def between_0_and_1(instance: object, attribute: object, beta: Fraction) -> None:
    """attrs validator; ValueError where beta is not in (0, 1) (redundancy17, section V.A)."""
    if not 0 < beta < 1:
        problem = f"LAPS shares among a part beta of the jobs, which {beta} is not"
        raise ValueError(f"{problem}; accepted: a beta in (0, 1).")


def newest_first(jobs: ActiveJobs, served: int) -> Counts:
    """Positions of the `served` newest jobs, the newest first."""
    return np.arange(len(jobs) - 1, len(jobs) - 1 - served, -1)


def shared_evenly(jobs: ActiveJobs, served: int) -> CopyAllocation:
    """One machine to each of the `served` newest jobs; where there are at least as many jobs as
    machines, all machines' service is divided evenly among them."""
    order = newest_first(jobs, served)
    ones = np.ones_like(order)
    if served < jobs.servers:
        return CopyAllocation(order, ones)
    return CopyAllocation(order, ones, Fraction(1, served), Sharing.ROTATION)


def laps_copies(servers: int, jobs: int, beta: Fraction) -> tuple[Counts, int]:
    """r_j of redundancy17, Algorithm 2, the newest job first, and z + 1, the copies that share a
    server.

    With beta n = z M + alpha + gamma (alpha < M whole, gamma < 1) it serves floor(beta n) + 1
    jobs on exactly (z + 1) M slots. Where beta n = M the newest has M copies at share 1/2.
    """
    shared, alpha = divmod(floor(beta * jobs), servers)
    each = 1 if shared else servers // (alpha + 1)
    copies = np.full(shared * servers + alpha + 1, each)
    copies[0] = servers - alpha * each
    return copies, shared + 1


@frozen
class LapsR:
    """LAPS+R(beta) (redundancy17, Algorithm 2); `redundant = False`: its jobs and shares, one copy
    each."""

    beta: Fraction = field(default=HALF, converter=exact_fraction, validator=between_0_and_1)
    redundant: bool = True

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        copies, layers = laps_copies(jobs.servers, len(jobs), self.beta)
        order = newest_first(jobs, len(copies))
        if not self.redundant:
            copies = np.ones_like(copies)
        return CopyAllocation(order, copies, Fraction(1, layers))


@frozen
class Laps:
    """LAPS(beta) without redundancy: the ceil(beta n) newest jobs share the machines evenly."""

    beta: Fraction = field(default=HALF, converter=exact_fraction, validator=between_0_and_1)

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return shared_evenly(jobs, ceil(self.beta * len(jobs)))


@frozen
class ProcessorSharing:
    """All jobs share the machines evenly, none more than one machine."""

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return shared_evenly(jobs, len(jobs))
