"""Defines what a policy for redundant copies sees and decides: which jobs run, in how many copies
and with which share of a machine (redundancy17, sections IV, V)."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import Protocol

import numpy as np
from attrs import define
from numpy.random import Generator
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
"""Arrays of times or work; they hold rational numbers (dtype object) where a run is exact."""
Counts = NDArray[np.intp]

WHOLE = Fraction(1)


class Sharing(enum.Enum):
    """Says how the machines that are allocated to a job work on it."""

    COPIES = "copies"
    """Each machine runs a copy of its own, and the job is as far as its furthest copy
    (redundancy17, section III)."""
    ROTATION = "rotation"
    """Each machine gives its share to one copy that visits all machines in turn, so their service
    adds up. This is the limit of round robin over the cluster, used for processor sharing without
    redundancy."""


@define(eq=False)
class ActiveJobs:
    """The jobs present when a policy for redundant copies decides (at a decision epoch, a
    "checkpoint" in redundancy17), oldest first; of equal arrivals the lower id comes first.

    The fields are parallel arrays of length n and live: a policy reads them and never keeps them. A
    job is identified by its position in them.

    It is read only, but not frozen at run time, as the decision is not: both are made twice for
    each job, and freezing makes them cost three times as much.
    """

    servers: int
    """Number of machines in the cluster, M."""
    arrivals: Numbers
    """Arrival times a_j, in time units."""
    sizes: Numbers
    """Sizes p_j, as time on a machine of unit speed."""
    remaining: Numbers
    """Remaining work p_j(t): the work that the job's furthest copy still has to do."""

    def __len__(self) -> int:
        return len(self.remaining)


@define(eq=False)
class CopyAllocation:
    """A policy's decision: the jobs that are served, their copies and the copies' shares of a
    machine. It holds until the next arrival or departure."""

    jobs: Counts
    """Positions of the jobs served, highest priority first; the other jobs wait."""
    copies: Counts
    """Number of copies r_j of each of `jobs`, from 1 to M."""
    share: Fraction | float = WHOLE
    """The share x, in (0, 1], of its server's service that every copy receives. If x = 1/k, k
    copies fit on one server (multitasking)."""
    sharing: Sharing = Sharing.COPIES
    cloning: bool = True
    """Whether all copies of a job continue from its furthest copy's state. Otherwise each copy
    keeps its own state, and states that no server runs are kept as well."""
    stay: bool = False
    """Whether a job that was served before keeps its server (only with one copy each); otherwise
    all copies are placed afresh."""


class RedundancyPolicy(Protocol):
    """Divides the M machines among the active jobs at each decision epoch: an instant at which jobs
    arrive or depart.

    The policy is called once for all arrivals and departures of an instant, with at least one
    active job; `rng` is the random stream of its own draws. The caller checks that every position
    named is of an active job and named once, and that the machines suffice.
    """

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation: ...
