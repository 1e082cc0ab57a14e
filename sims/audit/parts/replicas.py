"""Derives how groups of members that hold the whole state each drop out of a run and rejoin it
(rules.md, E1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

from attrs import define

from actors import events as e
from actors.events import BY_MESSAGES, Outcome, Stage
from policies.interface.kinds import JobKind
from sims.audit import link, stages
from sims.audit.facts import ExpectedCopy, ExpectedJob, ExpectedRun
from sims.audit.law import LinePhase, possible
from sims.audit.parts import storage
from sims.audit.parts.replica_groups import (
    ExpectedGroup,
    ExpectedReplicas,
    GivenReplicas,
    Pause,
    ReplicaStage,
)
from sims.audit.scenario import Table, amount, whole
from sims.audit.turns import LATER, Script
from sims.audit.workers import DOWN, ExpectedWorker, Spans, extent, joined, written
from sims.audit.world import PartRules, World

JUDGED = -LATER - (LATER >> 2)
"""Number of the turn that judges an instant's faults: after they are known, before notices."""


@define(eq=False)
class ReplicaRules(PartRules):
    """The rules of replicas."""

    def asked(self, own: Table) -> GivenReplicas | None:
        count = whole(own, "replicas", 1)
        if count == 1:
            return None
        least = whole(own, "least", 1)
        possible(1 <= least <= count, "there are no such replicas")
        return GivenReplicas(count, least, amount(own, "regroup"), amount(own, "rejoin"))

    def described(self, job: ExpectedJob) -> None:
        rigid = job.described.kind is JobKind.RIGID
        possible(rigid or ReplicaRules not in job.asked.of, "only rigid jobs have replicas")

    def placing(self, job: ExpectedJob, spans: Spans) -> None:
        asked: GivenReplicas | None = job.asked.of.get(ReplicaRules)
        count = 1 if asked is None else asked.count
        possible(extent(spans) % count == 0, "{} members are no {} replicas", extent(spans), count)

    def placed(self, copy: ExpectedCopy) -> None:
        asked: GivenReplicas | None = copy.job.asked.of.get(ReplicaRules)
        if asked is not None:
            members, each = copy.members, copy.full // asked.count
            parts = (members[k : k + each] for k in range(0, len(members), each))
            copy.division = ExpectedReplicas(asked, [ExpectedGroup(part) for part in parts])

    def reviewed(self, run: ExpectedRun, cause: int) -> None:
        pause = _known(run.copy).pause
        if pause is not None and not run.over:
            pause.pass_on(self.w, not run.copy.absent and run.hung is None, cause)

    def survives(self, copy: ExpectedCopy, worker: int, cause: int) -> bool:
        """Return whether the member's replica drops out of the run, which goes on. Which replicas
        do is decided once all faults of this instant are known."""
        run, replicas, w = copy.run, _of(copy), self.w
        if replicas is None or run is None or not run.computes:
            return False
        group = replicas.of(worker)
        if group.out and group.stage is not ReplicaStage.REJOINING:
            anew = partial(_load_anew, w, copy, group, cause)
            w.turns.push(copy.job, LinePhase.STATES, LATER, anew)
            return True
        if not replicas.known:
            judge = partial(_judge, w, copy, replicas)
            w.turns.push(copy.job, LinePhase.RESUME, JUDGED + copy.placed, judge)
        replicas.known.append((worker, cause))
        return True

    def changed_aside(self, copy: ExpectedCopy, worker: int, cause: int) -> Script:
        """Apply a change of state of a member whose replica has dropped out: the replica may load
        the state now, or has to stop loading."""
        group = _known(copy).of(worker)
        group.cause = cause
        if group.loads is not None:
            yield from storage.review(self.w, group.loads, cause)
        stages.resume_soon(self.w, copy)

    def hidden(self, copy: ExpectedCopy, worker: int, cause: int) -> Script:
        replicas = _of(copy)
        loads = None if replicas is None else replicas.of(worker).loads
        if loads is not None and worker in copy.undetected:
            yield from storage.review(self.w, loads, cause)
        return cause

    def resumes(self, copy: ExpectedCopy) -> Script | None:
        """Return the script by which replicas that have dropped out of the copy's run get new
        members, load the state and rejoin; None if none has dropped out or no run is under way."""
        replicas, run = _of(copy), copy.run
        if (
            copy.gone
            or replicas is None
            or run is None
            or run.over
            or replicas.loads
            or len(replicas.left) == len(replicas.groups)
        ):
            return None
        return _gathered(self, copy, run, replicas)

    def received(self, copy: ExpectedCopy, worker: ExpectedWorker, cause: int) -> None:
        """Note that a member of a replica that has dropped out has received all that it needs. With
        the last such member, the replica loads the state from shared storage, or is ready to
        rejoin."""
        w, group = self.w, _known(copy).of(worker.number)
        if not group.received(worker.number, cause):
            return
        if copy.job.asked.stored:
            load_state(w, copy, worker.run, group)
            return
        # Replicas rejoin once all copies have gone on.
        again = 2 * LATER if w.turns.phase == LinePhase.RESUME else 0
        order = again + copy.job.copies.index(copy)
        w.turns.push(copy.job, LinePhase.RESUME, order, partial(self.resumes, copy))

    def replaced(self, copy: ExpectedCopy, gone: int, newcomer: int) -> None:
        group = _known(copy).of(gone)
        group.members = tuple(sorted(newcomer if n == gone else n for n in group.members))
        group.absent.discard(gone)

    def run_ended(self, copy: ExpectedCopy, cause: int) -> None:
        """Let all replicas of the copy take part again: the next run needs them all."""
        replicas = _known(copy)
        if replicas.pause is not None:
            replicas.pause.stop()
            replicas.pause = None
        for group in replicas.groups:
            _unload(self.w, group, cause)
            group.stage = ReplicaStage.IN
            copy.absent |= group.absent
            group.absent = set()


