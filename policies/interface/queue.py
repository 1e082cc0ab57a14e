"""Rigid and moldable jobs in a queue: allocation, order and strategy (rigid21 and moldable21).

A policy is three decisions that combine freely. An allocation rule gives each job its processors,
an order sorts the queue, a strategy (list, shelves) says what starts now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from attrs import define, field, frozen

from policies.maths.speedup import Profile


@frozen(eq=False)
class BatchJob:
    """What a scheduler knows about a job; constant. Failures are learnt as they happen."""

    index: int
    """From 0 in the order of the job set; ties go to the smaller one."""
    name: str
    profile: Profile
    """t(p), verification excluded."""
    verification: float = 0.0
    """v: what the detector adds to each attempt; in no priority and no area (rigid21)."""
    estimate: float | None = None
    """The user's requested time, which reservations, shelves and orders use in place of the
    profile's; None: they use the profile's."""
    submitted: float = 0.0
    """When the job asks to be scheduled."""
    kind: str = "rigid"
    """rigid, moldable, malleable or iterative."""
    user: str = ""
    """Whose it is; empty: not known."""
    group: str = ""
    """Its user's; empty: not known."""
    queue: str = ""
    """The site's, into which it was submitted; empty: not known."""
    priority: float = 0.0
    """The site's or the user's: larger is more urgent."""
    recorded_wait: float | None = None
    """How long it waited where its log was kept; for logs, no decision may rest on it. None: not
    known."""

    def believed(self, processors: int) -> float:
        """Expected time of one attempt, verification excluded."""
        return self.profile.time(processors) if self.estimate is None else self.estimate


@define(eq=False)
class Queued:
    """A job in the queue, with the allotment of its next attempt. Read only (not frozen at run
    time: one is made per job and run, and freezing doubles its cost)."""

    job: BatchJob
    processors: int
    held: float
    """Expected time that its next attempt holds the processors: believed time + verification."""
    key: tuple[float, int]
    """(- priority, index): the queue is sorted by it."""


Interval = tuple[int, int]

Run = tuple[float, int, int, Queued | None, tuple[Interval, ...], int]
"""A running copy: (expected end, job index, processors, the queue entry that was started, the
numbers of its processors where they are recorded, the number of the copy). A processor that is not
UP is listed as a run without a job until its return, with None for the entry and an infinite end
where its return is not known. A tuple, because one is made per attempt."""


@define(eq=False)
class Reservation:
    """Processors promised to a waiting job."""

    start: float
    waiting: Queued


class Draw(Protocol):
    """A uniform number in [0, 1) that belongs to a job: one draw per job and run."""

    def __call__(self, job: BatchJob) -> float: ...


class Order(Protocol):
    """Sorts the queue (rigid21, section 5.1): the larger priority first, ties by job index."""

    def __call__(
        self, job: BatchJob, processors: int, time: float, platform: int, draw: Draw
    ) -> float:
        """Priority of `job` when allotted `processors` of the `platform`'s, where it is believed to
        take `time`, verification excluded."""


@frozen
class Moment:
    """What an order may depend on beside the job: the time and users' usage."""

    now: float
    used: Callable[[str], float] = field(default=lambda user: 0.0)
    """Decayed processor-time of a user, with the half-life that the order asks for."""


@runtime_checkable
class TimedOrder(Protocol):
    """An order that changes with time, and says so by answering for moments: only then is the
    queue sorted anew at each decision."""

    @property
    def half_life(self) -> float | None:
        """Half-life of usage, in the scenario's unit; None: the order does not use usage."""

    def at(self, moment: Moment) -> Order:
        """The order that holds now."""


class BatchView(Protocol):
    """What a strategy sees at one instant (live: read, never keep)."""

    @property
    def now(self) -> float: ...

    @property
    def processors(self) -> int:
        """P."""

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way, even one whose processors are not UP."""

    @property
    def free(self) -> int:
        """Processors that are UP and run nothing."""

    @property
    def queue(self) -> Sequence[Queued]:
        """All waiting jobs, those that just failed included, the highest priority first."""

    @property
    def least(self) -> int:
        """The smallest allotment in the queue, P + 1 where it is empty: nothing starts with fewer
        processors free."""

    @property
    def failed(self) -> Sequence[Queued]:
        """The part of the queue whose attempts failed, or were lost, at this very instant."""

    @property
    def running(self) -> Sequence[Run]:
        """Each running attempt and each processor that is DOWN, sorted by expected end, then index.
        An end may lie in the past where a job outlives its estimate."""

    def absent(self, run: Run) -> Sequence[Run]:
        """Those of a run's processors that are not UP, as `running` would have them if it ended."""

    def without(self, gone: Sequence[Run]) -> BatchView:
        """What this view will be once these runs are cancelled."""

    @property
    def shelf_end(self) -> float | None:
        """T_i of the shelf that was opened last."""

    @property
    def reservations(self) -> Mapping[int, Reservation]:
        """Reservations of the strategy's last decision, by job index, without jobs that have
        started."""

    @property
    def memory(self) -> object:
        """`memory` of the strategy's last decision; None at first."""

    @property
    def resumable(self) -> Collection[int]:
        """Indices of jobs protected by images (checkpoints on shared storage): a cancelled run
        loses only the work since its last checkpoint."""

    @property
    def early(self) -> Sequence[Run]:
        """Runs that have ended before their expected ends since the last decision."""

    @property
    def moved(self) -> bool:
        """Whether a worker has changed its state since the last decision."""


@define(eq=False)
class Decision:
    """What starts now, and what the strategy's next view is to contain.

    Not frozen at run time: it is built at every decision, and freezing doubles its cost.
    """

    starts: Sequence[Queued] = ()
    """Members of the queue, each once, that fit the free processors together."""
    shelf_end: float | None = None
    """Set where a shelf opens: when its longest attempt is expected to end."""
    reservations: Sequence[Reservation] = ()
    """Reservations of jobs that go on waiting; those that are new are logged."""
    wake: float | None = None
    """Ask again at this time even if nothing ends or arrives then."""
    memory: object = None
    """State that the strategy keeps: it finds it in its next view. A plan, say, that would cost too
    much to make anew."""
    cancels: Sequence[Run] = ()
    """Members of `running` to cancel: their jobs go back to the queue, with what their protection
    has saved, and the strategy is asked again at once, with their processors free."""
    promised: Sequence[Reservation] = ()
    """New reservations of a strategy that keeps its reservations in its memory; they are logged."""


class Strategy(Protocol):
    """Decides which jobs start now. Asked once at every instant with an end, an arrival, a
    processor that fails or one that is back, after all completions of that instant; same view, same
    answer."""

    def __call__(self, view: BatchView) -> Decision: ...


class Allocation(Protocol):
    """A local rule: each job's processors, the same for all its attempts."""

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> Sequence[int]:
        """Processors of each of `jobs`, from 1 to P = `processors`."""


Allotment = tuple[tuple[int, int], ...]
"""Of one job's attempts in a batch: (attempts, processors of each), in order."""


@runtime_checkable
class BatchAllocation(Protocol):
    """A rule that allots the attempts of all pending jobs together, batch by batch (moldable21,
    section 4.4)."""

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> Sequence[Allotment]:
        """An allotment of attempts[i] attempts for each of `jobs`."""


@frozen
class BatchPolicy:
    """A whole policy: allocation, order, strategy."""

    order: Order | TimedOrder
    strategy: Strategy
    allocation: Allocation | BatchAllocation
    name: str = field(default="")
    """What logs and errors call it."""
