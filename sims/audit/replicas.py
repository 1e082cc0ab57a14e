"""Derives how groups of members that hold the whole state each drop out of a run and rejoin it
(rules.md, E1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

from attrs import define, field

from actors import events as e
from actors.events import BY_MESSAGES, Outcome, Stage
from sims.audit import link, parts, storage
from sims.audit.facts import Copy, Group, Replicas, Run, Standing
from sims.audit.law import Phase
from sims.audit.turns import LATER, NEGLIGIBLE, Script, Timer
from sims.audit.workers import DOWN, joined, written
from sims.audit.world import World

HANG = -1
"""Stands for a hang among the members that lack a message: the messages of others do not make the
run go on."""
JUDGED = -LATER - (LATER >> 2)
"""Number of the turn that judges an instant's faults: after they are known, before notices."""


@define(eq=False)
class Pause:
    """A pause of a run as replicas drop out or rejoin. Its time passes while all members of the
    replicas that take part are UP."""

    copy: Copy
    length: float
    cause: int
    """Sequence number of the line that began it."""
    passed: float = field(init=False, default=0)
    since: float = field(init=False, default=0)
    passes: bool = field(init=False, default=False)
    timer: Timer | None = field(init=False, default=None)

    def pass_on(self, w: World, passes: bool, cause: int) -> None:
        """Let the pause's time pass from now on if `passes`, else stop it, because of event
        `cause`; do nothing if it does so already. At the pause's end the run goes on."""
        if passes is self.passes:
            return
        self.cause = cause
        self.passed += w.now - self.since if self.passes else 0
        self.since, self.passes = w.now, passes
        self.stop()
        if passes:
            left = self.length - self.passed
            due = w.now + (left if left > NEGLIGIBLE * self.length else 0)
            number = self.copy.last
            over = partial(_pause_over, w, self.copy, self)
            self.timer = w.at(due, Phase.PARTS, self.copy.job, number, over)

    def stop(self) -> None:
        """Cancel the timer of the pause's end."""
        if self.timer is not None:
            self.timer.live = False
            self.timer = None


def _named(groups: Sequence[Group]) -> str:
    return written(joined(n for it in groups for n in it.members))


# --- they drop out --------------------------------------------------------------------------------


def lose(w: World, copy: Copy, worker: int, cause: int) -> Script:
    """Apply to a copy that its member `worker` is known, by event `cause`, to be DOWN or to hang;
    return the last event that follows.

    The run is lost, or the member's replica (the group of members that hold the whole state
    together) drops out of it. Which replicas drop out is decided once all faults of this instant
    are known.
    """
    run, replicas = copy.run, copy.replicas
    copy.struck, copy.former = w.now, copy.members
    if replicas is None or run is None or not run.computes:
        return (yield from parts.end_early(w, copy, Outcome.LOST, cause))
    group = replicas.of(worker)
    if group.out and group.standing is not Standing.REJOINING:
        w.push(copy.job, Phase.STATES, LATER, partial(_load_anew, w, copy, group, cause))
        return cause
    if not replicas.known:
        w.push(copy.job, Phase.RESUME, JUDGED + copy.placed, partial(_judge, w, copy, replicas))
    replicas.known.append((worker, cause))
    return cause


def _load_anew(w: World, copy: Copy, group: Group, cause: int) -> None:
    """Have a replica that was loading its state begin again, because of event `cause`, once all
    workers have changed state."""
    if not copy.gone:
        _unload(w, copy, group, cause)
        parts.resume_soon(w, copy)


def _judge(w: World, copy: Copy, replicas: Replicas) -> Script | None:
    known, replicas.known, run = replicas.known, [], copy.run
    return None if copy.gone or run is None else _judged(w, copy, replicas, run, known)


def _judged(
    w: World, copy: Copy, replicas: Replicas, run: Run, known: list[tuple[int, int]]
) -> Script:
    cause = min(seq for _, seq in known)  # the first of these events in the log
    struck = [replicas.of(worker) for worker, _ in known]
    groups = [it for it in replicas.groups if it in struck]
    left = sum(not it.out for it in replicas.groups if it not in groups)
    if left < replicas.rules.least:
        cause = yield from parts.end_early(w, copy, Outcome.LOST, cause)
    else:
        cause = yield from _drop(w, copy, run, groups, left, cause)
    w.decider.report(copy, cause)


