"""What jobs and the scheduler are told: requests imperative, facts past tense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.events import Outcome
from actors.intervals import Intervals
from actors.runtime import message
from policies.availability import WorkerState

if TYPE_CHECKING:
    from actors.job import Job
    from actors.run import Run

# --- to a job ---------------------------------------------------------------------------------


@message
class Arrive:
    """A job to itself: the release time has come."""


@message
class StartCopy:
    """Scheduler to job: one more run at once, on these workers from now on."""

    copy: int
    """Number of the copy, unique in the system."""
    processors: int
    numbers: Intervals
    """Who they are; () where that matters to nobody."""
    text: str
    """The same, as logs write it."""
    tasks: tuple[int, ...] = ()
    """By member: tasks of an iteration, where the decider deals them."""
    reason: str | None = None
    """Why the decider decided, where it says so."""


@message
class WithdrawCopy:
    """Scheduler to job: end this copy's run; its workers are taken back."""

    copy: int


@message
class ResizeCopy:
    """Scheduler to job: from now on this copy has these workers in place of those it had."""

    copy: int
    numbers: Intervals
    text: str
    """Those of them that are there already, as logs write them: others were promised."""


@message
class PromiseCopy:
    """Scheduler to job: this copy's workers will be others' once its run has ended."""

    copy: int


@message
class MembersCame:
    """Scheduler to job: workers that were promised to this copy are there."""

    copy: int
    joined: str
    """Who, as logs write them."""
    text: str
    """All that are there now."""


class Settle:
    """Scheduler to job: all of this instant is decided; whom you have not got again may go."""


@message
class MembersWait:
    """Job to scheduler: who was in my run, which ended early, waits to hear of your decision."""

    job: Job


@message
class GiveUp:
    """To the scheduler: the makespan is at its cap; withdraw what runs, and decide no more."""


@message
class MemberMoved:
    """Scheduler to job: a member of this copy changed state."""

    copy: int
    worker: int
    state: WorkerState


@message
class MemberSped:
    """Scheduler to job: a member of this copy changed speed."""

    copy: int
    worker: int
    speed: float


@message
class MemberFed:
    """Worker to job: I hold all that this run needs."""

    copy: int
    run: int
    worker: int


@message
class MemberSaved:
    """Worker to job: the master has my image."""

    copy: int
    run: int
    worker: int


@message
class PartDue:
    """A job to itself: a part of this run has ended."""

    run: Run


@message
class Resume:
    """A job to itself: all members of a copy that it kept may be UP."""


@message
class AttemptOver:
    """A job to itself: the attempt and its verification have run their time."""


@message
class LimitReached:
    """A job to itself: this run has used up the user's estimate, and the scenario kills such
    jobs."""

    run: int


@message
class FirstCopyEnded:
    """Decider to job: the first of your copies has ended; columns carry them."""


# --- to the scheduler -------------------------------------------------------------------------


@message
class Submit:
    """Job to scheduler: schedule me."""

    job: Job


@message
class CopyOver:
    """Job to scheduler: the workers of this copy are yours again."""

    index: int
    """The job's."""
    copy: int
    outcome: Outcome
    waits: bool
    """Whether the job waits in the queue again: it has no other copy."""
    gone: bool = False
    """Whether the job is completed, or was killed."""
    since: int = -1
    """seq of what the job wants workers since; -1: the end of this copy."""


@message
class Stood:
    """Malleable job to scheduler: where a copy stands, whenever that changes otherwise than by
    computing on."""

    index: int
    """The job's."""
    copy: int
    start: float | None
    """When the present part of its run ends or, while it computes, when it has begun; inf: nobody
    knows; None: its next run begins once all its members are UP."""
    parts: tuple[float, ...]
    """Times of the parts between `start` and computing."""
    left: float
    """alpha: the fraction of the work that is left then."""
    speed: float
    """Work per unit of time."""
    moving: bool
    """Whether a redistribution that was interrupted has to be made again."""


@message
class JobOver:
    """Job to scheduler: I am over, and no copy of mine was yours to take back."""

    index: int


@message
class WorkerMoved:
    """Worker to scheduler: I changed state."""

    index: int
    state: WorkerState
    until: float | None
    """When it will be UP again, where that is known."""


@message
class WorkerSped:
    """Worker to scheduler: I changed speed."""

    index: int
    speed: float


@message
class ProgramReceived:
    """Worker to scheduler: I hold this program now."""

    index: int
    label: str


@message
class Decide:
    """Scheduler to itself: all else of this instant has been handled."""
