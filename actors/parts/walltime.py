"""Walltime: a run that takes longer than its job's limit is cancelled, and the job is killed.

The limit counts from the start of the run, start-up and verification included. A run that ends at
the very time of its limit has kept it.
"""

from __future__ import annotations

from attrs import define

from actors.messages import LimitReached
from actors.parts.part import Host, Part
from actors.run import Run
from actors.runtime import Phase, handles


@define(eq=False)
class Walltime(Part):
    """Ends a job once one of its runs reaches the limit `killed_at`."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        return job.killed_at is not None

    def equip(self, run: Run, cause: int) -> None:
        job = self.job
        assert job.killed_at is not None
        job.at(job.now + job.killed_at, LimitReached(run.number), cause, Phase.FAULTS_OCCUR)

    @handles(LimitReached)
    def reach_limit(self, message: LimitReached, cause: int) -> None:
        """End the job with all its copies, unless the run has ended before."""
        copies = self.job.copies.values()
        runs = {copy.run.number: copy for copy in copies if copy.run is not None}
        reached = runs.get(message.run)
        if reached is not None:
            # The copy that has reached the limit ends last: its end is the cause of the job's.
            self.job.end_all([*(it for it in copies if it is not reached), reached], cause)
