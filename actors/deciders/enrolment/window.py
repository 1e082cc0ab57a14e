"""What an enrolment policy sees of one job and of the platform, live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from attrs import define, field

from actors.copy import Copy
from actors.events import Stage
from actors.iterative_job import IterativeJob
from actors.worker import Worker
from actors.worker_messages import Needs
from policies.interface import Configuration, Enrolment, Reason

FREE = Needs("")
"""What members fetch where there is no master: nothing."""


class RunningConfiguration:
    """The job's configuration (satisfies policies.interface.RunningView)."""

    def __init__(
        self, job: IterativeJob, workers: Mapping[int, Worker], configuration: Configuration
    ) -> None:
        self.job = job
        self.workers = workers
        self.configuration = configuration
        self.copy = -1
        """Its number; -1: not told to the job yet."""
        self._nothing = (0,) * len(configuration.members)

    @property
    def held(self) -> Copy | None:
        """The job's account of it; None: it is over."""
        return self.job.copies.get(self.copy)

    @property
    def work_left(self) -> int:
        run = self._copy().run
        assert run is not None
        return ceil(run.work - run.done(self.job.now))

    @property
    def part_left(self) -> float:
        """The part of W that is still to be done."""
        run = self._copy().run
        assert run is not None
        return 1 - run.done(self.job.now) / run.work

    def missing(self) -> Sequence[int]:
        run, needs, now = self._copy().run, self.job.needs, self.job.now
        if needs is None or run is None or run.stage is not Stage.FEEDING:
            return self._nothing
        workers = self.workers
        return [
            int(workers[worker].memory.missing(needs, tasks, now))
            for worker, tasks in self.configuration.members
        ]

    def _copy(self) -> Copy:
        return self.job.copies[self.copy]


@define
class Window:
    """One job's policy's view (satisfies policies.interface.EnrolmentView)."""

    job: IterativeJob = field(repr=False)
    enrolment: Enrolment = field(repr=False)
    workers: Mapping[int, Worker] = field(repr=False)
    """Those that have an actor."""
    reason: Reason = Reason.START
    elapsed: int = 0
    up: int = field(default=0, repr=bin)
    programmed: int = field(default=0, repr=bin)
    running: RunningConfiguration | None = field(default=None, repr=False)
    now: float = 0
    alone: bool = field(default=True, repr=False)
    """Whether there is no other job."""
    needs: Needs = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.needs = self.job.needs or FREE

    def missing(self, worker: int, tasks: int) -> int:
        known, needs = self.workers.get(worker), self.needs
        if known is not None and (self.alone or known.feed is None or known.feed.job is self.job):
            return int(known.memory.missing(needs, tasks, self.now))
        # Nothing has happened to it, or it holds another job's data until this instant is decided.
        program = 0 if self.programmed >> worker & 1 else needs.program
        return int(program + tasks * needs.data)
