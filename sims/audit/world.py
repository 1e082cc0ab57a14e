"""Keeps the state that a log has reached, and reads the log line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from attrs import Factory, define, field

from actors.events import (
    CopiesSettled,
    DeciderKind,
    End,
    EndExpected,
    MemberReplaced,
    PartMeasured,
    ScenarioStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.audit.answering import Answerers
from sims.audit.facts import Change, ExpectedCopy, ExpectedJob, ExpectedRun, HeadLine
from sims.audit.holdings import Holdings
from sims.audit.law import possible
from sims.audit.scenario import NOTHING, Asked, Given, GivenPlatform, Table
from sims.audit.turns import Emitter, Script, Turns
from sims.audit.workers import DOWN, ExpectedWorker, Free, Spans

TRANSFERS = frozenset((TransferStarted, TransferSuspended, TransferEnded, TransferDropped))
Handler = Callable[["World", Any], Script | None]
"""Makes the script of a line that an input or a decision has brought about; the script begins with
that line."""


@define(eq=False)
class PartRules:
    """Base class of the rules of one mechanism, such as hangs or repairs. The audit asks its
    parts these questions, in the order of `sims.audit.parts.order.ORDER`, and knows none of them by
    name. A part answers those that its mechanism is about."""

    w: World
    head: ClassVar[HeadLine | None] = None
    """Line of the log's head that describes the mechanism; None: there is none."""
    not_of_jobs: ClassVar[tuple[type[Event], ...]] = ()
    """Classes of lines that are about a job, and that the job does not log: the scheduler or chance
    decides on them."""

    # --- the scenario and lines -----------------------------------------------------------------

    def prepare(self) -> None:
        """Keep what the scenario in the log's first line says of the mechanism. Raises Broken where
        that cannot be."""

    def describe(self, event: Any) -> None:
        """Keep what the line `head` says. Raises Broken where that cannot be."""

    def asked(self, own: Table) -> Any:
        """Return what a job asks of the mechanism; None if it asks nothing. `own` is the job's
        table in the scenario, empty where the job is not listed. Raises Broken where no job can ask
        that."""
        return None

    def held_ready(self, own: Table) -> int:
        """Return the largest number of workers that a copy of such a job holds ready besides its
        members."""
        return 0

    def handlers(self) -> Mapping[type[Event], Handler]:
        """Return, for the classes of lines that belong to the mechanism and that an input or a
        decision brings about, the functions that make their scripts."""
        return {}

    def described(self, job: ExpectedJob) -> None:
        """Note which mechanisms a job asks for, once it has been described. Raises Broken where
        this job cannot have them."""

    def hear(self, event: Event, seq: int) -> None:
        """Note line number `seq`, which has been checked; for rules among `World.hearers`."""

    def sends(self, job: str) -> int:
        """Return the event that must cause the submission of the job of that name now, 0 if the
        mechanism has no part in it. Raises Broken if the job may not be submitted."""
        return 0

    def reorders(self) -> bool:
        """Return whether a log may have jobs that arrive at one instant in another order than the
        queue has them."""
        return False

    def admit(self, job: ExpectedJob) -> None:
        """Note a job that has been submitted, and is described now. Raises Broken where there is no
        place for it."""

    # --- a copy and its runs begin --------------------------------------------------------------

    def placing(self, job: ExpectedJob, spans: Spans) -> None:
        """Check that a decision may start a copy of the job on these workers now."""

    def placed(self, copy: ExpectedCopy) -> None:
        """Prepare for a copy whose first run starts now."""

    def started(self, run: ExpectedRun) -> Script:
        """Expect the lines that follow the start of a copy's first run."""
        yield from ()

    def before(self, job: ExpectedJob, first: bool) -> float:
        """Return the time that passes before the members of a run fetch anything. `first`: the run
        is its copy's first."""
        return 0

    def shut(self, copy: ExpectedCopy, end: float) -> Spans:
        """Return the workers on which the copy may not start, as they are taken away before the
        time `end` at which it is believed to end."""
        return ()

    def shuts_later(self) -> bool:
        """Return whether the mechanism takes workers away at times that are known now."""
        return False

    def before_decision(self) -> Script:
        """Expect the lines that come before anything else that a decision does."""
        yield from ()

    def calls_now(self) -> None:
        """Note which events of the mechanism call for a decision at this instant."""

    # --- workers change -------------------------------------------------------------------------

    def keeps(self, worker: int, state: WorkerState) -> bool:
        """Return whether the mechanism keeps worker number `worker` in this state now."""
        return False

    def called_up(self, worker: ExpectedWorker) -> int:
        """Return the event that must cause the worker's change to UP at this instant, 0 if the
        mechanism has no part in it. Raises Broken where it may not be UP."""
        return 0

    def called_for_agent(self, worker: int, seq: int) -> None:
        """Check that an agent may call this worker now, by event `seq`, and expect it in time."""

    def brings(self, event: Event) -> int:
        """Return the line of this instant by which the mechanism makes a worker change as `event`
        says, a run hang, or a fault be ignored; 0 if it has no part in that."""
        return 0

    def takes(self, worker: int) -> bool:
        """Return whether the mechanism has taken worker number `worker`, as owners do."""
        return False

    def strikes(self, worker: int) -> bool:
        """Return whether the mechanism makes the worker fail at this instant, for a time of its
        own."""
        return False

    def check_change(self, worker: ExpectedWorker, change: Change) -> None:
        """Check a worker's change of state."""

    def retired(self, seq: int) -> None:
        """React to workers that are DOWN for ever from event `seq` on."""

    # --- its members change ---------------------------------------------------------------------

    def lost(self, copy: ExpectedCopy, worker: int) -> None:
        """Note that member `worker` has gone DOWN, whether the copy knows of it or not."""

    def ready_changed(
        self, copy: ExpectedCopy, worker: int, state: WorkerState, cause: int
    ) -> Script | None:
        """React to a change of state, by event `cause`, of a worker that the copy holds ready.
        Return the script of the lines that must follow at once, None if there are none."""
        return None

    def changed_aside(self, copy: ExpectedCopy, worker: int, cause: int) -> Script:
        """Expect the lines that follow a change of state, by event `cause`, of a member on which
        the copy's run does not compute."""
        yield from ()

    def reviewed(self, run: ExpectedRun, cause: int) -> None:
        """React to a change of the members of a run by event `cause`."""

    def hidden(self, copy: ExpectedCopy, worker: int, cause: int) -> Script:
        """Expect the lines that follow where a member went DOWN by event `cause`, and the copy is
        not to know of it yet; return the last event, `cause` if there is none."""
        yield from ()
        return cause

    def known(self, copy: ExpectedCopy, worker: int) -> Script:
        """Expect the lines that follow as the copy learns now of a fault of its member `worker`
        that has been hidden from it."""
        yield from ()

    def survives(self, copy: ExpectedCopy, worker: int, cause: int) -> bool:
        """Return whether the copy's run goes on although member `worker` is known, by event
        `cause`, to be DOWN or to hang."""
        return False

    def replaced(self, copy: ExpectedCopy, gone: int, newcomer: int) -> None:
        """Note that worker `newcomer` gets the place of the copy's member `gone`."""

    def received(self, copy: ExpectedCopy, worker: ExpectedWorker, cause: int) -> None:
        """Note that a member on which the copy's run does not compute has received all that it
        needs, with event `cause`."""

    # --- an account at a shared bandwidth -------------------------------------------------------

    def share(self, it: ExpectedRun) -> None:
        """Let the present part of an account pass at a bandwidth that it shares with others."""

    def share_changed(self, it: ExpectedRun, cause: int) -> Script:
        """Expect the lines that follow a change of the members of an account that passes at a
        shared bandwidth, by event `cause`; return the last event, `cause` if there is none."""
        yield from ()
        return cause

    def share_over(self, it: ExpectedRun, cause: int) -> None:
        """Note that the part of an account that passed at a shared bandwidth is over, with event
        `cause`."""

    # --- what a copy does next ------------------------------------------------------------------

    def run_ended(self, copy: ExpectedCopy, cause: int) -> None:
        """Forget what is kept of the copy's run, which has ended with event `cause`."""

    def resumes(self, copy: ExpectedCopy) -> Script | None:
        """Return the script of what the copy does next, once all workers have changed state, in
        place of starting its next run; None if the part has nothing for it to do."""
        return None

    # --- an instant is over ---------------------------------------------------------------------

    def close(self) -> None:
        """Check at the end of an instant that no line about the mechanism is missing."""

    def ended(self, end: End) -> None:
        """Check that the log may end in this way, with its last line."""