def _drop(w: World, copy: Copy, run: Run, groups: Sequence[Group], left: int, cause: int) -> Script:
    replicas, name = copy.replicas, copy.job.name
    assert replicas is not None
    dropped = yield e.ReplicasDropped(name, run.number, _named(groups), left), cause
    cause = yield from _hold(w, run, dropped)
    for group in replicas.groups:
        if group.standing is Standing.REJOINING:
            group.standing = Standing.LOADED
    for group in groups:
        _put_aside(w, copy, run, group, dropped)
    broken_off, replicas.pause = replicas.pause, None
    if broken_off is not None:
        broken_off.stop()
    parts.resume_soon(w, copy)
    if replicas.rules.regroup:
        return (yield from _pause(w, copy, run, replicas.rules.regroup, None, cause))
    if broken_off is not None:
        cause = yield e.PauseEnded(name, run.number), cause
    return (yield from _go_on(w, run, cause))


def _put_aside(w: World, copy: Copy, run: Run, group: Group, cause: int) -> None:
    """Take a replica out of the run, because of event `cause`: its members' states no longer stop
    the run."""
    if not group.out:
        group.absent = copy.absent.intersection(group.members)
        copy.absent -= group.absent
    group.cause = cause
    _unload(w, copy, group, cause)
    run.missing.difference_update(group.members)
    if run.hung in group.members:
        run.hung = None
        run.missing.discard(HANG)


def _unload(w: World, copy: Copy, group: Group, cause: int) -> None:
    """Have the members of a replica that has dropped out stop all loading, fetching and sending,
    because of event `cause`."""
    parts.unload(w, group, cause)
    link.leave(w, copy, cause, True, group.members)


def _hold(w: World, run: Run, cause: int) -> Script:
    """Have the run stand still, because of event `cause`; return the last event that follows."""
    run.paused = True
    return (yield from parts.review(w, run, cause))


def _go_on(w: World, run: Run, cause: int) -> Script:
    """Have the run go on after it stood still, because of event `cause`; return the last event that
    follows.

    If all messages of its part have passed meanwhile, the part is over now.
    """
    run.paused = False
    cause = yield from parts.review(w, run, cause)
    it = run.saving or run
    if it.stage in BY_MESSAGES and not run.missing and not run.copy.blind:
        it.cause, it.reports = cause, it is run
        # The part ends at once, before standbys take the places of members that have dropped out.
        w.push(it.beside or run.copy.job, w.phase, JUDGED + run.copy.placed, it.take)
    return cause


# --- pauses ---------------------------------------------------------------------------------------


def _pause(
    w: World, copy: Copy, run: Run, length: float, rejoining: str | None, cause: int
) -> Script:
    cause = yield e.RunPaused(copy.job.name, run.number, length, rejoining), cause
    assert copy.replicas is not None
    pause = copy.replicas.pause = Pause(copy, length, cause)
    pause.pass_on(w, not copy.absent and run.hung is None, cause)
    return cause


def _pause_over(w: World, copy: Copy, pause: Pause) -> Script | None:
    run, replicas = copy.run, copy.replicas
    over = run is None or run.over or replicas is None or replicas.pause is not pause
    return None if over else _end_pause(w, copy, pause)


def _end_pause(w: World, copy: Copy, pause: Pause) -> Script:
    run, replicas = copy.run, copy.replicas
    assert run is not None and replicas is not None
    cause = yield e.PauseEnded(copy.job.name, run.number), pause.cause
    replicas.pause = None
    cause = yield from _rejoined(w, copy, run, replicas, cause)
    w.decider.report(copy, cause)


def _rejoined(w: World, copy: Copy, run: Run, replicas: Replicas, cause: int) -> Script:
    """Let the replicas that rejoin take part in the run again, and have the run go on, because of
    event `cause`; return the last event that follows."""
    back = [it for it in replicas.groups if it.standing is Standing.REJOINING]
    for group in back:
        group.standing = Standing.IN
        copy.absent |= group.absent
        group.absent = set()
    if back:
        left = len(replicas.left)
        event = e.ReplicasRejoined(copy.job.name, run.number, _named(back), left)
        cause = yield event, cause
    parts.resume_soon(w, copy)
    return (yield from _go_on(w, run, cause))


# --- they rejoin ----------------------------------------------------------------------------------


def member_changed(w: World, copy: Copy, worker: int, cause: int) -> Script:
    """Apply a change of state, event `cause`, of a member whose replica has dropped out: the
    replica may load the state now, or has to stop loading."""
    assert copy.replicas is not None
    group = copy.replicas.of(worker)
    group.cause = cause
    if group.loads is not None:
        yield from storage.review(w, group.loads, cause)
    parts.resume_soon(w, copy)


