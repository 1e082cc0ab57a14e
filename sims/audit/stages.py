"""Follows the parts of a run: how long each takes, what a change of members does to it, and how it
ends: lost, failed, cancelled, killed or completed (rules.md, R1 to R4, P5)."""

from __future__ import annotations

from functools import partial
from math import inf

from actors import events as e
from actors.events import BY_MESSAGES, Outcome, Stage
from sims.audit import link
from sims.audit.facts import AT_SPEED, ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import Broken, Causes, Law, LinePhase, allowed, same
from sims.audit.protection import buddies, images, protection
from sims.audit.turns import Script
from sims.audit.workers import DOWN, joined
from sims.audit.world import PartRules, World


def part(w: World, run: ExpectedRun, stage: Stage, length: float, last: bool = False) -> Script:
    """Follow one part (stage) of a run until it ends; `length` is the work of a computation, and
    the time of any other part.

    A part of length 0 has no line and ends at once. Only the last part of a run, if `last` says so,
    ends with the other runs of the instant even then.
    """
    run.stage, run.length, run.passed, run.since, run.rate = stage, 0, 0, w.now, 0
    if length <= 0 and not last:
        return
    run.length, run.rate = length, rate(w, run)
    # A checkpoint beside its run has no line of its own: the run's stage goes on.
    if length and run.beside is None:
        event = e.StageStarted(run.copy.job.name, run.number, stage, run.rate, run.base)
        run.cause = yield event, run.cause
    aim(w, run)
    yield from wait(w, run)
    run.settle(w.now)


def stored(w: World, it: ExpectedRun, stage: Stage) -> Script:
    """Follow a part in which the account `it`, a run or a checkpoint beside it, saves its state to
    shared storage or loads it from there, at the bandwidth that it gets. A job that keeps nothing
    there has no such part."""
    size = it.copy.job.asked.stored
    it.stage, it.length, it.passed, it.since, it.rate = stage, 0, 0, w.now, 0
    if not size:
        return
    it.length, it.shares, it.aim = size, True, partial(aim, w, it)
    if it.beside is None:
        event = e.StageStarted(it.copy.job.name, it.number, stage, 0, it.base)
        it.cause = yield event, it.cause
    for part in w.parts[PartRules.share]:
        part.share(it)
    yield from wait(w, it)
    it.settle(w.now)
    if w.pack is not None and it.beside is None:
        it.reports = True  # the decider did not know when this would end


def share_over(w: World, it: ExpectedRun, cause: int) -> None:
    """Note that the account `it` passes at a shared bandwidth no longer, because of event
    `cause`; do nothing if it does not do so."""
    for part in w.parts[PartRules.share_over] if it.shares else ():
        part.share_over(it, cause)


def linked(w: World, run: ExpectedRun, stage: Stage) -> Script:
    """Begin a part of a run that lasts until the messages of all members have passed the master's
    link; the caller waits for its end."""
    run.stage, run.length, run.rate = stage, inf, 0
    if run.beside is None:
        event = e.StageStarted(run.copy.job.name, run.number, stage, 0, run.base)
        run.cause = yield event, run.cause


def wait(w: World, run: ExpectedRun) -> Script:
    """Wait for the end of the run's present part, in a script.

    If the run has just started, or goes on because its members have changed, its progress is
    reported to the decider first.
    """
    if run.reports:
        run.reports = False
        w.decider.report(run.copy, run.cause)
        if run.spread:
            run.copy.holders = run.copy.full
    yield run.part_end


def rate(w: World, run: ExpectedRun) -> float:
    """Return the rate at which the run's present part passes, as a multiple of nominal speed.

    Work and verifications pass at the speed of the slowest member (R1), times the fraction of the
    groups of members that take part (E1), and less while a checkpoint is taken beside the run (P8);
    all else passes at rate 1. The rate is 0 unless all members are UP, none hangs (F6) and no pause
    is under way.
    """
    if run.still or run.stage not in AT_SPEED:
        return 0 if run.still else 1
    # A checkpoint that passes meanwhile takes part of the run's speed (P8).
    slowed = 1 - run.copy.job.asked.saving.slowdown if run.saving is not None else 1
    speed, division = w.speed(run.copy) * slowed, run.copy.division
    return speed if division is None else speed * division.share


