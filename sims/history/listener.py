"""What a history notifies its listeners of."""

from __future__ import annotations

from typing import Any

from actors.runtime import Record
from sims.history.states import Job, Run, Worker


class Listener:
    """Override what you want to be notified of; a history calls nothing else.

    `record` is what made the change; where one line tells of many runs, it is that line.
    """

    history: Any
    """The History that it listens to, once it does."""

    def time_passed(self, until: float) -> None:
        """Nothing changes over [history.now, until): called before the first record at `until`."""

    def job_submitted(self, job: Job, record: Record) -> None:
        """A job asks to be scheduled, and waits."""

    def job_ended(self, job: Job, record: Record) -> None:
        """A job is completed, or killed; runs of it may end after it, at the same instant."""

    def job_over(self, job: Job, end: float) -> None:
        """A job is over, or was still in the system (no `end`) where the log ends: every job is
        told of once."""

    def iteration_ended(self, job: Job, record: Record) -> None:
        """An iteration of a job is completed."""

    def queue_changed(self, now: float) -> None:
        """`history.waiting` or `history.running` has changed."""

    def run_started(self, run: Run, record: Record) -> None:
        """A run holds its members from now on."""

    def run_span(self, run: Run, record: Record, done: float) -> None:
        """What the run did over [run.since, record.t) is over, with `done` work done; `run` is as
        it was over that time. Its end is told by `run_ended` alone; after that there is one span
        more where its members are kept."""

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        """A run has ended (`outcome`, `end`, `kept`), and so has its last span, which the run's
        other values still describe."""

    def run_over(self, run: Run, end: float) -> None:
        """A run has ended, or was still under way (no `outcome`) where the log ends: every run is
        told of once."""

    def run_released(self, run: Run, record: Record) -> None:
        """A run's members are released, or begin the run that they were kept for."""

    def member_changed(self, run: Run, worker: int, record: Record) -> None:
        """A member's state, message or speed has changed, or a member joined that is `apart`."""

    def worker_span(self, worker: Worker, until: float) -> None:
        """What a worker did of its own over [worker.since, until), for `worker.holder`, is over."""

    def worker_changed(self, worker: Worker, record: Record) -> None:
        """A worker's state or message is another one from now on."""

    def log_ended(self, now: float) -> None:
        """The log ends here: spans that are open stay so."""


HOOKS = tuple(name for name in vars(Listener) if not name.startswith("_"))
