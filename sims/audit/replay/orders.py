"""What a pack's decision has its jobs do, as its scheduler says it and as its log tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from actors.events import (
    MembersChanged,
    MembersPromised,
    Outcome,
    RedistributionDecided,
    RunEnded,
    RunStarted,
)
from actors.messages import PromiseCopy, ResizeCopy, StartCopy
from actors.runtime import Event


@frozen
class PackOrder:
    """What a decision has a job do."""

    does: str
    """start, resize or promise."""
    job: str
    workers: str = ""
    """All that it has from now on and that are there, as logs write them."""
    copy: int | None = None
    """Which of its copies; None: a new one."""

    def __str__(self) -> str:
        return f"{self.does} {self.job}{self.workers and f' on {self.workers}'}"


def order_of(message: StartCopy | ResizeCopy | PromiseCopy, job: str) -> PackOrder:
    """What a message to `job` has it do."""
    match message:
        case StartCopy(text=workers):
            return PackOrder("start", job, workers)
        case ResizeCopy(copy=copy, text=workers):
            return PackOrder("resize", job, workers, copy)
    return PackOrder("promise", job, "", message.copy)


def told(
    events: Sequence[Event], at: int, copies: Mapping[tuple[str, int], int]
) -> tuple[PackOrder | Event | None, int]:
    """What there, by so many events, only a decision can have brought about."""
    event = events[at]
    match event:
        case RedistributionDecided():
            return event, 1
        case MembersPromised(job=job, run=run):
            return PackOrder("promise", job, "", copies.get((job, run))), 1
        case MembersChanged(job=job, run=run, processors=workers):
            return PackOrder("resize", job, workers, copies.get((job, run))), 1
        case RunStarted(job=job, keeps=None, processors=workers):
            return PackOrder("start", job, workers), 1
        case RunEnded(job=job, run=run, outcome=Outcome.WITHDRAWN, kept=False):
            after = events[at + 1] if at + 1 < len(events) else None
            if isinstance(after, RunStarted) and (after.job, after.keeps) == (job, None):
                workers = after.processors
                return PackOrder("resize", job, workers, copies.get((job, run))), 2
    return None, 1
