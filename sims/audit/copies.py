"""Starts copies of a job, and applies changes of workers' states and speeds to copies (rules.md,
W1, R2, P2 and P5)."""

from __future__ import annotations

from functools import partial

from actors.events import (
    CheckpointLost,
    MembersReleased,
    Outcome,
    RunEnded,
    RunStarted,
    Stage,
    WorkerChanged,
    WorkerSpeedChanged,
)
from policies.availability import WorkerState
from sims.audit import link, runs, stages
from sims.audit.facts import Change, ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import Causes, LinePhase, allowed, follows, possible, same
from sims.audit.protection import buddies, cloning, protection
from sims.audit.protection.protection import ExpectedPlan
from sims.audit.turns import INSTANT, NEGLIGIBLE, Script
from sims.audit.workers import DOWN, RECLAIMED, UP, ExpectedWorker, parse_spans
from sims.audit.world import PartRules, World

CANCELLED, FAILED = Outcome.CANCELLED, Outcome.FAILED


def start(w: World, event: RunStarted) -> Script:
    """Check the line that starts a run by a decision: its workers are free and UP, and its job may
    have another copy. Return the script (generator) of the run."""
    w.turns.decides()
    job: ExpectedJob = allowed(w.jobs.get(event.job), "no such job waits")
    follows(event.keeps is None, "its job keeps nobody")
    # A plain job runs in one copy.
    most = job.rules.copies if not job.plain else 1
    allowed(len(job.copies) < most, "{} has {} copies already", job.name, len(job.copies))
    spans = parse_spans(event.processors)
    # A pack may start an application on workers that are promised and have not come.
    allowed(spans or w.pack is not None, "it gets no worker")
    for part in w.parts[PartRules.placing]:
        part.placing(job, spans)
    copy = ExpectedCopy(job, spans, event.processors, w.seq)
    for part in w.parts[PartRules.placed] if job.asks else ():
        part.placed(copy)
    w.decider.placing(copy, event)
    causes = w.decider.why(job, copy)
    w.holdings.take(copy, spans)
    w.pace(copy)
    plan = ExpectedPlan() if job.plain else protection.placed(w, job)
    job.copies.append(copy)
    return (_attempt if job.plain else runs.course)(w, copy, plan, causes, event)


def cancel(w: World, event: RunEnded | MembersReleased) -> Script | None:
    """Check a RunEnded, or a MembersReleased (the end of a copy between two runs), that nothing but
    a decision to cancel the copy explains.

    A run that ends as failed is another case: it can be the first sign of a checkpoint period that
    was not known, so the period is learnt from it (`runs.learn`).
    """
    copy, outcome = w.copy_of(event), getattr(event, "outcome", CANCELLED)
    if outcome is FAILED:
        # That a verification failed may be the first sign of a period that was not known.
        return runs.learn(w, event)
    follows(copy is not None and outcome is CANCELLED, "nothing leads to this now")
    assert copy is not None
    causes = w.decider.cancels(copy)
    turn = w.turns.pending.get(copy.job)
    begun = turn.want[0] if turn is not None and turn.want is not None else None
    if (
        turn is not None
        and turn.phase == LinePhase.DECISION
        and getattr(begun, "run", -1) == copy.last
    ):
        del w.turns.pending[copy.job]  # the run started at this instant, and does not go on
    if w.copies_decide and copy.run is not None:
        # A later copy of the job may start from the state of this one (redundancy17).
        cloning.keep(copy.job, copy.run.state(w.now))
    return stages.drop(w, copy, CANCELLED, causes, early=True)


# --- its members ----------------------------------------------------------------------------------


