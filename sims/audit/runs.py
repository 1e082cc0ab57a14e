"""Follows a run from its start to its end: its stages, what it saves, and what a first checkpoint
reveals (rules.md, R and P)."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import inf
from typing import Any

from actors import events as e
from actors.events import Outcome, Stage
from policies.interface.kinds import JobKind
from policies.maths.cosched import round_count
from sims.audit import link, stages
from sims.audit.facts import ExpectedCopy, ExpectedRun, ExpectedState
from sims.audit.law import Causes, LinePhase, allowed, comes, coming, follows, same
from sims.audit.protection import buddies, images, protection
from sims.audit.protection.protection import ExpectedPlan
from sims.audit.turns import NEGLIGIBLE, Emitter, Script
from sims.audit.world import PartRules, World

Line = e.RunStarted | None
"""The line with the start of a run, where a decision made it; None where a run follows another."""


def begin(
    w: World,
    copy: ExpectedCopy,
    plan: ExpectedPlan,
    causes: Causes,
    line: Line,
    keeps: int | None = None,
) -> Script:
    """Expect the line that starts the job's next run on the copy's members, with one of `causes`,
    and those that follow at once; return the run's account.

    `line` is the start's line if a decision made it. `keeps` is the number of the copy's run
    before, whose members the run keeps; None if there was none.
    """
    job, state = copy.job, plan.begins
    run = ExpectedRun(copy, job.next_run, _work(copy, line), since=w.now)
    job.next_run += 1
    source, saved = None, 0.0
    if state is not None:
        # Work is counted in time on the present members: a state of others is converted.
        run.base, run.exposed = state.of(run.work), state.exposed
        source, saved = state.run, state.done
    copy.run, copy.last = run, run.number
    if not job.asked.saving.blocking:
        run.emitters = Emitter(), Emitter()
    numbers = run.number, copy.text, run.work, run.base, source, saved, keeps
    run.cause = run.started = yield e.RunStarted(job.name, *numbers), causes
    if (job.asks or job.partition is not None) and line is not None:
        for part in w.parts[PartRules.started]:
            yield from part.started(run)
    return run


def _work(copy: ExpectedCopy, line: Line) -> float:
    """Return the whole work of a run on the copy's members, in time at nominal speed: computed from
    earlier lines, or taken from `line` where they do not determine it."""
    job, size = copy.job, copy.full
    if job.costs is not None:
        return job.costs.times[job.costs.row(size)]  # type: ignore[no-any-return]
    if job.tasks is not None and line is None:
        return max(units * job.times.get(n, 0) for n, units in copy.units.items())
    if job.described.kind is JobKind.RIGID:
        allowed(size in job.works or not job.works, f"{job.name} has another size")
        job.works[size] = job.described.work / size
    if size not in job.works or job.tasks is not None:
        assert line is not None
        job.works[size] = job.described.work if size == 1 and job.described.work else line.work
    return job.works[size]


def _dealt(w: World, run: ExpectedRun, line: Line) -> Script:
    """Expect the line that deals an iterative job's tasks to the members of a run: as the decider
    decided if `line` is its start, or as the run before had them. The run's work follows from
    it."""
    copy, job, reason = run.copy, run.copy.job, None
    if line is not None:
        event = yield from coming(e.TasksDealt, job.name)
        w.decider.deal(job, copy, event)
        work = max((x * job.times.get(n, 0) for n, x in event.tasks), default=0.0)
        follows(same(run.work, work), f"W is {work!r}, not {run.work!r}")
        run.work, reason = work, event.reason
    tasks = tuple(copy.units.items())
    dealt = e.TasksDealt(job.name, job.iteration, run.number, tasks, reason)
    run.cause = yield dealt, run.cause


def course(
    w: World,
    copy: ExpectedCopy,
    plan: ExpectedPlan,
    causes: Causes,
    line: Line = None,
    keeps: int | None = None,
    spread: bool = False,
    resized: bool = False,
) -> Script:
    """Follow a run from its start to its end, as a script: a generator of its lines.

    `plan` says from which state it starts and what it does before it computes. `causes`, `line` and
    `keeps` are those of `begin`. `spread` says that the new members all hold the state once the
    run's progress has been reported, and `resized` that the run only goes on with other members, so
    that it does not start up.
    """
    job = copy.job
    run = yield from begin(w, copy, plan, causes, line, keeps)
    run.spread = spread
    if job.described.limit is not None:
        over = partial(stages.killed, w, run)
        w.turns.at(w.now + job.described.limit, LinePhase.LIMITS, job, run.number, over)
    if job.tasks is not None:
        yield from _dealt(w, run, line)
    elif any(stage is Stage.REDISTRIBUTING for stage, _ in plan.before):
        sizes = copy.holders, copy.full, round_count(copy.holders, copy.full)
        run.cause = yield e.RedistributionPlanned(job.name, run.number, *sizes), run.cause
    lead = 0 if resized else w.before(job, first=line is not None)
    yield from _prepare(w, run, plan, lead)
    if not run.over:
        yield from _compute(w, run)


# --- its parts ------------------------------------------------------------------------------------


def _prepare(w: World, run: ExpectedRun, plan: ExpectedPlan, lead: float) -> Script:
    """Follow all parts of a run before its first computation, as `plan` says, after the time
    `lead`, in which its members fetch nothing."""
    copy, job = run.copy, run.copy.job
    run.plan, run.ahead, run.reports = plan, protection.ahead(copy, plan), True
    if lead:
        yield from stages.part(w, run, Stage.STARTING_UP, lead)
    if job.messages is not None:
        yield from stages.linked(w, run, Stage.STAGING_IN)
        run.missing = set(copy.members)
        link.stage_in(w, run, plan.image)
        yield from stages.wait(w, run)
    if plan.loads and job.keeps:
        yield from _load(w, run)
    for stage, length in plan.before:
        run.ahead = run.ahead[1:]
        yield from stages.part(w, run, stage, length)
        if stage is Stage.RECOVERING:
            buddies.recovered(copy)
    if plan.loads and not job.keeps:
        yield from _load(w, run)  # the job has changed over by then
    if plan.closes:
        run.ahead = run.ahead[job.rules.verified :]
        yield from _secure(w, run)


def _load(w: World, run: ExpectedRun) -> Script:
    """Follow the loading, from shared storage, of the state from which the run starts."""
    yield from stages.stored(w, run, Stage.RECOVERING)
    stages.share_over(w, run, run.cause)


def _compute(w: World, run: ExpectedRun) -> Script:
    """Alternate computation and checkpoints until the work is done, then verify and complete."""
    copy, job = run.copy, run.copy.job
    while True:
        run.computes = True
        known, left = protection.period(w, copy), run.work - run.base
        run.learns, period = known is None, inf if known is None else known
        # What rounding leaves of the work is none, and no checkpoint is taken when no work remains.
        left = left if left > NEGLIGIBLE * run.work else 0
        # No checkpoint follows the last computation.
        final = left - period <= NEGLIGIBLE * run.work
        run.reach = run.work if final else run.base + period
        yield from stages.part(w, run, Stage.COMPUTING, left if final else period)
        # A checkpoint that falls due while another is under way waits for that one (P8): the run
        # computes on.
        while run.saving is not None and run.reach < run.work:
            run.due, run.base, run.passed, run.length = True, run.reach, 0, left - run.length
            run.reach = run.work
            stages.aim(w, run)
            yield run.part_end
            run.settle(w.now)
        stages.keep_always(w, run)
        run.base, run.stage = run.reach, None
        if run.base >= run.work:
            break
        yield from _secure(w, run)
        if run.over:
            return
    yield from stages.part(w, run, Stage.VERIFYING, job.described.verification, last=True)
    yield from _verdict(w, run)
    if not run.over:
        yield from stages.complete(w, run)


def _secure(w: World, run: ExpectedRun) -> Script:
    """Take a checkpoint of the run, after a verification where the protection wants one (P4):
    either the run waits for it, or it is begun beside the run, which goes on."""
    copy, job = run.copy, run.copy.job
    if job.rules.verified:
        yield from stages.part(w, run, Stage.VERIFYING, job.described.verification)
        yield from _verdict(w, run)
        if run.over:
            return
    if job.asked.saving.blocking:
        yield from _save(w, run, run)
        return
    run.cause = yield e.CheckpointStarted(job.name, run.number, run.base), run.cause
    saving = ExpectedRun(copy, run.number, run.work, run.base, since=w.now, exposed=run.exposed)
    saving.beside = run.emitters[0]
    saving.cause = run.cause
    run.saving, run.due, run.stage = saving, False, None
    script = _beside(w, run, saving)
    with suppress(StopIteration):
        line = next(script)
        while line is not saving.part_end:
            line = script.send((yield line))
        saving.part_end.script = script
    run.cause = saving.cause


def _beside(w: World, run: ExpectedRun, saving: ExpectedRun) -> Script:
    """Follow a checkpoint that is taken while the run goes on, in the account `saving`; start the
    next one at once if it fell due meanwhile (P8)."""
    yield from _save(w, run, saving)
    run.saving = None
    left = run.work - run.done(w.now)
    if run.due and run.stage is Stage.COMPUTING and left > NEGLIGIBLE * run.work:
        run.cause, run.reports = saving.cause, True
        yield stages.cut(w, run)
    elif run.stage is not None:
        cause = yield from stages.review(w, run, saving.cause)
        w.decider.report(run.copy, cause)
        stages.untie(w, run)


def _save(w: World, run: ExpectedRun, it: ExpectedRun) -> Script:
    """Follow the parts of a checkpoint, of one level or two, and keep its state.

    `it` is the account in which its time passes: the run's own if the checkpoint blocks the run,
    else one beside the run. The second level, every k-th checkpoint under buddies, goes to the
    master or the shared storage.
    """
    copy, job = run.copy, run.copy.job
    state = ExpectedState(run.number, it.base, run.work, it.exposed)
    if images.stores(job, first=True):
        yield from stages.stored(w, it, Stage.CHECKPOINTING)
    else:
        yield from _pass(w, run, it, protection.cost(job, copy.full))
    it.cause = yield e.CheckpointTaken(job.name, run.number, it.base), it.cause
    stages.share_over(w, it, it.cause)
    copy.taken += 1
    protection.save(copy, state)
    w.decider.checkpointed(run, it.cause)
    every = job.asked.saving.images_every
    if job.keeps and every and copy.taken % every == 0:
        sent = job.messages is not None and job.messages.image
        alone = job.asked.saving.image_cost if job.messages is None else 0
        if it is not run:
            it.cause = yield e.CheckpointStarted(job.name, run.number, it.base), it.cause
            it.reports = run.stage is not None
            stages.untie(w, run)
        if images.stores(job, first=False):
            yield from stages.stored(w, it, Stage.CHECKPOINTING)
        else:
            yield from _pass(w, run, it, None if sent else alone)
        it.cause = yield e.CheckpointStored(job.name, run.number, it.base), it.cause
        stages.share_over(w, it, it.cause)
        copy.stored = state


def _pass(w: World, run: ExpectedRun, it: ExpectedRun, cost: float | None) -> Script:
    """Follow one write of a checkpoint in account `it`: for the time `cost`, or, if that is None,
    until all members have sent their parts to the master."""
    if cost is not None:
        yield from stages.part(w, it, Stage.CHECKPOINTING, cost)
        return
    run.missing = set(run.copy.working)
    yield from stages.linked(w, it, Stage.SAVING)
    link.send_images(w, run, it.cause)
    yield from stages.wait(w, it)


def _verdict(w: World, run: ExpectedRun) -> Script:
    """Read the line with the result of a verification, which nothing in the state decides, and
    apply it: an error ends the run as failed (R3)."""
    job, copy = run.copy.job, run.copy
    event = yield None
    drawn = isinstance(event, e.VerificationEnded)
    comes(job.draws in (None, drawn), f"{job.name}'s errors are drawn, or are not")
    job.draws = drawn
    if drawn:
        found = event.error
        yield e.VerificationEnded(job.name, run.number, run.exposed, found), run.cause
    else:
        found = isinstance(event, e.RunEnded) and event.outcome is Outcome.FAILED
    # An error is possible only in computation since the last verification.
    run.exposed = 0
    if found:
        yield from stages.fail(w, copy, run.cause)


# --- the first checkpoint -------------------------------------------------------------------------


def learn(w: World, event: Any) -> Script | None:
    """Return the script (generator) of a run of which the line `event` ends a computation, where
    that is the first sign of the job's checkpoint period, and keep the period; None if the line
    reveals none."""
    run = w.run_of(event)
    if run is None or not run.learns or run.stage is not Stage.COMPUTING:
        return None
    done, job = run.done(w.now), run.copy.job
    if not (run.base < done < run.work):
        return None
    size = protection.spread(w, run.copy)
    # The period depends on the members and the nodes that they are on: it holds for all such
    # copies.
    job.learnt[size] = period = done - run.base
    for other in (it.run for it in job.copies):
        if other is not None and other.learns and protection.spread(w, other.copy) == size:
            other.learns = False
            if other.work - other.base - period > NEGLIGIBLE * other.work:
                other.reach, other.length = other.base + period, period
                stages.aim(w, other)
    reach = getattr(event, "done", done)
    follows(same(reach, done), f"{done!r} is done")
    script, run.reach = stages.cut(w, run), reach
    return script
