"""Copies of a job: how they start, and what befalls their members (WORLD.md, R2 and P5)."""

from __future__ import annotations

from functools import partial

from actors.events import (
    CheckpointLost,
    FaultDetected,
    MemberReplaced,
    MembersReleased,
    Outcome,
    RunEnded,
    RunStarted,
    Stage,
)
from policies.availability import WorkerState
from sims.audit import ends, rules, runs
from sims.audit.facts import NEGLIGIBLE, Copy, Job, Run
from sims.audit.intervals import joined, numbers
from sims.audit.law import Broken, Causes, Law, must, told
from sims.audit.turns import Phase, Script
from sims.audit.world import World, spans_told

UP, DOWN = WorkerState.UP, WorkerState.DOWN
CANCELLED, LOST, FAILED = Outcome.CANCELLED, Outcome.LOST, Outcome.FAILED


def start(w: World, event: RunStarted, seq: int) -> Script:
    """A run that has been decided: its workers are free and UP, and its job may have it."""
    w.decides()
    job = w.jobs.get(event.job)
    if job is None:
        raise Broken(Law.DECISION, f"{told(event)}: no such job waits")
    must(event.keeps is None, Law.FOLLOWS, "{} keeps nobody for {}", event.job, event)
    most = job.rules.copies if job.protection is not None else 1
    must(
        len(job.copies) < most, Law.DECISION, "{} has {} copies already", job.name, len(job.copies)
    )
    spans = spans_told(event.processors)
    starts = spans[-1][1] < w.head.processors - w.platform.spares
    must(starts and replaceable(w) is None, Law.DECISION, "{}: spares replace first", event)
    copy = Copy(job, spans, event.processors, seq)
    w.decider.placing(w, copy, event)
    causes = w.decider.why(job, copy, seq)
    w.take(copy, spans)
    w.pace(copy)
    plan = rules.placed(w, job)
    job.copies.append(copy)
    if job.protection is None:
        return _plain(w, job, copy, event, causes)
    return runs.course(w, copy, plan, causes, event)


# --- what befalls its members ---------------------------------------------------------------------


def changed(
    w: World, copy: Copy, worker: int, state: WorkerState, cause: int, hidden: bool
) -> Script:
    """A member changed its state; `hidden`: nobody hears of it."""
    if copy.gone:
        return
    if state is UP:
        copy.absent.discard(worker)
        if worker in copy.struck:
            yield from heard(w, copy, worker)
    else:
        copy.absent.add(worker)
    last = cause
    if copy.gone:
        return
    if state is DOWN:
        last = yield from _lose(w, copy, worker, cause, hidden)
    elif copy.run is not None:
        last = yield from runs.review(w, copy.run, cause)
    else:
        copy.cause = cause
        ends.resume_soon(w, copy)
    w.report(copy, last)


def paced(w: World, copy: Copy, worker: int, speed: float, cause: int) -> Script:
    """A member changed its speed."""
    if copy.gone:
        return
    if copy.speeds is None:
        copy.speeds = dict.fromkeys(copy.members, 1.0)
    copy.speeds[worker] = speed
    if copy.run is not None:
        cause = yield from runs.review(w, copy.run, cause)
    w.report(copy, cause)


def heard(w: World, copy: Copy, worker: int) -> Script:
    """Of a fault that struck a member (F1)."""
    since, cause = copy.struck.pop(worker)
    if since < w.now:
        cause = yield FaultDetected(copy.job.name, copy.last, worker), cause
    if copy.run is not None:
        yield from ends.end_early(w, copy, LOST, cause)


def detect(w: World, event: FaultDetected, seq: int) -> Script | None:
    """Earlier than it would be detected at the latest, as its owner says that it is DOWN."""
    job = w.jobs.get(event.job)
    copies = job.copies if job is not None else []
    found = [it for it in copies if event.worker in it.struck]
    return heard(w, found[0], event.worker) if found else None


def _lose(w: World, copy: Copy, worker: int, cause: int, hidden: bool) -> Script:
    job = copy.job
    fatal, last, lost = False, cause, 0.0
    w.at(w.now + (job.manner.replace_after or 0), Phase.DECISION, job, 0, lambda: None)
    if job.keeps:
        fatal = rules.fatal(w, copy, worker)
        if fatal:
            lost = rules.forget(copy)
    if job.protection is None:
        job.lost += 1
    if hidden:
        copy.struck.setdefault(worker, (w.now, cause))
        latest = w.now + max(w.platform.detections)
        w.at(latest, Phase.STATES, job, 0, partial(_latest, w, copy, worker))
        if copy.run is not None:
            yield from runs.review(w, copy.run, cause)
    elif copy.run is not None:
        last = yield from ends.end_early(w, copy, LOST, cause)
    if fatal:
        last = yield CheckpointLost(job.name, copy.last, tuple(sorted(copy.failed))), cause
        kept = lost if copy.stored is None else 0
        copy.cause = last = yield from ends.give_up(copy, kept, last)
    return last


