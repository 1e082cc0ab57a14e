"""Derives from a job's protection the times, periods and initial states of its runs (rules.md,
P)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from attrs import frozen

from actors.events import ProtectionKind, Stage
from sims.audit.facts import Copy, Job, Replicas, State
from sims.audit.turns import NEGLIGIBLE
from sims.audit.world import World

IMAGES = ProtectionKind.IMAGES


@frozen
class Plan:
    """How a run begins: the state that it starts from, and its parts before it computes."""

    begins: State | None = None
    """State from which the run starts; None for its input."""
    image: bool = False
    """Whether each member fetches that state from the master."""
    loads: bool = False
    """Whether the members load that state from shared storage."""
    before: tuple[tuple[Stage, float], ...] = ()
    """Parts before the first computation, with their lengths."""
    closes: bool = False
    """Whether a checkpoint precedes the first computation (malleable17, section 3.3.2)."""


def period(w: World, copy: Copy) -> float | None:
    """Return the work between two checkpoints of the copy's run: inf if it takes none; None while
    it is not known, as the log has not described it and no checkpoint has revealed it."""
    job = copy.job
    if job.kind is ProtectionKind.NONE or always(job):
        return inf
    if job.rules.period is not None:
        return job.rules.period
    if job.costs is not None:
        return job.costs.computing(copy.full)  # type: ignore[no-any-return]
    return job.learnt.get(spread(w, copy))


def always(job: Job) -> bool:
    """Return whether the job's state is saved all the time, at no cost and without a line."""
    return job.kind is IMAGES and job.rules.period == 0


