"""Checks mechanisms of real machines: notices, late detection of faults, and replacement of members
(rules.md, O1, F1 and P10)."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from actors.events import (
    CheckpointingDescribed,
    FaultDetected,
    HangDetected,
    MemberReplaced,
    NoticeGiven,
    OwnersDescribed,
    PlatformDescribed,
    RunHung,
    Stage,
    StandbyJoined,
    WorkerChanged,
)
from actors.runtime import Event
from sims.audit import link, parts, replicas, storage
from sims.audit.facts import DEFAULT_CHECKPOINTING, Copy, Job, Run
from sims.audit.law import Phase, amounts, comes, follows, possible, same
from sims.audit.turns import INSTANT, LATER, NEGLIGIBLE, Emitter, Script
from sims.audit.workers import DOWN, UP, Free, Worker, meet, numbers, parse_spans
from sims.audit.world import World


def platform(w: World, event: PlatformDescribed) -> None:
    """Keep the description of the platform: its nodes, its spares (which leave the free workers),
    and after which times faults are detected. Raises Broken if it is no valid one."""
    sound = event.node >= 1 and 0 <= event.spares < w.head.processors
    possible(sound and min(event.detections, default=0) >= 0)
    w.platform, w.late = event, any(event.detections)
    if event.spares:
        size = w.head.processors
        w.able = size - event.spares
        w.spare = Free((w.able, size), event.spares)
        w.free.take((w.able, size))
        w.decider.spares_described()


def describe_owners(w: World, event: OwnersDescribed) -> None:
    """Keep which workers have no owner who may take them away at any time: all that the line does
    not list."""
    owned, size = parse_spans(event.workers), w.head.processors
    possible(not owned or owned[-1] <= size, "there are no such workers")
    w.unowned = frozenset(range(size)).difference(numbers(owned))


def describe_checkpoints(w: World, event: CheckpointingDescribed) -> Script:
    """Check the line that says how a job takes checkpoints, where it comes by itself."""
    job: Job = possible(w.jobs.get(event.job), "no such job waits")
    yield checkpointing(w, job, event), job.submitted


def checkpointing(w: World, job: Job, event: CheckpointingDescribed) -> Event:
    """Return the line that says how a job takes checkpoints and replaces members, and keep it with
    the job. Raises Broken where it is invalid, late, or says what holds without it."""
    # The fourth line of a job: after its submission, description and protection; the fifth where it
    # starts up.
    starts = bool(job.startup or job.select) + bool(job.standbys) + bool(job.replicas)
    first = not job.plain and w.seq == job.submitted + 3 + starts
    amounts(event)
    sound = event.slowdown <= 1 and event.images_every != 0
    possible(first and sound and event != evolve(DEFAULT_CHECKPOINTING, job=job.name))
    job.checkpointing, w.replaces = event, w.replaces or event.replace_after is not None
    return event


def notice(w: World, event: NoticeGiven) -> Script:
    """Check an owner's notice of the time at which it will take a worker (O1)."""
    w.settle(Phase.RESUME)
    w.phase, w.last_notice = Phase.RESUME, w.seq
    worker = w.worker(event.worker)
    possible(worker.state is not DOWN)
    if event.time is None:
        possible(w.measured, "no real process could be told to end")
    else:
        _announce(w, worker, event.time)
    seq = yield event, 0
    copy = w.holder(event.worker)
    if copy is not None and copy.run is not None:
        save = partial(_save, w, copy, event.worker, seq)
        w.push(copy.job, Phase.RESUME, copy.run.number - LATER, save)