def change(w: World, event: WorkerChanged) -> Script:
    """Check that a worker changes state because of its owner, a fault or the end of a downtime or
    repair; keep the new state, and let the copy that holds the worker react (W1)."""
    w.turns.settle(LinePhase.STATES)
    w.turns.phase = LinePhase.STATES
    worker, state, until = w.worker(event.worker), event.state, event.until
    copy, was = w.holdings.holder(event.worker), worker.state
    acted = w.brought(event)  # asked of any change, as it refuses impossible ones
    cause, fault = _cause(w, worker, event, acted)
    first = not worker.seq and w.now == 0 and event.was is None
    possible(state is not was, "it is that already")
    possible(state is DOWN or not w.kept(event.worker, DOWN), "a window covers it")
    ended = bool(cause)
    came = w.called_up(worker) if state is UP else 0
    cause = came or cause or acted
    change = Change(event, cause, fault, bool(came))
    for part in w.parts[PartRules.check_change]:
        part.check_change(worker, change)
    (_check_fault if fault else _check_owner)(w, worker, event, cause)
    about = state, None if first else was, until, event.detection
    seq = yield WorkerChanged(event.worker, *about), cause
    if copy is None and UP in (state, was) and event.worker not in w.holdings.resting:
        free = w.holdings.pool(event.worker)
        (free.give if state is UP else free.take)((event.worker, event.worker + 1))
    _note(w, worker, state, until, seq, ended)
    # Only the fault of a held worker has to be detected: that of a free one is known at once.
    late = worker.detection > 0 and fault and copy is not None
    if copy is not None and worker.number in copy.ready:
        w.tell_state(worker.number, state, copy, seq)
        if w.service is not None:
            yield from link.state_changed(w, worker, seq, False)
        turn = partial(_ready_changed, w, copy, worker.number, state, seq)
        w.turns.push(copy.job, LinePhase.STATES, 0, turn)
        return
    if not late:
        w.tell_state(worker.number, state, copy, seq)
    if w.service is not None:
        yield from link.state_changed(w, worker, seq, late)
    if copy is not None:
        _notify(w, copy, worker, cause, late, fault)


def _cause(w: World, worker: ExpectedWorker, event: WorkerChanged, acted: int) -> tuple[int, bool]:
    """Return (the sequence number of the event that causes this change of the worker's state,
    whether a fault makes it); the number is 0 where the worker's owner makes the change, or who
    acted with event `acted`."""
    if w.repairs is None:
        return _fallen(w, worker), event.until is not None
    down = event.state is DOWN
    cause = w.repairs.cause(worker, down)
    if down and acted:
        return 0, False  # a fault of this instant finds the worker DOWN already
    return cause, down and cause in w.repairs.struck


def _check_owner(w: World, worker: ExpectedWorker, event: WorkerChanged, cause: int) -> None:
    """Check a change of state that the worker's owner makes; `cause` is the event that causes it, 0
    for none."""
    possible(event.detection is None, "no fault takes it DOWN")
    if not w.platform.has_owner(event.worker):
        _check_without_owner(w, event, cause)


def _check_without_owner(w: World, event: WorkerChanged, cause: int) -> None:
    """Check a change of state of a worker that no owner takes away at will: only a fault, a repair
    or another mechanism makes it."""
    if event.state is RECLAIMED:
        possible(w.kept(event.worker, RECLAIMED), "it has no owner")
    if event.state is DOWN and w.repairs is not None:
        possible(cause or w.kept(event.worker, DOWN), "it has no owner, and no fault")


def _check_fault(w: World, worker: ExpectedWorker, event: WorkerChanged, _: int) -> None:
    """Check a fault that takes a worker DOWN, and its downtime."""
    until = event.until
    # A downtime of 0 is possible only where faults are detected late.
    lasts = until is None or until > w.turns.end or (w.platform.late and until >= w.now)
    possible(event.state is DOWN and lasts)
    asked = w.given.downtime
    struck = any(part.strikes(worker.number) for part in w.parts[PartRules.strikes])
    if asked is not None and until is not None and w.head.late is None and not struck:
        possible(same(until, w.now + asked), f"a fault keeps a worker DOWN for {asked:g}")
    w.decider.check_fault(worker)


def _note(
    w: World, worker: ExpectedWorker, state: WorkerState, until: float | None, seq: int, ended: bool
) -> None:
    """Keep a worker's new state, and the time of the change.

    `seq` is the sequence number of the event of the change, `until` the end of a fault's downtime
    (None without one), and `ended` says that a downtime ends with the change.
    """
    if ended and state is UP:
        worker.repaired = w.now
    worker.down_since = None if state is not DOWN else w.now
    if worker.state is DOWN and worker.fell < w.now:
        worker.rose = w.now
    worker.fell = w.now if state is DOWN else worker.fell
    if worker.state is DOWN:
        worker.back = w.now
        if worker.lead is not None:
            worker.spells.append((worker.changed, w.now))
    worker.state, worker.seq, worker.until, worker.changed = state, seq, until, w.now
    worker.away = None if state is UP else worker.away or (state is DOWN and (w.now, seq)) or None


