"""Reports of progress: a job tells the scheduler how far each of its copies is, and why a copy
waits that makes no progress."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from actors.copy import Copy
from actors.events import BY_MESSAGES, Stage
from actors.messages import ProgressReport, RunProgress
from actors.progress import IDLE
from actors.protection.plan import Plan, State
from actors.run import Run
from actors.runtime import NOTHING
from actors.steps import CLOSING_VERIFICATION

COMPUTING = Stage.COMPUTING


def run_progress(job: int, copy: Copy[Run], saved: State | None) -> RunProgress:
    """Return how far the copy's run is. `job` is the job's index, and `saved` the state from which
    its next run begins if its members are not kept."""
    run, whose = copy.run, (job, copy.number)
    if run is None:
        return RunProgress(*whose, None, 0, 0, 0, 0, 0, NOTHING)
    part = run.part if run.stage is COMPUTING else IDLE
    account = part.done, part.rate, part.since
    kept = saved.of(run.work) if saved else 0
    return RunProgress(*whose, run.stage, run.work, run.base, *account, run.started, kept)


def awaited(copies: Collection[Copy[Run]]) -> str:
    """Return what these copies of a job wait for: members that are not UP, messages of members, or
    the speed of members that have none; an empty text if none of these."""
    absent = [(worker, copy) for copy in copies for worker in copy.absent]
    if absent:
        return f"{_named(absent)} to be UP again"
    under_way = [(copy, copy.run) for copy in copies if copy.run is not None]
    lack = [(worker, copy) for copy, run in under_way for worker in run.missing]
    if lack:
        return f"messages of {_named(lack)}"
    stopped = [(worker, copy) for copy, _ in under_way for worker in copy.stopped()]
    return f"a speed above 0 of {_named(stopped)}" if stopped else ""


def _named(members: Iterable[tuple[int, Copy[Run]]]) -> str:
    """Return the names of these members, each with its copy, in the order of their numbers."""
    return ", ".join(name for _, name in sorted((n, copy.name(n)) for n, copy in members))


# --- when a malleable job computes again ----------------------------------------------------------


def awaiting_report(job: int, copy: Copy[Run], plan: Plan) -> ProgressReport:
    """Return the report on a copy that waits for its members to be UP; `plan` is that of its next
    run, and `job` the job's index."""
    done = plan.begins.fraction if plan.begins else 0
    return report(job, copy, None, plan.ahead(), done)


def running_report(job: int, copy: Copy[Run], run: Run, fetches: bool) -> ProgressReport:
    """Return the report on a copy whose run is under way. `job` is the job's index; `fetches`:
    members fetch from a master what they lack."""
    part, now, done = run.part, run.actor.now, run.base / run.work
    # A start-up is followed by messages where there is a master, or by a load.
    follows = fetches or run.plan.loads is not None
    starts = run.stage is Stage.STARTING_UP and follows
    if starts or run.stage in BY_MESSAGES or run.shares or not part.rate:
        return report(job, copy, math.inf, (), done)
    if run.stage is COMPUTING:
        return report(job, copy, now - part.at(now) / part.rate, (), done)
    end = part.end()
    return report(job, copy, now if end is None else end, _ahead(run), done)


def report(
    job: int, copy: Copy[Run], start: float | None, parts: tuple[float, ...], done: float
) -> ProgressReport:
    """Return the report that a copy with the fraction `done` of its work begins at `start` to pass
    these parts, after which it computes. `start` is None while it waits for members, inf where it
    is not known."""
    moving = copy.holders != len(copy.members)
    return ProgressReport(job, copy.number, start, parts, 1 - done, copy.speed(), moving)


def _ahead(run: Run) -> tuple[float, ...]:
    """Return the durations, in time units, of the parts that lie between the run's present one and
    computing, in order. The result is empty once the run computes, and also in the checkpoint that
    closes a redistribution."""
    if run.computes or run.stage is Stage.CHECKPOINTING:
        return ()
    return run.plan.ahead(run.prepared)[run.step is CLOSING_VERIFICATION :]
