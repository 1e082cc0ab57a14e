"""The course of a log: at each line, what must be told at its instant, by whom, and what not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from heapq import heappop, heappush
from math import inf
from typing import Any, TypeVar

from attrs import define, field

from actors.events import (
    CopiesSettled,
    DeciderKind,
    EndExpected,
    LinkDescribed,
    PackDescribed,
    ProtectionKind,
    ScenarioStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.audit.facts import Copy, Job, Phase, Run, Script, Teller, Timer, Turn, Worker
from sims.audit.intervals import Free, Spans, numbers, spans_of
from sims.audit.law import Broken, Law, check, must, told

V = TypeVar("V")
INSTANT = 1e-12
"""Times that differ by less, relative to them, are one instant (WORLD.md, One instant)."""
UP = WorkerState.UP
Handler = Callable[["World", Any, int], Script | None]
"""Makes the script of a line that nothing but its own decides, its first line that one."""


@define(eq=False)
class World:
    """All that a log has told, and what must be told next.

    A part of the rules is a script, a generator that yields the lines that must come, in order. A
    line is held against the script that is under way; else against the one whose turn it is, of
    the job or worker that it is about; else it is an input or a decision, whose handler checks it.
    """

    handlers: dict[type[Event], Handler] = field(repr=False)
    choice: Callable[[World, ScenarioStarted], None]
    """Sets the decider."""
    now: float = 0
    end: float = 0
    """Times up to this one are this instant."""
    seq: int = -1
    reading: int = -1
    """seq of the line that is held against what must follow."""
    phase: int = 0
    """Of the present line."""
    script: Script | None = None
    """The one under way: its lines follow each other at once."""
    want: Any = None
    teller: Teller | None = None
    """Whose script it is."""
    pending: dict[Teller, Turn] = field(factory=dict)
    """What must be told at this instant, by whom."""
    waiting: dict[Teller, None] = field(factory=dict)
    """Who has a turn that nothing is known of yet."""
    dues: list[tuple[float, int, int, Timer]] = field(factory=list)
    order: int = 0
    deciding: bool = False
    """Whether something has been decided at this instant."""
    after: list[Callable[[], None]] = field(factory=list)
    """What is so once an instant has passed, and once it is over."""

    started: ScenarioStarted | None = None
    ended: bool = False
    closed: int | None = None
    """seq of WorkloadEnded."""
    cut: bool = False
    """Whether nothing more is due."""
    capped: int | None = None
    """seq of a cancellation that only a cap on the makespan explains."""
    jobs: dict[str, Job] = field(factory=dict)
    gone: set[str] = field(factory=set)
    kinds: set[str] = field(factory=set)
    """Of the jobs submitted so far."""
    workers: dict[int, Worker] = field(factory=dict)
    free: Free = field(factory=lambda: Free([], []))
    sped: bool = False
    """Whether a speed has been told."""
    holders: dict[int, Copy] | None = None
    """Who holds each worker, once something has happened to one."""
    counts: list[int] = field(factory=lambda: [0, 0, 0])
    """Jobs that completed, jobs that were killed, runs."""
    last_end: int = 0
    """seq of the last end of a job's run."""
    link: LinkDescribed | None = None
    service: Any = None
    """Who wants a channel of the link."""
    reuses: bool = False
    """Whether who is enrolled again at once keeps data (volatile13)."""
    former: dict[int, tuple[Copy, int]] = field(factory=dict)
    """Members of runs that ended at this instant, who may be -> their copy, seq of that end."""
    copies_decide: bool = False
    """Whether what is decided is copies, each a run on one worker (redundancy17)."""
    pack: PackDescribed | None = None
    reporters: dict[str, Teller] = field(factory=dict)
    """By job of a pack: what tells when it is expected to end."""
    untold: dict[str, Callable[[], None]] = field(factory=dict)
    """By job of a pack: what its decider would tell of a checkpoint of now, if speeds vary."""
    downtime: float | None = None
    decider: Any = None

    # --- line after line ----------------------------------------------------------------------

    def read(self, record: Record) -> None:
        """The next line. Raises Broken where a law is."""
        seq, t, event, cause = record.seq, record.t, record.event, record.cause
        self.reading = seq
        first = self.started is not None or isinstance(event, ScenarioStarted)
        must(first, Law.FRAME, "the first event is not ScenarioStarted")
        must(seq == self.seq + 1, Law.ORDER, "#{} follows #{}", seq, self.seq)
        if t != self.now:
            must(t > self.now, Law.ORDER, "time {} follows {}", t, self.now)
            self.pass_to(t)
        self.seq = seq
        if self.started is not None:
            known = cause is not None and 0 <= cause < seq
            must(known, Law.ORDER, "its cause is {}", cause)
            must(not self.ended, Law.FRAME, "{} comes after the end", event)
        if self.script is None:
            self._find(event)
        assert self.script is not None
        while self.want is None:
            self.want = self.script.send(event)
        expected, causes = self.want
        check(event, expected, cause, causes)
        self._go_on(seq)

    def _go_on(self, seq: int) -> None:
        assert self.script is not None
        try:
            want = self.script.send(seq)
        except StopIteration:
            want = self.script = None
        if isinstance(want, Run):
            want.script, self.script = self.script, None
        self.want = want
        if self.script is None:
            teller, self.teller = self.teller, None
            if teller is not None and teller not in self.pending:
                teller.front = None
            if self.waiting or (self.dues and self.dues[0][0] <= self.end):
                self.advance(Phase.RESUME)

    def _find(self, event: Event) -> None:
        """The script that this line belongs to."""
        kind = event.__class__
        teller = self.teller_of(event)
        front = None
        if teller is not None:
            while teller.front is None and teller.turns:
                if kind is not EndExpected:  # which comes as it is heard of
                    self.settle(teller.turns[0][0])
                if teller.front is None:
                    self._prime(teller)
            front = teller.front
        if front is not None and (front.want is None or _fits(front.want[0], event)):
            assert teller is not None
            del self.pending[teller]
            self.script, self.want, self.teller = front.script, front.want, teller
            self.phase = front.phase
            return
        self.phase = Phase.DECISION
        handler = self.handlers.get(kind)
        script = handler(self, event, self.seq) if handler is not None else None
        self.want = DONE if script is None else next(script, DONE)
        if self.want is DONE:
            due = f"{told(front.want[0])} must come first" if front and front.want else "it may not"
            raise Broken(Law.FOLLOWS, f"nothing leads to {told(event)} now; {due}")
        self.script = script
        if teller is not None:
            self.teller = teller
            teller.front = teller.front or BUSY

    def teller_of(self, event: Any) -> Teller | None:
        """The job that the event is about, or the worker whose message it is."""
        kind = event.__class__
        if kind in TRANSFERS:
            return self.workers.get(event.worker)
        if kind is EndExpected:
            return self.reporters.get(event.job)
        if kind is CopiesSettled:
            return getattr(self.decider, "teller", None)
        name = getattr(event, "job", None)
        return None if name is None else self.jobs.get(name)

    def choose(self, event: ScenarioStarted) -> None:
        """The first line names the decider."""
        self.choice(self, event)

    def described(self) -> bool:
        """Whether all that the head names has been told."""
        assert self.started is not None
        pack = self.started.decider is not DeciderKind.PACK or self.pack is not None
        return pack and self.kinds == set(self.started.kinds)

    # --- what is due, and whose turn it is ----------------------------------------------------

    def at(
        self, due: float, phase: int, teller: Teller, number: int, make: Callable[[], Any]
    ) -> Timer:
        """`teller` has a turn then."""
        timer = Timer(due, phase, teller, number, make)
        if due < inf:
            self.order += 1
            heappush(self.dues, (due, phase, self.order, timer))
        return timer

    def push(
        self, teller: Teller, phase: int, number: int, make: Callable[[], Script | None]
    ) -> None:
        """`teller` has a turn now, once all that comes before that phase is told."""
        self.order += 1
        heappush(teller.turns, (phase, number, self.order, make))
        self.waiting[teller] = None

    def _prime(self, teller: Teller) -> None:
        """Find out what this one must tell next."""
        phase, _, _, make = heappop(teller.turns)
        self.phase = phase
        script = make()
        want: Any = DONE if script is None else next(script, DONE)
        if isinstance(want, Run):
            want.script = script
        elif want is not DONE:
            assert script is not None
            teller.front = self.pending[teller] = Turn(phase, script, want)
        if not teller.turns:
            self.waiting.pop(teller, None)

    def advance(self, before: int) -> None:
        """Find out what must be told next at this instant by whom, of phases before this one; of
        later phases nothing is known until all of an earlier one has been told."""
        while True:
            self._collect()
            phase = min([it.turns[0][0] for it in self.waiting], default=before)
            if phase >= before or any(it.phase < phase for it in self.pending.values()):
                return
            ready = [it for it in self.waiting if it.front is None and it.turns[0][0] == phase]
            if not ready:
                return
            for teller in ready:
                self._prime(teller)

    def _collect(self) -> None:
        """Whose turn it has become at this instant."""
        dues = self.dues
        while dues and dues[0][0] <= self.end:
            timer = heappop(dues)[3]
            if timer.live:
                timer.live = False
                self.push(timer.teller, timer.phase, timer.number, timer.make)

    def settle(self, phase: int) -> None:
        """All that comes before that phase of this instant has been told. Raises Broken."""
        if self.script is not None:
            self._lacks()
        self.advance(phase)
        for turn in self.pending.values():
            if turn.phase < phase:
                self.script, self.want = turn.script, turn.want
                self._lacks()

    def told_now(self, teller: Teller) -> Script | None:
        """The script of one that has got something to tell by the line that tells it."""
        self.advance(Phase.DECISION + 1)
        turn = self.pending.pop(teller, None)
        return None if turn is None else _at_once(turn)

    def decides(self) -> None:
        """What is told now has been decided: all else of the instant came before."""
        if not self.deciding:
            self.settle(Phase.DECISION)
            self.deciding = True

    def _lacks(self) -> None:
        what = told(self.want[0]) if self.want is not None else "what follows this instant's lines"
        raise Broken(Law.MISSING, f"{what} must come at {self.now!r}")

    def pass_to(self, t: float) -> None:
        """The instant is over; the next is `t`."""
        self.close()
        must(self.closed is None, Law.FRAME, "something happens after the workload's end")
        dues = self.dues
        while dues and dues[0][0] < t * (1 - INSTANT):
            if dues[0][3].live:
                self._enter(dues[0][0])
                self.close()
            else:
                heappop(dues)
        self._enter(t)
        self.advance(Phase.RESUME)

    def close(self) -> None:
        """Nothing is left to tell at this instant."""
        if not self.cut:
            if self.script is not None:
                self._lacks()
            self.settle(Phase.DECISION + 1)
            for look in self.after:
                look()

    def _enter(self, t: float) -> None:
        self.now, self.end, self.deciding = t, t * (1 + INSTANT), False
        self.untold.clear()

    def report(self, copy: Copy, cause: int) -> None:
        """A copy goes on otherwise than before."""
        if copy.job.application is not None:
            self.decider.report(copy, cause)

    def checkpointed(self, run: Run) -> None:
        """It has taken a checkpoint."""
        if run.copy.job.application is not None:
            self.decider.checkpointed(run)

    # --- workers ------------------------------------------------------------------------------

    def worker(self, number: int) -> Worker:
        """The worker of this number. Raises Broken where there is none."""
        worker = self.workers.get(number)
        if worker is None:
            assert self.started is not None
            size = self.started.processors
            must(0 <= number < size, Law.INPUT, "worker {} of {}", number, size)
            worker = self.workers[number] = Worker(number)
        return worker

    def holder(self, number: int) -> Copy | None:
        """Who holds a worker."""
        if self.holders is None:
            self.holders = {}
            for job in self.jobs.values():
                for copy in job.copies:
                    self.holders.update(dict.fromkeys(copy.members, copy))
        return self.holders.get(number)

    def take(self, copy: Copy, spans: Spans) -> None:
        """The copy holds these free workers."""
        for first, last in spans:
            if not self.free.has(first, last):
                raise Broken(Law.DECISION, f"{copy.job.name} gets {first}-{last}: not all are free")
            self.free.take(first, last)
        if self.holders is not None:
            for first, last in spans:
                self.holders.update(dict.fromkeys(range(first, last + 1), copy))

    def give(self, copy: Copy, spans: Spans) -> None:
        """It gives them back."""
        if self.holders is None:
            for first, last in spans:
                self.free.give(first, last)
            return
        for first, last in spans:
            for number in range(first, last + 1):
                self.holders.pop(number, None)
                if self.is_up(number):
                    self.free.give(number, number)

    def is_up(self, number: int) -> bool:
        """Whether a worker is."""
        worker = self.workers.get(number)
        return worker is None or worker.state is UP

    def speed(self, copy: Copy) -> float:
        """The slowest member's (R1)."""
        return 1 if copy.speeds is None else min(copy.speeds.values())

    def pace(self, copy: Copy) -> None:
        """What a copy knows of its members' speeds as they join it."""
        if self.sped:
            workers = self.workers
            copy.speeds = {n: workers[n].speed if n in workers else 1 for n in copy.members}


