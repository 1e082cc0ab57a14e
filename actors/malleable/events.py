"""What the log records of malleable applications on faulty processors (003)."""

from __future__ import annotations

import enum

from attrs import frozen

from actors.runtime import Event
from policies.interface.malleable import Cause


class Stage(enum.Enum):
    """What an application does with its processors."""

    COMPUTING = "computing"
    CHECKPOINTING = "checkpointing"
    """A periodic checkpoint is exchanged between buddies."""
    DOWN = "down"
    """The struck processor is replaced; the others wait."""
    RECOVERING = "recovering"
    """The buddy sends both copies to the struck processor."""
    REDISTRIBUTING = "redistributing"
    """Data moves to another number of processors."""
    CLOSING = "closing"
    """The checkpoint that closes a redistribution."""


class WhyIgnored(enum.Enum):
    """Why a fault changed nothing."""

    IDLE = "idle"
    """Nobody held the processor."""
    BUSY = "busy"
    """Its application was still in its last downtime, recovery, redistribution or the checkpoint
    that closes it (003, section 6.1)."""


@frozen
class PackDescribed(Event):
    """The model that the run follows; comes before all applications."""

    pair: int
    """Processors in a group of buddies."""
    downtime: float
    """D, in s; 0 without checkpoints."""
    fatal: bool
    """Whether a fault during a recovery counts, and can lose both copies of a checkpoint."""
    mtbf: float | None
    """mu of one processor that periods and expectations count with, s; None: no checkpoints."""
    unit: float
    """c, s per data unit, for checkpoints and redistributions."""
    latency: float
    """beta, s for each message."""
    startup: float
    """S, s for each redistribution."""


@frozen
class ApplicationDescribed(Event):
    """One application of the pack."""

    job: str
    footprint: float
    """m_i, data units."""


@frozen
class StageStarted(Event):
    """A run goes over to another stage; the one before is over."""

    job: str
    run: int
    stage: Stage


@frozen
class ProgressSettled(Event):
    """What an application has left and when it should end, whenever that changes."""

    job: str
    run: int
    """The run that begins now."""
    processors: int
    """Its size, promised processors included."""
    left: float
    """alpha: fraction of the work not done, or lost."""
    time: float
    """t_ij, s: the whole work's time on so many processors without faults and checkpoints."""
    since: float
    """t_lastR, s: when it computes again."""
    expected: float
    """t^U, s: the expected end."""


@frozen
class CheckpointTaken(Event):
    """A checkpoint is complete: every processor holds its own and its buddy's copy."""

    job: str
    run: int
    checkpoint: int
    """Number of the checkpoint, from 1 in its application."""
    left: float
    """alpha that it saves."""


@frozen
class FaultStruck(Event):
    """A fault struck a processor at work; its application falls back."""

    processor: int
    job: str
    run: int
    stage: Stage
    """What it interrupted."""
    left: float
    """alpha that the application falls back to."""


@frozen
class FaultIgnored(Event):
    """A fault that changed nothing."""

    processor: int
    job: str | None
    why: WhyIgnored


@frozen
class CopiesLost(Event):
    """What a fault destroyed: the processor's own checkpoint and the copy of its buddy's."""

    processor: int
    job: str
    own: int | None
    """Number of the checkpoint; None: there was none yet."""
    buddys: int | None


@frozen
class CopiesRestored(Event):
    """What a recovery brought back: the buddy sent both copies again."""

    processor: int
    buddy: int
    job: str
    checkpoint: int | None
    """None: there was none yet; the application starts from its input."""


@frozen
class BothCopiesLost(Event):
    """A second fault struck the buddy before the recovery was over: the checkpoint is gone."""

    processor: int
    """Whose checkpoint."""
    buddy: int
    """Who held its only copy."""
    job: str


@frozen
class RestartedFromScratch(Event):
    """A fatal failure: all the application's work is lost."""

    job: str
    run: int
    lost: float
    """Fraction of the work that was saved before."""


@frozen
class RedistributionDecided(Event):
    """The scheduler changes sizes."""

    why: Cause
    job: str
    """Whose end or fault it answers (the lowest index where several ended)."""
    moves: tuple[tuple[str, int, int], ...]
    """(application, processors before, after), by index."""


@frozen
class RedistributionStarted(Event):
    """Data begins to move, one message per port and round."""

    job: str
    run: int
    before: int
    after: int
    rounds: int
    """max(min(before, after), |after - before|): the edge colours (003, section 3.3.1)."""


@frozen
class ProcessorsReleased(Event):
    """An application that ends before the faulty one computes again has promised its processors;
    it keeps computing on them to its end (003, section 5)."""

    job: str
    run: int
    processors: str


@frozen
class ProcessorsJoined(Event):
    """Processors that were promised are free now and join their new run."""

    job: str
    run: int
    processors: str


VOCABULARY: tuple[type[Event], ...] = (
    PackDescribed,
    ApplicationDescribed,
    StageStarted,
    ProgressSettled,
    CheckpointTaken,
    FaultStruck,
    FaultIgnored,
    CopiesLost,
    CopiesRestored,
    BothCopiesLost,
    RestartedFromScratch,
    RedistributionDecided,
    RedistributionStarted,
    ProcessorsReleased,
    ProcessorsJoined,
)