def aim(w: World, run: ExpectedRun) -> None:
    """Set the timer for the end of the run's present part, at its present rate; cancel the timer
    before."""
    if run.timer is not None:
        run.timer.live = False
    # A run's end has a phase of its own: after all parts that end at the same instant.
    last = run.stage is Stage.VERIFYING and run.base >= run.work
    phase = LinePhase.RUNS if last else LinePhase.PARTS
    emitter = run.beside or (run.emitters[1] if run.emitters and not last else run.copy.job)
    run.aimed, run.tied = w.turns.order, False
    resume = partial(_resume_at_end, w, run, w.turns.order)
    run.timer = w.turns.at(run.end(), phase, emitter, run.number, resume, carried=True)


def _resume_at_end(w: World, run: ExpectedRun, aimed: int) -> Script | None:
    """Return the waiting script of the run if its present part is over now; else None.

    `aimed` is the number that the part's timer had when it was set: if the run has another timer
    since, this one means nothing.
    """
    if run.over or run.aimed != aimed or (run.end() > w.turns.end and not w.turns.measured):
        return None
    # Real processes end each part at an instant of its own, whatever it takes nominally.
    run.tied = not (w.turns.measured or run.copy.job.asked.saving.blocking) and _waits(w, run)
    return None if run.tied else run.part_end.take()


def measured(w: World, event: e.PartMeasured) -> Script:
    """Check the line that says how long a part of a run, or a message, has taken a real process,
    and end it; the length is an input."""
    timer, since, run = None, -1, w.run_of(event)
    if event.worker is not None:
        worker = w.worker(event.worker)
        if worker.began == (event.job, event.run):
            timer, since = worker.passing, worker.sent
    elif run is not None and event.beside:
        timer, since = (run.saving.timer, run.saving.cause) if run.saving else (None, -1)
    elif run is not None:
        timer, since = run.timer, run.cause
    if not w.turns.measured or timer is None or not timer.live:
        raise Broken(Law.FOLLOWS, "nothing of it is under way")
    length = w.now - timer.begun
    allowed(same(event.length, length), "it took {}", length)
    allowed(0 <= event.busy <= event.length, "no process was busy for longer")
    yield event, since
    w.turns.fire(timer)


def _waits(w: World, run: ExpectedRun) -> bool:
    """Return whether the run's part, which ends now, has to wait for a checkpoint beside the run
    (one that is taken while the run goes on) that is completed at this instant.

    All parts of one job's runs that end at an instant do so together, and so do all checkpoints
    beside them; of these two groups, the one whose first timer was set earlier comes first.
    """
    job = run.copy.job
    if run.saving is not None and run.saving.received == w.now:
        return True  # messages of a run come before its part
    if (w.now, run.aimed) <= job.passed:
        return False
    runs = [copy.run for copy in job.copies]
    if _first(w, [it.saving for it in runs if it is not None]) < _first(w, runs):
        return run.saving is not None and run.saving.end() <= w.turns.end
    job.passed = w.now, w.turns.order
    return False


def _first(w: World, runs: list[ExpectedRun | None]) -> float:
    """Return the lowest number of a timer among those of these runs that end now; inf if none does.
    The numbers rise in the order in which timers are set."""
    ending = [it for it in runs if it is not None and it.end() <= w.turns.end]
    parts = (
        it.aimed for it in ending if it.timer is not None and it.timer.phase == LinePhase.PARTS
    )
    return min(parts, default=inf)


def untie(w: World, run: ExpectedRun) -> None:
    """End a part of a run that had to wait for the checkpoint beside the run, which is complete
    now; do nothing if none had to."""
    if run.tied:
        run.tied = False
        passed = partial(_passed, run, run.aimed)
        w.turns.push(run.emitters[0], w.turns.phase, run.number, passed)


