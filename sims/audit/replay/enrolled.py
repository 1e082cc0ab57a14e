"""What an enrolment policy sees of jobs, runs and workers, rebuilt from what a log tells."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from actors.events import (
    RateChanged,
    Stage,
    StageStarted,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from actors.memory import Memory
from actors.messages import ProgramReceived
from actors.progress import Progress
from actors.runtime import VirtualTimeLoop
from actors.worker_messages import Needs

Transfer = TransferStarted | TransferSuspended | TransferEnded | TransferDropped


@define(eq=False)
class ToldRun:
    """A run's account (see Run)."""

    work: float
    base: float
    """Work done when the present part began."""
    stage: Stage = Stage.FEEDING
    part: Progress = field(factory=lambda: Progress(0))
    told: int = -1

    def done(self, now: float) -> float:
        """Work done until `now`."""
        return self.base + self.part.at(now) if self.stage is Stage.COMPUTING else self.base

    def go_on(self, event: StageStarted | RateChanged, t: float) -> None:
        """It goes over to another stage, or on at another rate."""
        if isinstance(event, StageStarted):
            self.stage, self.base = event.stage, event.done
            self.part = Progress(self.work, 0, event.rate, t)
        else:
            self.part.change(t, event.rate)


@define(eq=False)
class ToldCopy:
    """A chain of runs on the same members (see Copy)."""

    number: int
    members: tuple[int, ...]
    run: ToldRun | None


@define(eq=False)
class ToldApplication:
    """An iterative job, as far as its decider asks for one."""

    index: int
    name: str
    loop: VirtualTimeLoop
    needs: Needs | None = None
    """What members fetch; None: there is no master."""
    copies: dict[int, ToldCopy] = field(factory=dict)

    @property
    def now(self) -> float:
        """See Actor."""
        return self.loop.now

    @property
    def job(self) -> ToldApplication:
        """See Feed, which tells no more than whose member a worker is."""
        return self


@define(eq=False)
class ToldWorker:
    """A worker (see Member)."""

    memory: Memory = field(factory=Memory)
    feed: ToldApplication | None = None
    """Whose member it is, where there is a master."""

    @property
    def label(self) -> str:
        """What the program is known by that it fetches."""
        needs = self.feed.needs if self.feed is not None else None
        return needs.label if needs is not None else ""


@define(eq=False)
class ToldMembers:
    """All workers, as members of runs."""

    count: int
    reuse: bool
    """Whether members of a run that ended early, enrolled again at that very decision by the same
    job, keep their data and what has passed of a message (002, III.C)."""
    workers: dict[int, ToldWorker] = field(init=False)
    former: dict[int, ToldApplication] = field(factory=dict)
    """Those whose run ended so at this instant -> its job."""

    def __attrs_post_init__(self) -> None:
        self.workers = {number: ToldWorker() for number in range(self.count)}

    def feed(self, job: ToldApplication, copy: ToldCopy) -> None:
        """They are members of its run from now on."""
        for number in copy.members:
            before, worker = self.former.pop(number, None), self.workers[number]
            if before is not None and before is not job:
                worker.memory.leave()
            worker.memory.image = False
            worker.feed = job if job.needs is not None else None

    def quit(self, job: ToldApplication, copy: ToldCopy, early: bool) -> None:
        """They are no members any more."""
        if early and self.reuse:
            self.former.update(dict.fromkeys(copy.members, job))
        else:
            self._leave(copy.members)

    def stay_for_next(self, copy: ToldCopy) -> None:
        """Their job keeps them, for a run on the same members."""
        for number in copy.members:
            worker = self.workers[number]
            worker.memory.drop()
            worker.memory.image, worker.feed = False, None

    def leave_for_good(self) -> None:
        """Who was not enrolled again at this instant has nothing but its program."""
        self._leave(self.former)
        self.former.clear()

    def _leave(self, workers: Iterable[int]) -> None:
        for number in workers:
            self.workers[number].memory.leave()
            self.workers[number].feed = None

    def pass_message(self, event: Transfer, t: float) -> ProgramReceived | None:
        """A message begins, stops, ends or is lost; the program that is complete with it."""
        worker = self.workers[event.worker]
        memory, label = worker.memory, worker.label
        match event:
            case TransferStarted():
                memory.begin(event.kind, event.left, t)
            case TransferSuspended():
                memory.part.change(t, 0)
            case TransferDropped():
                memory.drop()
            case TransferEnded():
                memory.complete(label)
                if event.kind is TransferKind.PROGRAM:
                    return ProgramReceived(event.worker, label)
        return None