def _announce(w: World, worker: Worker, time: float) -> None:
    """Check the time at which an owner says that it will take a worker, and have that checked when
    it comes.

    All notices of a worker come equally long before the time, but for those at time 0.
    """
    possible(time >= w.now)
    possible(time > max(worker.announced, default=-1), "it is announced twice")
    if w.now:
        lead = time - w.now
        # All notices of one worker come equally long before it is taken (O1).
        possible(worker.lead in (None, lead) or same(lead, worker.lead))
        worker.lead, worker.watched = lead, min(worker.watched, w.now)
        lasted, down = worker.unannounced
        due = lasted - lead > INSTANT * down
        comes(not due, f"a notice that it goes DOWN at {down!r} must have come too")
    worker.announced = [*(it for it in worker.announced if it >= w.now), time]
    w.at(time, Phase.DECISION, Emitter(), 0, partial(w.taken.append, worker))


def check_notices(w: World, worker: Worker) -> None:
    """Check, at an instant at which an owner takes a worker DOWN, that a notice came before if one
    had to.

    No notice is possible if the worker was DOWN when it was due. How long before DOWN notices come,
    any notice of that worker reveals, be it earlier or later in the log.
    """
    if worker.state is not DOWN or any(same(it, w.now) for it in worker.announced):
        return
    lasted = w.now - worker.back
    comes(not _due(worker, w.now, lasted), f"worker {worker.number}: a notice must come before")
    worker.unannounced = max(worker.unannounced, (lasted, w.now))


def _due(worker: Worker, now: float, lasted: float) -> bool:
    """Return whether the owner must have given notice of a DOWN that begins at `now`; false while
    the time by which its notices precede is not known.

    `lasted` is the time since the worker was DOWN before. No notice was possible if the worker was
    DOWN at the time at which it was due.
    """
    if worker.lead is None:
        return False
    at, close = max(now - worker.lead, 0), INSTANT * now
    if at < worker.watched:
        return lasted - worker.lead > close
    worker.spells = [it for it in worker.spells if it[1] + close >= at]
    return not any(began - close <= at for began, _ in worker.spells)


def _save(w: World, copy: Copy, worker: int, cause: int) -> Script | None:
    """Return the script (generator) by which a copy's run takes a checkpoint, as an owner gives
    notice for its member `worker` (O1); None if the job does not want that, or there is nothing to
    save.

    `cause` is the notice.
    """
    run = copy.run
    if run is None or run.over or not copy.concerns(worker):
        return None
    # A run that stands still because of an undetected fault, or hangs, has nothing new to save.
    computes = run.stage is Stage.COMPUTING and not copy.blind and run.hung is None
    due = copy.job.checkpointing.on_notice and computes and run.at(w.now) > NEGLIGIBLE * run.work
    if due and run.saving is None:
        run.cause, run.reports = cause, True
        return parts.cut(w, run)
    run.due = run.due or due
    w.decider.report(copy, cause)
    return None


def _check_announced(w: World) -> None:
    """Check that the workers whose owners announced to take them at this instant are DOWN at its
    end."""
    for worker in w.taken:
        comes(worker.state is DOWN, f"worker {worker.number} is to be DOWN")
    w.taken.clear()


# --- faults ---------------------------------------------------------------------------------------


def detection(w: World, event: WorkerChanged) -> float:
    """Return the time after which the fault that takes a worker DOWN in this line is detected.

    It is one of those that the log's head lists; where they differ, the line itself says which.
    Raises Broken where it is none of them.
    """
    named = set(w.platform.detections)
    if len(named) < 2:
        possible(event.detection is None, "all faults are detected alike")
        return max(named, default=0)
    found = event.detection
    possible(found is not None and any(same(found, it) for it in named), "it is detected otherwise")
    return found or 0


def delay_detection(w: World, copy: Copy, worker: int, cause: int) -> Script:
    """Have the copy's run stand still until the fault that has taken its member `worker` DOWN,
    event `cause`, is detected; return the last event that follows."""
    fault = copy.undetected.get(worker)
    if fault is None:
        return cause  # an earlier one is detected at this instant, and this one with it
    latest = w.now + w.worker(worker).detection
    w.at(latest, Phase.RESUME, copy.job, -2 * LATER, partial(_latest, w, copy, worker, fault))
    loads = None if copy.replicas is None else copy.replicas.of(worker).loads
    if loads is not None:
        yield from storage.review(w, loads, cause)
    elif copy.run is not None and copy.concerns(worker):
        cause = yield from parts.review(w, copy.run, cause)
    return cause


