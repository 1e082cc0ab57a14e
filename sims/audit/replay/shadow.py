"""A scheduler whose clock, jobs and workers are a log's: it hears what the log tells, and notes
what its decider would have done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from attrs import define, field, frozen

from actors.decider import Decider
from actors.messages import PromiseCopy, ResizeCopy, StartCopy, WithdrawCopy
from actors.runtime import Actor, Event, Phase, Record, System, Timer
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob

if TYPE_CHECKING:
    from actors.job import Job
    from actors.pool import Pool
    from sims.audit.replay.enrolled import ToldApplication


NUMBERED = re.compile(r"J?(\d+)")
"""A name that tells the job's place in the job set."""


class Unreplayable(Exception):
    """What a policy saw cannot be rebuilt; its text says what the log does not tell."""


@frozen(eq=False)
class Told:
    """A job, as far as its decider asks for one."""

    described: BatchJob

    @property
    def index(self) -> int:
        """See Job."""
        return self.described.index

    @property
    def name(self) -> str:
        """See Job."""
        return self.described.name


def as_job(told: Told | ToldApplication) -> Job:
    """For the type checker: a decider reads no more of a job than that."""
    return cast("Job", told)


@define(eq=False)
class Shadow(Scheduler):
    """Sends nothing and sets no timers: it is the log that moves on."""

    orders: list[StartCopy | ResizeCopy | PromiseCopy] = field(init=False, factory=list)
    """What the decider had jobs do since somebody looked."""
    withdrawn: list[int] = field(init=False, factory=list)
    """Copies that it withdrew."""
    said: list[Event] = field(init=False, factory=list)
    """What it recorded."""

    @property
    def starts(self) -> list[StartCopy]:
        """Of these, the copies that it started."""
        return [it for it in self.orders if isinstance(it, StartCopy)]

    def send(self, target: Actor, message: object) -> None:
        """See Actor."""
        if isinstance(message, StartCopy | ResizeCopy | PromiseCopy):
            self.orders.append(message)
        elif isinstance(message, WithdrawCopy):
            self.withdrawn.append(message.copy)

    def at(self, time: float, message: object, phase: Phase = Phase.WORK_ENDS) -> Timer:
        """See Actor."""
        return [time, 0, None, message, None]

    def cancel(self, timer: Timer) -> None:
        """See Actor."""

    def decide_soon(self) -> None:
        """See Scheduler."""
        self.deciding = True

    def decides(self) -> bool:
        """Let the decider decide, if what was heard calls for it; whether it did."""
        if not (self.deciding or self.decider.woken()):
            return False
        self.deciding = False
        for noted in (self.orders, self.withdrawn, self.said):
            noted.clear()
        self.decider.decide()
        return True


def shadow(seed: int, pool: Pool, decider: Decider) -> Shadow:
    """One that draws as the run of this seed did."""
    said: list[Event] = []

    def note(record: Record) -> None:
        said.append(record.event)

    made = Shadow("scheduler", pool, decider, jobs=-1)
    made.said = said
    System(seed, [note]).spawn(made)
    return made


def place_of(name: str, count: int) -> int:
    """Of a job in the job set: as in its name; else in the order of submission, after `count`."""
    found = NUMBERED.fullmatch(name)
    return int(found[1]) if found else count
