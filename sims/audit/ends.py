"""How copies end: lost, failed, withdrawn, killed, completed (WORLD.md, R4 and P5)."""

from __future__ import annotations

from functools import partial

from actors.events import (
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    JobKilled,
    MembersReleased,
    Outcome,
    RestartedFromScratch,
    RunEnded,
)
from sims.audit import link, rules
from sims.audit.facts import Copy, Job, Run
from sims.audit.law import Phase
from sims.audit.turns import Script
from sims.audit.workers import DOWN
from sims.audit.world import World

CANCELLED, FAILED = Outcome.CANCELLED, Outcome.FAILED


def end(w: World, run: Run, outcome: Outcome, kept: bool = False) -> RunEnded:
    """It is over; what tells of it."""
    for it in (run, run.saving):
        if it is not None and it.timer is not None:
            it.timer.live = False
            it.timer = None  # which refers to it: garbage in cycles took a quarter of the time
    if run.saving is not None:
        run.saving.over = True
    run.base = min(run.done(w.now), run.work)
    run.exposed, run.over, run.stage = run.expose(w.now), True, None
    return RunEnded(run.copy.job.name, run.number, outcome, run.base, kept)


def give_up(copy: Copy, lost: float | None, cause: int) -> Script:
    """All that was saved is given up, if anything was."""
    if lost:
        cause = yield RestartedFromScratch(copy.job.name, copy.last, lost), cause
    return cause


def fail(w: World, copy: Copy, cause: int) -> Script:
    """A verification has found an error."""
    job = copy.job
    lost = rules.discard(job, copy)
    last = yield from end_early(w, copy, FAILED, cause)
    if lost:
        copy.cause = yield from give_up(copy, lost, last)
        last = copy.cause
    if job.kept:
        yield from give_up(copy, job.kept[0].done, last)
        job.kept.clear()


def end_early(w: World, copy: Copy, outcome: Outcome, cause: int) -> Script:
    """Its run is lost or has failed: the copy waits for the next one, or is over."""
    if not copy.job.keeps:
        return (yield from drop(w, copy, outcome, cause, early=True))
    assert copy.run is not None
    copy.cause = last = yield end(w, copy.run, outcome, kept=True), cause
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
    return w.course(w, copy, rules.resumed(w, copy), copy.cause, keeps=copy.last)


def drop(
    w: World, copy: Copy, outcome: Outcome, cause: int, gone: bool = False, early: bool = False
) -> Script:
    """The copy is over, and gives its members back; seq of its end."""
    job = copy.job
    if copy.run is not None:
        last = yield end(w, copy.run, outcome), cause
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
    for worker, (_, fall) in copy.struck.items():
        w.decider.turned(worker, DOWN, None, fall)  # nobody holds it: it is known
    w.decider.freed(copy, seq)
    if not gone:
        w.decider.wants(copy.job, since)
    w.decider.ended(copy, outcome, seq, gone)


def complete(w: World, copy: Copy, cause: int) -> Script:
    """This copy was first: the others end at this instant (P5)."""
    job, run = copy.job, copy.run
    assert run is not None
    gone = job.tasks is None or job.iteration + 1 == job.tasks.iterations
    last = yield end(w, run, Outcome.COMPLETED), cause
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


def killed(w: World, run: Run) -> Script | None:
    """It has outlived its limit: so has its job."""
    return None if run.over else _kill(w, run)


def _kill(w: World, run: Run) -> Script:
    job, own = run.copy.job, run.copy
    cause = run.started
    for copy in [*(it for it in job.copies if it is not own), own]:
        last = yield from drop(w, copy, Outcome.CANCELLED, cause, gone=True)
    yield JobKilled(job.name), last
    leave(w, job, 1, last)
