"""The course of a run: its stages, what it saves, and what a change of its members' states or
speeds does to it (WORLD.md, R and P)."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import inf
from typing import Any

from actors.events import (
    CheckpointStarted,
    CheckpointStored,
    CheckpointTaken,
    Outcome,
    RedistributionPlanned,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    VerificationEnded,
)
from policies.maths.cosched import round_count
from sims.audit import ends, link, parts, rules
from sims.audit.facts import Copy, Run, State
from sims.audit.law import Causes, Phase, comes, follows, same
from sims.audit.rules import Plan
from sims.audit.turns import NEGLIGIBLE, Script
from sims.audit.world import World

COMPUTING, VERIFYING = Stage.COMPUTING, Stage.VERIFYING
STAGING_IN, SAVING = Stage.STAGING_IN, Stage.SAVING


def course(
    w: World,
    copy: Copy,
    plan: Plan,
    causes: Causes,
    line: RunStarted | None = None,
    keeps: int | None = None,
    spread: bool = False,
) -> Script:
    """A run from its start to its end; `line`: what tells of its start, where it was decided;
    `keeps`: the run before on members that were kept."""
    job = copy.job
    run = parts.begin(w, copy, plan, line)
    run.spread = spread
    cause = yield parts.started(run, keeps), causes
    run.started = cause
    if job.described.limit is not None:
        over = partial(ends.killed, w, run)
        w.at(w.now + job.described.limit, Phase.MESSAGES, job, run.number, over)
    if job.tasks is not None:
        cause = yield from parts.dealt(w, run, line, cause)
    elif any(stage is Stage.REDISTRIBUTING for stage, _ in plan.before):
        sizes = copy.holders, copy.full, round_count(copy.holders, copy.full)
        cause = yield RedistributionPlanned(job.name, run.number, *sizes), cause
    yield from _prepare(w, run, plan, cause)
    if not run.over:
        yield from _compute(w, run)


# --- its parts ------------------------------------------------------------------------------------


def _prepare(w: World, run: Run, plan: Plan, cause: int) -> Script:
    """All that comes before computing."""
    copy, job = run.copy, run.copy.job
    verified = job.protection is not None and job.rules.verified
    run.ahead, run.cause, run.reports = rules.ahead(w, copy, plan), cause, True
    if job.messages is not None:
        run.stage, run.length, run.rate = STAGING_IN, inf, 0
        run.cause = yield StageStarted(job.name, run.number, STAGING_IN, 0, run.base), cause
        run.missing = set(copy.members)
        link.feed(w, run, plan.image)
        yield from parts.wait(w, run)
    for stage, length in plan.before:
        run.ahead = run.ahead[1:]
        yield from parts.part(w, run, stage, length)
        if stage is Stage.RECOVERING:
            copy.failed.clear()
            copy.saved = copy.saved or copy.stored
    if plan.closes:
        run.ahead = run.ahead[verified:]
        yield from _secure(w, run)


def _compute(w: World, run: Run) -> Script:
    copy, job = run.copy, run.copy.job
    while True:
        run.computes = True
        period = rules.period(w, copy)
        run.learns, left = period is None, run.work - run.base
        left = left if left > NEGLIGIBLE * run.work else 0
        final = period is None or left - period <= NEGLIGIBLE * run.work
        run.reach = run.work if period is None or final else run.base + period
        yield from parts.part(w, run, COMPUTING, left if period is None or final else period)
        while run.saving is not None and run.reach < run.work:
            run.due, run.base, run.passed, run.length = True, run.reach, 0, left - run.length
            run.reach = run.work
            parts.aim(w, run)
            yield run
            run.settle(w.now)
        run.base, run.stage = run.reach, None
        if run.base >= run.work:
            break
        yield from _secure(w, run)
        if run.over:
            return
    yield from parts.part(w, run, VERIFYING, job.described.verification, last=True)
    yield from _verdict(w, run)
    if not run.over:
        yield from ends.complete(w, copy, run.cause)


def _secure(w: World, run: Run) -> Script:
    """A checkpoint, after a verification where one precedes it (P4)."""
    copy, job = run.copy, run.copy.job
    if job.rules.verified:
        yield from parts.part(w, run, VERIFYING, job.described.verification)
        yield from _verdict(w, run)
        if run.over:
            return
    if job.manner.blocking:
        yield from _save(w, run, run)
        return
    run.cause = yield CheckpointStarted(job.name, run.number, run.base), run.cause
    saving = Run(copy, run.number, run.work, run.base, since=w.now, exposed=run.exposed)
    saving.beside = run.tellers[0]
    saving.cause = run.cause
    run.saving, run.due, run.stage = saving, False, None
    script = _beside(w, run, saving)
    with suppress(StopIteration):
        line = next(script)
        while line is not saving:
            line = script.send((yield line))
        saving.script = script
    run.cause = saving.cause


def _beside(w: World, run: Run, saving: Run) -> Script:
    """A checkpoint that passes while its run goes on, and who fell due meanwhile (P8)."""
    yield from _save(w, run, saving)
    run.saving = None
    left = run.work - run.done(w.now)
    if run.due and run.stage is COMPUTING and left > NEGLIGIBLE * run.work:
        run.cause, run.reports = saving.cause, True
        yield parts.cut(w, run)
    elif run.stage is not None:
        cause = yield from parts.review(w, run, saving.cause)
        w.report(run.copy, cause)
        parts.untie(w, run)


def _save(w: World, run: Run, it: Run) -> Script:
    """The parts of a checkpoint, which its run passes or, beside it, an account of its own."""
    copy, job = run.copy, run.copy.job
    state = State(run.number, it.base, run.work, it.exposed)
    yield from _pass(w, run, it, rules.cost(w, job, copy.full))
    it.cause = yield CheckpointTaken(job.name, run.number, it.base), it.cause
    copy.taken += 1
    rules.save(job, copy, state, copy.full)
    w.checkpointed(run, it.cause)
    every = job.manner.images_every
    if job.keeps and every and copy.taken % every == 0:
        sent = job.messages is not None and job.messages.image
        alone = job.manner.image_cost if job.messages is None else 0
        if it is not run:
            it.cause = yield CheckpointStarted(job.name, run.number, it.base), it.cause
            it.reports = run.stage is not None
            parts.untie(w, run)
        yield from _pass(w, run, it, None if sent else alone)
        it.cause = yield CheckpointStored(job.name, run.number, it.base), it.cause
        copy.stored = state


def _pass(w: World, run: Run, it: Run, cost: float | None) -> Script:
    job = run.copy.job
    if cost is not None:
        yield from parts.part(w, it, Stage.CHECKPOINTING, cost)
        return
    it.stage, it.length, it.rate, run.missing = SAVING, inf, 0, set(run.copy.members)
    if it is run:
        event = StageStarted(job.name, run.number, SAVING, 0, run.base)
        run.cause = yield event, run.cause
    link.send_images(w, run, it.cause)
    yield from parts.wait(w, it)


def _verdict(w: World, run: Run) -> Script:
    """What a verification has found, nothing in the world decides; all that follows does (R3)."""
    job, copy = run.copy.job, run.copy
    event = yield None
    drawn = isinstance(event, VerificationEnded)
    comes(job.draws in (None, drawn), "{}'s errors are drawn, or are not", job.name)
    job.draws = drawn
    if drawn:
        found = event.error
        yield VerificationEnded(job.name, run.number, run.exposed, found), run.cause
    else:
        found = isinstance(event, RunEnded) and event.outcome is Outcome.FAILED
    run.exposed = 0
    if found:
        yield from ends.fail(w, copy, run.cause)


# --- what befalls it ------------------------------------------------------------------------------


def learn(w: World, event: Any, seq: int) -> Script | None:
    """The script of a run whose checkpoint is the first to tell its period."""
    job = w.jobs.get(event.job)
    found = [it.run for it in job.copies if it.run and it.last == event.run] if job else []
    run = found[0] if found else None
    if job is None or run is None or not run.learns or run.stage is not COMPUTING:
        return None
    done = run.done(w.now)
    if not (run.base < done < run.work):
        return None
    size = rules.spread(w, run.copy)
    job.learnt[size] = period = done - run.base
    for other in (it.run for it in job.copies):
        if other is not None and other.learns and rules.spread(w, other.copy) == size:
            other.learns = False
            if other.work - other.base - period > NEGLIGIBLE * other.work:
                other.reach, other.length = other.base + period, period
                parts.aim(w, other)
    reach = getattr(event, "done", done)
    follows(same(reach, done), "{!r} is done", done)
    script, run.reach = parts.cut(w, run), reach
    return script