def _of(copy: ExpectedCopy) -> ExpectedReplicas | None:
    """Return the replicas of a copy, None if it has none."""
    found = copy.division
    assert found is None or isinstance(found, ExpectedReplicas)
    return found


def _known(copy: ExpectedCopy) -> ExpectedReplicas:
    found = _of(copy)
    assert found is not None
    return found


def _unload(w: World, group: ExpectedGroup, cause: int) -> None:
    """Stop the loading of a replica that has dropped out, because of event `cause`: it waits until
    all of its members are UP."""
    group.stage = ReplicaStage.OUT
    group.lacking.clear()
    if group.loads is not None:
        group.loads.over = True
        if group.loads.timer is not None:
            group.loads.timer.live = False
        storage.leave(w, group.loads, cause)
        group.loads = None


def _named(groups: Sequence[ExpectedGroup]) -> str:
    return written(joined(n for it in groups for n in it.members))


# --- they drop out --------------------------------------------------------------------------------


def _load_anew(w: World, copy: ExpectedCopy, group: ExpectedGroup, cause: int) -> None:
    """Have a replica that was loading its state begin again, because of event `cause`, once all
    workers have changed state."""
    if not copy.gone:
        _break_off(w, copy, group, cause)
        stages.resume_soon(w, copy)


def _judge(w: World, copy: ExpectedCopy, replicas: ExpectedReplicas) -> Script | None:
    known, replicas.known, run = replicas.known, [], copy.run
    return None if copy.gone or run is None else _judged(w, copy, replicas, run, known)


def _judged(
    w: World,
    copy: ExpectedCopy,
    replicas: ExpectedReplicas,
    run: ExpectedRun,
    known: list[tuple[int, int]],
) -> Script:
    cause = min(seq for _, seq in known)  # the first of these events in the log
    struck = [replicas.of(worker) for worker, _ in known]
    groups = [it for it in replicas.groups if it in struck]
    left = sum(not it.out for it in replicas.groups if it not in groups)
    if left < replicas.asked.least:
        cause = yield from stages.end_early(w, copy, Outcome.LOST, cause)
    else:
        cause = yield from _drop(w, copy, run, groups, left, cause)
    w.decider.report(copy, cause)


def _drop(
    w: World,
    copy: ExpectedCopy,
    run: ExpectedRun,
    groups: Sequence[ExpectedGroup],
    left: int,
    cause: int,
) -> Script:
    replicas, name = _known(copy), copy.job.name
    dropped = yield e.ReplicasDropped(name, run.number, _named(groups), left), cause
    cause = yield from _hold(w, run, dropped)
    for group in replicas.groups:
        if group.stage is ReplicaStage.REJOINING:
            group.stage = ReplicaStage.LOADED
    for group in groups:
        _put_aside(w, copy, run, group, dropped)
    broken_off, replicas.pause = replicas.pause, None
    if broken_off is not None:
        broken_off.stop()
    stages.resume_soon(w, copy)
    if replicas.asked.regroup:
        return (yield from _pause(w, copy, run, replicas.asked.regroup, None, cause))
    if broken_off is not None:
        cause = yield e.PauseEnded(name, run.number), cause
    return (yield from _go_on(w, run, cause))


