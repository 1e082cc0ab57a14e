"""Which jobs run, in how many copies, on workers whose speed varies. In a scenario file:

[policy]
name = "copies:OldestTwice"
"""

import numpy as np
from attrs import frozen
from numpy.random import Generator

from policies.interface import ActiveJobs, CopyAllocation


@frozen
class OldestTwice:
    """The oldest jobs first; the oldest of all gets a second copy where there is room."""

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        """Asked at each arrival and end. `jobs` has arrays (`arrivals`, `sizes`, `remaining`), the
        oldest job first; a job is known by its position in them."""
        served = np.arange(min(len(jobs), jobs.servers))
        copies = np.ones(len(served), dtype=np.intp)
        if len(served) < jobs.servers:
            copies[0] = 2
        return CopyAllocation(served, copies)