def fault_detected(w: World, copy: Copy, worker: int) -> Script:
    """Let a copy learn now that a fault has taken its member `worker` DOWN (F1). Its run is lost,
    or the member's replica drops out."""
    since, cause = copy.undetected.pop(worker)
    w.tell_state(worker, DOWN, copy, cause)
    if since < w.now:
        cause = yield FaultDetected(copy.job.name, copy.last, worker), cause
    if copy.run is not None:
        cause = yield from replicas.lose(w, copy, worker, cause)
    elif copy.job.standbys:
        parts.resume_soon(w, copy)
    w.decider.report(copy, cause)
    wanted(w, copy, worker)


def detect(w: World, event: FaultDetected) -> Script | None:
    """Return the script (generator) of a fault's detection, of which `event` is the line; None if
    no such fault is undetected.

    The log may not say why it comes now: the owner of a worker that is DOWN already takes it.
    """
    w.settle(Phase.STATES)
    copies = [it for it in w.copies(event.job) if event.worker in it.undetected]
    w.phase = Phase.STATES
    return fault_detected(w, copies[0], event.worker) if copies else None


def _latest(w: World, copy: Copy, worker: int, fault: tuple[float, int]) -> Script | None:
    waits = not copy.gone and copy.undetected.get(worker) == fault
    if not waits or (w.repairs is not None and w.repairs.reveals(copy, worker)):
        return None
    return fault_detected(w, copy, worker)


# --- hangs ----------------------------------------------------------------------------------------


def hang(w: World, event: RunHung) -> Script:
    """Check the line that says that a member of a run hangs, and have the run stand still (F6)
    until the hang is detected."""
    w.settle(Phase.RESUME)
    w.phase = Phase.RESUME
    copy, worker = w.copy_of(event), w.worker(event.worker)
    run = copy.run if copy is not None else None
    sound = copy is not None and run is not None and run.hung is None
    possible(sound and copy is not None and copy.concerns(event.worker), "no such run can hang")
    assert copy is not None and run is not None
    # A fault of a later law may have taken the worker DOWN at this instant, or kept it DOWN.
    falls = worker.state is DOWN and w.now in (worker.changed, worker.until)
    up = worker.state is UP or falls
    possible(event.worker in copy.members and up and event.detection >= 0)
    hung = yield event, 0
    run.hung, run.hang = event.worker, hung
    run.missing.add(replicas.HANG)
    cause = yield from parts.review(w, run, hung)
    if event.detection:
        w.decider.report(copy, cause)
        found = partial(_hang_found, w, copy, run, event, hung)
        w.at(w.now + event.detection, Phase.RESUME, copy.job, -LATER - (LATER >> 1), found)
    else:
        yield from _hang_detected(w, copy, event, hung)


def _hang_found(w: World, copy: Copy, run: Run, event: RunHung, hung: int) -> Script | None:
    over = run.over or copy.gone or run.hung is None or run.hang != hung
    return None if over else _hang_detected(w, copy, event, hung)


def _hang_detected(w: World, copy: Copy, event: RunHung, hung: int) -> Script:
    cause = yield HangDetected(event.job, event.run, event.worker), hung
    cause = yield from replicas.lose(w, copy, event.worker, cause)
    w.decider.report(copy, cause)


# --- members that are replaced (P10) --------------------------------------------------------------


def replaceable(w: World) -> tuple[int, Copy, int] | None:
    """Return (member, its copy, worker that takes its place) for the next replacement that is due;
    None if none is.

    Of the members that have retired, or been away for as long as their jobs wait, the one with the
    lowest number is next; the lowest free spare takes its place, or else the lowest free worker.
    """
    free = w.spare.spans or w.free.spans
    if not w.replaces or not free:
        return None
    copies = [copy for job in w.jobs.values() for copy in job.copies]
    found = [(n, it) for it in copies for n in it.away if _overdue(w, it, n)]
    if not found:
        return None
    return *min(found, key=lambda it: it[0]), free[0]