def spread(w: World, copy: Copy) -> tuple[int, int]:
    """Return the number of the copy's members and the number of nodes that they are on."""
    return copy.full, len({n // w.platform.node for n in copy.members})


def cost(job: Job, size: int) -> float | None:
    """Return the duration of a checkpoint on `size` members; None if every member sends its part to
    the master instead, and 0 if these parts have no size."""
    if job.kind is IMAGES and job.messages is not None:
        return None if job.messages.image else 0
    return _duration(job, size, job.rules.cost)


def stores(job: Job, first: bool) -> bool:
    """Return whether the job's checkpoints go to shared storage (S1): those of the first level
    (each checkpoint), or, unless `first`, those of the second (under buddies each k-th, which is
    stored too)."""
    return job.stored is not None and (job.kind is IMAGES or not first)


def recovery(job: Job, size: int) -> float:
    """Return the duration of a recovery on `size` members."""
    return _duration(job, size, job.rules.recovery)


def _duration(job: Job, size: int, given: float | None) -> float:
    """Return the duration of a checkpoint or recovery: `given`, if the log gives one (not None);
    else that of malleable17's model for `size` members; else 0."""
    if given is None and job.costs is not None:
        return job.costs.saving(size)  # type: ignore[no-any-return]
    return given or 0


def placed(w: World, job: Job) -> Plan:
    """Return the plan for the first run of a new copy of the job.

    The run starts from the saved state if that is further than the furthest run under way, from
    that run's state if copies are cloned, or from scratch (P3, P5).
    """
    if w.copies_decide:
        clone = _preempted(w, job)
    else:
        clone = furthest(w, job) if job.rules.cloning else None
    begins, time = clone if clone is not None and clone.done else None, w.changeover
    saved = job.saved is not None and job.saved.beyond(begins)
    begins = job.saved if saved else begins
    if begins is not None and stores(job, first=True):
        return Plan(begins, False, True, ((Stage.RECOVERING, time),) if time else ())
    linked = begins is not None and job.messages is not None
    if begins is not None and not linked:
        # A saved state is recovered; that of a running copy is cloned, which takes `delay`.
        time += recovery(job, 1) if saved else job.rules.delay
    before = ((Stage.RECOVERING, time),) if time or begins is not None else ()
    return Plan(begins, linked, False, before)


def _preempted(w: World, job: Job) -> State | None:
    """Return the state that a new copy starts from where the decider schedules copies, and states
    of cancelled runs are kept; None for the beginning.

    With cloning it is the furthest of the kept states and of the runs under way. Without, it is the
    furthest kept state, which no later copy can take then.
    """
    if not job.rules.cloning:
        return job.kept.pop(0) if job.kept else None
    states = [it for it in (furthest(w, job), *job.kept[:1]) if it is not None]
    return best(sorted(states, key=lambda state: state.run))


def furthest(w: World, job: Job) -> State | None:
    """Return the state of the job's run under way that has done most work; of equals, that of the
    run on the lowest worker; None if no run is under way. Runs that hang, or wait for a fault that
    is not detected yet, do not count."""
    runs = [(it.spans, it.run) for it in job.copies if it.run is not None and not it.blind]
    runs.sort(key=lambda it: it[0])
    return best([run.state(w.now) for _, run in runs if run.hung is None])


def best(states: Sequence[State]) -> State | None:
    """Return the state with the largest fraction of the work done, the first of equals; None if
    there is none."""
    found: State | None = None
    for state in states:
        if state.beyond(found):
            found = state
    return found


def resumed(w: World, copy: Copy) -> Plan:
    """Return the plan for the next run of a copy on the members that it has kept.

    A recovery takes its time even if nothing is saved. A redistribution that was interrupted, or
    decided since, follows the recovery.
    """
    job = copy.job
    if not job.keeps:
        if job.saved is None:
            return Plan()
        if stores(job, first=True):
            return Plan(job.saved, False, True, ())
        linked = job.messages is not None
        return Plan(
            job.saved, linked, False, () if linked else ((Stage.RECOVERING, recovery(job, 1)),)
        )
    lead = ((Stage.RECOVERING, recovery(copy.job, copy.holders)),)
    image, loads = copy.saved is None is not copy.stored, stores(copy.job, first=False)
    plan = Plan(copy.saved or copy.stored, image and not loads, image and loads, lead)
    return plan if copy.holders == copy.full else moved(w, copy, plan)


def ahead(copy: Copy, plan: Plan) -> tuple[float, ...]:
    """Return the durations of the parts that a run with this plan passes, in order, before it
    computes."""
    times = tuple(length for _, length in plan.before)
    if not plan.closes:
        return times
    verifications = (copy.job.described.verification,) if copy.job.rules.verified else ()
    return *times, *verifications, cost(copy.job, copy.full) or 0


def moved(w: World, copy: Copy, plan: Plan) -> Plan:
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
    return Plan(plan.begins, plan.image, plan.loads, before, closes)


def save(copy: Copy, state: State) -> None:
    """Keep the state of a checkpoint that the copy has completed: with the buddies, or, under
    images, at the master or on the storage if it is further than the state kept there."""
    job = copy.job
    if job.keeps:
        copy.saved, copy.holders = state, copy.full
        if copy.replicas is not None:
            copy.replicas.keepers, copy.replicas.given_up = copy.replicas.left, 0
            copy.failed.clear()  # who went DOWN before has the new one, or is of no keeper
    # The copies of a job share one saved state: only progress replaces it.
    elif job.kind is IMAGES and state.beyond(job.saved):
        job.saved = state


def recovered(copy: Copy) -> None:
    """Note that a recovery of the copy is over: every member again has its buddies' checkpoints
    (P2)."""
    copy.failed.clear()
    if copy.replicas is not None:
        copy.replicas.keepers = list(copy.replicas.groups)
    copy.saved = copy.saved or copy.stored


def discard(copy: Copy) -> float | None:
    """Discard the saved work of a copy after an error was found (P4); return its amount.

    Return None if checkpoints are verified, so that they hold no error and are kept, or if, without
    buddies, nothing was saved.
    """
    job = copy.job
    if job.rules.verified:
        return None
    if job.keeps:
        stored, copy.stored = copy.stored, None
        return forget(copy) or (stored.done if stored is not None else 0)
    lost, job.saved = job.saved, None
    return lost.done if lost is not None else None


def forget(copy: Copy) -> float:
    """Drop the state that the buddies of the copy's members keep; return the amount of its work, 0
    if there is none."""
    lost, copy.saved = copy.saved, None
    copy.holders = copy.full
    return lost.done if lost is not None else 0


def fatal(w: World, copy: Copy, worker: int) -> bool:
    """Note that member `worker` went DOWN; return whether that loses the state that the buddies
    keep.

    It does if a neighbour in the member's pair or ring went DOWN too since the last recovery ended,
    or if there is no neighbour (P2). With replicas, the last one that has the checkpoint must be
    hit so.
    """
    copy.failed.add(worker)
    # malleable17's own rule: no fault is fatal (section 6.1).
    if w.pack is not None and not w.pack.fatal:
        return False
    copy.rings = copy.rings or rings(w, copy)
    ring = next(ring for ring in copy.rings if worker in ring)
    at = ring.index(worker)
    others = {ring[at - 1], ring[(at + 1) % len(ring)]} - {worker}
    lost = not others or not copy.failed.isdisjoint(others)
    return lost and (copy.replicas is None or _last_keeper(copy.replicas, worker))


def _last_keeper(replicas: Replicas, worker: int) -> bool:
    """Note that the replica of member `worker` has lost the checkpoint; return whether it was the
    last replica that had it (E1)."""
    group = replicas.of(worker)
    if group not in replicas.keepers:
        return False
    replicas.keepers.remove(group)
    return not replicas.keepers


def rings(w: World, copy: Copy) -> list[list[int]]:
    """Return the copy's groups of buddies (members that keep each other's checkpoints), each of
    which lies within one replica; in each, neighbours in the list, and the first and last, keep
    each other's."""
    if copy.replicas is None:
        return _rings(w, list(copy.members))
    return [ring for it in copy.replicas.groups for ring in _rings(w, list(it.members))]


def _rings(w: World, members: list[int]) -> list[list[int]]:
    """Return the groups of buddies among these members: neighbours by number, or of different nodes
    if two members share a node and groups are pairs (N1). A member left over joins another
    group."""
    size = w.pack.pair if w.pack is not None else 2
    nodes = len({n // w.platform.node for n in members})
    # Buddies on one node would fail together.
    across, half = size == 2 and len(members) > nodes, len(members) // 2
    if across:
        members[: 2 * half] = [members[half * (k % 2) + k // 2] for k in range(2 * half)]
    found = [members[k : k + size] for k in range(0, len(members), size)]
    if len(found) > 1 and len(found[-1]) < size:
        odd = found.pop()
        # A member left over makes one group larger, as it needs a neighbour.
        found[0 if across else -1] += odd
    return found


def keep(job: Job, state: State) -> None:
    """Keep the state of a cancelled run with its job: a later copy may start from it
    (redundancy17). With cloning only the furthest state is kept."""
    if not job.rules.cloning:
        job.kept.append(state)
        job.kept.sort(key=lambda it: (-it.fraction, it.run))
    elif not job.kept or not job.kept[0].beyond(state):
        job.kept = [state]
