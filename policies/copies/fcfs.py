"""First come, first served: the reference without preemption."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.random import Generator

from policies.interface.copies import ActiveJobs, CopyAllocation


@frozen
class Fcfs:
    """The M oldest jobs, one machine each, kept until the job ends."""

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        order = np.arange(min(len(jobs), jobs.servers))
        return CopyAllocation(order, np.ones_like(order), stay=True)