def _put_aside(
    w: World, copy: ExpectedCopy, run: ExpectedRun, group: ExpectedGroup, cause: int
) -> None:
    """Take a replica out of the run, because of event `cause`: its members' states no longer stop
    the run."""
    if not group.out:
        group.absent = copy.absent.intersection(group.members)
        copy.absent -= group.absent
    group.cause = cause
    _break_off(w, copy, group, cause)
    run.missing.difference_update(group.members)
    if run.hung in group.members:
        run.hangs_no_more()


def _break_off(w: World, copy: ExpectedCopy, group: ExpectedGroup, cause: int) -> None:
    """Have the members of a replica that has dropped out stop all loading, fetching and sending,
    because of event `cause`."""
    _unload(w, group, cause)
    link.leave(w, copy, cause, True, group.members)


def _hold(w: World, run: ExpectedRun, cause: int) -> Script:
    """Have the run stand still, because of event `cause`; return the last event that follows."""
    run.paused = True
    return (yield from stages.review(w, run, cause))


def _go_on(w: World, run: ExpectedRun, cause: int) -> Script:
    """Have the run go on after it stood still, because of event `cause`; return the last event that
    follows.

    If all messages of its part have passed meanwhile, the part is over now.
    """
    run.paused = False
    cause = yield from stages.review(w, run, cause)
    it = run.saving or run
    if it.stage in BY_MESSAGES and not run.missing and not run.copy.blind:
        it.cause, it.reports = cause, it is run
        # The part ends at once, before others take the places of members that have dropped out.
        w.turns.push(
            it.beside or run.copy.job, w.turns.phase, JUDGED + run.copy.placed, it.part_end.take
        )
    return cause


# --- pauses ---------------------------------------------------------------------------------------


def _pause(
    w: World, copy: ExpectedCopy, run: ExpectedRun, length: float, rejoining: str | None, cause: int
) -> Script:
    cause = yield e.RunPaused(copy.job.name, run.number, length, rejoining), cause
    replicas = _known(copy)
    pause = replicas.pause = Pause(copy, length, cause, partial(_pause_over, w, copy))
    pause.pass_on(w, not copy.absent and run.hung is None, cause)
    return cause


def _pause_over(w: World, copy: ExpectedCopy, pause: Pause) -> Script | None:
    run, replicas = copy.run, _of(copy)
    over = run is None or run.over or replicas is None or replicas.pause is not pause
    return None if over else _end_pause(w, copy, pause)


def _end_pause(w: World, copy: ExpectedCopy, pause: Pause) -> Script:
    run, replicas = copy.run, _known(copy)
    assert run is not None
    cause = yield e.PauseEnded(copy.job.name, run.number), pause.cause
    replicas.pause = None
    cause = yield from _rejoined(w, copy, run, replicas, cause)
    w.decider.report(copy, cause)


def _rejoined(
    w: World, copy: ExpectedCopy, run: ExpectedRun, replicas: ExpectedReplicas, cause: int
) -> Script:
    """Let the replicas that rejoin take part in the run again, and have the run go on, because of
    event `cause`; return the last event that follows."""
    back = [it for it in replicas.groups if it.stage is ReplicaStage.REJOINING]
    for group in back:
        group.stage = ReplicaStage.IN
        copy.absent |= group.absent
        group.absent = set()
    if back:
        left = len(replicas.left)
        event = e.ReplicasRejoined(copy.job.name, run.number, _named(back), left)
        cause = yield event, cause
    stages.resume_soon(w, copy)
    return (yield from _go_on(w, run, cause))


# --- they rejoin ----------------------------------------------------------------------------------


def _gather_loaded(
    rules: ReplicaRules, copy: ExpectedCopy, replicas: ExpectedReplicas
) -> Script | None:
    """Return the script (generator) by which replicas that had nothing to load rejoin, once all
    copies of the instant have gone on; None if there is none."""
    replicas.loads = False
    return rules.resumes(copy)