TRANSFERS = frozenset((TransferStarted, TransferSuspended, TransferEnded, TransferDropped))
DONE = object()
BUSY = Turn(Phase.DECISION, None, None)  # type: ignore[arg-type]
"""In place of a turn: a script of its own is under way."""
NONE = ProtectionKind.NONE


def _at_once(turn: Turn) -> Script:
    seq = yield turn.want
    with suppress(StopIteration):
        turn.script.send(seq)


def _fits(expected: Any, event: Any) -> bool:
    """Whether the line is what is expected, as far as who tells what."""
    if expected.__class__ is not event.__class__:
        return False
    keeps = getattr(expected, "keeps", None)
    return keeps is None or getattr(event, "keeps", None) is not None


def spans_told(text: str) -> Spans:
    """Raises Broken where it is no set of workers."""
    try:
        return spans_of(text)
    except ValueError:
        raise Broken(Law.SCHEMA, f"{text!r} is no interval set of workers") from None


def by_worker(w: World, groups: Sequence[tuple[str, V]]) -> dict[int, V]:
    """Of every worker of the platform. Raises Broken where one is told of twice, or not."""
    assert w.started is not None
    found: dict[int, V] = {}
    for text, value in groups:
        members = numbers(spans_told(text))
        must(found.keys().isdisjoint(members), Law.INPUT, "{} are told of twice", text)
        found.update(dict.fromkeys(members, value))
    whole = found.keys() == set(range(w.started.processors))
    must(whole, Law.INPUT, "it tells of {} workers of {}", len(found), w.started.processors)
    return found
