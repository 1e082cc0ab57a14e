"""What the laws are, and what an auditor is: handlers of events that report violations."""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from attrs import frozen

from actors.runtime import Event


class Law(enum.Enum):
    """The laws of the world."""

    ORDER = "events are numbered in order, time does not run backwards, causes come before effects"
    CAUSE = "an event is caused by that without which it would not have happened"
    FRAME = "a log begins with its scenario and ends once, after everything else"
    LIFE = "a job is submitted, runs, and completes, each once and in this order"
    SEQUENCE = "a job's runs and iterations are numbered in sequence, and each ends once"
    CAPACITY = "a worker serves no more than it has"
    STATE = "a worker is in one state at a time and changes only between different ones"
    LINK = "the master serves at most n_com transfers at once"
    TRANSFER = "a message passes whole, in its time and turn, to or from a member that is UP"
    PROGRESS = "nothing advances unless its workers are UP and have all that they need"
    LOCKSTEP = "an iteration takes max x_q w_q time units of simultaneous computation"
    MEMORY = "what runs on a worker that goes DOWN is lost at once, and nothing else is"
    DURATION = "each part of a run takes its time"
    ATTEMPTS = "a job makes as many attempts as it has failures, and one"
    CHECKPOINT = "a checkpoint is taken when it is due and restored only where it was held"
    REDISTRIBUTION = "a redistribution takes its time and keeps the processors' number"
    CLONE = "a clone is never ahead of its source"
    COPIES = "a job has at most r copies; the first to complete ends the others"
    SPEED = "a run advances by its workers' speed and share"
    EXPOSURE = "a silent error is drawn by what was computed since the last verified point"
    LEDGER = "each processor-second goes to exactly one use"
    START = "what can start starts at the instant at which it can"
    POLICY = "what is decided is what the named policy decides on what it sees"
    POOL = "a run gets the free workers that the placement says"
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


Handler = Callable[[Any, float, int], None]
"""Called with an event, its time and its seq."""
Handlers = Mapping[type[Event], Handler]


class Auditor:
    """Checks some laws of one log; what it finds, it reports to the world that it was made with."""

    wakes: ClassVar[frozenset[type[Event]]] = frozenset()
    """What it sleeps until it hears of: a log tells of few mechanisms. Empty: it never does."""

    of_touched: ClassVar[bool] = False
    """Whether it looks at no instant at which no copy was touched: half of a log's instants."""

    @property
    @abstractmethod
    def handlers(self) -> Handlers:
        """What it wants to be called with, by class of event."""

    def passed(self, t: float, seq: int) -> None:
        """An instant is over: event `seq`, at a later time `t`, is the next."""

    def close(self, t: float, seq: int) -> None:
        """The log is over; the last instant has passed. `seq` is the last event."""
