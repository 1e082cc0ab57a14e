"""How a run starts, and its parts: how long each takes, and what a change of its members' states or
speeds does to it (WORLD.md, R1 and R2)."""

from __future__ import annotations

from functools import partial
from math import inf

from actors.events import RateChanged, RunStarted, Stage, StageStarted, TasksDealt
from sims.audit.facts import AT_SPEED, Copy, Run
from sims.audit.law import Broken, Law, Phase, allowed, follows, same
from sims.audit.rules import Plan
from sims.audit.turns import Script, Teller
from sims.audit.world import World


def begin(w: World, copy: Copy, plan: Plan, line: RunStarted | None) -> Run:
    """The next run of the copy\'s job, on its members."""
    job, begins = copy.job, plan.begins
    run = Run(copy, job.next_run, _work(w, copy, line), begins=begins, since=w.now)
    job.next_run += 1
    if begins is not None:
        run.base, run.exposed = begins.of(run.work), begins.exposed
    copy.run, copy.last = run, run.number
    if not job.manner.blocking:
        run.tellers = Teller(), Teller()
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
        follows(same(run.work, work), "W is {!r}, not {!r}", work, run.work)
        run.work, reason = work, event.reason
    else:
        reason = None
    tasks = tuple(copy.units.items())
    return (yield TasksDealt(job.name, job.iteration, run.number, tasks, reason), cause)


# --- one after the other --------------------------------------------------------------------------


def part(w: World, run: Run, stage: Stage, length: float, last: bool = False) -> Script:
    """One part; of length 0 it is passed at once, but for the last, which ends with its phase."""
    run.stage, run.length, run.passed, run.since, run.rate = stage, 0, 0, w.now, 0
    if length <= 0 and not last:
        return
    run.length, run.rate = length, rate(w, run)
    if length and run.beside is None:
        event = StageStarted(run.copy.job.name, run.number, stage, run.rate, run.base)
        run.cause = yield event, run.cause
    aim(w, run)
    yield from wait(w, run)
    run.settle(w.now)


def wait(w: World, run: Run) -> Script:
    """Until its part is over; whoever decides is told where it stands, if it has just started, or
    gone on because of its members."""
    if run.reports:
        run.reports = False
        w.report(run.copy, run.cause)
        if run.spread:
            run.copy.holders = run.copy.full
    yield run


def rate(w: World, run: Run) -> float:
    """Work and verifications advance at the members' speed, all else at rate 1, and nothing
    unless all members are UP (R1)."""
    if run.copy.absent:
        return 0
    if run.stage not in AT_SPEED:
        return 1
    slowed = 1 - run.copy.job.manner.slowdown if run.saving is not None else 1
    return w.speed(run.copy) * slowed


def aim(w: World, run: Run) -> None:
    """Its part ends in due course, at the present rate."""
    if run.timer is not None:
        run.timer.live = False
    last = run.stage is Stage.VERIFYING and run.base >= run.work
    phase = Phase.RUNS if last else Phase.PARTS
    teller = run.beside or (run.tellers[1] if run.tellers and not last else run.copy.job)
    run.aimed, run.tied = w.order, False
    parked = partial(_parked, w, run, w.order)
    run.timer = w.at(run.end(), phase, teller, run.number, parked, carried=True)


def _parked(w: World, run: Run, aimed: int) -> Script | None:
    if run.over or run.aimed != aimed or run.end() > w.end:
        return None
    run.tied = not run.copy.job.manner.blocking and _waits(w, run)
    return None if run.tied else run.take()


def _waits(w: World, run: Run) -> bool:
    """Whether a checkpoint beside it is complete first, at this very instant: of its job, all parts
    of runs end at once, and so do all such checkpoints, who has been the first to begin first."""
    job = run.copy.job
    if (w.now, run.aimed) <= job.passed:
        return False
    runs = [copy.run for copy in job.copies]
    if _first(w, [it.saving for it in runs if it is not None]) < _first(w, runs):
        return run.saving is not None and run.saving.end() <= w.end
    job.passed = w.now, w.order
    return False


def _first(w: World, runs: list[Run | None]) -> float:
    ending = [it for it in runs if it is not None and it.end() <= w.end]
    parts = (it.aimed for it in ending if it.timer is not None and it.timer.phase == Phase.PARTS)
    return min(parts, default=inf)


def untie(w: World, run: Run) -> None:
    """The checkpoint beside it is complete: a part that has waited for that ends."""
    if run.tied:
        run.tied = False
        w.push(run.tellers[0], w.phase, run.number, lambda: None if run.over else run.take())


def cut(w: World, run: Run) -> Script | None:
    """Its computing ends now."""
    run.reach = run.done(w.now)
    if run.timer is not None:
        run.timer.live = False
    return run.take()


def review(w: World, run: Run, cause: int) -> Script:
    """Its members' states or speeds have changed."""
    if run.over or run.stage in (Stage.STAGING_IN, Stage.SAVING):
        return cause
    it = run.saving
    if it is not None and it.stage is Stage.CHECKPOINTING and it.rate != rate(w, it):
        it.settle(w.now)
        it.rate, it.cause = rate(w, it), cause
        aim(w, it)
    if run.rate != rate(w, run):
        run.settle(w.now)
        run.rate = rate(w, run)
        event = RateChanged(run.copy.job.name, run.number, run.rate, run.done(w.now))
        run.cause = cause = yield event, cause
        aim(w, run)
    return cause