def _passed(run: ExpectedRun, aimed: int) -> Script | None:
    return None if run.over or run.aimed != aimed else run.part_end.take()


def cut(w: World, run: ExpectedRun) -> Script | None:
    """End the run's present computation now, so that a checkpoint can follow; return the run's
    script (generator), which goes on with that."""
    run.reach = run.done(w.now)
    if run.timer is not None:
        run.timer.live = False
    return run.part_end.take()


def _share_changed(w: World, it: ExpectedRun, cause: int) -> Script:
    """Apply a change of the members, event `cause`, to an account that passes at a shared
    bandwidth; return the last event that follows."""
    for part in w.parts[PartRules.share_changed]:
        cause = yield from part.share_changed(it, cause)
    return cause


def review(w: World, run: ExpectedRun, cause: int) -> Script:
    """Apply a change of the members' states or speeds, made by event `cause`, to the run's rate;
    return the last event that follows, or `cause` if none does."""
    for part in w.parts[PartRules.reviewed] if run.copy.division is not None else ():
        part.reviewed(run, cause)
    if run.over or run.stage in BY_MESSAGES:
        return cause
    it = run.saving
    for account in (it, run):
        if account is not None and account.shares:
            cause = yield from _share_changed(w, account, cause)
    if run.shares:
        return cause
    if (
        it is not None
        and not it.shares
        and it.stage is Stage.CHECKPOINTING
        and it.rate != rate(w, it)
    ):
        it.settle(w.now)
        it.rate, it.cause = rate(w, it), cause
        aim(w, it)
    if run.rate != rate(w, run):
        run.settle(w.now)
        run.rate = rate(w, run)
        event = e.RateChanged(run.copy.job.name, run.number, run.rate, run.done(w.now))
        run.cause = cause = yield event, cause
        aim(w, run)
    return cause


# --- its end --------------------------------------------------------------------------------------


def end(w: World, run: ExpectedRun, outcome: Outcome, cause: Causes, kept: bool = False) -> Script:
    """Expect the end of a run, with this outcome and one of the causes `cause`; return the sequence
    number of its line. `kept` says that the copy keeps its members for a next run."""
    for it in (run, run.saving):
        if it is not None:
            it.over = True
        if it is not None and it.timer is not None:
            it.timer.live = False
            it.timer = None  # the timer refers to `it`: such cycles took a quarter of the time
    keep_always(w, run)
    run.base, run.exposed = min(run.done(w.now), run.work), run.expose(w.now)
    run.stage = None
    event = e.RunEnded(run.copy.job.name, run.number, outcome, run.base, kept)
    seq = yield event, cause
    for it in (run, run.saving):
        if it is not None:
            share_over(w, it, seq)
    run.copy.run, run.copy.job.over = None, (outcome.value, w.now)
    for part in w.parts[PartRules.run_ended] if run.copy.division is not None else ():
        part.run_ended(run.copy, seq)
    return seq


def keep_always(w: World, run: ExpectedRun) -> None:
    """Save what the run has computed, as its computing ends, if its state is always saved."""
    if run.stage is Stage.COMPUTING and images.always(run.copy.job):
        state = run.state(w.now)
        if state.done:
            protection.save(run.copy, state)


def give_up(copy: ExpectedCopy, lost: float | None, cause: int) -> Script:
    """Expect the line that says that saved work is given up, if `lost`, its amount, is above 0;
    return the last event: that line, or `cause`."""
    if lost:
        cause = yield e.RestartedFromScratch(copy.job.name, copy.last, lost), cause
    return cause


def fail(w: World, copy: ExpectedCopy, cause: int) -> Script:
    """Handle an error that a verification has found, with event `cause`: discard what is saved, and
    end the run as failed."""
    job, lost = copy.job, protection.discard(copy)
    last = yield from end_early(w, copy, Outcome.FAILED, cause)
    if lost:
        copy.cause = last = yield from give_up(copy, lost, last)
    if job.kept:
        yield from give_up(copy, job.kept[0].done, last)
        job.kept.clear()