def _ready_changed(
    w: World, copy: ExpectedCopy, worker: int, state: WorkerState, cause: int
) -> Script | None:
    """Return the script (the lines that must follow) of a copy for which `worker` is held ready,
    and has changed to `state` with event `cause`; None where no line follows at once."""
    if copy.gone or worker not in copy.ready:
        return None
    scripts = (
        part.ready_changed(copy, worker, state, cause) for part in w.parts[PartRules.ready_changed]
    )
    return next((it for it in scripts if it is not None), None)


def _fallen(w: World, worker: ExpectedWorker) -> int:
    """Return the sequence number of the event that causes a worker's next change of state where
    faults have downtimes: the event that took it DOWN, if that downtime ends or began at this
    instant; else 0, as its owner makes the change.

    A fault that only makes a downtime longer has no line of its own. Whether there was one is seen
    from the cause that the log gives for the change. Raises Broken if the downtime is not over.
    """
    if worker.state is not DOWN:
        return 0
    due = worker.until
    possible(due is None or due <= w.turns.end, f"worker {worker.number} is DOWN until {due}")
    over = due is not None and due >= w.now * (1 - INSTANT)
    longer = w.line is not None and w.line.cause == worker.seq
    return worker.seq if over or longer or worker.changed == w.now else 0


def _notify(
    w: World, copy: ExpectedCopy, worker: ExpectedWorker, fall: int, late: bool, fault: bool
) -> None:
    """Schedule the moment at which a copy learns that its member has changed state.

    `fall` is the event that took the worker DOWN, `fault` says that a fault makes the change, and
    `late` that it is detected only later. A fault without downtime is put off until the worker's
    next state is known: the copy learns of it at once only if the worker is UP right after it.
    """
    before, worker.deferred = worker.deferred, None
    state, until = worker.state, worker.until
    if before is not None:
        if state is UP:
            w.tell_state(worker.number, DOWN, copy, fall)
        else:
            _hide(w, copy, worker, fall)
        w.turns.push(copy.job, LinePhase.STATES, 0, partial(before, state is not UP))
    turn = partial(_changed, w, copy, worker.number, state, fault, worker.seq)
    if late and until == w.now:
        worker.deferred = turn
        return
    if late:
        _hide(w, copy, worker, worker.seq)
    w.turns.push(copy.job, LinePhase.STATES, 0, partial(turn, late))


def _hide(w: World, copy: ExpectedCopy, worker: ExpectedWorker, fall: int) -> None:
    """Note that the copy does not know yet of the fault of its member `worker`; `fall` is the event
    of the fault.

    An earlier fault of that member which it does not know of either stays noted: this one becomes
    known with it.
    """
    copy.undetected.setdefault(worker.number, (w.now, fall))


def speed(w: World, event: WorkerSpeedChanged) -> Script:
    """Check a line that changes a worker's speed, keep the speed, and apply it to the copy that
    holds the worker."""
    if w.now:
        w.turns.settle(LinePhase.STATES)
    w.turns.phase = LinePhase.STATES
    possible(event.speed >= 0 and (w.now or event.speed != 1))
    worker = w.worker(event.worker)
    possible(worker.sped != w.now, "its speed has changed at this instant")
    seq = yield event, w.brought(event)
    w.speeds_vary, worker.speed, worker.sped = True, event.speed, w.now
    w.decider.speed_changed(worker, seq)
    copy = w.holdings.holder(event.worker)
    if copy is not None and event.worker not in copy.ready:
        w.turns.push(
            copy.job, LinePhase.STATES, 0, partial(_paced, w, copy, worker, event.speed, seq)
        )


def _changed(
    w: World,
    copy: ExpectedCopy,
    worker: int,
    state: WorkerState,
    fault: bool,
    cause: int,
    hidden: bool,
) -> Script:
    """Apply a change of member `worker` to `state` to its copy, unless the copy is over.

    `cause` is the event of the change, `fault` says that a fault made it, and `hidden` that the
    copy does not know of the fault yet.
    """
    if copy.gone:
        if hidden and w.repairs is not None:  # the fault of a free worker is known at once
            w.repairs.known_down(worker, copy, cause)
        return
    absent = copy.absent_with(worker)
    (absent.discard if state is UP else absent.add)(worker)
    # F1: the member's return, or its owner's taking it, reveals the fault before its time.
    yield from _reveal(w, copy, worker, state is UP or (state is DOWN and not fault))
    if copy.gone:
        return
    if state is DOWN:
        cause = yield from _lose(w, copy, worker, cause, hidden)
    elif copy.run is not None and not copy.concerns(worker):
        for part in w.parts[PartRules.changed_aside]:
            yield from part.changed_aside(copy, worker, cause)
    elif copy.run is not None:
        cause = yield from stages.review(w, copy.run, cause)
    else:
        copy.cause = cause
        stages.resume_soon(w, copy)
    w.decider.report(copy, cause)
    yield from _reveal(w, copy, worker, state is DOWN and not hidden)


