"""What comes from outside: the log's head, jobs as they are submitted, workers as they change, and
the log's end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from actors.events import (
    SCHEMA,
    ApplicationDescribed,
    DeciderKind,
    End,
    IterationStarted,
    JobDescribed,
    JobSubmitted,
    LinkDescribed,
    MessagesDescribed,
    PackDescribed,
    ProtectionDescribed,
    ScenarioEnded,
    ScenarioStarted,
    TasksDescribed,
    WorkerChanged,
    WorkerSpeedChanged,
    WorkloadEnded,
)
from actors.runtime import Event
from policies.availability import WorkerState
from policies.copies import named
from policies.deadline import NAMED as DEADLINE
from policies.enrolment import CATALOGUE as ENROLMENT
from policies.pack.names import NAMES
from policies.queue.names import is_strategy
from sims.audit import copies, link
from sims.audit.facts import Job
from sims.audit.intervals import Free
from sims.audit.law import Broken, Law, must, same, told
from sims.audit.link import Service
from sims.audit.turns import Phase, Script
from sims.audit.world import World, by_worker

UP, DOWN = WorkerState.UP, WorkerState.DOWN
KINDS = {
    DeciderKind.ENROLMENT: "iterative",
    DeciderKind.PACK: "malleable",
    DeciderKind.COPIES: "rigid",
    DeciderKind.DEADLINE: "rigid",
}
"""By decider, the jobs that it decides for; a queue takes all kinds."""


def _of_copies(name: str) -> bool:
    with suppress(ValueError):
        return bool(named(name))
    return False


POLICIES: dict[DeciderKind, Callable[[str], bool]] = {
    DeciderKind.QUEUE: is_strategy,
    DeciderKind.ENROLMENT: {*ENROLMENT, "FIXED"}.__contains__,
    DeciderKind.PACK: NAMES.__contains__,
    DeciderKind.COPIES: _of_copies,
    DeciderKind.DEADLINE: DEADLINE.__contains__,
}
"""By decider, whether a name is that of a policy of it."""


# --- the head -------------------------------------------------------------------------------------


def begin(w: World, event: ScenarioStarted, seq: int) -> Script:
    """The first line."""
    must(w.started is None, Law.FRAME, "the scenario starts a second time")
    sound = event.processors >= 1 and event.kinds and w.now == 0
    must(sound and event.schema == SCHEMA, Law.FRAME, "{} at {}", event, w.now)
    must(event.unit in ("s", "slot"), Law.FRAME, "unit {}", event.unit)
    known = ":" in event.policy or POLICIES[event.decider](event.policy)
    must(known, Law.FRAME, "{} is no policy of {}", event.policy, event.decider.value)
    only = KINDS.get(event.decider)
    must(only is None or event.kinds == (only,), Law.FRAME, "{}: {}", event.decider, event.kinds)
    named = not event.workers or len(event.workers) == event.processors
    must(named, Law.FRAME, "{} names for {} workers", len(event.workers), event.processors)
    w.started = event
    w.free = Free([0], [event.processors - 1])
    w.choose(event)
    yield event, (None,)


def describe(w: World, event: Event, seq: int) -> Script:
    """What the head tells, once, before any job."""
    must(not w.now and not w.jobs, Law.FRAME, "{} comes too late", event)
    yield event, 0


def describe_link(w: World, event: LinkDescribed, seq: int) -> Script:
    """The master."""
    must(not w.now and w.link is None and not w.jobs, Law.FRAME, "{} comes too late", event)
    must(event.channels >= 1, Law.INPUT, "{} channels", event.channels)
    w.link, w.service = event, Service(event.channels, event.order)
    yield event, 0


def describe_pack(w: World, event: PackDescribed, seq: int) -> Script:
    """malleable17's parameters."""
    must(not w.now and w.pack is None and not w.jobs, Law.FRAME, "{} comes too late", event)
    packs = w.head.decider is DeciderKind.PACK
    must(packs, Law.FRAME, "{}, and no pack decides", event)
    times = event.downtime, event.unit, event.latency, event.startup
    sound = event.pair >= 1 and min(times) >= 0 and (event.mtbf is None or event.mtbf > 0)
    must(sound and not (event.releases and event.fatal), Law.INPUT, "{}", event)
    w.pack = event
    yield event, 0


# --- jobs -----------------------------------------------------------------------------------------


def submit(w: World, event: JobSubmitted, seq: int) -> Script:
    """A job, and all that describes it, at once."""
    name = event.job
    known = name in w.jobs or name in w.gone
    must(not known and w.closed is None, Law.INPUT, "{} is submitted again, or after the end", name)
    must((event.recorded_wait or 0) >= 0, Law.INPUT, "{}", event)
    yield event, 0
    described = yield None
    must(isinstance(described, JobDescribed), Law.MISSING, "the description of {} must come", name)
    _check_job(w, described)
    yield evolved(described, name), seq
    w.kinds.add(described.kind)
    job = Job(name, seq, described, wanted=seq)
    since = seq
    if described.failures is None:
        yield from _more(w, job, seq)
        if described.kind == "iterative":
            since = yield IterationStarted(name, 0), seq
            job.iteration = 0
    w.jobs[name] = job
    w.decider.submitted(w, job, since)


def _more(w: World, job: Job, seq: int) -> Script:
    kinds: list[type[Event]] = [ProtectionDescribed]
    if w.link is not None:
        kinds.append(MessagesDescribed)
    if job.described.kind == "iterative":
        kinds.append(TasksDescribed)
    if w.pack is not None:
        kinds.append(ApplicationDescribed)
    for kind in kinds:
        event = yield None
        must(isinstance(event, kind), Law.MISSING, "{} of {} must come", kind.__name__, job.name)
        LEARN[kind](w, job, event)
        yield evolved(event, job.name), seq


