"""Events of packs of malleable applications: the decider's parameters, expectations and decisions
(malleable17)."""

from __future__ import annotations

import enum
from typing import Annotated

from actors.events.quantities import (
    JobName,
    Quantity,
    RunNumber,
    Time,
    WorkerCount,
    WorkerNumber,
    WorkerSet,
)
from actors.runtime import Event, fact
from policies.interface.pack import Cause


class WhyIgnored(enum.Enum):
    """Says why a fault changed nothing, where malleable17's own rule applies (section 6.1)."""

    IDLE = "idle"
    """No run held the worker."""
    BUSY = "busy"
    """The worker's application was still in its last downtime, recovery, redistribution or the
    checkpoint that closes it."""


class PeriodRule(enum.Enum):
    """Says how the work between two checkpoints is determined."""

    NONE = "none"
    """No checkpoint is ever taken, and no fault is expected."""
    FIXED = "fixed"
    """The scenario gives the work between two checkpoints."""
    YOUNG = "young"
    """Young's formula gives it (malleable17, eq. 1)."""
    DALY = "daly"
    """Daly's higher-order formula gives it."""


@fact
class PackDescribed(Event):
    """Records how the decider of a pack (malleable applications that share a platform) models the
    scenario's faults; logged once, before all applications."""

    fatal: bool
    """Whether every fault counts; if not, malleable17's own rule applies (see WhyIgnored)."""
    downtime: Time
    """Time D, in s, for which expectations assume that a fault keeps a worker DOWN."""
    mtbf: Time | None
    """MTBF mu of one worker, in s, that periods and expectations assume; None if no fault is
    expected."""
    releases: bool
    """Whether applications that end before the faulty one computes again promise their workers to
    others (malleable17, section 5), under a policy that redistributes at faults."""


@fact
class ApplicationDescribed(Event):
    """Records what determines the expected times of a malleable job, besides its speedup in the
    scenario and its protection; logged at its submission."""

    job: JobName
    footprint: Annotated[float, Quantity("data units")]
    """Size m_i of the application's data, in data units."""
    index: Annotated[int, Quantity()]
    """Position of the application in the pack, from 0, which decides ties."""
    rule: PeriodRule
    """Rule that determines the period of the application's checkpoints."""
    mtbf: Time | None
    """MTBF mu of one worker, in s, that the application's period and expectations assume where it
    differs from the pack's; None for the pack's."""
    faultless: bool
    """Whether the application expects no fault although its pack does."""


@fact
class EndExpected(Event):
    """Records t^U, the time at which the decider expects an application to end, which holds until
    the next such event. With several copies it is that of the oldest copy; when that one is lost,
    the next copy's last expectation is logged again."""

    job: JobName
    processors: WorkerCount
    """Size of the application, promised workers included."""
    left: Annotated[float, Quantity("part of the job's work")]
    """Part alpha of the work that is left at `since`."""
    since: Time | None
    """Time t_lastR at which the application begins, or began, to compute again; None if it is not
    known."""
    expected: Time | None
    """Expected end t^U; None where `since` is None."""


@fact
class RedistributionDecided(Event):
    """The decider changes the numbers of workers of running applications, at the end or fault of
    one or as workers have come back."""

    why: Cause
    """Kind of event that the decision answers."""
    job: JobName | None
    """The job whose end or fault the decision answers (the lowest index where several ended); None
    if workers have come back."""
    moves: tuple[tuple[JobName, WorkerCount, WorkerCount], ...]
    """Triples (application, workers before, workers after), by index."""


@fact
class RedistributionPlanned(Event):
    """The run that starts now, on another number of workers than the job had, redistributes data
    among them before it computes."""

    job: JobName
    run: RunNumber
    before: WorkerCount
    """Number of workers until now."""
    after: WorkerCount
    """Number of workers from now on."""
    rounds: Annotated[int, Quantity("rounds")]
    """Rounds of the redistribution: max(min(before, after), |after - before|), the edge colours
    (malleable17, section 3.3.1)."""


@fact
class MembersChanged(Event):
    """A job that has kept its members after `run` is resized before its next run could start;
    `processors` are its new members."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """All members from now on, as an interval set."""


@fact
class MembersPromised(Event):
    """An application that will end before the faulty one computes again promises its workers to
    whichever applications get them next. It computes on them to its end, and only then can these
    use them (malleable17, section 5)."""

    job: JobName
    run: RunNumber
    processors: WorkerSet
    """The promised workers, as an interval set."""


@fact
class FaultIgnored(Event):
    """A fault changes nothing, and its worker keeps its state, because malleable17's own rule
    ignores it (section 6.1). `job` is the job whose run holds the worker; None if none does."""

    worker: WorkerNumber
    job: JobName | None
    why: WhyIgnored
    """Reason why the fault changed nothing."""
