"""Rigid and moldable jobs under silent errors: jobs, their scheduler, a pool of processors."""

from actors.batch.events import VOCABULARY
from actors.batch.job import Job
from actors.batch.scheduler import BatchScheduler

__all__ = ["VOCABULARY", "BatchScheduler", "Job"]
