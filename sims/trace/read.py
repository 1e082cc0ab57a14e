"""What is read out of a long log: one job's life, and why it waited; one event's causes."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Mapping
from itertools import chain
from string import ascii_letters
from typing import Any

from attrs import define, evolve, field, frozen

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    DeciderKind,
    Outcome,
    ReservationDropped,
    ReservationMade,
    RunStarted,
    WorkerChanged,
)
from actors.runtime import Record, rare_collections
from policies.availability import WorkerState
from sims.errors import InputError, visible
from sims.history import History, Job, Listener, Run, Worker
from sims.history.lines import Lines, skim, tells_of_holding
from sims.log import LogFile
from sims.telling import Clock, counted
from sims.trace import Span
from sims.trace.account import FlowAccount
from sims.trace.instant import Look, Ranking, held, wanted
from sims.trace.tale import Tale
from sims.trace.wait import Broken, FreeWorkers, Promise, Wait

DECISIONS = (RunStarted, CopiesPlaced, CopiesSettled, ReservationMade, ReservationDropped)
"""With the first of these events all else of an instant has happened: now is decided."""
ROUNDING = 1 + 1e-9
"""Ends that are believed and ends that come are sums in another order."""


@define
class Waits(Listener):
    """All waits of one job, complete once the log has been read: call it with the records of
    `HOLDING`, which it has its history apply."""

    job: str
    history: History = field(factory=History)
    done: list[Wait] = field(factory=list)
    _me: Job | None = None
    _open: Wait | None = None
    preempted: dict[int, Run] = field(factory=dict)
    """By event that ended a run of the job: the run that it made way for."""
    _unsettled: list[Look] = field(factory=list)
    _before: int | None = None
    """How many workers were free before what is decided at this instant; None: nothing is yet."""
    _freed: list[Run] = field(factory=list)
    _back: list[int] = field(factory=list)
    _begun: list[Run] = field(factory=list)
    """Other jobs' runs that started at this instant."""
    _upset: list[Run | int] = field(factory=list)
    """What went against plans at this instant: runs that were lost, or failed, and workers that
    went DOWN."""
    _makes_way: int | None = None
    """The event that cancelled a run of the job at this instant."""
    _reserved: dict[str, float] = field(factory=dict)
    """Starts that are promised to other jobs that wait."""

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        self.history.on(ReservationMade, self._promise)
        self.history.on(ReservationDropped, self._promise)

    @property
    def over(self) -> bool:
        """Whether no line can tell more."""
        return self._me is not None and self._me.end is not None and not self._unsettled

    @property
    def idle(self) -> bool:
        """Whether the job does not wait, and all that can be told of its waits is known."""
        return self._open is None and not self._unsettled and self._makes_way is None

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
        """The log ends here."""
        if self._open is not None:
            self._pass()
            self.done.append(self._open)
            self._open = None

    # --- from wait to wait --------------------------------------------------------------------

    def _turn(self, me: Job | None, now: float) -> None:
        before, self._open = self._open, None
        if before is not None:
            if now == before.since:
                if before.instants or self._before is not None:
                    self._unsettled = [it for it in self._unsettled if it is not before.look]
                return
            self.done.append(before)
            if me is not None:
                self._satisfy(before, now)
        elif me is not None and (header := self.history.header) is not None:
            clock, self._before = Clock(header.unit, self.history.begins), None
            self._me, self._open = me, Wait(me, now, header, Ranking.of(header), clock)
            self._freed, self._back, self._begun, self._upset = [], [], [], []
            others = (job for job in self.history.queue if job is not me)
            self._reserved = {it.name: it.promised for it in others if it.promised is not None}

    def _satisfy(self, wait: Wait, now: float) -> None:
        runs = [run for run in self.history.runs.values() if run.job is wait.me]
        wait.until, wait.mine, wait.run = now, held(runs)[0], runs[-1]
        self._decided(wait, now)
        wait.freed, wait.back = held(self._freed), self._back

    # --- while it waits -----------------------------------------------------------------------

    def _pass(self) -> None:
        """An instant is over."""
        wait = self._open
        if wait is not None:
            self._decided(wait, self.history.now)
            self._freed, self._back, self._begun, self._upset = [], [], [], []
        self._before = self._makes_way = None

    def _watch(self, now: float) -> None:
        """A start that was promised before `now` has not come."""
        wait, history = self._open, self.history
        promise = wait.promises[-1] if wait is not None and wait.promises else None
        if wait is None or promise is None or promise.broken is not None:
            return
        if promise.start is not None and promise.start * ROUNDING < now:
            look = Look.at(history, self.job)
            look = Look(
                look.free, look.away, [], [it for it in look.held if wait.upsets(promise, it)]
            )
            wait.promises[-1] = evolve(promise, broken=Broken(promise.start, look))
            self._unsettled.append(look)

    def _decides(self, record: Record, wait: Wait) -> bool:
        """Whether it is decided now, and not that the job does not wait."""
        event = record.event
        mine = isinstance(event, RunStarted) and event.job == self.job
        return isinstance(event, DECISIONS) and not (mine and record.t == wait.since)

    def _decided(self, wait: Wait, now: float) -> None:
        before = self._look(wait)
        free, starts = self.history.free, self._reserved
        whose = min(starts, key=starts.__getitem__) if free and starts else None
        wait.instants.append(FreeWorkers(now, before, free, whose, tuple(self._begun)))

    def _look(self, wait: Wait) -> int:
        """All but the decisions of this instant is known; how many workers are free."""
        if self._before is not None:
            return self._before
        self._before = self.history.free
        if not wait.instants:
            wait.look = Look.at(self.history, self.job)
            self._unsettled.append(wait.look)
        return self._before

    def run_started(self, run: Run, record: Record) -> None:
        for it in self._unsettled:
            it.run_started(run, record)
        wait, job = self._open, run.job
        self._reserved.pop(job.name, None)
        if job.name != self.job:
            if self._makes_way is not None:
                self.preempted[self._makes_way], self._makes_way = run, None
                if wait is not None:
                    wait.preempted = run
            self._begun.append(run)
        if wait is not None and job.seq > wait.me.seq and job.name not in wait.passed:
            wait.passed[job.name] = run

    def run_released(self, run: Run, record: Record) -> None:
        for it in self._unsettled:
            it.run_released(run, record)
        if self._open is not None and not isinstance(record.event, RunStarted):  # which has them
            self._freed.append(run)

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        header = self.history.header
        queue = header is not None and header.cancels and header.decider is DeciderKind.QUEUE
        if run.outcome in (Outcome.LOST, Outcome.FAILED):
            if self._open is not None:
                self._upset.append(run)
                self._open.upset[run.job.name] = run
        elif queue and run.outcome is Outcome.CANCELLED and run.job.name == self.job:
            self._makes_way = record.seq

    def job_ended(self, job: Job, record: Record) -> None:
        if job.name == self.job:  # and no other job made its copies end
            self._makes_way = None

    def worker_changed(self, worker: Worker, record: Record) -> None:
        if self._open is None:
            return
        if worker.state is WorkerState.UP:
            self._back.append(worker.number)
        elif worker.state is WorkerState.DOWN and isinstance(record.event, WorkerChanged):
            self._upset.append(worker.number)

    def _promise(self, record: Record, event: ReservationMade | ReservationDropped) -> None:
        wait, start = self._open, event.start if isinstance(event, ReservationMade) else None
        if wait is None:
            return
        if event.job != self.job:
            self._reserved.pop(event.job, None)
            if start is not None:
                self._reserved[event.job] = start
        if event.job == self.job:
            ended = [] if start is None else held(self._freed)
            early = [it for it in ended if it.believed > record.t * ROUNDING]
            wait.promises.append(Promise(record, start, early, tuple(self._upset)))
        elif start is not None and wait.promises:
            last = wait.promises[-1]
            if last.record.t == record.t and last.start is None and last.ahead is None:
                wait.promises[-1] = evolve(last, ahead=event.job)


