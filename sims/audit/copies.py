"""Copies of a job: how they are placed, lost, withdrawn and ended (WORLD.md, R4 and P5)."""

from __future__ import annotations

from functools import partial

from actors.events import (
    CheckpointLost,
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    MembersReleased,
    Outcome,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
)
from policies.availability import WorkerState
from sims.audit import link, rules, runs
from sims.audit.facts import Copy, Job, Phase, Script
from sims.audit.law import Broken, Law, must, told
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
    most = job.protection.copies if job.protection is not None else 1
    must(
        len(job.copies) < most, Law.DECISION, "{} has {} copies already", job.name, len(job.copies)
    )
    spans = spans_told(event.processors)
    copy = Copy(job, spans, event.processors, seq)
    w.decider.placing(w, copy, event)
    causes = w.decider.why(job, copy, seq)
    w.take(copy, spans)
    w.pace(copy)
    plan = rules.placed(w, job)
    job.copies.append(copy)
    if job.protection is None:
        return runs.plain(w, job, copy, event, causes)
    return runs.course(w, copy, plan, causes, event)


# --- what befalls its members ---------------------------------------------------------------------


def changed(w: World, copy: Copy, worker: int, state: WorkerState, cause: int) -> Script:
    """A member changed its state."""
    if copy.gone:
        return
    if state is UP:
        copy.absent.discard(worker)
    else:
        copy.absent.add(worker)
    last = cause
    if state is DOWN:
        last = yield from _lose(w, copy, worker, cause)
    elif copy.run is not None:
        last = yield from runs.review(w, copy.run, cause)
    else:
        copy.cause = cause
        resume_soon(w, copy)
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


def _lose(w: World, copy: Copy, worker: int, cause: int) -> Script:
    job = copy.job
    fatal, last, lost = False, cause, 0.0
    if job.keeps:
        fatal = rules.fatal(w, copy, worker)
        if fatal:
            lost = rules.forget(copy)
    if job.protection is None:
        job.lost += 1
    if copy.run is not None:
        last = yield from end_early(w, copy, LOST, cause)
    if fatal:
        last = yield CheckpointLost(job.name, copy.last, tuple(sorted(copy.failed))), cause
        copy.cause = last = yield from _give_up(copy, lost, last)
    return last


def _give_up(copy: Copy, lost: float | None, cause: int) -> Script:
    if lost:
        cause = yield RestartedFromScratch(copy.job.name, copy.last, lost), cause
    return cause


def fail(w: World, copy: Copy, cause: int) -> Script:
    """A verification has found an error."""
    job = copy.job
    lost = rules.discard(job, copy)
    last = yield from end_early(w, copy, FAILED, cause)
    if lost:
        copy.cause = yield from _give_up(copy, lost, last)
        last = copy.cause
    if job.kept:
        yield from _give_up(copy, job.kept[0].done, last)
        job.kept.clear()


def end_early(w: World, copy: Copy, outcome: Outcome, cause: int) -> Script:
    """Its run is lost or has failed: the copy waits for the next one, or is over."""
    if not copy.job.keeps:
        return (yield from drop(w, copy, outcome, cause, early=True))
    assert copy.run is not None
    copy.cause = last = yield runs.end(w, copy.run, outcome, kept=True), cause
    copy.run = None
    copy.job.over = outcome.value, w.now
    link.leave(w, copy, last, keep=True)
    resume_soon(w, copy)
    return last


def resume_soon(w: World, copy: Copy) -> None:
    """Once all workers have changed state, its next run starts if all members are UP (P2)."""
    order = copy.job.copies.index(copy)
    w.push(copy.job, Phase.RESUME, order, partial(_resumed, w, copy))


def _resumed(w: World, copy: Copy) -> Script | None:
    if copy.gone or copy.run is not None or copy.absent:
        return None
    return runs.course(w, copy, rules.resumed(w, copy), copy.cause, keeps=copy.last)


# --- its end --------------------------------------------------------------------------------------


def drop(
    w: World, copy: Copy, outcome: Outcome, cause: int, gone: bool = False, early: bool = False
) -> Script:
    """The copy is over, and gives its members back; seq of its end."""
    job = copy.job
    if copy.run is not None:
        last = yield runs.end(w, copy.run, outcome), cause
    else:
        last = yield MembersReleased(job.name, copy.last), cause
    job.over = outcome.value, w.now
    copy.run, copy.gone = None, True
    job.copies.remove(copy)
    if early and w.reuses:
        w.former.update(dict.fromkeys(copy.members, (copy, last)))
    else:
        link.leave(w, copy, last, keep=False)
    release(w, copy, outcome, last, last, gone and not job.copies)
    return last


def release(w: World, copy: Copy, outcome: Outcome, seq: int, since: int, gone: bool) -> None:
    """The scheduler hears of the end."""
    w.give(copy, copy.spans)
    w.counts[2] += 1
    w.decider.freed(w, copy, seq)
    if not gone:
        w.decider.wants(copy.job, since)
    w.decider.ended(w, copy, outcome, seq, gone)


def complete(w: World, copy: Copy, cause: int) -> Script:
    """This copy was first: the others end at this instant (P5)."""
    job, run = copy.job, copy.run
    assert run is not None
    gone = job.tasks is None or job.iteration + 1 == job.tasks.iterations
    last = yield runs.end(w, run, Outcome.COMPLETED), cause
    copy.run, copy.gone = None, True
    job.over = "completed", w.now
    for other in [it for it in job.copies if it is not copy]:
        yield from drop(w, other, CANCELLED, last, gone)
    job.saved = None
    job.copies.clear()
    link.leave(w, copy, last, keep=False)
    since = last
    if job.tasks is not None:
        since = yield IterationCompleted(job.name, job.iteration), last
        job.iteration += 1
        if not gone:
            since = yield IterationStarted(job.name, job.iteration), since
    job.over = "completed", w.now
    release(w, copy, Outcome.COMPLETED, last, since, gone)
    if gone:
        yield JobCompleted(job.name), since
        leave(w, job, 0, last)


def leave(w: World, job: Job, fate: int, seq: int) -> None:
    """The job is over, since `seq`: it completed (0) or was killed (1)."""
    del w.jobs[job.name]
    w.gone.add(job.name)
    w.counts[fate] += 1
    w.last_end = seq


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
    yield from drop(w, copy, CANCELLED, causes, early=True)  # type: ignore[arg-type]
