"""Messages to jobs and to the scheduler. Requests are imperative, facts past tense; a message's
first words say who sends it to whom."""

from __future__ import annotations

from collections.abc import Sequence

from actors.events import Outcome, Stage
from actors.intervals import Intervals
from actors.runtime import Actor, message
from actors.worker_messages import Hang
from policies.availability import WorkerState
from policies.interface.queue import BatchJob

# --- to a hazard ------------------------------------------------------------------------------


@message
class ComputingChanged:
    """Job to hazard: the members of this copy's run compute from now on, or no longer do."""

    copy: int
    """Number of the copy, unique in the system."""
    clock: int
    """Number of the clock by which the job counts its computing time: that of the copy which had it
    first. Copies of the job that follow one another have the same clock."""
    members: Sequence[int]
    computes: bool


# --- to a job ---------------------------------------------------------------------------------


@message
class Arrive:
    """A job tells itself that its release time has come."""


@message
class GivenStandbys:
    """Workers that a copy holds ready to replace members."""

    numbers: Intervals
    speeds: Sequence[float]
    """Speed of each; empty: all are 1 throughout."""
    addresses: Sequence[Actor]
    """Address of each; empty: there is no master to fetch from."""


@message
class StartCopy:
    """Scheduler to job: start one more copy of yourself, which holds these workers from now on."""

    copy: int
    """Number of the copy, unique in the system."""
    processors: int
    numbers: Intervals
    """Numbers of the workers; empty where only how many they are matters."""
    text: str
    """Numbers of the workers, as logs write them."""
    speeds: Sequence[float] = ()
    """Speed of each member; empty: all are 1 throughout."""
    addresses: Sequence[Actor] = ()
    """Address of each member; empty: there is no master to fetch from."""
    tasks: tuple[int, ...] = ()
    """Number of tasks of each member in an iteration; empty: the decider deals no tasks."""
    reason: str | None = None
    """The decider's reason, if it gives one."""
    ready: GivenStandbys | None = None
    """Standbys that the copy holds besides; None: its job has none."""
    rest: Intervals = ()
    """The other workers of its members' nodes, which the copy holds whole; empty: there are none,
    or it holds single workers."""


@message
class Cancel:
    """Door to a job: end, whether you wait or run, because the agent that submitted you cancels
    you."""


@message
class CancelCopy:
    """Scheduler to job: end this copy, whose run is cancelled, and release its workers."""

    copy: int


@message
class ResizeCopy:
    """Scheduler to job: from now on this copy has these workers in place of those it had."""

    copy: int
    numbers: Intervals
    text: str
    """Workers that the copy can use already, as logs write them; the others are still promised to
    it."""
    speeds: Sequence[float] = ()
    addresses: Sequence[Actor] = ()


@message
class PromiseCopy:
    """Scheduler to job: this copy's workers are promised to other copies. Your run computes on them
    to its end, and only then can the others use them."""

    copy: int


@message
class MembersArrived:
    """Scheduler to job: workers that another copy had promised to this copy can be used now,
    because the other copy has ended."""

    copy: int
    joined: str
    """Numbers of the workers that have arrived, as logs write them."""
    text: str
    """Numbers of all workers that the copy can use now."""


@message
class ReplaceMember:
    """Scheduler to job: in this copy the worker `replacement` takes the place of the member
    `worker`."""

    copy: int
    worker: int
    replacement: int
    text: str
    """All members from now on, as logs write them."""
    speeds: Sequence[float] = ()
    """Speed of the replacement as only item; empty where all speeds are 1."""
    addresses: Sequence[Actor] = ()


class LookAgain:
    """Scheduler to itself: have the decider react to what this instant's last decision leaves, such
    as a first job that still lacks workers. By now jobs have logged what that decision does."""


class ReleaseFormer:
    """Scheduler to job: this instant's decision is made; release the members of your runs that
    ended early at this instant, except those that the decision has enrolled again."""


@message
class FormerMembersWait:
    """Job to scheduler: a run of mine ended early, and its members still keep what they fetched;
    notify me after this instant's decision, so that I can release those that it has not enrolled
    again."""

    job: Actor


@message
class CapReached:
    """Cap to scheduler: the makespan is at its cap; cancel what runs, and decide no more."""


