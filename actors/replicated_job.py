"""Jobs whose members are replicas of the whole state: a run goes on with fewer of them (rules.md,
E1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from math import inf
from typing import Any

from attrs import define, field

from actors.copies import AT_WORK, GONE
from actors.copy import Copy
from actors.events import (
    BandwidthShared,
    Outcome,
    PauseEnded,
    ReplicaLoads,
    ReplicasDropped,
    ReplicasRejoined,
    RunPaused,
)
from actors.job import Life
from actors.messages import MemberReady
from actors.progress import PartBeside, Progress
from actors.repair_messages import MemberRetired, MemberStruckAgain
from actors.replicas import Group, GroupLoaded, PauseDue, Replicas, Standing, named
from actors.run import FREED, PAUSES, PartDue, Run
from actors.runs import LOST, JobOfRuns
from actors.runtime import NOTHING, Actor, Phase, handles, message
from actors.storage import BandwidthSet, StorageClient


@message
class JudgeFaults:
    """A job tells itself to act on the members' faults that became known at this instant: their
    replicas drop out or, if too few are left, the run is lost."""


JUDGE = JudgeFaults()
OUT, LOADING, LOADED = Standing.OUT, Standing.LOADING, Standing.LOADED
REJOINING = Standing.REJOINING


@define(eq=False)
class JobOfReplicas(JobOfRuns):
    """A job whose members form replicas, groups that hold the whole state each. Its runs go on
    without the replicas whose members fail, and take them back once all their members are UP and
    have loaded the state (rules.md, E1)."""

    _faults: dict[int, list[tuple[int, int]]] = field(init=False, factory=dict)
    """Maps each copy to its members whose faults have become known at this instant, each with the
    number of the event."""
    _retired: set[int] = field(init=False, factory=set)
    """Members that will never be UP again."""

    # --- replicas that drop out ---------------------------------------------------------------

    def _lose(self, copy: Copy[Run], worker: int, cause: int, hidden: bool) -> int:
        """Act on a member's going DOWN, as every job does; `hidden` says that its fault is not
        detected yet. In that case a load from shared storage into its replica is also suspended.
        Return the number (seq) of the last event."""
        load = _replicas(copy).of(worker).load
        if hidden and isinstance(load, GroupLoad):
            load.review(cause)
        return super()._lose(copy, worker, cause, hidden)

    def fail(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int:
        """Act on a fault or hang of the member `worker` that is known now: its replica drops out
        after all changes of this instant. If the run has not begun to compute, it is lost instead;
        if the replica has dropped out already, what it has loaded is discarded. `cause` is the
        number of that event. Return the number (seq) of the last event."""
        if not run.computes:
            return super().fail(copy, run, worker, cause)
        group = _replicas(copy).of(worker)
        if group.out and group.standing is not REJOINING:
            self._unload(copy, group, cause)
            self.resume_soon()
            return cause
        if not self._faults:
            # The unit that is blamed in place of this member's goes DOWN at this instant, too.
            # Notices come after all such changes.
            self.later(JUDGE, NOTHING, Phase.NOTICES)
        self._faults.setdefault(copy.number, []).append((worker, cause))
        return cause

    @handles(JudgeFaults)
    def judge_faults(self, _: JudgeFaults, __: int) -> None:
        """Let the replicas with members whose faults became known at this instant drop out, all
        together. If fewer replicas are left than the run needs, the run is lost instead."""
        faults, self._faults = self._faults, {}
        for number, known in sorted(faults.items()):
            copy = self.copies.get(number)
            if copy is None or copy.run is None:
                continue
            # The cause is the first of these events in the log. Messages about them may come in
            # another order.
            replicas, cause = _replicas(copy), min(cause for _, cause in known)
            struck = {replicas.of(worker).number for worker, _ in known}
            groups = [replicas.groups[number] for number in sorted(struck)]
            left = replicas.count - sum(not it.out for it in groups)
            if left < replicas.rules.least:
                cause = self.end_run(copy, LOST, cause)
            else:
                cause = self._drop_out(copy, copy.run, groups, left, cause)
            self.report_progress(copy, cause)

    def _drop_out(
        self, copy: Copy[Run], run: Run, groups: Sequence[Group], left: int, cause: int
    ) -> int:
        replicas = _replicas(copy)
        cause = self.record(
            cause, ReplicasDropped, self.name, run.number, self._named(groups), left
        )
        end = run.stop(PAUSES, cause)
        for group in replicas.out():
            if group.standing is REJOINING:
                group.standing = LOADED  # the pause in which it would rejoin is over
        replicas.drop(groups, copy.absent)
        for group in groups:
            group.cause = cause
            self._unload(copy, group, cause)
        gone = [worker for worker in run.missing if replicas.of(worker) in groups]
        run.missing.difference_update(gone)
        hanging, _ = self._hung.get(run.number, (-1, NOTHING))
        if hanging >= 0 and replicas.of(hanging) in groups:
            del self._hung[run.number]
            run.turn(FREED)
        broken_off = replicas.pause is not None
        replicas.end_pause(self)
        self.resume_soon()
        if replicas.rules.regroup:
            return self._pause(copy, run, replicas.rules.regroup, None, end)
        if broken_off:
            end = self.record(end, PauseEnded, self.name, run.number)
        return run.go_on(end)

    def _named(self, groups: Sequence[Group]) -> str:
        """Return the members of these groups as logs write them; empty where no sink wants the
        events that name them."""
        return named(groups) if self.system.journal.wants(ReplicasDropped) else ""

    def _unload(self, copy: Copy[Run], group: Group, cause: int) -> None:
        """Have the members of a replica that has dropped out stop fetching and sending, and discard
        what they have fetched; the replica waits until all of them are UP."""
        group.unload(cause)
        copy.dismiss(group.members, cause, keep=True)

    def _pause(
        self, copy: Copy[Run], run: Run, length: float, rejoining: str | None, cause: int
    ) -> int:
        cause = self.record(cause, RunPaused, self.name, run.number, length, rejoining)
        pause = PartBeside(PauseDue(copy.number, run.number))
        _replicas(copy).pause = pause
        pause.begin(self, length, run.whole, cause)
        return cause

    @handles(PauseDue, during=AT_WORK)
    def pass_pauses(self, message: PauseDue, cause: int) -> None:
        """End the pauses, and the parts, of all this job's runs that are due at this instant, by
        run number."""
        self.pass_parts(PartDue(message.copy, message.run), cause)

    def ends(self, run: Run) -> float:
        """Return the time at which a run's pause ends, or its present part if it does not pause;
        inf where that is not known."""
        pause = _replicas(run.copy).pause
        if pause is None:
            return super().ends(run)
        return inf if pause.end is None else pause.end

    def pass_part(self, run: Run) -> None:
        replicas = _replicas(run.copy)
        if replicas.pause is None:
            super().pass_part(run)
            return
        cause = self.record(replicas.pause.cause, PauseEnded, self.name, run.number)
        replicas.end_pause(self)
        self.report_progress(run.copy, self._go_on(run.copy, run, cause))

    def _go_on(self, copy: Copy[Run], run: Run, cause: int) -> int:
        replicas = _replicas(copy)
        rejoining = [it for it in replicas.out() if it.standing is REJOINING]
        if rejoining:
            replicas.rejoin(rejoining, copy.absent)
            about = self.name, run.number, self._named(rejoining), replicas.count
            cause = self.record(cause, ReplicasRejoined, *about)
            for group in rejoining:
                self.protection.rejoined(copy, group)
            # If a member of these groups has an undetected fault, the run waits from now on.
            run.missing.update(it for it in copy.undetected if replicas.of(it) in rejoining)
        self.resume_soon()
        return run.go_on(cause)

    def end_run(self, copy: Copy[Run], outcome: Outcome, cause: int) -> int:
        end = super().end_run(copy, outcome, cause)
        given_up, copy.given_up = copy.given_up, 0
        if copy.number not in self.copies:
            return end
        if given_up:
            copy.cause = end = self.discard(copy, given_up, end)
        for worker in self._retired.intersection(copy.members):
            super().replace_retired(MemberRetired(copy.number, worker), end)
        return end

    def discard(self, copy: Copy[Run], lost: float | None, cause: int) -> int:
        """Log that the saved work `lost` is given up. While the run computes on this is only
        remembered, and logged if the run is lost before its next checkpoint: a run that goes on
        lacks nothing. Return the number (seq) of the event, or `cause` if there is none."""
        if copy.run is None or not copy.run.computes:
            return super().discard(copy, lost, cause)
        copy.given_up = lost or 0
        return cause

    @handles(MemberRetired, during=AT_WORK)
    def replace_retired(self, message: MemberRetired, cause: int) -> None:
        """Ask for a replacement of a member that is DOWN for ever, if the job replaces members. If
        it does not, only note the member: the run goes on without its replica, and the member is
        missed only once that run ends."""
        copy = self.copies.get(message.copy)
        if copy is None or copy.run is None or self.protection.rules.replace_after is not None:
            super().replace_retired(message, cause)
        elif message.worker not in copy.standbys:
            self._retired.add(message.worker)

    @handles(MemberStruckAgain, during=AT_WORK)
    def report_struck_again(self, message: MemberStruckAgain, _: int) -> None:
        """Report the run's members to the actor that repairs, as a fault strikes a member that was
        DOWN already: another member may be blamed for it."""
        copy = self.copies.get(message.copy)
        if copy is not None:
            self.report_struck(copy)

    @handles(MemberStruckAgain, during=(Life.WAITING, *GONE))
    def struck_too_late(self, message: MemberStruckAgain, cause: int) -> None:
        """Ignore a message to a copy that ended at the same instant."""

    # --- replicas that rejoin -----------------------------------------------------------------

    def _member_changed(self, copy: Copy[Run], worker: int, cause: int) -> int:
        group = _replicas(copy).of(worker)
        if copy.run is None or not group.out:
            return super()._member_changed(copy, worker, cause)
        group.cause = cause
        if isinstance(group.load, GroupLoad):
            group.load.review(cause)
        self.resume_soon()
        return cause

    def resume_copy(self, copy: Copy[Run]) -> None:
        run, replicas = copy.run, _replicas(copy)
        if run is None:
            super().resume_copy(copy)
            return
        if replicas.count == len(replicas.groups):
            return
        out = replicas.out()
        if self.described.standbys:
            self._refill(copy, replicas)
        whole = [it for it in out if it.standing is OUT and not it.absent]
        for group in whole:
            self._load(copy, run, group)
        if whole:  # those that lack nothing say so at this instant, and rejoin with the others
            self.resume_soon()
            return
        loaded = [it for it in out if it.standing is LOADED and not it.absent]
        if loaded and replicas.pause is None:
            self._rejoin(copy, run, loaded)

    def _refill(self, copy: Copy[Run], replicas: Replicas) -> None:
        """Replace the DOWN members of replicas that have dropped out by standbys that are UP, the
        lowest first, as far as there are any (P12). Members whose faults are not detected yet are
        left out."""
        down = sorted(copy.down.difference(copy.undetected))
        waiting = [worker for worker in down if replicas.of(worker).out]
        for worker, other in zip(waiting, list(islice(copy.ready(), len(waiting))), strict=False):
            group = replicas.of(worker)
            group.cause = self.promote(copy, worker, other)

    def _load(self, copy: Copy[Run], run: Run, group: Group) -> None:
        """Have the members of a replica that has dropped out, all of which are UP, fetch from the
        master what they lack, if there is one, and then load the present state."""
        if self.needs is not None:
            group.standing, group.lacking = LOADING, set(group.members)
            copy.stage_in(self.needs, True, group.cause, group)
        else:
            self._load_state(copy, run, group, group.cause)

    def _load_state(self, copy: Copy[Run], run: Run, group: Group, cause: int) -> None:
        """Begin to load the present state into a replica from shared storage: its members' part of
        a state's bytes. Without such storage the replica counts as loaded at once. `cause` is the
        number of the event that leads to it."""
        client = self._storage_client()
        if client is None or not client.size:
            self._loaded(group, cause)
            return
        client.size /= len(_replicas(copy).groups)
        client.group = group.number
        group.standing, group.cause = LOADING, cause
        group.load = GroupLoad(
            GroupLoaded(copy.number, run.number, group.number),
            *(self, copy, run.number, group, client),
        )
        group.load.start(group.cause)

    @handles(MemberReady, during=AT_WORK)
    def member_ready(self, message: MemberReady, cause: int) -> None:
        copy = self.copies.get(message.copy)
        group = _replicas(copy).of(message.worker) if copy is not None else None
        if copy is None or copy.run is None or group is None or group.standing is not LOADING:
            super().member_ready(message, cause)
        elif copy.run.number == message.run and message.worker in group.lacking:
            # A member that comes back UP reports again; its replica may be loading by then.
            group.lacking.discard(message.worker)
            if not group.lacking:
                self._load_state(copy, copy.run, group, cause)

    def set_bandwidth_of_group(self, copy: Copy[Run], message: BandwidthSet, cause: int) -> None:
        load = _replicas(copy).groups[message.group].load
        if isinstance(load, GroupLoad):
            load.client.share(load, message.bandwidth, cause)

    @handles(GroupLoaded, during=AT_WORK)
    def end_load(self, message: GroupLoaded, cause: int) -> None:
        """Record that a replica has loaded the whole present state from shared storage; it rejoins
        its run once it can."""
        group = _replicas(self.copies[message.copy]).groups[message.group]
        assert group.load is not None
        group.load.cease(cause)
        group.load = None
        self._loaded(group, cause)

    def _loaded(self, group: Group, cause: int) -> None:
        group.standing, group.cause = LOADED, cause
        self.resume_soon()

    def _rejoin(self, copy: Copy[Run], run: Run, groups: Sequence[Group]) -> None:
        """Let these replicas of the copy, which have loaded the state and whose members are all UP,
        rejoin the run together. The run pauses first if rejoining takes time."""
        rules, cause = _replicas(copy).rules, max(group.cause for group in groups)
        for group in groups:
            group.standing = REJOINING
        cause = run.stop(PAUSES, cause)
        if rules.rejoin:
            cause = self._pause(copy, run, rules.rejoin, self._named(groups), cause)
        else:
            cause = self._go_on(copy, run, cause)
        self.report_progress(copy, cause)


@define(eq=False)
class GroupLoad(PartBeside):
    """The load of the present state into a replica from shared storage (S1). It advances only while
    all of the replica's members are UP."""

    actor: Actor
    copy: Copy[Run]
    number: int
    """Number of the copy's run."""
    group: Group
    client: StorageClient

    @property
    def passes(self) -> bool:
        """Whether the load advances: all of the replica's members are UP."""
        return not self.group.absent

    @property
    def width(self) -> int:
        """Number of members that load."""
        return len(self.group.members)

    def start(self, cause: int) -> None:
        """Begin the load; its bandwidth is 0 until the storage gives it a share. `cause` is the
        number of the event that leads to it."""
        self.part = Progress(self.client.size, 0, 0, self.actor.now)
        self.client.begin(self, self.part, lambda cause: self.aim(self.actor, cause), cause)

    def review(self, cause: int) -> None:
        """Go on with the load, or suspend it, as a member of the replica has changed state. `cause`
        is the number of the event that logs the change."""
        self.client.review(self, cause)

    def record(self, cause: int, _: Callable[..., BandwidthShared], *values: Any) -> int:
        """Log the replica's bandwidth from now on and what is left to load (`values`); return that
        event's number (seq). The event's class is always ReplicaLoads."""
        about = self.actor.name, self.number, named([self.group])
        return self.actor.record(cause, ReplicaLoads, *about, *values)

    def cease(self, cause: int) -> None:
        """End the load, complete or not: give up its share of the storage's bandwidth and cancel
        its timer. `cause` is the number of the event that leads to it."""
        self.client.end(self, cause)
        self.stop(self.actor)


def _replicas(copy: Copy[Run]) -> Replicas:
    assert copy.replicas is not None
    return copy.replicas
