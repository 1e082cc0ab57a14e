"""What a log tells of a job only once it starts, and its queue knew before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field, frozen

from actors.events import MembersReleased, Outcome, RunEnded, RunStarted
from actors.runtime import Record
from policies.interface.queue import Allotment, BatchJob, Draw, Order
from sims.audit.replay.shadow import Unreplayable
from sims.ledger.slices import count

FAILED = Outcome.FAILED


@frozen
class ToldTimes:
    """t(p), as a job's runs have told it."""

    by_size: Mapping[int, float]

    @property
    def work(self) -> float:
        """See Profile; no queue asks for it."""
        raise Unreplayable("t(1)")

    def time(self, processors: int) -> float:
        """See Profile."""
        try:
            return self.by_size[processors]
        except KeyError:
            raise Unreplayable(f"t({processors})") from None


@define
class Ahead:
    """What is told of a job only once it starts: its allotments, and the times that these take."""

    times: dict[int, float] = field(factory=dict)
    allotted: list[int] = field(factory=list)
    """Of its first attempt, and of each one after a failure."""
    copies: set[int] = field(factory=set)
    fresh: bool = True
    """Whether the next attempt may have another allotment."""

    def start(self, event: RunStarted) -> None:
        """A run of it."""
        size = count(event.processors)
        self.times.setdefault(size, event.work)
        if self.fresh and event.keeps is None and not self.copies:
            self.allotted.append(size)
            self.fresh = False
        self.copies.discard(-1 if event.keeps is None else event.keeps)
        self.copies.add(event.run)

    def end(self, event: RunEnded) -> None:
        """A run of it."""
        if not event.kept:
            self.copies.discard(event.run)
        self.fresh = self.fresh or event.outcome is FAILED


def look_ahead(records: Iterable[Record]) -> defaultdict[str, Ahead]:
    """By job."""
    jobs: defaultdict[str, Ahead] = defaultdict(Ahead)
    for record in records:
        event = record.event
        if isinstance(event, RunStarted):
            jobs[event.job].start(event)
        elif isinstance(event, RunEnded):
            jobs[event.job].end(event)
        elif isinstance(event, MembersReleased):
            jobs[event.job].copies.discard(event.run)
    return jobs


@define
class Local:
    """Gives each job what it got."""

    ahead: Mapping[str, Ahead]

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> list[int]:
        """See Allocation."""
        return [self.of(job)[0] for job in jobs]

    def of(self, job: BatchJob) -> list[int]:
        """All its allotments. Raises Unreplayable where it has none."""
        known = self.ahead.get(job.name)
        if known is None or not known.allotted:
            raise Unreplayable(f"what {job.name}, which never starts, asks for")
        return known.allotted


@define
class Batches(Local):
    """The same, an attempt at a time."""

    used: defaultdict[str, int] = field(factory=lambda: defaultdict(int))

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> list[Allotment]:
        """See BatchAllocation; of attempts that were never made, whatever the last one had."""
        return [self._next(job, many) for job, many in zip(jobs, attempts, strict=True)]

    def _next(self, job: BatchJob, many: int) -> Allotment:
        first, sizes = self.used[job.name], self.of(job)
        self.used[job.name] += many
        rest = sizes[first : first + many]
        return tuple((1, size) for size in [*rest, *[sizes[-1]] * (many - len(rest))])


@define
class Untied:
    """An order of jobs whose names do not tell their place in the job set, which decides ties."""

    order: Order
    submitted: dict[float, float] = field(factory=dict)
    """Priority -> when a job of this one was."""

    def __call__(
        self, job: BatchJob, processors: int, time: float, platform: int, draw: Draw
    ) -> float:
        """See Order. Raises Unreplayable for ties of jobs that came at different times."""
        priority = self.order(job, processors, time, platform, draw)
        if self.submitted.setdefault(priority, job.submitted) != job.submitted:
            raise Unreplayable(f"whether {job.name} comes before others of its priority")
        return priority