def evolved(event: Any, name: str) -> Any:
    """The line as it is, of that job."""
    must(event.job == name, Law.INPUT, "{} is no description of {}", event, name)
    return event


def _check_job(w: World, it: JobDescribed) -> None:
    sound = it.work >= 0 and it.verification >= 0 and (it.failures or 0) >= 0
    sound = sound and it.kind in w.head.kinds and (it.kind != "iterative" or it.work == 0)
    sound = sound and (it.estimate is None or it.estimate >= 0)
    if it.limit is not None:
        due = None if it.estimate is None else it.estimate + it.verification
        sound = sound and due is not None and same(it.limit, due)
    must(sound, Law.INPUT, "{}; there are {}", it, w.head.kinds)


def _protect(w: World, job: Job, event: ProtectionDescribed) -> None:
    times = event.period, event.cost, event.recovery, event.delay
    sound = event.copies >= 1 and all(it is None or it >= 0 for it in times)
    must(sound, Law.INPUT, "{}", event)
    job.protection = event


def _send(w: World, job: Job, event: MessagesDescribed) -> None:
    must(min(event.program, event.data, event.image) >= 0, Law.INPUT, "{}", event)
    job.messages = event


def _iterate(w: World, job: Job, event: TasksDescribed) -> None:
    must(event.tasks >= 1 and event.iterations >= 1, Law.INPUT, "{}", event)
    job.tasks, job.times = event, by_worker(w, event.times)
    must(all(it >= 0 for it in job.times.values()), Law.INPUT, "{}", event)


def _apply(w: World, job: Job, event: ApplicationDescribed) -> None:
    job.application = event
    w.decider.describe(w, job)


LEARN: dict[type[Event], Any] = {
    ProtectionDescribed: _protect,
    MessagesDescribed: _send,
    TasksDescribed: _iterate,
    ApplicationDescribed: _apply,
}


# --- workers --------------------------------------------------------------------------------------


def change(w: World, event: WorkerChanged, seq: int) -> Script:
    """A worker's owner, or a fault, changes its state (W1)."""
    w.settle(Phase.STATES)
    w.phase = Phase.STATES
    worker, state, now = w.worker(event.worker), event.state, w.now
    first = not worker.known and now == 0 and event.was is None
    must(state is not worker.state, Law.INPUT, "{}: it is that already", event)
    due = worker.until if worker.state is DOWN else None
    must(due is None or due <= w.end, Law.INPUT, "{}: it is DOWN until {}", event, due)
    over = due is not None and due >= now * (1 - 1e-12)
    until = None
    if event.until is not None:
        w.downtime = event.until - now if w.downtime is None else w.downtime
        sound = state is DOWN and w.downtime > 0
        must(sound, Law.INPUT, "{}", event)
        until = now + w.downtime
        w.decider.strikes(w, worker)
    line = WorkerChanged(event.worker, state, None if first else worker.state, until)
    cause = worker.seq if over else 0
    if worker.state is DOWN and worker.changed == now:
        cause = worker.seq  # without a downtime it is back at once
    yield line, cause
    copy = w.holder(event.worker)
    if copy is None and UP in (state, worker.state):
        (w.free.give if state is UP else w.free.take)(event.worker, event.worker)
    worker.state, worker.seq, worker.known = state, seq, True
    worker.until, worker.changed = event.until, now
    w.decider.turned(w, worker, copy, seq)
    if w.service is not None:
        yield from link.turned(w, worker, seq)
    if copy is not None:
        turn = copies.changed(w, copy, event.worker, state, seq)
        w.push(copy.job, Phase.STATES, 0, lambda: turn)


def speed(w: World, event: WorkerSpeedChanged, seq: int) -> Script:
    """A worker's speed changes."""
    if w.now:
        w.settle(Phase.STATES)
    w.phase = Phase.STATES
    must(event.speed >= 0 and (w.now or event.speed != 1), Law.INPUT, "{} at {}", event, w.now)
    worker = w.worker(event.worker)
    yield event, 0
    w.sped, worker.speed = True, event.speed
    w.decider.paced(w, worker, seq)
    copy = w.holder(event.worker)
    if copy is not None:
        turn = copies.paced(w, copy, event.worker, event.speed, seq)
        w.push(copy.job, Phase.STATES, 0, lambda: turn)


# --- the end --------------------------------------------------------------------------------------


def end_workload(w: World, event: WorkloadEnded, seq: int) -> Script:
    """The last job is over."""
    must(not w.jobs, Law.FOLLOWS, "{} jobs are not over; {}", len(w.jobs), event)
    must(w.closed is None, Law.FRAME, "the workload ends twice")
    yield WorkloadEnded(*w.counts), w.last_end
    w.closed = seq


def end(w: World, event: ScenarioEnded, seq: int) -> Script:
    """The last line."""
    completed = event.end is End.COMPLETED
    must(completed is (w.closed is not None), Law.FRAME, "{}; the workload says else", event)
    must(w.capped is None or event.end is End.CAPPED, Law.FRAME, "{}; runs were cut", event)
    must(not completed or w.described(), Law.FRAME, "not all that the head names has been told")
    if completed:
        yield event, w.closed
    else:
        yield event, 0 if event.end is End.CAPPED else range(seq)
    w.ended = w.cut = True


def off(w: World, event: Event, seq: int) -> Script:
    """What says nothing of the world."""
    yield event, range(seq)


def refuse(w: World, event: Event, seq: int) -> Script:
    """What this kind of decider does not tell."""
    raise Broken(Law.FOLLOWS, f"{told(event)} is told by another decider")