def wanted(w: World, copy: Copy, worker: int) -> None:
    """Call for a decision if the copy's member `worker` has by now been away for the time after
    which it is replaced."""
    away = w.worker(worker).away
    if not copy.gone and away is not None and _overdue(w, copy, worker):
        w.decider.triggers.append(away[1])


def _overdue(w: World, copy: Copy, worker: int) -> bool:
    """Return whether member `worker` has been away, as far as its copy knows, for the time after
    which it is replaced; one that has retired is replaced at once. A job that replaces nobody has
    no such time."""
    after, away = copy.job.checkpointing.replace_after, w.worker(worker).away
    known = copy.undetected.get(worker) != away
    if away is None or not known or after is None:
        return False
    retired = w.repairs is not None and worker in w.repairs.retired
    return retired or away[0] + after <= w.end


def replace(w: World, event: MemberReplaced) -> Script:
    """Check the line that replaces a member, which comes before all else that a decision does, and
    return the script (generator) of the replacement."""
    w.decides()
    return _replaced(w, *follows(replaceable(w), "nobody is to be replaced now"))


def replace_all(w: World) -> Script:
    """Expect the lines of all replacements of members that are due: they come right after the first
    line of a decision."""
    while due := replaceable(w):
        yield from _replaced(w, *due)


def _replaced(w: World, gone: int, copy: Copy, newcomer: int) -> Script:
    """Expect the line that replaces member `gone` of a copy by worker `newcomer`, which takes over
    its tasks and its place among the buddies."""
    since = follows(w.worker(gone).away)[1]
    freed = [seq for seq, spans in w.decider.freed_by if meet(spans, (newcomer, newcomer + 1))]
    yield from parts.replace_member(w, copy, gone, newcomer, freed[-1] if freed else since)
    parts.resume_soon(w, copy)


# --- standbys that join (P12) ---------------------------------------------------------------------


def joining(w: World) -> tuple[Worker, list[Copy]] | None:
    """Return the next worker that becomes a standby now, because its downtime is over, with the
    copies of which one gets it; None if no worker does.

    The copies are the first of each job that lacks a standby: the log does not say which job is
    first.
    """
    short = [
        next((it for it in job.copies if len(it.standbys) < job.standbys), None)
        for job in w.jobs.values()
        if job.standbys
    ]
    copies = [copy for copy in short if copy is not None]
    if not copies or w.joined == w.now:
        return None
    back = (it for _, it in sorted(w.workers.items()) if it.repaired == w.now)
    free = (it for it in back if w.free.has((it.number, it.number + 1)) and it.number < w.able)
    found = next(free, None)
    return None if found is None else (found, copies)


def join(w: World, event: StandbyJoined) -> Script:
    """Check that a worker whose downtime is over becomes a standby of a copy, before a decision."""
    w.decides()
    follows(replaceable(w) is None, "members are replaced before")
    worker, copies = follows(joining(w), "no worker becomes a standby now")
    copy = next((it for it in copies if it.job.name == event.job), copies[0])
    joined = yield StandbyJoined(copy.job.name, copy.last, worker.number), worker.seq
    w.take(copy, (worker.number, worker.number + 1))
    copy.standbys = sorted((*copy.standbys, worker.number))
    link.stage_in_standby(w, copy, worker.number, joined)
    if copy.run is None or copy.replicas is not None:
        parts.resume_soon(w, copy)


def close(w: World) -> None:
    """Check at the end of an instant that announced workers are DOWN, and, with a decision, that no
    member is left to be replaced, except by workers that the decision itself freed."""
    _check_announced(w)
    decider = w.decider
    if not decider.triggers or decider.decided:
        return
    due = replaceable(w)
    comes(due is None, f"worker {due and due[0]} must be replaced")
    comes(joining(w) is None, "a worker whose downtime is over must be a standby")
