"""What a log tells of: workers, jobs, copies and runs, as the audit keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, cast

from attrs import define, field

from actors.events import (
    ApplicationDescribed,
    EndExpected,
    JobDescribed,
    MessagesDescribed,
    PackDescribed,
    ProtectionDescribed,
    ProtectionKind,
    RunStarted,
)
from policies.availability import WorkerState
from sims.ledger.slices import Range

UP = WorkerState.UP
Spans = tuple[Range, ...]
NONE = cast(dict[int, Any], MappingProxyType({}))
"""What a job has that waits: a long log has 10^5 of them, and dictionaries of their own would be a
third of their memory. Read only: who has the first gets a dictionary."""


def extent(spans: Sequence[Range]) -> int:
    """How many workers these are."""
    if len(spans) == 1:
        ((first, last),) = spans
        return last - first + 1
    return sum(last - first + 1 for first, last in spans)


@define(eq=False)
class LoggedWorker:
    """One to which something has happened; others are UP, at speed 1."""

    state: WorkerState = UP
    seq: int = 0
    """What changed its state last."""
    until: float | None = None
    """When it may be UP again at the earliest, where it is DOWN and that was told."""
    speed: float = 1


@define(eq=False)
class LoggedJob:
    """One that has been submitted and is not gone."""

    name: str
    submitted: int | None
    """seq of its JobSubmitted; None: it has none, and is not known."""
    told: int
    """seq of what has described it so far."""
    described: JobDescribed | None = None
    protection: ProtectionDescribed | None = None
    messages: MessagesDescribed | None = None
    application: ApplicationDescribed | None = None
    """What a pack redistributes, at costs that depend on its size (malleable17)."""
    pack: PackDescribed | None = None
    """Its pack."""
    stands: EndExpected | None = None
    """What its pack's decider counts with."""
    runs: int = 0
    """How many there have been."""
    waits: float | None = None
    """Since when it waits in a queue, without workers; None: it does not."""
    open: dict[int, LoggedRun] = NONE
    kept: dict[int, LoggedCopy] = NONE
    """Run that has ended -> the copy that keeps its members."""
    saved: LoggedState | None = None
    """The furthest image at the master."""
    left: tuple[LoggedState, ...] = ()
    """What runs that a policy of redundancy17 cancelled had reached: their job may go on from
    it."""
    periods: dict[int, float] = NONE
    """Members -> work between checkpoints, where that depends on them and has been seen."""
    closes: bool | None = None
    """Whether a checkpoint closes its redistributions, once that has been seen."""

    def copies(self) -> list[LoggedCopy]:
        """Those that hold workers."""
        return [*(run.copy for run in self.open.values()), *self.kept.values()]

    @property
    def verification(self) -> float:
        """v."""
        return self.described.verification if self.described is not None else 0

    @property
    def kind(self) -> ProtectionKind:
        """Where its states are saved."""
        return self.protection.kind if self.protection is not None else ProtectionKind.NONE


@define(eq=False)
class LoggedState:
    """A state that a run can begin from."""

    run: int
    done: float
    work: float

    @property
    def fraction(self) -> float:
        """Of the work that is done."""
        return self.done / self.work if self.work else 0


@define(eq=False)
class LoggedCopy:
    """Members that are held for one run, and kept for the next one."""

    job: LoggedJob
    spans: Spans
    share: float
    rotates: bool
    seq: int
    """Of the event by which they came."""
    run: LoggedRun | None = None
    last: int = 0
    """Number of its last run."""
    away: frozenset[int] = frozenset()
    """Members that are not UP."""
    saved: LoggedState | None = None
    """With its buddies."""
    struck: frozenset[int] = frozenset()
    """Members that went DOWN since the last recovery was over."""
    size: int = field(init=False)
    """How many members."""
    full: int = field(default=0, kw_only=True)
    """Its size, members that were promised and have not come yet included."""
    placed: int = field(default=0, kw_only=True)
    """seq of the start of its first run."""
    holders: int = field(default=0, kw_only=True)
    """Members among whom its state is spread."""
    stood: tuple[tuple[float, float], ...] = field(default=(), kw_only=True)
    """Of a pack's: since when it computes and what is left then, as it may have said last."""
    _members: tuple[int, ...] | None = None

    def __attrs_post_init__(self) -> None:
        self.full = self.holders = self.size = extent(self.spans)
        self.placed = self.seq

    @property
    def members(self) -> tuple[int, ...]:
        """Each of them: not for plain attempts on thousands."""
        if self._members is None:
            self._members = tuple(n for a, b in self.spans for n in range(a, b + 1))
        return self._members

    def change(self, spans: Spans) -> None:
        """Other members."""
        self.spans, self.size, self._members = spans, extent(spans), None
        self.away = frozenset()
        if self.struck:
            self.struck = self.struck.intersection(self.members)

    def join(self, spans: Spans) -> None:
        """More members."""
        self.spans, self._members = tuple(sorted((*self.spans, *spans))), None
        self.size = extent(self.spans)

    def holds(self, worker: int) -> bool:
        """Whether it is a member."""
        return any(first <= worker <= last for first, last in self.spans)


@define(eq=False)
class LoggedRun:
    """One that is under way."""

    job: LoggedJob
    copy: LoggedCopy
    event: RunStarted
    seq: int
    t: float
    told: bool
    """Whether a compound told it: then its costs and speeds are its decider's."""
    done: float
    """Work done at `since`; of a plain one, verification included."""
    since: float
    rate: float = 1
    image: bool = False
    """Whether it begins from what was saved, not from a clone."""
    staged: bool = False
    """Whether its stages are told."""
    advancing: bool = True
    """Whether `rate` is that of its work."""
    computes: bool = False
    """Whether it has begun to compute, if its stages are told."""
    former: LoggedRun | None = None
    """The one that it takes over from: a pack changed its members (malleable17)."""

    @property
    def name(self) -> str:
        """For people."""
        return f"run {self.event.run} of {self.job.name}"

    def at(self, t: float) -> float:
        """Work done at `t`."""
        return self.done + self.rate * (t - self.since) if self.advancing else self.done
