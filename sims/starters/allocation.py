"""How many processors each moldable job gets, the same for all its attempts. In a scenario file:

[policy]
allocation = "allocation:Efficient"
"""

from collections.abc import Sequence

from attrs import frozen

from policies.interface import BatchJob


@frozen
class Efficient:
    """The most processors at which they are still used well enough."""

    efficiency: float = 0.5
    """t(1) / (p t(p)), the part of the processors' time that speeds the job up."""

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> list[int]:
        """One number for each job, from 1 to `processors`."""
        return [self._size(job, processors) for job in jobs]

    def _size(self, job: BatchJob, processors: int) -> int:
        time, alone = job.profile.time, job.profile.time(1)
        sizes = range(1, processors + 1)
        return max((p for p in sizes if alone >= self.efficiency * p * time(p)), default=1)
