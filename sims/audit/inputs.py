"""What comes from outside: the log's head, jobs as they are submitted, workers as they change, and
the log's end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from actors.events import (
    SCHEMA,
    ApplicationDescribed,
    ChainsBelieved,
    CheckpointingDescribed,
    DeciderKind,
    End,
    IterationStarted,
    JobDescribed,
    JobSubmitted,
    LinkDescribed,
    MessagesDescribed,
    PackDescribed,
    PlatformDescribed,
    ProtectionDescribed,
    ScenarioEnded,
    ScenarioStarted,
    TasksDescribed,
    WorkloadEnded,
)
from actors.runtime import Event
from policies.copies import named
from policies.deadline import NAMED as DEADLINE
from policies.enrolment import CATALOGUE as ENROLMENT
from policies.pack import CATALOGUE
from policies.queue.names import is_strategy
from sims.audit import practice
from sims.audit.facts import Job
from sims.audit.intervals import Free
from sims.audit.law import amounts, comes, follows, framed, possible, same
from sims.audit.link import Service
from sims.audit.turns import Script
from sims.audit.world import World, by_worker

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
    DeciderKind.PACK: CATALOGUE.__contains__,
    DeciderKind.COPIES: _of_copies,
    DeciderKind.DEADLINE: DEADLINE.__contains__,
}
"""By decider, whether a name is that of a policy of it."""


# --- the head -------------------------------------------------------------------------------------


def begin(w: World, event: ScenarioStarted, seq: int) -> Script:
    """The first line."""
    framed(w.started is None, "the scenario starts a second time")
    sound = event.processors >= 1 and event.kinds and event.unit in ("s", "slot")
    framed(sound and w.now == 0 and event.schema == SCHEMA)
    known = ":" in event.policy or POLICIES[event.decider](event.policy)
    framed(known, "{} is no policy of its decider", event.policy)
    only = KINDS.get(event.decider)
    framed(only is None or event.kinds == (only,), "its decider has other jobs")
    named = not event.workers or len(event.workers) == event.processors
    framed(named, "each worker has a name, or none")
    w.started, w.lateness = event, event.late or 0
    w.free, w.able = Free({0, event.processors}), event.processors
    w.choose(event)
    yield event, (None,)


def describe(w: World, event: Event, seq: int) -> Script:
    """What the head tells, once, before any job."""
    early = not w.now and not w.jobs and type(event) not in w.heads
    framed(early, "it comes too late")
    amounts(event)
    check = HEADS.get(type(event))
    if check is not None:
        check(w, event)
        w.heads.add(type(event))
    yield event, 0


def _link(w: World, event: LinkDescribed) -> None:
    possible(event.channels >= 1, "{} channels", event.channels)
    w.service = Service(event.channels, event.order)


def _pack(w: World, event: PackDescribed) -> None:
    framed(w.head.decider is DeciderKind.PACK, "no pack decides")
    possible(event.pair >= 1 and event.mtbf != 0 and not (event.releases and event.fatal))
    w.pack = event


def _believe(w: World, event: ChainsBelieved) -> None:
    by_worker(w, event.chains)


HEADS: dict[type[Event], Any] = {
    ChainsBelieved: _believe,
    LinkDescribed: _link,
    PlatformDescribed: practice.platform,
    PackDescribed: _pack,
}
"""What is told at most once: the master, the platform, beliefs, malleable17's parameters."""


# --- jobs -----------------------------------------------------------------------------------------


def submit(w: World, event: JobSubmitted, seq: int) -> Script:
    """A job, and all that describes it, at once."""
    name = event.job
    known = name in w.jobs or name in w.gone
    possible(not known and w.closed is None, "{} is submitted again, or after the end", name)
    possible((event.recorded_wait or 0) >= 0)
    yield event, 0
    described = yield None
    comes(isinstance(described, JobDescribed), "the description of {} must come", name)
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
    w.decider.submitted(job, since)


def _more(w: World, job: Job, seq: int) -> Script:
    kinds: list[type[Event]] = [ProtectionDescribed]
    if w.service is not None:
        kinds.append(MessagesDescribed)
    if job.described.kind == "iterative":
        kinds.append(TasksDescribed)
    if w.pack is not None:
        kinds.append(ApplicationDescribed)
    for kind in kinds:
        event = yield None
        if kind is not ProtectionDescribed and isinstance(event, CheckpointingDescribed):
            yield practice.manner(w, job, event, w.seq), seq
            event = yield None
        comes(isinstance(event, kind), "{} of {} must come", kind.__name__, job.name)
        LEARN[kind](w, job, event)
        yield evolved(event, job.name), seq


def evolved(event: Any, name: str) -> Any:
    """The line as it is, of that job."""
    amounts(event)
    possible(event.job == name, "it describes no {}", name)
    return event


def _check_job(w: World, it: JobDescribed) -> None:
    sound = it.kind in w.head.kinds and (it.kind != "iterative" or it.work == 0)
    if it.limit is not None:
        due = None if it.estimate is None else it.estimate + it.verification
        sound = sound and due is not None and same(it.limit, due)
    possible(sound, "{}; there are {}", it, w.head.kinds)


def _protect(w: World, job: Job, event: ProtectionDescribed) -> None:
    possible(event.copies >= 1)
    job.protection = event


def _send(w: World, job: Job, event: MessagesDescribed) -> None:
    job.messages = event


def _iterate(w: World, job: Job, event: TasksDescribed) -> None:
    possible(event.tasks >= 1 and event.iterations >= 1)
    job.tasks, job.times = event, by_worker(w, event.times)
    possible(all(it >= 0 for it in job.times.values()))


def _apply(w: World, job: Job, event: ApplicationDescribed) -> None:
    job.application = event
    w.decider.describe(job)


LEARN: dict[type[Event], Any] = {
    ProtectionDescribed: _protect,
    MessagesDescribed: _send,
    TasksDescribed: _iterate,
    ApplicationDescribed: _apply,
}


# --- the end --------------------------------------------------------------------------------------


def end_workload(w: World, event: WorkloadEnded, seq: int) -> Script:
    """The last job is over."""
    follows(not w.jobs, "{} jobs are not over", len(w.jobs))
    framed(w.closed is None, "the workload ends twice")
    yield WorkloadEnded(*w.counts), w.last_end
    w.closed = seq


def end(w: World, event: ScenarioEnded, seq: int) -> Script:
    """The last line."""
    completed = event.end is End.COMPLETED
    framed(completed is (w.closed is not None), "the workload says else")
    framed(w.capped is None or event.end is End.CAPPED, "runs were cut")
    framed(not completed or w.described(), "not all that the head names has been told")
    if completed:
        yield event, w.closed
    else:
        yield event, 0 if event.end is End.CAPPED else range(seq)
    w.ended = w.cut = True


def off(w: World, event: Event, seq: int) -> Script:
    """What says nothing of the world."""
    yield event, range(seq)
