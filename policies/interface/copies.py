"""Redundant copies: who runs where, in how many copies, with which share (redundancy17,
sections IV, V)."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import Protocol

import numpy as np
from attrs import frozen
from numpy.random import Generator
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
"""Times or work; rational numbers (dtype object) where a run is exact."""
Counts = NDArray[np.intp]

WHOLE = Fraction(1)


class Sharing(enum.Enum):
    """How the machines that a job is given work on it."""

    COPIES = "copies"
    """Each runs a copy of its own; the job is as far as the furthest (redundancy17,
    section III)."""
    ROTATION = "rotation"
    """Each gives its share to one copy that visits them all: their service adds up. The limit of
    round robin over the cluster, for processor sharing without redundancy."""


@frozen(eq=False)
class ActiveJobs:
    """The jobs present at a checkpoint, oldest first; of equal arrivals the lower id first.

    Parallel arrays of length n, live: read, never keep. A job is known by its position in them.
    """

    servers: int
    """M, machines in the cluster."""
    arrivals: Numbers
    """a_j, time units."""
    sizes: Numbers
    """p_j, time on a machine of unit speed."""
    remaining: Numbers
    """p_j(t), the work that the furthest copy still lacks."""

    def __len__(self) -> int:
        return len(self.remaining)


@frozen(eq=False)
class CopyAllocation:
    """The decision: copies and shares until the next arrival or departure."""

    jobs: Counts
    """Positions of the jobs served, highest priority first; the others wait."""
    copies: Counts
    """r_j >= 1 for each of `jobs`, at most M."""
    share: Fraction | float = WHOLE
    """x, in (0, 1]: what every copy gets of its server's service. Where it is 1/k, k copies fit on
    a server (multitasking)."""
    sharing: Sharing = Sharing.COPIES
    cloning: bool = True
    """Whether all copies go on from the furthest one's state; otherwise each copy keeps its own,
    and states that no server runs are kept as well."""
    stay: bool = False
    """Whether a job that was served before keeps its server (one copy each only); otherwise all
    copies are placed afresh."""


class RedundancyPolicy(Protocol):
    """Divides M machines among the active jobs at each checkpoint.

    Asked once for all arrivals and departures of an instant, with at least one active job. The
    world checks that every job named is active and named once, and that the machines suffice.
    """

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation: ...
