"""Packs of malleable applications: the decider's parameters, expectations and decisions
(malleable17)."""

from __future__ import annotations

import enum
from typing import Annotated

from attrs import frozen

from actors.events.quantities import (
    JobName,
    Quantity,
    RunNumber,
    Time,
    Work,
    WorkerCount,
    WorkerNumber,
    WorkerSet,
)
from actors.runtime import Event
from policies.interface.pack import Cause


class WhyIgnored(enum.Enum):
    """Why a fault changed nothing, where malleable17's own rule is asked for (section 6.1)."""

    IDLE = "idle"
    """No run held the worker."""
    BUSY = "busy"
    """Its application was still in its last downtime, recovery, redistribution or the checkpoint
    that closes it."""


class PeriodRule(enum.Enum):
    """Where the work between two checkpoints comes from."""

    NONE = "none"
    """There is none: no checkpoint is ever taken, and no fault expected."""
    FIXED = "fixed"
    """It is given."""
    YOUNG = "young"
    """Young's formula (malleable17, eq. 1)."""
    DALY = "daly"
    """Daly's higher-order formula."""


@frozen
class PackDescribed(Event):
    """The parameters with which a pack's decider computes expected times; once, before all
    applications."""

    pair: WorkerCount
    """Workers in a group: sizes are multiples of it."""
    fatal: bool
    """Whether every fault counts; False: malleable17's own rule (see WhyIgnored)."""
    downtime: Time
    """D, in s: how long a fault keeps a worker DOWN, as expectations have it."""
    mtbf: Time | None
    """mu of one worker that periods and expectations count with, s; None: no fault is expected."""
    unit: Annotated[float, Quantity("time per data unit")]
    """c, s per data unit."""
    latency: Time
    """beta, s for each message."""
    startup: Time
    """S, s for each redistribution."""
    releases: bool | None = None
    """Whether applications that end before the struck one computes again promise their workers to
    others (malleable17, section 5), under a policy that redistributes at faults; None: an older
    log, which does not tell."""


@frozen
class ApplicationDescribed(Event):
    """A malleable job, and the parameters of its expected times on every number of workers.

    Expectations need the time of a checkpoint as well: that of its protection or, through a master,
    of its image.
    """

    job: JobName
    footprint: Annotated[float, Quantity("data units")]
    """m_i, data units."""
    index: Annotated[int, Quantity()] | None = None
    """Its place in the pack, from 0, which decides ties; None: not known, and neither is what
    follows."""
    profile: tuple[str, ...] = ()
    """How its time depends on its workers, as a scenario file says it: `key=value`, all keys that
    have a value but a table's times."""
    times: tuple[Time, ...] = ()
    """Of a table, its times on 1, 2, 3... workers."""
    rule: PeriodRule | None = None
    """Where its checkpoints' period comes from."""
    period: Work | None = None
    """Work between two checkpoints, where it is `fixed`."""
    mtbf: Time | None = None
    """mu of one worker that its period and expectations count with, where that is not the pack's,
    s; None: the pack's."""
    faultless: bool = False
    """Whether it expects no fault though its pack does."""


@frozen
class EndExpected(Event):
    """When the decider expects an application to end: its t^U, which holds until the next such
    event. With several copies it is the oldest's; when that one is lost, the next one's last
    expectation is logged again."""

    job: JobName
    processors: WorkerCount
    """Its size, promised workers included."""
    left: Annotated[float, Quantity("part of the job's work")]
    """alpha at `since`."""
    since: Time | None
    """t_lastR: when it computes again, or when it began to; None: not known."""
    expected: Time | None
    """t^U; None where `since` is."""


@frozen
class RedistributionDecided(Event):
    """The decider changes sizes."""

    why: Cause
    """Why."""
    job: JobName | None
    """The job whose end or fault it answers (the lowest index where several ended); None: workers
    have come back."""
    moves: tuple[tuple[JobName, WorkerCount, WorkerCount], ...]
    """(application, workers before, after), by index."""


@frozen
class RedistributionPlanned(Event):
    """The run that starts now redistributes data before it computes."""

    job: JobName
    run: RunNumber
    before: WorkerCount
    """Workers until now."""
    after: WorkerCount
    """Workers from now on."""
    rounds: Annotated[int, Quantity("rounds")]
    """max(min(before, after), |after - before|): the edge colours (malleable17, section 3.3.1)."""


@frozen
class MembersChanged(Event):
    """A job that kept its members after `run` was resized before its next run could start: these
    are its members now."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Interval set of all of them."""


@frozen
class MembersPromised(Event):
    """An application that ends before the faulty one computes again has promised its workers; it
    keeps computing on them to its end (malleable17, section 5)."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """Interval set of them."""


@frozen
class FaultIgnored(Event):
    """A fault that changed nothing: its worker stays as it is."""

    worker: WorkerNumber
    job: JobName | None
    why: WhyIgnored
    """Why."""
