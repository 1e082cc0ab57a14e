"""Defines the errors of the runtime."""

from __future__ import annotations

from collections.abc import Sequence


class RuntimeFault(Exception):
    """Base class of all errors of the runtime."""


class OutsideWorldError(RuntimeFault, NotImplementedError):
    """Raised for an operation that virtual time cannot serve: sockets, threads, processes and
    signals."""


class ActorFailed(RuntimeFault):
    """Raised when an actor fails while it handles a message, or in one of its tasks; the run
    ends."""

    def __init__(self, actor: str, message: object, error: BaseException) -> None:
        super().__init__(actor, message, error)
        self.actor = actor
        self.message = message
        self.error = error

    def __str__(self) -> str:
        return f"{self.actor} failed on {self.message}: {type(self.error).__name__}: {self.error}"

    def __reduce__(self) -> tuple[type[ActorFailed], tuple[str, str, BaseException]]:
        # Messages refer to actors, which cannot be sent between a campaign's processes; texts can.
        return ActorFailed, (self.actor, str(self.message), self.error)


class Unloggable(RuntimeFault, TypeError):
    """Raised for an event that no line of a log can hold. The lines before it are kept. `event` and
    `field` are the names of the event's class and of the field whose value is at fault, `actor` is
    that of the actor that recorded it, None where the log has no such names, and `time` is the
    virtual time."""

    def __init__(
        self, event: str, field: str, value: object, actor: str | None, time: float
    ) -> None:
        super().__init__(event, field, value, actor, time)
        self.event, self.field, self.value, self.actor, self.time = event, field, value, actor, time

    def __str__(self) -> str:
        by = "" if self.actor is None else f" of {self.actor}"
        return (
            f"no log can hold {self.event}.{self.field}{by}, at {self.time!r}: "
            f"{quoted(self.value)}; accepted: texts, finite numbers (whole ones in 64 bits), "
            "true and false, None, enums, and lists, tuples and dictionaries of these, with texts "
            "as keys"
        )

    def __reduce__(self) -> tuple[type[Unloggable], tuple[object, ...]]:
        return Unloggable, (self.event, self.field, quoted(self.value), self.actor, self.time)


def quoted(value: object, most: int = 100) -> str:
    """Return the repr of a value on one line, cut after `most` characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a number of too many digits, or an object whose repr raises
        return f"a value of {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else f"{text[:most]}..."


class UnexpectedMessage(RuntimeFault):
    """Raised when an actor receives a message that it does not handle in its present state."""


class IllegalTransition(RuntimeFault):
    """Raised when an actor tries a change of state that its transition table does not have."""


class Deadlock(RuntimeFault):
    """Raised when no event is left to happen while work is unfinished. `time` is the virtual time;
    `waiting` has a text for each actor or task that waits, which says for what."""

    def __init__(self, time: float, waiting: Sequence[str]) -> None:
        super().__init__(time, waiting)
        self.time = time
        self.waiting = tuple(waiting)

    def __str__(self) -> str:
        who = "; ".join(self.waiting) or "nobody says what for"
        return f"deadlock at {self.time!r}: nothing left to happen, unfinished: {who}"


class Livelock(RuntimeFault):
    """Raised when 1,000,000 timers have come at one instant and more are due, so that virtual time
    stands still. `actor` and `message` are the target and the message of the next one."""

    def __init__(self, time: float, actor: str, message: object) -> None:
        super().__init__(time, actor, message)
        self.time, self.actor, self.message = time, actor, message

    def __str__(self) -> str:
        return (
            f"livelock at {self.time!r}: time stands still while {self.actor} keeps sending itself "
            f"{self.message}"
        )


class Stalled(RuntimeFault):
    """Raised when too many events pass while no work is saved or completed. `events` is their
    number, `time` the virtual time, and `reasons` has texts on the unfinished jobs and on what a
    user can do."""

    def __init__(self, time: float, events: int, reasons: Sequence[str]) -> None:
        super().__init__(time, events, reasons)
        self.time, self.events, self.reasons = time, events, tuple(reasons)

    def __str__(self) -> str:
        why = "; ".join(self.reasons)
        return (
            f"no work was saved or completed in {self.events:,} events, until {self.time!r}: {why}"
        )


class WorkersRetired(RuntimeFault):
    """Raised when a job can never end, because too few workers are left that have not retired (that
    are not DOWN for ever). `worker` is one that has just retired, and `problem` says what the job
    `job` lacks."""

    def __init__(self, time: float, job: str, worker: int, problem: str) -> None:
        super().__init__(time, job, worker, problem)
        self.time, self.job, self.worker, self.problem = time, job, worker, problem

    def __str__(self) -> str:
        return f"at {self.time!r} worker {self.worker} retires, and {self.job} {self.problem}"


class Unresolved(RuntimeFault):
    """Raised when virtual time is so late that adding the shortest time of the scenario, which the
    text `shortest` describes, no longer makes a later instant."""

    def __init__(self, time: float, shortest: str) -> None:
        super().__init__(time, shortest)
        self.time, self.shortest = time, shortest

    def __str__(self) -> str:
        return (
            f"at {self.time!r} a time of double precision no longer resolves {self.shortest}: "
            "instants closer than 1e-12 of their value are one instant"
        )
