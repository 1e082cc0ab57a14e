"""Defines what the policies for a queue of rigid and moldable jobs see and decide: allocation,
order and strategy (rigid21 and moldable21).

A policy is three decisions that combine freely. An allocation rule gives each job its processors,
an order sorts the queue, and a strategy (list or shelves) decides which jobs start now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from attrs import define, field, frozen

from policies.interface.cells import Cells, Parts
from policies.interface.kinds import JobKind
from policies.maths.speedup import Profile


@frozen
class Replication:
    """Replication of a job's state: a job's processors form `count` groups of equal size, each of
    which holds the whole state, so that a run can go on, slower, when groups are lost with their
    members."""

    count: int
    """Number of groups, g."""
    least: int = 1
    """Number of groups that a run needs: with fewer left it is lost."""
    regroup: float = 0.0
    """Time for which a run pauses as groups drop out."""
    rejoin: float = 0.0
    """Time for which a run pauses as groups rejoin."""


@define(eq=False, weakref_slot=False)
class BatchJob:
    """Describes what a scheduler knows about a job. It is constant; failures become known only as
    they happen.

    It is read only, but not frozen at run time, which would make it cost three times as much: to
    make a job would take as long as to start a run.
    """

    index: int
    """Position of the job in its job set, from 0; ties go to the smaller index."""
    name: str
    profile: Profile
    """Execution time as a function of the number of processors, t(p), without verification."""
    verification: float = 0.0
    """Time v that the error detector adds to each attempt; it counts in no priority and no area
    (rigid21)."""
    estimate: float | None = None
    """The user's requested time, which reservations, shelves and orders use in place of the
    profile's time; None where they use the profile's."""
    submitted: float = 0.0
    """Time at which the job is submitted."""
    kind: JobKind = JobKind.RIGID
    """Kind of the job."""
    user: str = ""
    """Name of the user who submitted the job; empty if it is not known."""
    group: str = ""
    """Name of the user's group; empty if it is not known."""
    queue: str = ""
    """Name of the site's queue into which the job was submitted; empty if it is not known."""
    priority: float = 0.0
    """Priority that the site or the user gave the job; larger is more urgent."""
    recorded_wait: float | None = None
    """Time that the job waited where its log was recorded; None if it is not known. It is kept for
    reports, and no decision may depend on it."""
    startup: float = 0.0
    """Time in which each attempt starts up before anything else; like a verification it counts in
    no priority and no area."""
    select: float = 0.0
    """Time in which workers are chosen for an attempt, before it starts up."""
    held_ready: int = 0
    """Largest number of workers that each copy holds ready to replace members, besides those that
    it computes on."""
    partition: int = 0
    """Number of the partition whose workers it may use; 0 where there are none."""
    node: int = 0
    """Number of workers of a node, where each copy holds whole nodes, as many as its processors
    need (an exclusive partition); 0 where it holds as many workers as it asks for."""
    replication: Replication | None = None
    """The groups of its processors that hold its whole state each; None: it is lost with any
    processor."""

    @property
    def divided(self) -> bool:
        """Whether its processors are several groups, of which it can lose some."""
        return self.replication is not None

    @property
    def bare(self) -> bool:
        """Whether an attempt only computes, on its own processors alone, and is lost when any of
        them fails."""
        return not (self.preparation or self.held_ready or self.replication or self.node)

    @property
    def preparation(self) -> float:
        """Time that passes before an attempt's members fetch anything: the choice of workers and
        the start-up."""
        return self.select + self.startup

    @property
    def overhead(self) -> float:
        """Time for which an attempt holds its processors besides computing: choice of workers,
        start-up and verification."""
        return self.preparation + self.verification

    def believed(self, processors: int) -> float:
        """Return the time that one attempt on `processors` processors is expected to take, without
        verification: the user's estimate, or, without one, the profile's time."""
        return self.profile.time(processors) if self.estimate is None else self.estimate

    def occupied(self, processors: int) -> int:
        """Return how many workers an attempt on `processors` processors keeps from others: those of
        the nodes that it holds, if it holds whole ones; a smaller last node counts as any other."""
        return -(-processors // self.node) * self.node if self.node else processors


Rank = Any
"""Sort key of a job by its priority: the number -priority; where jobs have tiers, the pair (-tier,
-priority)."""
QueueKey = tuple[Rank, int]
"""Sort key of the queue: (rank, job index)."""


@define(eq=False, weakref_slot=False)
class Queued:
    """A job in the queue, with the number of processors of its next attempt and the time for which
    that is expected to hold them.

    It is read only, but not frozen at run time: one is made for each job and run, and freezing
    doubles its cost.
    """

    job: BatchJob
    processors: int
    held: float
    """Expected time for which the next attempt holds its processors: believed time +
    overhead."""
    key: QueueKey
    """Sort key of the queue: (rank, job index); the rank is -priority unless there are tiers."""


Interval = tuple[int, int]


@define(eq=False, weakref_slot=False)
class Run:
    """A running attempt, or a processor that is not UP, which is listed as a run without a job
    until its return.

    It is read only, but not frozen at run time, as a `Queued` is not.
    """

    end: float
    """Time at which the run is expected to end; of a processor that is not UP, of its return;
    infinite where that is not known."""
    index: int
    """Index of the job; of a processor that is not UP, a number below 0."""
    processors: int
    """Number of processors."""
    entry: Queued | None
    """The queue entry that was started; None for a processor that is not UP."""
    numbers: tuple[Interval, ...]
    """Numbers of the processors, as intervals, where they are recorded."""
    copy: int
    """Number of the copy; of a processor that is not UP, a number below 0."""
    parts: Parts = ()
    """Number of its processors in each cell, where workers differ (`cells.py`); empty where only
    `numbers` gives them."""


@define(eq=False, weakref_slot=False)
class Reservation:
    """A promise that a waiting job, `waiting`, can start at the time `start` on as many processors
    as its entry says."""

    start: float
    waiting: Queued
    parts: Parts = ()
    """Number of its processors in each cell, where workers differ (`cells.py`)."""


class Draw(Protocol):
    """Returns a random number, uniform in [0, 1), that belongs to a job: in one simulation every
    call with the same job gets the same number."""

    def __call__(self, job: BatchJob) -> float: ...


class Order(Protocol):
    """Gives each job a priority that sorts the queue (rigid21, section 5.1): the larger priority
    comes first, and ties go by job index."""

    def __call__(
        self, job: BatchJob, processors: int, time: float, platform: int, draw: Draw
    ) -> float:
        """Return the priority of `job`, which would get `processors` of the platform's `platform`
        processors and is believed to take `time` on them, verification excluded. `draw` gives a
        random order its numbers."""


@frozen
class Moment:
    """Shows an order that changes with time the current time, the users and their past usage."""

    now: float
    used: Callable[[str], float] = field(default=lambda user: 0.0)
    """Returns a user's decayed processor-time, with the half-life that the order declares."""
    users: Collection[str] = ()
    """Names of the users who have submitted a job; empty if the order declares no half-life."""


@runtime_checkable
class TimedOrder(Protocol):
    """An order of the queue that changes with time. It declares this by having `at`: only then is
    the queue sorted anew at each decision."""

    @property
    def half_life(self) -> float | None:
        """Time in which the weight of a user's past processor-time halves, in the scenario's unit;
        None if the order does not depend on usage."""

    def at(self, moment: Moment) -> Order:
        """Return the order that holds at the time of `moment`, given the users' usage until
        then."""


class BatchView(Protocol):
    """Shows a strategy the queue and the platform at one instant. It is live: a strategy reads it
    and never keeps it."""

    @property
    def now(self) -> float: ...

    @property
    def processors(self) -> int:
        """Number of processors, P."""

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way, even one whose processors are not UP."""

    @property
    def free(self) -> int:
        """Number of processors that are UP and run nothing."""

    @property
    def queue(self) -> Sequence[Queued]:
        """All waiting jobs, jobs that just failed included, the highest priority first."""

    @property
    def least(self) -> int:
        """The smallest allotment in the queue, or P + 1 if the queue is empty: no job starts with
        fewer free processors."""

    @property
    def failed(self) -> Sequence[Queued]:
        """The waiting jobs whose runs ended early at this very instant: they failed, were lost, or
        were cancelled, by this strategy too."""

    @property
    def running(self) -> Sequence[Run]:
        """All running attempts, and all processors that are not UP as attempts without a job,
        sorted by expected end, then by index. An expected end may lie in the past where a job
        outlives its estimate."""

    def absent(self, run: Run) -> Sequence[Run]:
        """Return an entry, in the form in which `running` has them, for each processor of `run`
        that is not UP now: what `running` would still list of it if the run ended."""

    def without(self, gone: Sequence[Run]) -> BatchView:
        """Return this view as it would be after the runs in `gone` are cancelled: their processors
        that are UP free, and their jobs, unless another copy of them runs, in the queue."""

    @property
    def shelf_end(self) -> float | None:
        """Expected end T_i of the shelf that was opened last; None before the first shelf."""

    @property
    def reservations(self) -> Mapping[int, Reservation]:
        """Reservations of the strategy's last decision by job index, without the jobs that have
        started."""

    @property
    def memory(self) -> object:
        """State that the strategy's last decision stored in its `memory`; None at first."""

    @property
    def resumable(self) -> Collection[int]:
        """Indices of the jobs protected by images (checkpoints on shared storage): a cancelled run
        of these loses only the work since its last checkpoint."""

    @property
    def early(self) -> Sequence[Run]:
        """Runs that have ended since the last decision, and did so before their expected ends."""

    @property
    def moved(self) -> bool:
        """Whether a worker has changed its state, or a waiting job was cancelled, since the last
        decision."""

    @property
    def cancelled(self) -> Collection[int]:
        """Indices of the jobs that were cancelled since the last decision while they waited."""

    @property
    def cells(self) -> Cells | None:
        """The cells of the workers; None where all are alike, in one pool without windows. A start
        for which too few workers of the job's partition stay UP is held back, whatever the strategy
        says."""

    @property
    def vacant(self) -> Sequence[Interval]:
        """Numbers of the free processors, as intervals; empty where they are only counted."""

    @property
    def changed(self) -> Collection[int]:
        """Numbers of the workers that have changed their state since the last decision; empty where
        workers have no cells."""


NOWHERE: Mapping[int, Parts] = MappingProxyType({})
"""Map without entries, shared by all decisions that name no job's workers."""


@define(eq=False, weakref_slot=False)
class Decision:
    """Names the jobs that start now, the runs that are cancelled and the time at which the strategy
    is called again, and stores what the strategy's next view is to contain.

    Where runs are cancelled nothing else is carried out, as the strategy is called again at once.
    The class is not frozen at run time: one is made at every decision, and freezing doubles its
    cost.
    """

    starts: Sequence[Queued] = ()
    """Entries of the queue, each at most once, that fit on the free processors together."""
    shelf_end: float | None = None
    """Expected end of the shelf's longest attempt, set where a shelf opens."""
    reservations: Sequence[Reservation] = ()
    """Reservations of jobs that continue to wait; new ones are logged."""
    wake: float | None = None
    """Time at which to call the strategy again even if nothing ends or arrives then; None for no
    such time."""
    memory: object = None
    """State that the strategy keeps and finds in its next view, such as a plan that would cost too
    much to rebuild."""
    cancels: Sequence[Run] = ()
    """Entries of `running` to cancel. Their jobs return to the queue with the work that their
    protection has saved, and the strategy is called again at once with their processors free."""
    promised: Sequence[Reservation] = ()
    """New reservations of a strategy that keeps its reservations in its memory; they are logged."""
    places: Mapping[int, Parts] = NOWHERE
    """Maps the indices of jobs that start to how many workers they take from each cell. For a job
    that it does not name, the placement chooses among all workers that the job may have, and the
    strategy is called again at this instant for what follows."""


class Strategy(Protocol):
    """Decides which jobs start now.

    The strategy is called once at every instant at which an attempt ends, a job arrives, a
    processor fails or returns, or its last decision's `wake` comes, after all completions of that
    instant. The same view must get the same answer.
    """

    def __call__(self, view: BatchView) -> Decision: ...


class Allocation(Protocol):
    """Gives each job a number of processors by a local rule, one that looks at each job alone; it
    holds for all of the job's attempts."""

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> Sequence[int]:
        """Return the number of processors of each of `jobs`, from 1 to P = `processors`."""


Allotment = tuple[tuple[int, int], ...]
"""The attempts of one job in a batch, in order: pairs (number of attempts, processors of each)."""


@runtime_checkable
class BatchAllocation(Protocol):
    """Allots the attempts of all pending jobs together, in batches: each batch has several attempts
    of a job, and jobs that fail in all of them are allotted again in the next (moldable21, section
    4.4)."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """Return an allotment for each of `jobs`, in their order: pairs (number of attempts,
        processors of each), in the order of the attempts, for the attempts[i] attempts that job i
        may make in this batch on P = `processors`."""


@frozen
class BatchPolicy:
    """A whole policy: allocation, order and strategy."""

    order: Order | TimedOrder
    strategy: Strategy
    allocation: Allocation | BatchAllocation
    name: str = field(default="")
    """Name of the policy in logs and errors."""