@message
class MemberStateChanged:
    """Scheduler to job: a worker that this copy holds, as a member or as a standby (ready to
    replace a member), is in another state now.

    `hidden` means that the worker's fault is not detected yet: the run stands still and is not lost
    (rules.md, F1).
    """

    copy: int
    worker: int
    state: WorkerState
    hidden: bool = False
    """Whether the job must not know yet that the worker is DOWN (F1)."""


@message
class MemberHung:
    """Scheduler to job: the run of this copy stops advancing, because the member `worker` hangs: it
    stays UP, and `hang` says when that is detected."""

    copy: int
    worker: int
    hang: Hang


@message
class MemberHasNotice:
    """Scheduler to job: the owner of a member of this copy has announced that it will take the
    worker DOWN."""

    copy: int
    worker: int


@message
class MemberSpeedChanged:
    """Scheduler to job: a member of this copy changed speed."""

    copy: int
    worker: int
    speed: float


@message
class MemberReady:
    """Worker to job: I have received all that this run needs me to fetch or, if the run takes a
    checkpoint, the master has my image."""

    copy: int
    run: int
    worker: int
    passed: bool = False
    """Whether the last of its messages ends now; if not, it lacked none."""


@message
class Resume:
    """Message for a job: start the next run of each copy that has kept its members after a run, if
    all of them are UP. The job sends it to itself for later in the instant; the scheduler sends it
    once it has replaced members."""


@message
class LimitReached:
    """A job tells itself that this run has used up the user's estimate, and the scenario kills such
    jobs."""

    run: int


# --- to the scheduler -------------------------------------------------------------------------


@message
class Submit:
    """Job to scheduler: my time of submission has come; give me workers when your policy decides
    so. `described` is all that policies know about me."""

    job: Actor
    described: BatchJob


@message
class CancelledWaiting:
    """Job to scheduler: I was cancelled while I waited for workers; I need none any more."""

    index: int
    """Index of the job."""


@message
class CopyOver:
    """Job to scheduler: this copy has ended with this outcome; its workers are yours again."""

    index: int
    """Index of the job."""
    copy: int
    outcome: Outcome
    waits: bool
    """Whether the job waits in the queue again, because it has no other copy."""
    gone: bool = False
    """Whether the job is over: completed, killed or cancelled."""
    since: int = -1
    """Number of the event since which the job wants workers; -1: that of this copy's end."""


@message
class ProgressReport:
    """Malleable job to scheduler: when a copy computes again, and how much work is left then. It is
    sent whenever that changes otherwise than by computing on."""

    index: int
    """Index of the job."""
    copy: int
    start: float | None
    """Time at which the present part of the copy's run ends or, while it computes, began; inf: not
    known. None: the copy has no run, and its next run begins once all its members are UP."""
    parts: tuple[float, ...]
    """Lengths of the parts between `start` and computing, in time units."""
    left: float
    """Part alpha of the work that is left when the run computes again."""
    speed: float
    """Work per unit of time."""
    moving: bool
    """Whether a redistribution that was interrupted has to be made again."""


@message
class RunProgress:
    """Job to scheduler: how far a copy's run is, sent whenever this changes otherwise than by
    computing on."""

    index: int
    """Index of the job."""
    copy: int
    stage: Stage | None
    """Stage of the run; None: the copy has no run, and its members wait to be UP."""
    work: float
    """Whole work of the run."""
    base: float
    """Work done when its present stage began."""
    done: float
    """Work done in this stage until `since`: less than `work - base`."""
    rate: float
    """Work per unit of time since `since`; 0 unless the run computes."""
    since: float
    started: int
    """Number of the event with which the run started."""
    saved: float = 0
    """Work done in the state from which the job's next run begins if its members are not kept."""

    def at(self, now: float) -> float:
        """Return the work done in the run until `now`, with the work that it began from."""
        return self.base + (self.done + self.rate * (now - self.since))


@message
class StateSaved:
    """Job to scheduler: the most advanced state that I keep apart from runs under way, be it that
    of a cancelled run or a checkpoint, has changed."""

    index: int
    done: float | None
    """Work done in that state; None: there is no such state any more."""


@message
class WorkerLeft:
    """Job to scheduler: this copy no longer holds this worker, because it was a standby (held ready
    to replace a member) and went DOWN, or a member whose place a standby has taken."""

    copy: int
    worker: int


@message
class JobOver:
    """Vectorised job, whose copies are kept as arrays by the decider, to scheduler: I have
    completed. Its copies held no workers of the pool, so that none are released."""

    index: int


@message
class Decide:
    """The scheduler tells itself to decide, as all else of this instant has been handled."""
