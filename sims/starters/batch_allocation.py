"""Processors for all attempts of a batch of moldable jobs together. In a scenario file:

[policy]
allocation = "batch_allocation:Even"
"""

from collections.abc import Sequence

from attrs import frozen

from policies.interface import Allotment, BatchJob


@frozen
class Even:
    """The platform shared evenly among the jobs, whatever they are."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> list[Allotment]:
        """For each job (attempts, processors of each) pairs, `attempts[i]` attempts in all."""
        share = max(1, processors // len(jobs))
        return [((count, share),) for count in attempts]