# --- lives, and chains of causes -----------------------------------------------------------------

LETTERS = ascii_letters + "_-"
"""What a job's number may follow."""
NAME = re.compile(rb'"job":("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")')
CAUSE = re.compile(rb'"cause": ?(\d{1,18})\b')
SHOWN = 20
"""Jobs that are named to who asks for another."""


@frozen
class Trace:
    """What became of a job: print it."""

    job: str
    clock: Clock
    root: Span
    """Its life, with the reasons below each time that it waited."""
    account: FlowAccount
    """Where its flowtime went."""
    waits: list[Wait]

    @property
    def data(self) -> Mapping[str, Any]:
        """The same as data. Made when asked for, as `text` is: a long life has 10^5 lines."""
        about: dict[str, Any] = {"job": self.job, "account": self.account.as_json()}
        if self.clock.begins is not None:
            about["begins"] = self.clock.begins
        return self.root.as_json() | about | {"waits": [it.as_json() for it in self.waits]}

    @property
    def text(self) -> str:
        """The same for people."""
        account = self.account.lines(self.clock.unit)
        lines = chain(self.root.lines(self.clock), ("",), account)
        return "\n".join(map(visible, lines))

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def find_life(log: LogFile, job: str) -> Trace:
    """The life of `job`, by its name or, of J1, J2, ..., its number.

    Raises InputError, naming others, where the log knows no such job, and what `read_trace` raises.
    """
    names = [] if job[:1] in LETTERS else list(_submitted(log))
    numbered = [name for name in names if name.lstrip(LETTERS) == job]
    trace = read_trace(log, numbered[0] if len(numbered) == 1 and job not in names else job)
    if trace is None:
        problem, known = f"there is no job {job!r} in this log", names or list(_submitted(log))
        raise InputError(str(log.path), "--job", problem, ", ".join(known[:SHOWN]))
    return trace