def lose(w: World, copy: ExpectedCopy, worker: int, cause: int) -> Script:
    """Apply to a copy with a run that its member `worker` is known, by event `cause`, to be DOWN or
    to hang; return the last event that follows. Its run is lost, unless a part has it go on."""
    copy.struck, copy.former = w.now, copy.members
    if any(part.survives(copy, worker, cause) for part in w.parts[PartRules.survives]):
        return cause
    return (yield from end_early(w, copy, Outcome.LOST, cause))


def end_early(w: World, copy: ExpectedCopy, outcome: Outcome, cause: int) -> Script:
    """End a run that is lost or has failed, because of event `cause`; return the last event that
    follows.

    A copy that keeps its members waits for its next run; any other is over.
    """
    if not copy.job.keeps and not copy.job.asked.ready:
        return (yield from drop(w, copy, outcome, cause, early=True))
    assert copy.run is not None
    copy.outcome = outcome
    copy.cause = yield from end(w, copy.run, outcome, cause, kept=True)
    link.leave(w, copy, copy.cause, keep=True)
    resume_soon(w, copy)
    lost, copy.given_up = copy.given_up, 0
    copy.cause = yield from give_up(copy, lost, copy.cause)
    return copy.cause


def replace_member(w: World, copy: ExpectedCopy, gone: int, newcomer: int, cause: int) -> Script:
    """Expect the line that replaces member `gone` of a copy by `newcomer`, one that it holds ready
    or a free worker, which takes over its tasks and its place among the buddies (P10, P12). `cause`
    is its cause."""
    seq = yield e.MemberReplaced(copy.job.name, copy.last, gone, newcomer), cause

    def other(member: int) -> int:
        return newcomer if member == gone else member

    # The newcomer takes the replaced member's place in its group of buddies.
    rings = [[other(n) for n in ring] for ring in copy.rings or buddies.rings(w, copy)]
    for part in w.parts[PartRules.replaced] if copy.division is not None else ():
        part.replaced(copy, gone, newcomer)
    copy.units = dict(sorted((other(n), units) for n, units in copy.units.items()))
    copy.failed = {other(n) for n in copy.failed}
    w.holdings.give(copy, (gone, gone + 1))
    if newcomer in copy.ready:
        copy.ready.remove(newcomer)
        if w.worker(newcomer).repaired == w.now:
            w.joined = w.now  # it joined now, in the one pass in which repaired workers join
    else:
        w.holdings.take(copy, (newcomer, newcomer + 1))
    copy.change(joined(other(n) for n in copy.members), copy.full)
    copy.absent.discard(gone)
    if gone in copy.undetected:
        w.tell_state(gone, DOWN, None, copy.undetected.pop(gone)[1])
    copy.rings, copy.cause = rings, seq
    w.pace(copy)
    w.decider.report(copy, seq)


def resume_soon(w: World, copy: ExpectedCopy) -> None:
    """Schedule what a copy does next for this instant, after all changes of workers' states.

    If it has no run, its next run starts if all members are UP (P2), unless a part has it do
    something else before.
    """
    order = copy.job.copies.index(copy)
    w.turns.push(copy.job, LinePhase.RESUME, order, partial(_resumed, w, copy))


def _resumed(w: World, copy: ExpectedCopy) -> Script | None:
    """Return the script (generator) of what a copy does next: of what a part has it do, or of its
    next run; None if a run is under way, or not all members are UP."""
    if copy.gone:
        return None
    for part in w.parts[PartRules.resumes] if copy.job.asks else ():
        script = part.resumes(copy)
        if script is not None:
            return script
    if copy.run is not None or copy.absent:
        return None
    return w.course(w, copy, protection.resumed(w, copy), copy.cause, keeps=copy.last)


