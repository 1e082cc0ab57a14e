"""What an auditor is: a fold over records that reports violations."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Protocol

from attrs import frozen

from actors.runtime import Record


class Law(enum.Enum):
    """The laws of the world."""

    ORDER = "events are numbered in order, time does not run backwards, causes come before effects"
    FRAME = "a log begins with its scenario and ends once, after everything else"
    LIFE = "a job is submitted, runs, and completes, each once and in this order"
    SEQUENCE = "a job's runs are numbered in sequence, and each ends once"
    CAPACITY = "a processor serves no more than it has"
    STATE = "a worker is in one state at a time and changes only between different ones"
    LINK = "the master serves at most n_com transfers at once"
    TRANSFER = "a message is received whole, in its time, by an enrolled worker that is UP"
    PROGRESS = "nothing advances unless its workers are UP and have all that they need"
    LOCKSTEP = "an iteration takes max x_q w_q slots of simultaneous computation"
    MEMORY = "what runs on a processor that goes DOWN is lost at once, and nothing else is"
    DURATION = "an attempt takes its time and its verification"
    ATTEMPTS = "a job makes as many attempts as it has failures, and one"
    CHECKPOINT = "a checkpoint is restored only where it was held"
    REDISTRIBUTION = "a redistribution takes its time and keeps the processors' number"
    CLONE = "a clone is never ahead of its source"
    SPEED = "a copy progresses by its servers' speed and share"
    LEDGER = "each processor-second goes to exactly one use"
    POOL = "an attempt takes the processors that it had a moment ago, or the pool's fewest gaps"
    PROMISE = "what is promised can be kept"
    DECISION = "what was decided is what is carried out"


@frozen
class Violation:
    """A law that a log breaks."""

    law: Law
    events: tuple[int, ...]
    """seq of the events that show it."""
    why: str
    """With the numbers."""

    def __str__(self) -> str:
        events = ", ".join(f"#{seq}" for seq in self.events)
        return f"{self.law.name}: {self.why} ({events}); law: {self.law.value}"


class Auditor(Protocol):
    """Checks some laws of one log."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        """What `record` breaks, given the records before it."""

    def close(self, last: Record) -> Iterator[Violation]:
        """What only the end of the log shows."""
