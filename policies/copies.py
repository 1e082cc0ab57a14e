"""Implements policies for redundant copies: redundancy17's two algorithms, and the policies that
they are compared with.

By remaining work (section IV) ties go to the earlier arrival, then to the lower id: the order in
which jobs are listed. By arrival (section V) the newest job is the last listed: of equal arrivals
the one with the higher id. redundancy17's Algorithm 2 sorts by a_1 >= a_2 >= ... and calls n(t) the
most recent: the printed order is inverted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import numpy as np
from attrs import field, frozen
from numpy.random import Generator

from policies.interface.copies import ActiveJobs, CopyAllocation, Counts, RedundancyPolicy, Sharing


def shortest_first(jobs: ActiveJobs) -> Counts:
    """Return the positions in `jobs` of the min(n, M) jobs with the least remaining work, the least
    first; n is the number of jobs, M = `jobs.servers`. Ties go to the lower position."""
    return jobs.remaining.argsort(kind="stable")[: jobs.servers]


def spare_to_smallest(servers: int, jobs: int) -> Counts:
    """Return the number of copies of each served job, r_j of redundancy17's Algorithm 1, in the
    order of remaining work: with n = `jobs` jobs on M = `servers` machines, floor(M/n) each, and
    for the first one all spare machines besides. If n >= M, the first M jobs have one copy each and
    no other job is listed."""
    each = max(servers // jobs, 1)
    copies = np.full(min(jobs, servers), each)
    if jobs < servers:
        copies[0] = servers - (jobs - 1) * each
    return copies


def spare_spread(servers: int, jobs: int) -> Counts:
    """Return the number of copies of each served job, in the order of remaining work: with n =
    `jobs` jobs on M = `servers` machines, floor(M/n) each, and one more for each of the first M mod
    n. If n >= M, the first M jobs have one copy each and no other job is listed.

    This variant of redundancy17's Algorithm 1 is not in the paper.
    """
    served = min(jobs, servers)
    copies = np.full(served, servers // served)
    copies[: servers % served] += 1
    return copies


@frozen
class SrptR:
    """SRPT+R (redundancy17, Algorithm 1) gives each of n jobs floor(M/n) of the M machines, and all
    spare ones to the job with the least remaining work; if n >= M, one machine each to the M jobs
    with the least.

    With `cloning` all copies of a job continue from its furthest copy's state. Without, each copy
    keeps its own progress, which shows how much of the gain is due to cloning.
    """

    cloning: bool = True

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        copies = spare_to_smallest(jobs.servers, len(jobs))
        return CopyAllocation(shortest_first(jobs), copies, cloning=self.cloning)


@frozen
class SrptREven:
    """SRPT+R with the spare machines given one by one to the jobs with the least remaining work.

    Once n > M/2 jobs are present, SRPT+R gives M - n + 1 copies to one job and one to each other;
    where M is large that wastes nearly all of the redundancy. This variant is the project's own.
    """

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return CopyAllocation(shortest_first(jobs), spare_spread(jobs.servers, len(jobs)))


@frozen
class Srpt:
    """SRPT without redundancy gives one machine each to the M jobs with the least remaining work.

    With `stay` a job that was served before and is served again keeps its machine; otherwise, as
    under SRPT+R, all jobs are placed afresh at every arrival and departure.
    """

    stay: bool = False

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        order = shortest_first(jobs)
        return CopyAllocation(order, np.ones_like(order), stay=self.stay)


@frozen
class Fcfs:
    """FCFS gives the M oldest jobs one machine each, until the job ends."""

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        order = np.arange(min(len(jobs), jobs.servers))
        return CopyAllocation(order, np.ones_like(order), stay=True)


HALF = Fraction(1, 2)


def exact_fraction(value: Fraction | float | str) -> Fraction:
    """Return the value as an exact fraction of the decimal as it was written: the float 0.29
    becomes 29/100, so that 0.29 x 100 floors to 29, not 28. A fraction is returned as it is.

    Raises ValueError where `value` is not a number.
    """
    return value if isinstance(value, Fraction) else Fraction(str(value))


def between_0_and_1(instance: object, attribute: object, beta: Fraction) -> None:
    """Check beta, as an attrs validator. Raises ValueError where beta is not in (0, 1)
    (redundancy17, section V.A)."""
    if not 0 < beta < 1:
        problem = f"LAPS shares among a part beta of the jobs, which {beta} is not"
        raise ValueError(f"{problem}; accepted: a beta in (0, 1).")


def newest_first(jobs: ActiveJobs, served: int) -> Counts:
    """Return the positions of the `served` newest jobs, the newest first: those at the end of
    `jobs`."""
    return np.arange(len(jobs) - 1, len(jobs) - 1 - served, -1)


def shared_evenly(jobs: ActiveJobs, served: int) -> CopyAllocation:
    """Give one copy to each of the `served` newest jobs.

    If they are fewer than the machines, each copy has a machine for itself. Otherwise all machines'
    service is divided evenly among the copies (`Sharing.ROTATION`).
    """
    order = newest_first(jobs, served)
    ones = np.ones_like(order)
    if served < jobs.servers:
        return CopyAllocation(order, ones)
    return CopyAllocation(order, ones, Fraction(1, served), Sharing.ROTATION)


def laps_copies(servers: int, jobs: int, beta: Fraction) -> tuple[Counts, int]:
    """Return (the number of copies of each served job, the newest first; the number of copies that
    share a machine): r_j and z + 1 of redundancy17's Algorithm 2, for n = `jobs` jobs on M =
    `servers` machines.

    With beta n = z M + alpha + gamma (alpha < M whole, gamma < 1) it serves floor(beta n) + 1 jobs,
    whose copies fill exactly (z + 1) M places. Where beta n = M the newest job has M copies at
    share 1/2.
    """
    shared, alpha = divmod(floor(beta * jobs), servers)
    each = 1 if shared else servers // (alpha + 1)
    copies = np.full(shared * servers + alpha + 1, each)
    copies[0] = servers - alpha * each
    return copies, shared + 1


@frozen
class LapsR:
    """LAPS+R(beta) (redundancy17, Algorithm 2) serves the floor(beta n) + 1 newest of n jobs with
    redundant copies. With `redundant = False` the same jobs have the same share of a machine for
    each copy, but one copy each."""

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
    """LAPS(beta) without redundancy: the ceil(beta n) newest of n jobs share the machines evenly,
    none with more than one machine."""

    beta: Fraction = field(default=HALF, converter=exact_fraction, validator=between_0_and_1)

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return shared_evenly(jobs, ceil(self.beta * len(jobs)))


@frozen
class ProcessorSharing:
    """Processor sharing: all jobs share the machines evenly, none with more than one machine."""

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return shared_evenly(jobs, len(jobs))


FIXED: dict[str, Callable[[], RedundancyPolicy]] = {
    "SRPT+R": SrptR,
    "SRPT+R-even": SrptREven,
    "SRPT+R-noclone": lambda: SrptR(cloning=False),
    "SRPT": Srpt,
    "SRPT-sticky": lambda: Srpt(stay=True),
    "FCFS": Fcfs,
    "PS": ProcessorSharing,
}
SHARING: dict[str, Callable[[Fraction], RedundancyPolicy]] = {
    "LAPS": Laps,
    "LAPS+R": LapsR,
    "LAPS+R-onecopy": lambda beta: LapsR(beta, redundant=False),
}
NAMES = (*FIXED, *(f"{name}(beta)" for name in SHARING))


def named(name: str) -> RedundancyPolicy:
    """Return the policy called `name`, such as `SRPT+R`, `LAPS+R(0.29)` or `LAPS(2/3)`.

    Without parentheses beta is 1/2. Raises ValueError for other names, and for a beta that is not
    in (0, 1).
    """
    if name in FIXED:
        return FIXED[name]()
    match = re.fullmatch(r"(?P<base>[A-Z+a-z-]+)(\((?P<beta>[0-9./]+)\))?", name)
    if match is None or match["base"] not in SHARING:
        raise ValueError(f"{name!r} is no policy for redundancy; accepted: {', '.join(NAMES)}")
    return SHARING[match["base"]](_beta(match["beta"] or "1/2"))


def _beta(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{text!r} is no number; accepted: a beta in (0, 1).") from None