def gather(w: World, copy: Copy) -> Script | None:
    """Return the script (generator) by which replicas that have dropped out of the copy's run get
    new members, load the state and rejoin; None if none has dropped out or no run is under way."""
    replicas, run = copy.replicas, copy.run
    if (
        copy.gone
        or replicas is None
        or run is None
        or run.over
        or replicas.loads
        or len(replicas.left) == len(replicas.groups)
    ):
        return None
    return _gathered(w, copy, run, replicas)


def _gather_loaded(w: World, copy: Copy, replicas: Replicas) -> Script | None:
    """Return the script (generator) by which replicas that had nothing to load rejoin, once all
    copies of the instant have gone on; None if there is none."""
    replicas.loads = False
    return gather(w, copy)


def _gathered(w: World, copy: Copy, run: Run, replicas: Replicas) -> Script:
    newcomers = yield from _refill(w, copy, replicas)
    out = [it for it in replicas.groups if it.out]
    whole = [it for it in out if it.standing is Standing.OUT and not it.absent]
    for group in whole:
        yield from _load(w, copy, run, group)
    link.put_off(w, newcomers)
    if whole:  # those that lack nothing rejoin with the others, once all copies have gone on
        order, replicas.loads = 2 * LATER + copy.job.copies.index(copy), True
        w.push(copy.job, Phase.RESUME, order, partial(_gather_loaded, w, copy, replicas))
        return
    loaded = [it for it in out if it.standing is Standing.LOADED and not it.absent]
    advances = run.hung is None and not copy.blind  # else no group rejoins the run
    if loaded and replicas.pause is None and advances:
        yield from _rejoin(w, copy, run, replicas, loaded)


def _refill(w: World, copy: Copy, replicas: Replicas) -> Script:
    """Replace members of dropped out replicas that are known to be DOWN by standbys that are UP,
    the lowest first (P12); return pairs (standby, event that made it a member)."""
    away = sorted(n for it in replicas.groups for n in it.absent)
    down = [n for n in away if w.worker(n).state is DOWN and n not in copy.undetected]
    ready = [n for n in copy.standbys if w.is_up(n)]
    newcomers = list[tuple[int, int]]()
    for gone, newcomer in zip(down, ready, strict=False):
        fell = (w.worker(gone).away or (0, -1))[1]
        yield from parts.replace_member(w, copy, gone, newcomer, fell)
        replicas.of(newcomer).cause = copy.cause
        w.decider.standby_left(copy, copy.cause)
        newcomers.append((newcomer, copy.cause))
    return newcomers


def _load(w: World, copy: Copy, run: Run, group: Group) -> Script:
    job = copy.job
    if job.messages is not None:
        group.standing, group.lacking = Standing.LOADING, set(group.members)
        link.stage_in(w, run, True, group)
    elif job.stored:
        load_state(w, copy, run, group)
    else:
        group.standing = Standing.LOADED
    yield from ()


def load_state(w: World, copy: Copy, run: Run, group: Group) -> None:
    """Let a replica, whose members have program and data, load the run's present state from shared
    storage (S1)."""
    job = copy.job
    assert copy.replicas is not None and job.stored is not None
    group.standing = Standing.LOADING
    it = group.loads = Run(copy, run.number, run.work, since=w.now)
    it.group, it.cause, it.stage = group, group.cause, Stage.RECOVERING
    it.length, it.shares = job.stored / len(copy.replicas.groups), True
    it.aim = partial(_aim, w, it)
    storage.use(w, it, it.cause)


def _aim(w: World, it: Run) -> None:
    """Set the timer at which a replica has loaded its state from shared storage at its present
    bandwidth; `it` is the account of that loading. Without bandwidth there is no timer."""
    if it.timer is not None:
        it.timer.live = False
    due = it.end()
    if due < inf:
        it.aimed = w.order
        over = partial(_loaded, w, it, w.order)
        it.timer = w.at(due, Phase.PARTS, it.copy.job, it.number, over)


def _loaded(w: World, it: Run, aimed: int) -> None:
    group = it.group
    if it.over or it.aimed != aimed or group is None:
        return
    storage.leave(w, it, it.cause)
    group.loads, group.standing, group.cause = None, Standing.LOADED, it.cause
    parts.resume_soon(w, it.copy)


def _rejoin(w: World, copy: Copy, run: Run, replicas: Replicas, groups: Sequence[Group]) -> Script:
    for group in groups:
        group.standing = Standing.REJOINING
    cause = yield from _hold(w, run, max(group.cause for group in groups))
    if replicas.rules.rejoin:
        cause = yield from _pause(w, copy, run, replicas.rules.rejoin, _named(groups), cause)
    else:
        cause = yield from _rejoined(w, copy, run, replicas, cause)
    w.decider.report(copy, cause)