@define(eq=False)
class World:
    """State of the simulated system as the lines read so far imply it."""

    general: Mapping[type[Event], Handler]
    """Maps the classes of lines that belong to no mechanism, and that an input or a decision brings
    about, to the functions that make their scripts."""
    kinds_of_parts: Sequence[type[PartRules]]
    """Kinds of mechanisms, in the order in which their rules are asked."""
    course: Callable[..., Script] = field(kw_only=True)
    """Makes the script of a run."""
    turns: Turns = field(init=False, default=Factory(Turns, takes_self=True))
    """The lines that must come now, and the timers of those that come later."""
    parts: Answerers[PartRules] = field(init=False)
    """Maps each question, a function of `PartRules`, to the parts that answer it."""
    handlers: dict[type[Event], Handler] = field(init=False)
    """Maps the classes of lines that an input or a decision brings about to the functions that make
    their scripts."""
    not_of_jobs: frozenset[type[Event]] = field(init=False)
    """Classes of lines that are about a job, and that the job does not log."""
    seq: int = -1
    """Sequence number of the last line that has been read."""
    line: Record | None = None
    """Record being checked."""
    head: ScenarioStarted = field(init=False)
    """First line of the log."""
    given: Given = field(init=False)
    """The scenario in that line."""
    usual: Asked = NOTHING
    """Mechanisms for which a job asks that the scenario does not list."""
    first: int = 0
    """Sequence number of the first line of this instant."""
    closed: int | None = None
    """Sequence number of WorkloadEnded; None before that line."""
    capped: int | None = None
    """Sequence number of a cancellation that only a cap on the makespan explains."""
    jobs: dict[str, ExpectedJob] = Factory(dict)
    gone: set[str] = Factory(set)
    kinds: set[str] = Factory(set)
    """Kinds of the jobs submitted so far."""
    workers: dict[int, ExpectedWorker] = Factory(dict)
    holdings: Holdings = field(
        init=False, default=Factory(lambda self: Holdings(self.jobs, self.workers), takes_self=True)
    )
    """The free workers, and the copies that hold the other workers."""
    speeds_vary: bool = False
    """Whether the log has had a change of speed."""
    counts: list[int] = field(factory=lambda: [0, 0, 0])
    """Numbers of jobs that completed, of jobs that were killed, and of copies that ended."""
    last_end: int = 0
    """Sequence number of the event that ended the last run of the job that left last."""
    told: list[Event] = Factory(list)
    """Lines of the head on jobs that were left out or changed."""
    heads: set[type[Event]] = Factory(set)
    """Event classes that have come, of those that may come once."""
    place: int = 0
    """Position of the last line of the head in the order in which such lines have to come."""
    hearers: list[PartRules] = Factory(list)
    """Rules of mechanisms that hear of every line of the log."""
    priced: int = -1
    """Worker of the last line of prices; -1 before the first."""
    service: Any = None
    """Channels of the master's link, if there is a master."""
    storage: Any = None
    """Shared storage, if there is one."""
    repairs: Any = None
    """Repairs of what faults strike, if faults have no downtimes."""
    reuses: bool = False
    """Whether a worker that is enrolled again at once keeps its data (volatile13)."""
    former: dict[int, tuple[ExpectedCopy, int]] = Factory(dict)
    """Maps members of runs that ended at this instant, which may be enrolled again, to (copy, event
    that ended the run)."""
    changeover: float = 0
    """Time before a run does anything on workers that its job did not hold."""
    pack: Any = None
    """Settings that a pack's applications share, where a pack decides."""
    reporters: dict[str, Emitter] = Factory(dict)
    """Maps a pack's jobs to the emitters of lines about their expected ends."""
    cells: Any = None
    """Workers by what divides them for the jobs of a queue; None while not needed."""
    windows: list[tuple[float, float, Spans]] = Factory(list)
    """Windows in which workers are DOWN: from, to, and the workers."""
    platform: GivenPlatform = field(init=False)
    """The platform that the scenario describes."""
    joined: float = -1
    """Time of the last decision before which repaired workers joined copies."""
    replaces: bool = False
    """Whether members are replaced."""
    decider: Any = None

    def __attrs_post_init__(self) -> None:
        self.parts = Answerers([kind(self) for kind in self.kinds_of_parts])
        self.handlers = dict(self.general)
        kinds = (kind for part in self.parts.each for kind in part.not_of_jobs)
        self.not_of_jobs = frozenset((PartMeasured, *kinds))  # a process measures its part
        for part in self.parts[PartRules.handlers]:
            self.handlers.update(part.handlers())

    # --- the scenario -------------------------------------------------------------------------

    def keep(self, scenario: Given) -> None:
        """Keep what the scenario gives, and what jobs ask for that it does not list."""
        self.given = scenario
        self.usual = self._asked({})

    def asked(self, job: str) -> Asked:
        """Return the mechanisms for which the job of that name asks."""
        own = self.given.own.get(job)
        return self.usual if own is None else self._asked(own)

    def _asked(self, own: Table) -> Asked:
        answers = ((type(part), part.asked(own)) for part in self.parts[PartRules.asked])
        of = {kind: answer for kind, answer in answers if answer is not None}
        ready = sum(part.held_ready(own) for part in self.parts[PartRules.held_ready])
        return self.given.asked(own, ready, of)

    # --- line after line ----------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Time of the present instant."""
        return self.turns.now

    @property
    def free(self) -> Free:
        """Workers that are free and may get a job."""
        return self.holdings.free

    @property
    def able(self) -> int:
        """Number of workers without spares."""
        return self.holdings.able

    @property
    def copies_decide(self) -> bool:
        """Whether the decider schedules copies, each a run on one worker (redundancy17)."""
        return self.head.decider is DeciderKind.COPIES

    def brought_about(self, event: Event) -> Script | None:
        """Return the script of a line that an input or a decision brings about; None if no such
        line may come."""
        handler = self.handlers.get(event.__class__)
        return handler(self, event) if handler is not None else None

    def emitter_of(self, event: Any) -> Emitter | None:
        """Return the emitter (an object with the lines that it has to log) of this event: the job
        that it is about, or the worker whose message it is; None if it is an input or a
        decision."""
        kind = event.__class__
        if kind in TRANSFERS:
            return self.workers.get(event.worker)
        if kind is EndExpected:
            return self.reporters.get(event.job)
        if kind is CopiesSettled:
            return getattr(self.decider, "emitter", None)
        if kind in self.not_of_jobs:
            return None
        if kind is MemberReplaced:
            copy = self.copy_of(event)
            if copy is None or event.replacement not in copy.ready:
                return None  # the job's runs start once all members are replaced
        job = self.jobs.get(getattr(event, "job", ""))
        if job is not None and not job.asked.saving.blocking:
            run = self.run_of(event)
            able = (it for it in (run.emitters if run is not None else ()) if it.may_emit(event))
            return max(able, key=lambda it: it.front is not None, default=job)
        return job

    def copies(self, job: str) -> list[ExpectedCopy]:
        """Return the copies of the job of that name, the oldest first; none where there is no such
        job."""
        return self.jobs[job].copies if job in self.jobs else []

    def copy_of(self, event: Any) -> ExpectedCopy | None:
        """Return the copy, of those that hold workers, whose last run the line is about; None if
        there is none."""
        run = getattr(event, "run", None)
        return next((it for it in self.copies(event.job) if it.last == run), None)

    def run_of(self, event: Any) -> ExpectedRun | None:
        """Return the run under way of the copy that the line is about; None if there is none."""
        copy = self.copy_of(event)
        return copy.run if copy is not None else None

    def before(self, job: ExpectedJob, first: bool) -> float:
        """Return the time that passes before the members of a run of the job fetch anything.
        `first`: the run is its copy's first."""
        parts = self.parts[PartRules.before] if job.asks else ()
        return sum(part.before(job, first) for part in parts)

    def shut(self, copy: ExpectedCopy, end: float) -> Spans:
        """Return the workers on which the copy may not start, as they are taken away before the
        time `end` at which it is believed to end."""
        return next((part.shut(copy, end) for part in self.parts[PartRules.shut]), ())

    # --- workers ------------------------------------------------------------------------------

    def kept(self, worker: int, state: WorkerState) -> bool:
        """Return whether a mechanism keeps worker number `worker` in this state now."""
        return any(part.keeps(worker, state) for part in self.parts[PartRules.keeps])

    def brought(self, event: Event) -> int:
        """Return the line of this instant by which a mechanism brings about `event`, a change of a
        worker, a hang or a fault that is ignored; 0 if none does."""
        return sum(part.brings(event) for part in self.parts[PartRules.brings])

    def called_up(self, worker: ExpectedWorker) -> int:
        """Return the event that must cause the worker's change to UP at this instant, where it has
        been called; else 0."""
        return sum(part.called_up(worker) for part in self.parts[PartRules.called_up])

    def hide(self, copy: ExpectedCopy, worker: int, cause: int) -> Script:
        """Expect the lines that follow where a member went DOWN by event `cause`, and the copy is
        not to know of it yet; return the last event, `cause` if there is none."""
        for part in self.parts[PartRules.hidden]:
            cause = yield from part.hidden(copy, worker, cause)
        return cause

    def tell_state(
        self,
        worker: int,
        state: WorkerState,
        copy: ExpectedCopy | None,
        seq: int,
        held: ExpectedCopy | None = None,
    ) -> None:
        """Tell the decider, and the repairs, that the state of worker number `worker` is known now,
        by event `seq`.

        `copy` holds the worker (None: no copy does); `held` did so until now.
        """
        self.decider.state_changed(worker, state, copy, seq)
        if state is DOWN and self.repairs is not None:
            self.repairs.known_down(worker, copy or held, seq)

    def worker(self, number: int) -> ExpectedWorker:
        """Return the record of the worker of this number, made if needed. Raises Broken if the
        platform has no such worker."""
        worker = self.workers.get(number)
        if worker is None:
            size = self.head.processors
            possible(0 <= number < size, f"worker {number} of {size}")
            worker = self.workers[number] = ExpectedWorker(number)
        return worker

    def speed(self, copy: ExpectedCopy) -> float:
        """Return the speed of a copy, which is that of the slowest member on which it computes
        (R1)."""
        return 1 if copy.speeds is None else min(copy.speeds[n] for n in copy.working)

    def pace(self, copy: ExpectedCopy) -> None:
        """Give the copy the present speeds of its members, if a speed has changed in this log."""
        if self.speeds_vary:
            workers = self.workers
            copy.speeds = {n: workers[n].speed if n in workers else 1 for n in copy.members}
