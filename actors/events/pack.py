"""What the pack's decider counts with and decides: malleable applications (003)."""

from __future__ import annotations

import enum

from attrs import frozen

from actors.runtime import Event
from policies.interface.pack import Cause


class WhyIgnored(enum.Enum):
    """Why a fault changed nothing, where 003's own rule is asked for (section 6.1)."""

    IDLE = "idle"
    """Nobody held the worker."""
    BUSY = "busy"
    """Its application was still in its last downtime, recovery, redistribution or the checkpoint
    that closes it."""


@frozen
class PackDescribed(Event):
    """The model that decisions follow; once, before all applications."""

    pair: int
    """Workers in a group: sizes are multiples of it."""
    fatal: bool
    """Whether every fault counts; False: 003's own rule (see WhyIgnored)."""
    downtime: float
    """D, in s: how long a fault keeps a worker DOWN, as expectations have it."""
    mtbf: float | None
    """mu of one worker that periods and expectations count with, s; None: no fault is expected."""
    unit: float
    """c, s per data unit."""
    latency: float
    """beta, s for each message."""
    startup: float
    """S, s for each redistribution."""


@frozen
class ApplicationDescribed(Event):
    """A malleable job."""

    job: str
    footprint: float
    """m_i, data units."""


@frozen
class EndExpected(Event):
    """What the decider counts with for an application from now on: its t^U, which is not looked at
    again until the next such line."""

    job: str
    processors: int
    """Its size, promised workers included."""
    left: float
    """alpha at `since`."""
    since: float | None
    """t_lastR: when it computes, or did when this was told; None: nobody knows."""
    expected: float | None
    """t^U; None where `since` is."""


@frozen
class RedistributionDecided(Event):
    """The decider changes sizes."""

    why: Cause
    job: str | None
    """Whose end or fault it answers (the lowest index where several ended); None: workers have come
    back."""
    moves: tuple[tuple[str, int, int], ...]
    """(application, workers before, after), by index."""


@frozen
class RedistributionPlanned(Event):
    """The run that starts now redistributes data before it computes."""

    job: str
    run: int
    before: int
    after: int
    rounds: int
    """max(min(before, after), |after - before|): the edge colours (003, section 3.3.1)."""


@frozen
class MembersChanged(Event):
    """The members that a job kept after `run` are these from now on: it was resized before its next
    run could start."""

    job: str
    run: int
    processors: str
    """Interval set of all of them."""


@frozen
class MembersPromised(Event):
    """An application that ends before the faulty one computes again has promised its workers; it
    keeps computing on them to its end (003, section 5)."""

    job: str
    run: int
    processors: str
    """Interval set of them."""


@frozen
class FaultIgnored(Event):
    """A fault that changed nothing: its worker stays as it is."""

    worker: int
    job: str | None
    why: WhyIgnored


VOCABULARY: tuple[type[Event], ...] = (
    PackDescribed,
    ApplicationDescribed,
    EndExpected,
    RedistributionDecided,
    RedistributionPlanned,
    MembersChanged,
    MembersPromised,
    FaultIgnored,
)
