"""Copies of a job: how they start, and what befalls their members (WORLD.md, R2 and P5)."""

from __future__ import annotations

from functools import partial

from actors.events import (
    MembersReleased,
    Outcome,
    RunEnded,
    RunStarted,
    Stage,
)
from sims.audit import ends, practice, rules, runs, starts
from sims.audit.facts import NEGLIGIBLE, Copy, Job, Run
from sims.audit.law import Broken, Causes, Law, allowed, follows, told
from sims.audit.turns import Phase, Script
from sims.audit.world import World, spans_told

CANCELLED, LOST, FAILED = Outcome.CANCELLED, Outcome.LOST, Outcome.FAILED


def start(w: World, event: RunStarted, seq: int) -> Script:
    """A run that has been decided: its workers are free and UP, and its job may have it."""
    w.decides()
    job = w.jobs.get(event.job)
    if job is None:
        raise Broken(Law.DECISION, f"{told(event)}: no such job waits")
    follows(event.keeps is None, "{} keeps nobody for {}", event.job, event)
    most = job.rules.copies if job.protection is not None else 1
    allowed(len(job.copies) < most, "{} has {} copies already", job.name, len(job.copies))
    spans = spans_told(event.processors)
    allowed(practice.replaceable(w) is None, "{}: others are to be replaced first", event)
    copy = Copy(job, spans, event.processors, seq)
    w.decider.placing(copy, event)
    causes = w.decider.why(job, copy, seq)
    w.take(copy, spans)
    w.pace(copy)
    plan = rules.placed(w, job)
    job.copies.append(copy)
    if job.protection is None:
        return _plain(w, job, copy, event, causes)
    return runs.course(w, copy, plan, causes, event)


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
    causes = w.decider.cancels(copies[0], seq)
    return _cancelled(w, copies[0], causes)


def _cancelled(w: World, copy: Copy, causes: object) -> Script:
    if w.copies_decide and copy.run is not None:
        rules.keep(copy.job, copy.run.state(w.now))
    yield from ends.drop(w, copy, CANCELLED, causes, early=True)  # type: ignore[arg-type]


# --- plain jobs ---------------------------------------------------------------------------------


def _plain(w: World, job: Job, copy: Copy, line: RunStarted, causes: Causes) -> Script:
    """An attempt of a plain job is one timer (rigid21, section 3.2)."""
    run = starts.begin(w, copy, rules.SCRATCH, line)
    run.stage, run.rate, run.length = Stage.COMPUTING, 1, run.work
    run.started = yield starts.started(run, None), causes
    held, limit = run.work + job.described.verification, job.described.limit
    if limit is not None and held - limit > NEGLIGIBLE * held:
        run.timer = w.at(w.now + limit, Phase.MESSAGES, job, 0, partial(ends.killed, w, run))
    else:
        over = partial(_attempted, w, run)
        run.timer = w.at(w.now + held, Phase.MESSAGES, job, run.number, over, carried=True)


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