def drop(
    w: World,
    copy: ExpectedCopy,
    outcome: Outcome,
    cause: Causes,
    gone: bool = False,
    early: bool = False,
) -> Script:
    """End a copy with its run, and release its members; return the sequence number of the end.

    `gone` says that the job is over too, and `early` that the members may be enrolled again at this
    instant, and keep their data then.
    """
    job = copy.job
    if copy.run is not None:
        last = yield from end(w, copy.run, outcome, cause)
    else:
        last = yield e.MembersReleased(job.name, copy.last), cause
        job.over = outcome.value, w.now
    copy.gone = True
    job.copies.remove(copy)
    if early and w.reuses:
        # These workers may be enrolled again at this instant, and keep their data then.
        w.former.update(dict.fromkeys(copy.members, (copy, last)))
    else:
        link.leave(w, copy, last, keep=False)
    _release(w, copy, outcome, last, last, gone and not job.copies)
    return last


def _release(
    w: World, copy: ExpectedCopy, outcome: Outcome, seq: int, since: int, gone: bool
) -> None:
    """Free the workers of a copy that has ended with event `seq`, and tell the decider of that and
    of the `outcome`. Unless the job is `gone`, it wants workers since event `since`."""
    w.holdings.give(copy, copy.held)
    w.holdings.resting.difference_update(copy.rest)
    w.counts[2] += 1
    for worker, (_, fall) in copy.undetected.items():
        # No copy holds the worker: its fault is known at once.
        w.tell_state(worker, DOWN, None, fall, copy)
    w.decider.freed(copy, seq)
    if not gone:
        w.decider.wants(copy.job, since)
    w.decider.ended(copy, outcome, seq, gone)


def complete(w: World, run: ExpectedRun) -> Script:
    """Complete a job, or its present iteration, as `run` is the first of its runs to do all the
    work; its other copies are cancelled (P5)."""
    copy, job = run.copy, run.copy.job
    gone = job.tasks is None or job.iteration + 1 == job.tasks.iterations
    last = since = yield from end(w, run, Outcome.COMPLETED, run.cause)
    copy.gone = True
    for other in [it for it in job.copies if it is not copy]:
        yield from drop(w, other, Outcome.CANCELLED, last, gone)
    job.saved = None
    job.copies.clear()
    link.leave(w, copy, last, keep=False)
    if job.tasks is not None:
        since = yield e.IterationCompleted(job.name, job.iteration), last
        job.iteration += 1
        if not gone:
            since = yield e.IterationStarted(job.name, job.iteration), since
    job.over = "completed", w.now
    _release(w, copy, Outcome.COMPLETED, last, since, gone)
    if gone:
        yield e.JobCompleted(job.name), since
        leave(w, job, 0, last)


def leave(w: World, job: ExpectedJob, fate: int, seq: int) -> None:
    """Remove a job that is over, and count it as completed (`fate` 0) or killed (`fate` 1).

    `seq` is the sequence number of the event that ended its last run.
    """
    del w.jobs[job.name]
    w.gone.add(job.name)
    w.counts[fate] += 1
    w.last_end = seq


def killed(w: World, run: ExpectedRun) -> Script:
    """Kill the job of `run`, which has reached the job's time limit; all its copies end. A run that
    is over kills nothing."""
    job, last = run.copy.job, run.started
    if run.over:
        return
    # The copy that has reached its limit ends last.
    for copy in [*(it for it in job.copies if it is not run.copy), run.copy]:
        last = yield from drop(w, copy, Outcome.CANCELLED, run.started, gone=True)
    yield e.JobKilled(job.name), last
    leave(w, job, 1, last)


def cancelled(w: World, job: ExpectedJob, seq: int) -> Script:
    """End a job that its agent has cancelled by event `seq`; all its copies end. A job that is over
    by now stays as it is."""
    if w.jobs.get(job.name) is not job:
        return
    last, waited = seq, not job.copies
    for copy in list(job.copies):
        last = yield from drop(w, copy, Outcome.CANCELLED, seq, gone=True)
    end = yield e.JobKilled(job.name), last
    if waited:
        w.decider.cancelled(job, end)
    leave(w, job, 1, end if waited else last)
