"""Laws of the queue: shelves, batches, reservations."""

from __future__ import annotations

from math import isclose

from attrs import define, field

from actors.events import (
    BatchOpened,
    JobCompleted,
    JobKilled,
    MembersReleased,
    Outcome,
    ReservationDropped,
    ReservationMade,
    RunEnded,
    RunStarted,
    ShelfOpened,
)
from sims.audit.facts import LoggedJob
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World
from sims.telling import counted

ROUNDING = 1e-9


@define
class _Shelf:
    """One that opened at this instant."""

    seq: int
    opened: ShelfOpened
    jobs: int = 0
    end: float = 0
    """When the longest of its attempts is believed to end."""


@define(eq=False)
class QueueAuditor(Auditor):
    """A shelf holds what starts with it; a batch all that is pending; promises lie ahead. Only a
    job's first copy comes from the queue, and no run on members that were kept."""

    world: World
    running: dict[str, int] = field(factory=dict)
    """Job -> its copies."""
    joined: dict[str, int] = field(factory=dict)
    """Job that was there when the last batch opened, and is not gone -> batches that it has been
    in."""
    batches: int = 0
    allowed: dict[str, int] = field(factory=dict)
    """Job -> attempts that it may still make in this batch."""
    promised: dict[str, tuple[float, ReservationMade, int]] = field(factory=dict)
    """Waiting job -> when it is to start, by what, seq."""
    made: float = -1
    """When the last promise was."""
    delayed: bool = False
    """Whether a run has lasted longer than was believed, while somebody was promised a start."""
    shelf: _Shelf | None = None
    shelves: bool = False
    """Whether one has ever opened."""
    loose: list[int] = field(factory=list)
    """Starts while nothing ran, outside of a shelf, of jobs that did not just fail."""
    ended: set[str] = field(factory=set)
    """Jobs of which a copy ended at this instant."""

    @property
    def handlers(self) -> Handlers:
        return {
            ShelfOpened: self._open_shelf,
            BatchOpened: self._open_batch,
            ReservationMade: self._promise,
            ReservationDropped: self._drop,
            RunStarted: self._start,
            RunEnded: self._end,
            MembersReleased: self._release,
            JobCompleted: self._leave,
            JobKilled: self._leave,
        }

    def passed(self, t: float, seq: int) -> None:
        if self.shelf is not None:
            self._close_shelf(self.shelf)
        if self.ended:
            self.ended.clear()

    def _leave(self, event: JobCompleted | JobKilled, t: float, seq: int) -> None:
        self.joined.pop(event.job, None)
        self.allowed.pop(event.job, None)
        self.promised.pop(event.job, None)

    # --- runs ---------------------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        if event.keeps is not None:
            return
        name = event.job
        first = name not in self.running
        if not self.running and self.shelf is None and name not in self.ended:
            self._loosen(seq)
        self.running[name] = self.running.get(name, 0) + 1
        if not first:
            return
        self._keep(event, t, seq)
        if self.shelf is not None:
            self._shelve(self.shelf, name, event, t)
        if self.batches:
            self.allowed[name] = self.allowed.get(name, 0) - 1
            if self.allowed[name] < 0:
                why = f"{name} makes more attempts than its batch lets it"
                self.world.breaks(Law.DECISION, (seq,), why)

    def _keep(self, event: RunStarted, t: float, seq: int) -> None:
        """A promise cannot be broken where everything happens as it was believed."""
        start, _, promised = self.promised.pop(event.job, (t, None, seq))
        late = t > start * (1 + ROUNDING) and not (self.delayed or self.world.workers)
        if late and not self._overdue(t):
            why = f"{event.job} was promised its start for {start}"
            self.world.breaks(Law.PROMISE, (promised, seq), why)

    def _overdue(self, t: float) -> bool:
        """Whether a run that is under way should have ended before."""
        runs = (run for job in self.world.jobs.values() for run in job.open.values())
        return any(self._believed(it.job, it.event.work, it.t) < t for it in runs)

    def _loosen(self, seq: int) -> None:
        """A start outside of a shelf, while nothing runs."""
        if self.shelves:
            self._outside((seq,))
        elif not self.loose:
            self.loose.append(seq)

    def _shelve(self, shelf: _Shelf, name: str, event: RunStarted, t: float) -> None:
        shelf.jobs += 1
        shelf.end = max(shelf.end, self._believed(self.world.jobs[name], event.work, t))

    @staticmethod
    def _believed(job: LoggedJob, work: float, t: float) -> float:
        """When a run that starts at `t` is believed to end."""
        estimate = job.described.estimate if job.described is not None else None
        return t + ((work if estimate is None else estimate) + job.verification)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is None or event.kept:
            return
        if not self.delayed and self.promised:
            end = self._believed(run.job, run.event.work, run.t)
            self.delayed = run.staged or t > end * (1 + ROUNDING)
        self._over(event.job, event.outcome)

    def _release(self, event: MembersReleased, t: float, seq: int) -> None:
        self._over(event.job, Outcome.CANCELLED)

    def _over(self, name: str, outcome: Outcome) -> None:
        """One of its copies is."""
        self.ended.add(name)
        left = self.running.get(name, 1) - 1
        if left:
            self.running[name] = left
            return
        self.running.pop(name, None)
        if self.batches and outcome is not Outcome.FAILED:
            self.allowed[name] = self.allowed.get(name, 0) + 1  # the same attempt again

    # --- shelves ------------------------------------------------------------------------------

    def _open_shelf(self, event: ShelfOpened, t: float, seq: int) -> None:
        if self.shelf is not None:
            why = "two shelves open"
            self.world.breaks(Law.DECISION, (self.shelf.seq, seq), why)
        if self.running:
            why = f"a shelf opens while {min(self.running)} runs"
            self.world.breaks(Law.DECISION, (seq,), why)
        self.shelf, self.shelves = _Shelf(seq, event), True
        if self.loose:
            self._outside(tuple(self.loose))
            self.loose.clear()

    def _outside(self, starts: tuple[int, ...]) -> None:
        self.world.breaks(Law.DECISION, starts, "jobs start outside of a shelf")

    def _close_shelf(self, shelf: _Shelf) -> None:
        self.shelf = None
        opened = shelf.opened
        if shelf.jobs != opened.jobs or not isclose(shelf.end, opened.end, rel_tol=1e-12):
            why = f"{counted(shelf.jobs, 'attempt')} that end by {shelf.end}; it says {opened}"
            self.world.breaks(Law.DECISION, (shelf.seq,), why)

    # --- batches and promises -----------------------------------------------------------------

    def _open_batch(self, event: BatchOpened, t: float, seq: int) -> None:
        self.batches += 1
        self.joined = {name: self.joined.get(name, 0) for name in self.world.jobs}
        attempts = max((2**joined for joined in self.joined.values()), default=0)
        found = (self.batches, len(self.joined), attempts)
        if found != (event.batch, event.jobs, event.attempts):
            why = f"batch, jobs and attempts are {found} by the log; it says {event}"
            self.world.breaks(Law.DECISION, (seq,), why)
        if self.running:
            why = f"a batch opens while {min(self.running)} runs"
            self.world.breaks(Law.DECISION, (seq,), why)
        for job in self.joined:
            self.allowed[job] = 2 ** self.joined[job]
            self.joined[job] += 1

    def _promise(self, event: ReservationMade, t: float, seq: int) -> None:
        before = self.promised.get(event.job)
        if before is not None and self.made == t and before[1] == event:
            self.world.breaks(Law.PROMISE, (before[2], seq), "it is promised twice")
        self.promised[event.job] = event.start, event, seq
        self.made = t
        waiting = event.job in self.world.jobs and event.job not in self.running
        fits = 1 <= event.processors <= self.world.processors
        if not (waiting and fits and event.start >= t):
            why = f"{counted(event.processors, 'worker')} from {event.start} on for {event.job}"
            self.world.breaks(Law.PROMISE, (seq,), why)

    def _drop(self, event: ReservationDropped, t: float, seq: int) -> None:
        if self.promised.pop(event.job, None) is None or event.job in self.running:
            self.world.breaks(Law.PROMISE, (seq,), f"nothing was promised to {event.job}")
