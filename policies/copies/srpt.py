"""Shortest remaining processing time, with redundant copies and without (redundancy17, section IV).

Ties go to the earlier arrival, then to the lower id: the order in which jobs are listed.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.random import Generator

from policies.interface.copies import ActiveJobs, CopyAllocation, Counts


def shortest_first(jobs: ActiveJobs) -> Counts:
    """Positions by remaining work, ties by position; at most M of them."""
    return jobs.remaining.argsort(kind="stable")[: jobs.servers]


def spare_to_smallest(servers: int, jobs: int) -> Counts:
    """r_j of redundancy17, Algorithm 1, for n jobs by remaining work: floor(M/n) each, the spare
    machines all to the first; the first M jobs have one each where n >= M."""
    each = max(servers // jobs, 1)
    copies = np.full(min(jobs, servers), each)
    if jobs < servers:
        copies[0] = servers - (jobs - 1) * each
    return copies


def spare_spread(servers: int, jobs: int) -> Counts:
    """As `spare_to_smallest`, the spare machines one each to the smallest jobs (not in
    redundancy17)."""
    served = min(jobs, servers)
    copies = np.full(served, servers // served)
    copies[: servers % served] += 1
    return copies


@frozen
class SrptR:
    """SRPT+R (redundancy17, Algorithm 1): all spare machines to the job with the least work left.

    Without cloning each copy keeps its own progress, which tells how much of the gain is due to
    cloning the furthest state.
    """

    cloning: bool = True

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        copies = spare_to_smallest(jobs.servers, len(jobs))
        return CopyAllocation(shortest_first(jobs), copies, cloning=self.cloning)


@frozen
class SrptREven:
    """SRPT+R with the spare machines spread one by one over the smallest jobs.

    Once n > M/2, SRPT+R gives M - n + 1 copies to one job and one to each other; where M is large
    that wastes nearly all of the redundancy. This variant is the project's own.
    """

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return CopyAllocation(shortest_first(jobs), spare_spread(jobs.servers, len(jobs)))


@frozen
class Srpt:
    """SRPT without redundancy: one machine each to the M jobs with the least work left.

    `stay`: a job that goes on keeps its server; otherwise, as under SRPT+R, every checkpoint
    places all jobs afresh.
    """

    stay: bool = False

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        order = shortest_first(jobs)
        return CopyAllocation(order, np.ones_like(order), stay=self.stay)
