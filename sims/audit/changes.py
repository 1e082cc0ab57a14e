"""Workers change their states and speeds, and what befalls the copies that hold them (WORLD.md, W1,
R2 and P2)."""

from __future__ import annotations

from functools import partial

from actors.events import CheckpointLost, Outcome, WorkerChanged, WorkerSpeedChanged
from policies.availability import WorkerState
from sims.audit import ends, link, parts, practice, rules
from sims.audit.facts import DOWN, UP, Copy
from sims.audit.law import ordered, possible
from sims.audit.turns import Phase, Script
from sims.audit.world import World


def change(w: World, event: WorkerChanged, seq: int) -> Script:
    """A worker's owner, or a fault, changes its state (W1)."""
    w.settle(Phase.STATES)
    w.phase = Phase.STATES
    ordered(w.noticed != w.now, "{} after a notice", event)
    worker, state, now = w.worker(event.worker), event.state, w.now
    first = not worker.known and now == 0 and event.was is None
    possible(state is not worker.state, "{}: it is that already", event)
    due = worker.until if worker.state is DOWN else None
    possible(due is None or due <= w.end, "{}: it is DOWN until {}", event, due)
    over = due is not None and due >= now * (1 - 1e-12)
    until = event.until  # each law of faults has its own downtime
    if until is not None:
        possible(state is DOWN and until - now > -w.late, "{}", event)
        w.decider.strikes(worker)
    hidden = w.late and until is not None and until > now and w.holder(event.worker) is not None
    line = WorkerChanged(event.worker, state, None if first else worker.state, until)
    cause = worker.seq if over else 0
    if worker.state is DOWN and worker.changed == now:
        cause = worker.seq  # without a downtime it is back at once
    yield line, cause
    copy = w.holder(event.worker)
    if copy is None and UP in (state, worker.state):
        free = w.pool(event.worker)
        (free.give if state is UP else free.take)(event.worker, event.worker)
    worker.state, worker.seq, worker.known = state, seq, True
    worker.until, worker.changed = event.until, now
    worker.away = None if state is UP else worker.away or (state is DOWN and (now, seq)) or None
    w.decider.turned(worker, copy, seq)
    if w.service is not None:
        yield from link.turned(w, worker, seq, hidden)
    if copy is None:
        return
    before, worker.struck = worker.struck, None
    if before is not None:
        w.push(copy.job, Phase.STATES, 0, partial(before, state is not UP))
    turn = partial(_changed, w, copy, event.worker, state, seq)
    if w.late and until == now:
        worker.struck = turn
    else:
        w.push(copy.job, Phase.STATES, 0, partial(turn, hidden))


def speed(w: World, event: WorkerSpeedChanged, seq: int) -> Script:
    """A worker's speed changes."""
    if w.now:
        w.settle(Phase.STATES)
    w.phase = Phase.STATES
    possible(event.speed >= 0 and (w.now or event.speed != 1), "{} at {}", event, w.now)
    worker = w.worker(event.worker)
    yield event, 0
    w.sped, worker.speed = True, event.speed
    w.decider.paced(worker, seq)
    copy = w.holder(event.worker)
    if copy is not None:
        turn = _paced(w, copy, event.worker, event.speed, seq)
        w.push(copy.job, Phase.STATES, 0, lambda: turn)


def _changed(
    w: World, copy: Copy, worker: int, state: WorkerState, cause: int, hidden: bool
) -> Script:
    """A member changed its state; `hidden`: nobody hears of it."""
    if copy.gone:
        return
    if state is UP:
        copy.absent.discard(worker)
    else:
        copy.absent.add(worker)
    if worker in copy.struck and state is not WorkerState.RECLAIMED and not hidden:
        yield from practice.heard(w, copy, worker)
    last = cause
    if copy.gone:
        return
    if state is DOWN:
        last = yield from _lose(w, copy, worker, cause, hidden)
    elif copy.run is not None:
        last = yield from parts.review(w, copy.run, cause)
    else:
        copy.cause = cause
        ends.resume_soon(w, copy)
    w.report(copy, last)


def _paced(w: World, copy: Copy, worker: int, speed: float, cause: int) -> Script:
    """A member changed its speed."""
    if copy.gone:
        return
    if copy.speeds is None:
        copy.speeds = dict.fromkeys(copy.members, 1.0)
    copy.speeds[worker] = speed
    if copy.run is not None:
        cause = yield from parts.review(w, copy.run, cause)
    w.report(copy, cause)


def _lose(w: World, copy: Copy, worker: int, cause: int, hidden: bool) -> Script:
    job = copy.job
    fatal, last, lost = False, cause, 0.0
    if job.manner.replace_after is not None:
        w.at(w.now + job.manner.replace_after, Phase.DECISION, job, 0, lambda: None)
    if job.keeps:
        fatal = rules.fatal(w, copy, worker)
        if fatal:
            lost = rules.forget(copy)
    if job.protection is None:
        job.lost += 1
    if hidden:
        yield from practice.hide(w, copy, worker, cause)
    elif copy.run is not None:
        last = yield from ends.end_early(w, copy, Outcome.LOST, cause)
    if fatal:
        last = yield CheckpointLost(job.name, copy.last, tuple(sorted(copy.failed))), cause
        kept = lost if copy.stored is None else 0
        copy.cause = last = yield from ends.give_up(copy, kept, last)
    return last