def _gathered(
    rules: ReplicaRules, copy: ExpectedCopy, run: ExpectedRun, replicas: ExpectedReplicas
) -> Script:
    w = rules.w
    newcomers = yield from _refill(w, copy, replicas)
    out = [it for it in replicas.groups if it.out]
    whole = [it for it in out if it.stage is ReplicaStage.OUT and not it.absent]
    for group in whole:
        yield from _load(w, copy, run, group)
    link.put_off(w, newcomers)
    if whole:  # those that lack nothing rejoin with the others, once all copies have gone on
        order, replicas.loads = 2 * LATER + copy.job.copies.index(copy), True
        rejoin = partial(_gather_loaded, rules, copy, replicas)
        w.turns.push(copy.job, LinePhase.RESUME, order, rejoin)
        return
    loaded = [it for it in out if it.stage is ReplicaStage.LOADED and not it.absent]
    advances = run.hung is None and not copy.blind  # else no group rejoins the run
    if loaded and replicas.pause is None and advances:
        yield from _rejoin(w, copy, run, replicas, loaded)


def _refill(w: World, copy: ExpectedCopy, replicas: ExpectedReplicas) -> Script:
    """Replace members of dropped out replicas that are known to be DOWN by workers that the copy
    holds ready and that are UP, the lowest first (P12); return pairs (new member, event that made
    it one)."""
    away = sorted(n for it in replicas.groups for n in it.absent)
    down = [n for n in away if w.worker(n).state is DOWN and n not in copy.undetected]
    ready = [n for n in copy.ready if w.holdings.is_up(n)]
    newcomers = list[tuple[int, int]]()
    for gone, newcomer in zip(down, ready, strict=False):
        fell = (w.worker(gone).away or (0, -1))[1]
        yield from stages.replace_member(w, copy, gone, newcomer, fell)
        replicas.of(newcomer).cause = copy.cause
        w.decider.ready_left(copy, copy.cause)
        newcomers.append((newcomer, copy.cause))
    return newcomers


def _load(w: World, copy: ExpectedCopy, run: ExpectedRun, group: ExpectedGroup) -> Script:
    job = copy.job
    if job.messages is not None:
        group.stage, group.lacking = ReplicaStage.LOADING, set(group.members)
        link.stage_in(w, run, True, group.members, group.cause)
    elif job.asked.stored:
        load_state(w, copy, run, group)
    else:
        group.stage = ReplicaStage.LOADED
    yield from ()


def load_state(w: World, copy: ExpectedCopy, run: ExpectedRun, group: ExpectedGroup) -> None:
    """Let a replica, whose members have program and data, load the run's present state from shared
    storage (S1)."""
    job = copy.job
    assert job.asked.stored is not None
    group.stage = ReplicaStage.LOADING
    it = group.loads = ExpectedRun(copy, run.number, run.work, since=w.now)
    it.group, it.cause, it.stage = group, group.cause, Stage.RECOVERING
    it.length, it.shares = job.asked.stored / len(_known(copy).groups), True
    it.aim = partial(_aim, w, it)
    storage.use(w, it, it.cause)


def _aim(w: World, it: ExpectedRun) -> None:
    """Set the timer at which a replica has loaded its state from shared storage at its present
    bandwidth; `it` is the account of that loading. Without bandwidth there is no timer."""
    if it.timer is not None:
        it.timer.live = False
    due = it.end()
    if due < inf:
        it.aimed = w.turns.order
        over = partial(_loaded, w, it, w.turns.order)
        it.timer = w.turns.at(due, LinePhase.PARTS, it.copy.job, it.number, over)


def _loaded(w: World, it: ExpectedRun, aimed: int) -> None:
    group = it.group
    if it.over or it.aimed != aimed or not isinstance(group, ExpectedGroup):
        return
    storage.leave(w, it, it.cause)
    group.loads, group.stage, group.cause = None, ReplicaStage.LOADED, it.cause
    stages.resume_soon(w, it.copy)


def _rejoin(
    w: World,
    copy: ExpectedCopy,
    run: ExpectedRun,
    replicas: ExpectedReplicas,
    groups: Sequence[ExpectedGroup],
) -> Script:
    for group in groups:
        group.stage = ReplicaStage.REJOINING
    cause = yield from _hold(w, run, max(group.cause for group in groups))
    if replicas.asked.rejoin:
        cause = yield from _pause(w, copy, run, replicas.asked.rejoin, _named(groups), cause)
    else:
        cause = yield from _rejoined(w, copy, run, replicas, cause)
    w.decider.report(copy, cause)