def _submitted(log: LogFile) -> Iterator[str]:
    """Names of all jobs, from lines that are neither decoded nor checked: that takes longer."""
    for line in log.lines():
        found = NAME.search(line) if b'"JobSubmitted"' in line else None
        if found is not None:
            yield json.loads(found[1].decode(errors="replace"), strict=False)


def read_trace(log: LogFile, job: str) -> Trace | None:
    """The life of `job`; None where the log does not know it.

    Only lines that can concern it are decoded, and, while it waits, those that say who holds what:
    a million events take a few seconds. Raises InputError as LogFile, and ValueError or LookupError
    where an event contradicts those before.
    """
    tale, waits = Tale(job), Waits(job)
    lines, after = Lines(log, waits.history, waits), 0.0
    with log.skimmed(), rare_collections():
        for number, line in skim(log):
            if not waits.over:
                mine = tale.named in line and tells_of_holding(line)
                (lines.put if waits.idle and not mine else lines.tell)(number, line)
            if number == 1 or tale.concerns(line):
                record = log.decoded(number, line, after)
                if record is not None:
                    tale(record)
                    after = record.t
    last = log.last
    assert last is not None
    tale.stop(last.t)
    waits.close()
    explain(tale, waits)
    if tale.root is None:
        return None
    return Trace(job, tale.clock, tale.root, tale.account, waits.done)


def explain(tale: Tale, waits: Waits) -> None:
    """Put into a job's life why it waited, and for whom its runs made way."""
    since = {wait.since: wait for wait in waits.done}
    for span in tale.waits:
        if span.start in since:
            span.children += since[span.start].spans()
    for seq, other in waits.preempted.items():
        started, name = tale.started, other.job.name
        by = f"the order {Ranking.of(started).name} puts it first"
        why = by if started.preempts else "by the policy's choice"
        size = counted(wanted(other), "processor")
        tale.cancelled[seq].title += f", preempted by {name}, which starts on {size}: {why}"


def causes(log: LogFile, seq: int) -> list[Record]:
    """The chain of causes behind one event: the event `seq`, its cause, its
    cause's cause, and so on to the first.

    Raises InputError where there is no such event. The log is read twice, for its causes and for
    the chain, and only the chain and the last event are decoded: an event's number is its line's,
    or the log is refused.
    """
    with log.skimmed():
        found = (CAUSE.search(line) for _, line in skim(log))
        caused_by = array("q", [int(it[1]) if it else -1 for it in found])
        if not 0 <= seq < log.read:
            early = "" if log.ended else ", where the log stops early"
            problem = f"{seq} is not in the log"
            raise InputError(str(log.path), "SEQ", problem, f"0 to {log.read - 1}{early}")
        chain = [seq]
        while 0 <= caused_by[chain[-1]] < chain[-1]:
            chain.append(caused_by[chain[-1]])
        wanted = frozenset(chain)
        told = {n: log.decoded(n, line) for n, line in skim(log) if n - 1 in wanted}
    return [record for number in chain if (record := told[number + 1]) is not None]
