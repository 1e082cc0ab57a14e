"""How a run starts: its work, its first line, and its tasks."""

from __future__ import annotations

from actors.events import RunStarted, TasksDealt
from sims.audit.facts import Copy, Run
from sims.audit.law import Broken, Law, allowed, follows, same
from sims.audit.rules import Plan
from sims.audit.turns import Script
from sims.audit.world import World


def begin(w: World, copy: Copy, plan: Plan, line: RunStarted | None) -> Run:
    """The next run of the copy\'s job, on its members."""
    job, begins = copy.job, plan.begins
    run = Run(copy, job.next_run, _work(w, copy, line), begins=begins, since=w.now)
    job.next_run += 1
    if begins is not None:
        run.base, run.exposed = begins.of(run.work), begins.exposed
    copy.run, copy.last = run, run.number
    return run


def started(run: Run, keeps: int | None) -> RunStarted:
    """What tells of its start."""
    begins, copy = run.begins, run.copy
    source, saved = (begins.run, begins.done) if begins is not None else (None, 0)
    numbers = run.number, copy.text, run.work, run.base, source, saved, keeps
    return RunStarted(copy.job.name, *numbers)


def _work(w: World, copy: Copy, line: RunStarted | None) -> float:
    """The whole work of a run on these members, as far as the log has told it before."""
    job, size = copy.job, copy.full
    if job.application is not None:
        costs = w.decider.costs(job)
        return costs.times[costs.row(size)]  # type: ignore[no-any-return]
    if job.tasks is not None and line is None:
        return max(units * job.times.get(n, 0) for n, units in copy.units.items())
    if job.described.kind == "rigid":
        allowed(size in job.works or not job.works, "{} has another size", job.name)
        job.works[size] = job.described.work / size
    if size not in job.works or job.tasks is not None:
        assert line is not None
        job.works[size] = line.work
        if size == 1 and job.described.work:
            job.works[size] = job.described.work
    return job.works[size]


def dealt(w: World, run: Run, line: RunStarted | None, cause: int) -> Script:
    """An iterative job's tasks: as the decider dealt them, or one by one round the members."""
    copy, job = run.copy, run.copy.job
    if line is not None:
        event = yield None
        if not isinstance(event, TasksDealt):
            raise Broken(Law.MISSING, f"the tasks of run {run.number} of {job.name} must come")
        w.decider.deal(job, copy, event)
        work = max((x * job.times.get(n, 0) for n, x in event.tasks), default=0.0)
        follows(same(run.work, work), "W is {!r} with {}, not {}", work, event, run.work)
        run.work, reason = work, event.reason
    else:
        reason = None
    tasks = tuple(copy.units.items())
    return (yield TasksDealt(job.name, job.iteration, run.number, tasks, reason), cause)