def _reveal(w: World, copy: ExpectedCopy, worker: int, reveals: bool) -> Script:
    """Let the copy learn of an earlier fault of its member `worker` that has not been detected, if
    `reveals` is true; without such a fault do nothing."""
    if reveals and not copy.gone and worker in copy.undetected:
        for part in w.parts[PartRules.known]:
            yield from part.known(copy, worker)


def _paced(
    w: World, copy: ExpectedCopy, worker: ExpectedWorker, speed: float, cause: int
) -> Script:
    """Apply a member's change of speed, event `cause`, to its copy, whose run may pass at another
    rate then."""
    if copy.gone:
        return
    if copy.speeds is None:
        copy.speeds = dict.fromkeys(copy.members, 1.0)
    copy.speeds[worker.number] = speed
    if copy.run is not None:
        cause = yield from stages.review(w, copy.run, cause)
    w.decider.report(copy, cause)


def _lose(w: World, copy: ExpectedCopy, worker: int, cause: int, hidden: bool) -> Script:
    """Apply to a copy that its member `worker` is DOWN; return the last event that follows, or
    `cause`.

    Its run is lost, unless it goes on without the member. The checkpoint that the members' buddies
    keep may be lost, too. With `hidden` the copy does not know of the fault yet: the run stands
    still until it is detected, but a lost checkpoint is logged now.
    """
    job = copy.job
    fatal, last = False, cause
    for part in w.parts[PartRules.lost]:
        part.lost(copy, worker)
    if job.keeps:
        fatal = buddies.fatal(w, copy, worker)
        lost = buddies.forget(copy) if fatal else 0
    job.lost += 1
    if hidden:
        last = yield from w.hide(copy, worker, cause)
    elif copy.run is not None:
        last = yield from stages.lose(w, copy, worker, cause)
    elif job.asked.ready:
        stages.resume_soon(w, copy)
    if fatal:
        last = yield CheckpointLost(job.name, copy.last, tuple(sorted(copy.failed))), cause
        kept = lost if copy.stored is None else 0
        if copy.division is not None and copy.run is not None and copy.run.computes:
            # While the run goes on it does not need the lost checkpoint.
            copy.given_up, copy.cause = kept, last
        else:
            copy.cause = last = yield from stages.give_up(copy, kept, last)
    return last


# --- plain jobs ---------------------------------------------------------------------------------


def _attempt(
    w: World, copy: ExpectedCopy, plan: ExpectedPlan, causes: Causes, line: RunStarted
) -> Script:
    """Follow an attempt of a plain job, which is a single timer (rigid21, section 3.2); `plan`,
    `causes` and `line` are those of its start (`runs.begin`)."""
    job, run = copy.job, (yield from runs.begin(w, copy, plan, causes, line))
    run.stage, run.rate, run.length, run.reach = Stage.COMPUTING, 1, run.work, run.work
    held, limit = run.work + job.described.verification, job.described.limit
    # An attempt that ends at its limit, but for rounding, completes.
    if limit is not None and held - limit > NEGLIGIBLE * held:
        run.timer = w.turns.at(
            w.now + limit, LinePhase.MESSAGES, job, 0, partial(stages.killed, w, run)
        )
    else:
        over = partial(_attempted, w, run)
        run.timer = w.turns.at(
            w.now + held, LinePhase.MESSAGES, job, run.number, over, carried=True
        )


def _attempted(w: World, run: ExpectedRun) -> Script:
    """End an attempt of a plain job, which is a single timer, when its time is over: it fails while
    the job has had fewer failures than the log says, otherwise it completes the job."""
    if run.over:
        return
    job = run.copy.job
    run.base, run.stage = run.work, None
    # The log gives the number of failures; attempts that a worker's fault cut short do not count.
    if run.number < (job.described.failures or 0) + job.lost:
        yield from stages.drop(w, run.copy, FAILED, run.cause)
    else:
        yield from stages.complete(w, run)
