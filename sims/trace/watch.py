"""Collects all waits of one job while the log is read."""

from __future__ import annotations

from attrs import define, evolve, field

from actors.events import Outcome, ReservationDropped, ReservationMade, RunStarted
from actors.runtime import Record
from policies.availability import WorkerState
from policies.maths.tolerance import SAME
from sims.history.reader import DECISIONS, History, Job, Listener, Run, Worker
from sims.telling import Clock
from sims.trace.instant import Look, held
from sims.trace.limits import LimitsTold
from sims.trace.promises import Broken, FreeWorkers, Promise, upsets
from sims.trace.ranking import Ranking
from sims.trace.wait import Wait

ROUNDING = 1 + SAME
"""Tolerance between believed and actual ends, which are sums in different orders."""


@define
class Waits(Listener):
    """Collects all waits of one job, and the reasons for them, while the log is read.

    Call it with the records of the event classes in `HOLDING`; it applies them to its history.
    """

    job: str
    history: History = field(factory=History)
    done: list[Wait] = field(factory=list)
    _me: Job | None = None
    _open: Wait | None = None
    preempted: dict[int, Run] = field(factory=dict)
    """Maps the event that cancelled a run of the job to the run that it made way for."""
    _unsettled: list[Look] = field(factory=list)
    _before: int | None = None
    """Number of free workers before the decisions of this instant; None before the first one."""
    _numbers: frozenset[int] = frozenset()
    """Numbers of these workers, where the log has windows."""
    _freed: list[Run] = field(factory=list)
    _back: list[int] = field(factory=list)
    _begun: list[Run] = field(factory=list)
    """Runs of other jobs that started at this instant."""
    _upset: list[Run | int] = field(factory=list)
    """Runs that were lost or failed, and workers that went DOWN, at this instant."""
    _cancellation: int | None = None
    """Sequence number of the event that cancelled a run of the job at this instant."""
    _told: LimitsTold = field(factory=LimitsTold)
    """Limits by user, group or queue, as the log's head gives them."""
    _reserved: dict[str, float] = field(factory=dict)
    """Maps other waiting jobs to the starts that their reservations promise."""

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        self.history.on(ReservationMade, self._promise)
        self.history.on(ReservationDropped, self._promise)

    @property
    def over(self) -> bool:
        """Whether no further line can add to the waits."""
        return self._me is not None and self._me.end is not None and not self._unsettled

    @property
    def idle(self) -> bool:
        """Whether the job does not wait now and its earlier waits are complete."""
        return self._open is None and not self._unsettled and self._cancellation is None

    def __call__(self, record: Record) -> None:
        if record.t > self.history.now:
            self._pass()
            self._watch(record.t)
        if self._open is not None and self._decides(record, self._open):
            self._look(self._open)
        self.history.apply(record)
        if self._unsettled:
            self._unsettled = [it for it in self._unsettled if not it.settled(record.t)]
        me = self.history.jobs.get(self.job)
        if (me is not None and not me.holdings) != (self._open is not None):
            self._turn(me, record.t)

    def close(self) -> None:
        """End the job's present wait, if there is one, as the log has ended."""
        if self._open is not None:
            self._pass()
            self.done.append(self._open)
            self._open = None

    # --- from wait to wait --------------------------------------------------------------------

    def _turn(self, me: Job | None, now: float) -> None:
        """End the present wait if the job holds workers now or has left the system, or begin one if
        it is in the system and holds none.

        `me` is the job, or None where it is not in the system.
        """
        before, self._open = self._open, None
        if before is not None:
            if now == before.since:
                # The wait had no length: what it had begun to observe is dropped with it.
                if before.instants or self._before is not None:
                    self._unsettled = [it for it in self._unsettled if it is not before.look]
                return
            self.done.append(before)
            if me is not None:
                self._satisfy(before, now)
        elif me is not None and (header := self.history.header) is not None:
            clock, self._before = Clock(header.unit, self.history.begins), None
            about = Ranking.of(header), clock, self.history.windows
            self._me, self._open = me, Wait(me, now, header, *about)
            self._told = LimitsTold.of(header)
            self._freed, self._back, self._begun, self._upset = [], [], [], []
            others = [it for it in self.history.queue if it is not me and me.meets(it)]
            self._reserved = {it.name: it.promised for it in others if it.promised is not None}
            self._open.rivals = {it.name: it.partition for it in others}

    def _satisfy(self, wait: Wait, now: float) -> None:
        """Complete a wait that ends at `now` because the job starts: note which processors it got,
        and which runs and workers became free at that instant."""
        runs = [run for run in self.history.runs.values() if run.job is wait.me]
        wait.until, wait.mine, wait.run = now, held(runs)[0], runs[-1]
        self._decided(wait, now)
        wait.freed, wait.back = held(self._freed), self._back
        if wait.started.preempts:
            wait.made_way = frozenset(
                it.key
                for it in self._freed
                if it.outcome is Outcome.CANCELLED and it.job.end is None
            )

    # --- while it waits -----------------------------------------------------------------------

    def _pass(self) -> None:
        """Note how many workers are free at the end of an instant, and forget which runs and
        workers changed at that instant."""
        wait = self._open
        if wait is not None:
            self._decided(wait, self.history.now)
            self._freed, self._back, self._begun, self._upset = [], [], [], []
        self._before = self._cancellation = None

    def _watch(self, now: float) -> None:
        """If the time of the latest promised start has passed without the job's start, note in the
        promise which runs held the workers that it did not expect to be held."""
        wait, history = self._open, self.history
        promise = wait.promises[-1] if wait is not None and wait.promises else None
        if wait is None or promise is None or promise.broken is not None:
            return
        if promise.start is not None and promise.start * ROUNDING < now:
            look = Look.at(history, self.job).concerning(wait.me)
            upset = [it for it in look.held if upsets(promise, it)]
            look = evolve(look, waiting=[], held=upset)
            wait.promises[-1] = evolve(promise, broken=Broken(promise.start, look))
            self._unsettled.append(look)

    def _decides(self, record: Record, wait: Wait) -> bool:
        """Return whether the record is one of a decision of the scheduler, before which free
        workers are counted.

        A start of the job itself at the instant at which its wait began does not count: that is no
        wait.
        """
        event = record.event
        mine = isinstance(event, RunStarted) and event.job == self.job
        return isinstance(event, DECISIONS) and not (mine and record.t == wait.since)

    def _decided(self, wait: Wait, now: float) -> None:
        """Note the numbers of free workers before and after the decisions of the instant `now`."""
        before = self._look(wait)
        free, starts = self._free(wait.me), self._reserved
        reserving = min(starts, key=starts.__getitem__) if free and starts else None
        begun, first = tuple(self._begun), None
        if free and reserving is None and wait.me.partition:
            first = self._ahead(wait)
        runs = (run for run in self.history.runs.values() if run.job is not wait.me)
        about = reserving, begun, self._numbers, first, self._told.room(wait.me, runs)
        wait.instants.append(FreeWorkers(now, before, free, *about))

    def _free(self, me: Job) -> int:
        """Return the number of free workers that the job may have: those of its partition."""
        if me.partition is None:
            return self.history.free
        return me.partition.usable(self.history.free_workers)

    def _ahead(self, wait: Wait) -> str | None:
        """Return the name of the first job in the queue's order that is ahead of the waiting job
        and whose partition shares workers with that of the waiting job; None if there is none."""
        rank, me = wait.ranking.rank, wait.me
        mine, others = rank(me, None), (it for it in self.history.queue if it is not me)
        ahead = [it for it in others if me.meets(it) and rank(it, None) < mine]
        first = min(ahead, key=lambda it: rank(it, None), default=None)
        if first is None:
            return None
        wait.rivals[first.name] = first.partition
        return first.name

    def _look(self, wait: Wait) -> int:
        """Return the number of free workers before the decisions of this instant.

        The first call of an instant counts them, when all but the decisions is known; the first
        call of a wait also records the state of the queue and the machine.
        """
        if self._before is not None:
            return self._before
        self._before = self._free(wait.me)
        if self.history.windows:
            self._numbers = frozenset(filter(wait.me.may_have, self.history.free_workers))
        if not wait.instants:
            wait.look = Look.at(self.history, self.job).concerning(wait.me)
            self._unsettled.append(wait.look)
        return self._before

    def run_started(self, run: Run, record: Record) -> None:
        for it in self._unsettled:
            it.run_started(run, record)
        wait, job = self._open, run.job
        self._reserved.pop(job.name, None)
        if job.name != self.job and self._cancellation is not None:
            self.preempted[self._cancellation], self._cancellation = run, None
            if wait is not None:
                wait.preempted = run
        if wait is None or not wait.me.meets(job):
            return
        if job.name != self.job:
            self._begun.append(run)
        if job.seq > wait.me.seq and job.name not in wait.passed:
            wait.passed[job.name] = run

    def run_released(self, run: Run, record: Record) -> None:
        for it in self._unsettled:
            it.run_released(run, record)
        # Workers that a new run takes over are not free.
        wait = self._open
        if wait is not None and not run.taken_over and wait.me.meets(run.job):
            self._freed.append(run)

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        header = self.history.header
        # A strategy of a user's own may cancel a run for no other job, of which logs say nothing.
        preempts = header is not None and header.preempts
        if run.outcome in (Outcome.LOST, Outcome.FAILED):
            if (wait := self._open) is not None and wait.me.meets(run.job):
                self._upset.append(run)
                wait.upset[run.job.name] = run
        elif preempts and run.outcome is Outcome.CANCELLED and run.job.name == self.job:
            self._cancellation = record.seq

    def job_ended(self, job: Job, record: Record) -> None:
        if job.name == self.job:  # its own end cancelled its copies
            self._cancellation = None

    def worker_changed(self, worker: Worker, record: Record) -> None:
        wait = self._open
        if wait is None or not wait.me.may_have(worker.number):
            return
        if worker.state is WorkerState.UP:
            self._back.append(worker.number)
        elif worker.state is WorkerState.DOWN:
            self._upset.append(worker.number)

    def _promise(self, record: Record, event: ReservationMade | ReservationDropped) -> None:
        """Note that a reservation was made or dropped while the job waits.

        If the reservation is the job's own, it becomes a promise of the wait, with the runs that
        ended early and the failures of this instant as its reasons. If it is another job's, the
        start that it promises is noted; where the job's own reservation was dropped at this
        instant, that other job is the one that got its place.
        """
        wait, start = self._open, event.start if isinstance(event, ReservationMade) else None
        if wait is None:
            return
        if event.job != self.job:
            self._reserved.pop(event.job, None)
            other = self.history.jobs.get(event.job)
            if start is not None and other is not None and wait.me.meets(other):
                wait.rivals[event.job] = other.partition
                self._reserved[event.job] = start
        if event.job == self.job:
            ended = [] if start is None else held(self._freed)
            early = [it for it in ended if it.believed > record.t * ROUNDING]
            wait.promises.append(Promise(record, start, early, tuple(self._upset)))
        elif start is not None and wait.promises:
            last = wait.promises[-1]
            if last.record.t == record.t and last.start is None and last.ahead is None:
                wait.promises[-1] = evolve(last, ahead=event.job)
