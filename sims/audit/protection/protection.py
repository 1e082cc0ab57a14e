"""Derives from a job's protection the times, periods and initial states of its runs (rules.md,
P)."""

from __future__ import annotations

from math import inf

from attrs import frozen

from actors.events import ProtectionKind, Stage
from sims.audit.facts import ExpectedCopy, ExpectedJob, ExpectedState
from sims.audit.protection import buddies, cloning, images
from sims.audit.turns import NEGLIGIBLE
from sims.audit.world import World


@frozen
class ExpectedPlan:
    """How a run begins: the state that it starts from, and its parts before it computes."""

    begins: ExpectedState | None = None
    """State from which the run starts; None for its input."""
    image: bool = False
    """Whether each member fetches that state from the master."""
    loads: bool = False
    """Whether the members load that state from shared storage."""
    before: tuple[tuple[Stage, float], ...] = ()
    """Parts before the first computation, with their lengths."""
    closes: bool = False
    """Whether a checkpoint precedes the first computation (malleable17, section 3.3.2)."""


def period(w: World, copy: ExpectedCopy) -> float | None:
    """Return the work between two checkpoints of the copy's run: inf if it takes none; None while
    it is not known, as the log has not described it and no checkpoint has revealed it."""
    job = copy.job
    if job.kind is ProtectionKind.NONE or images.always(job):
        return inf
    if job.rules.period is not None:
        return job.rules.period
    if job.costs is not None:
        return job.costs.computing(copy.full)  # type: ignore[no-any-return]
    return job.learnt.get(spread(w, copy))


def spread(w: World, copy: ExpectedCopy) -> tuple[int, int]:
    """Return the number of the copy's members and the number of nodes that they are on."""
    return copy.full, len({n // w.platform.node for n in copy.members})


def cost(job: ExpectedJob, size: int) -> float | None:
    """Return the duration of a checkpoint on `size` members; None if every member sends its part to
    the master instead, and 0 if these parts have no size."""
    if images.sent(job):
        return None if job.messages.image else 0
    return _duration(job, size, job.rules.cost)


def recovery(job: ExpectedJob, size: int) -> float:
    """Return the duration of a recovery on `size` members."""
    return _duration(job, size, job.rules.recovery)


def _duration(job: ExpectedJob, size: int, given: float | None) -> float:
    """Return the duration of a checkpoint or recovery: `given`, if the log gives one (not None);
    else that of malleable17's model for `size` members; else 0."""
    if given is None and job.costs is not None:
        return job.costs.saving(size)  # type: ignore[no-any-return]
    return given or 0


def placed(w: World, job: ExpectedJob) -> ExpectedPlan:
    """Return the plan for the first run of a new copy of the job.

    The run starts from the saved state if that is further than the furthest run under way, from
    that run's state if copies are cloned, or from scratch (P3, P5).
    """
    if w.copies_decide:
        clone = cloning.preempted(w, job)
    else:
        clone = cloning.furthest(w, job) if job.rules.cloning else None
    begins, time = clone if clone is not None and clone.done else None, w.changeover
    saved = job.saved is not None and job.saved.beyond(begins)
    begins = job.saved if saved else begins
    if begins is not None and images.stores(job, first=True):
        return ExpectedPlan(begins, False, True, ((Stage.RECOVERING, time),) if time else ())
    linked = begins is not None and job.messages is not None
    if begins is not None and not linked:
        # A saved state is recovered; that of a running copy is cloned, which takes `delay`.
        time += recovery(job, 1) if saved else job.rules.delay
    before = ((Stage.RECOVERING, time),) if time or begins is not None else ()
    return ExpectedPlan(begins, linked, False, before)


def resumed(w: World, copy: ExpectedCopy) -> ExpectedPlan:
    """Return the plan for the next run of a copy on the members that it has kept.

    A recovery takes its time even if nothing is saved. A redistribution that was interrupted, or
    decided since, follows the recovery.
    """
    job = copy.job
    if not job.keeps:
        if job.saved is None:
            return ExpectedPlan()
        if images.stores(job, first=True):
            return ExpectedPlan(job.saved, False, True, ())
        linked = job.messages is not None
        return ExpectedPlan(
            job.saved, linked, False, () if linked else ((Stage.RECOVERING, recovery(job, 1)),)
        )
    lead = ((Stage.RECOVERING, recovery(copy.job, copy.holders)),)
    image, loads = copy.saved is None is not copy.stored, images.stores(copy.job, first=False)
    plan = ExpectedPlan(copy.saved or copy.stored, image and not loads, image and loads, lead)
    return plan if copy.holders == copy.full else moved(w, copy, plan)


def ahead(copy: ExpectedCopy, plan: ExpectedPlan) -> tuple[float, ...]:
    """Return the durations of the parts that a run with this plan passes, in order, before it
    computes."""
    times = tuple(length for _, length in plan.before)
    if not plan.closes:
        return times
    verifications = (copy.job.described.verification,) if copy.job.rules.verified else ()
    return *times, *verifications, cost(copy.job, copy.full) or 0


def moved(w: World, copy: ExpectedCopy, plan: ExpectedPlan) -> ExpectedPlan:
    """Return `plan` with a redistribution of the data, over the present members, added before the
    run computes. Under buddies, a checkpoint follows it, unless no checkpoints are taken or no work
    is left."""
    job, full = copy.job, copy.full
    length = job.costs.redistribution(copy.holders, full)
    every = period(w, copy)
    before = (*plan.before, (Stage.REDISTRIBUTING, length))
    closes = job.keeps and every is not None and every < inf
    if job.rules.verified and plan.begins is not None and 1 - plan.begins.fraction <= NEGLIGIBLE:
        closes = False  # the verification before it completes the job
    return ExpectedPlan(plan.begins, plan.image, plan.loads, before, closes)


def save(copy: ExpectedCopy, state: ExpectedState) -> None:
    """Keep the state of a checkpoint that the copy has completed, as its job's protection does."""
    job = copy.job
    if job.keeps:
        buddies.save(copy, state)
    elif job.kind is images.IMAGES:
        images.save(job, state)


def discard(copy: ExpectedCopy) -> float | None:
    """Discard the saved work of a copy after an error was found (P4); return its amount.

    Return None if checkpoints are verified, so that they hold no error and are kept, or if, without
    buddies, nothing was saved.
    """
    job = copy.job
    if job.rules.verified:
        return None
    if job.keeps:
        stored, copy.stored = copy.stored, None
        return buddies.forget(copy) or (stored.done if stored is not None else 0)
    lost, job.saved = job.saved, None
    return lost.done if lost is not None else None