def _latest(w: World, copy: Copy, worker: int) -> Script | None:
    return None if copy.gone or worker not in copy.struck else heard(w, copy, worker)


# --- members that are replaced (P10) --------------------------------------------------------------


def replaceable(w: World) -> tuple[int, Copy, int] | None:
    """Who is away for too long, the lowest first, and who takes its place now."""
    if not w.replaces or not w.free.count:
        return None
    found: list[tuple[int, Copy]] = []
    for job in w.jobs.values():
        after = job.manner.replace_after
        for copy in job.copies if after is not None else ():
            away = {n: w.worker(n).away for n in copy.absent - copy.struck.keys()}
            found += ((n, copy) for n, it in away.items() if it and it[0] + after <= w.end)
    if not found:
        return None
    spare = w.head.processors - w.platform.spares
    free = numbers(w.free.spans)
    return *min(found, key=lambda it: it[0]), next((n for n in free if n >= spare), free[0])


def replace(w: World, event: MemberReplaced, seq: int) -> Script:
    """The newcomer takes its tasks and its place."""
    w.decides()
    due = replaceable(w)
    if due is None:
        raise Broken(Law.FOLLOWS, f"nobody is to be replaced now; it says {told(event)}")
    gone, copy, newcomer = due
    away = w.worker(gone).away
    assert away is not None
    yield MemberReplaced(copy.job.name, copy.last, gone, newcomer), away[1]

    def other(member: int) -> int:
        return newcomer if member == gone else member

    rings = [[other(n) for n in ring] for ring in copy.rings or rules.rings(w, copy)]
    copy.units = dict(sorted((other(n), units) for n, units in copy.units.items()))
    copy.failed = {other(n) for n in copy.failed}
    w.give(copy, ((gone, gone),))
    w.take(copy, ((newcomer, newcomer),))
    copy.change(joined(other(n) for n in copy.members), copy.full)
    copy.absent.discard(gone)
    copy.rings, copy.cause = rings, seq
    w.pace(copy)
    ends.resume_soon(w, copy)


def close(w: World) -> None:
    """An instant is over: nobody is left to be replaced."""
    due = replaceable(w)
    must(due is None, Law.MISSING, "worker {} must be replaced", *(due or ())[:1])


def cancel(w: World, event: RunEnded | MembersReleased, seq: int) -> Script | None:
    """A run is cancelled, or kept members are let go, because a decider has changed its mind."""
    job = w.jobs.get(event.job)
    copies = [it for it in job.copies if it.last == event.run] if job is not None else []
    outcome = getattr(event, "outcome", CANCELLED)
    if outcome is FAILED:
        return runs.learn(w, event, seq)
    if (
        not copies
        or outcome is not CANCELLED
        or copies[0].run is None is isinstance(event, RunEnded)
    ):
        raise Broken(Law.FOLLOWS, f"nothing leads to {told(event)} now")
    causes = w.decider.cancels(w, copies[0], seq)
    return _cancelled(w, copies[0], causes)


def _cancelled(w: World, copy: Copy, causes: object) -> Script:
    if w.copies_decide and copy.run is not None:
        rules.keep(copy.job, copy.run.state(w.now))
    yield from ends.drop(w, copy, CANCELLED, causes, early=True)  # type: ignore[arg-type]


# --- plain jobs ---------------------------------------------------------------------------------


def _plain(w: World, job: Job, copy: Copy, line: RunStarted, causes: Causes) -> Script:
    """An attempt of a plain job is one timer (rigid21, section 3.2)."""
    run = runs.begin(w, copy, rules.SCRATCH, line)
    run.stage, run.rate, run.length = Stage.COMPUTING, 1, run.work
    run.started = yield runs.started(run, None), causes
    held, limit = run.work + job.described.verification, job.described.limit
    if limit is not None and held - limit > NEGLIGIBLE * held:
        run.timer = w.at(w.now + limit, Phase.MESSAGES, job, 0, partial(ends.killed, w, run))
    else:
        run.timer = w.at(w.now + held, Phase.MESSAGES, job, 0, partial(_attempted, w, run))


def _attempted(w: World, run: Run) -> Script | None:
    return None if run.over else _detect(w, run)


def _detect(w: World, run: Run) -> Script:
    job = run.copy.job
    run.base, run.stage, run.cause = run.work, None, run.started
    failures = job.described.failures or 0
    if run.number < failures + job.lost:
        yield from ends.drop(w, run.copy, Outcome.FAILED, run.cause)
    else:
        yield from ends.complete(w, run.copy, run.cause)
