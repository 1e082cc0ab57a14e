"""Replicas: groups of a copy's members each of which holds the whole state, so that a run goes on
with those that are left (rules.md, E1).

Members whose faults become known at one instant drop out together, after all changes of workers: a
unit that is blamed in place of a member goes DOWN at the same instant. Replicas rejoin only when
the instant is over, so that all that are whole by then rejoin in one pause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    Outcome,
    PauseEnded,
    ReplicasDropped,
    ReplicasRejoined,
    RunPaused,
)
from actors.job import AT_WORK
from actors.messages import MemberReady, MemberStateChanged, StartCopy
from actors.parts.part import KEPT, Host, MemberMessage, Part
from actors.parts.replica_groups import Group, GroupLoad, Groups, Standing, divided, named
from actors.parts.storage import GroupBandwidthSet, StorageClient
from actors.run import PartDue, Run
from actors.runtime import NOTHING, Phase, WorkersRetired, handles, message
from actors.steps import PAUSES
from policies.availability import WorkerState
from policies.interface.queue import Replication


@message
class JudgeFaults:
    """A job tells itself to act on the members' faults that became known at this instant: their
    replicas drop out or, if too few are left, the run is lost."""


@message
class PauseDue:
    """A job tells itself that the time for which this copy's run pauses, as groups of members drop
    out or rejoin, has passed."""

    copy: int
    run: int


@message
class GroupLoaded:
    """A job tells itself that a replica (a group of members that holds the whole state) that had
    dropped out of this run has loaded the present state from shared storage."""

    copy: int
    run: int
    group: int


JUDGE = JudgeFaults()
OUT, LOADING, LOADED = Standing.OUT, Standing.LOADING, Standing.LOADED
REJOINING = Standing.REJOINING


@define(eq=False)
class Replicas(Part):
    """Has a job's runs go on without the replicas whose members fail, and takes these back once all
    their members are UP and have loaded the state."""

    _faults: dict[int, list[tuple[int, int]]] = field(init=False, factory=dict)
    """Maps each copy to its members whose faults have become known at this instant, each with the
    number of the event."""
    _retired: set[int] = field(init=False, factory=set)
    """Members that will never be UP again."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        return job.described.replication is not None

    @property
    def _rules(self) -> Replication:
        rules = self.job.described.replication
        assert rules is not None
        return rules

    def placed(self, copy: Copy[Run], message: StartCopy) -> None:
        copy.division = divided(self._rules, message.numbers)

    # --- replicas that drop out ---------------------------------------------------------------

    def down(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> None:
        """Suspend a load into the member's replica if its fault is not known yet; if it is,
        `goes_on` ends the load."""
        load = _groups(copy).of(worker).load
        if hidden and load is not None:
            load.review(cause)

    def goes_on(self, copy: Copy[Run], run: Run, worker: int, cause: int) -> int | None:
        """Have the member's replica drop out after all changes of this instant. If the run has not
        begun to compute, it is lost instead; if the replica has dropped out already, what it has
        loaded is discarded."""
        if not run.computes:
            return None
        group = _groups(copy).of(worker)
        if group.out and group.standing is not REJOINING:
            self._unload(copy, group, cause)
            self.job.resume_soon()
            return cause
        if not self._faults:
            # The unit that is blamed in place of this member's goes DOWN at this instant, too.
            # Notices come after all such changes.
            self.job.later(JUDGE, NOTHING, Phase.NOTICES)
        self._faults.setdefault(copy.number, []).append((worker, cause))
        return cause

    @handles(JudgeFaults)
    def judge(self, _: JudgeFaults, __: int) -> None:
        """Let the replicas with members whose faults became known at this instant drop out, all
        together. If fewer replicas are left than the run needs, the run is lost instead."""
        faults, self._faults = self._faults, {}
        for number, known in sorted(faults.items()):
            copy = self.job.copies.get(number)
            if copy is None or copy.run is None:
                continue
            # The cause is the first of these events in the log. Messages about them may come in
            # another order.
            replicas, cause = _groups(copy), min(cause for _, cause in known)
            struck = {replicas.of(worker).number for worker, _ in known}
            groups = [replicas.groups[number] for number in sorted(struck)]
            left = replicas.count - sum(not it.out for it in groups)
            if left < replicas.rules.least:
                cause = self.job.end_run(copy, Outcome.LOST, cause)
            else:
                cause = self._drop_out(copy, copy.run, groups, left, cause)
            self.job.report_progress(copy, cause)

    def _drop_out(
        self, copy: Copy[Run], run: Run, groups: Sequence[Group], left: int, cause: int
    ) -> int:
        replicas, job = _groups(copy), self.job
        cause = job.record(cause, ReplicasDropped, job.name, run.number, self._named(groups), left)
        end = run.standstill.stop(PAUSES, cause)
        for group in replicas.out():
            if group.standing is REJOINING:
                group.standing = LOADED  # the pause in which it would rejoin is over
        replicas.drop(groups, copy.absent)
        for group in groups:
            group.cause = cause
            self._unload(copy, group, cause)
        run.missing.difference_update([it for it in run.missing if replicas.of(it) in groups])
        job.parts.set_aside(run)
        broken_off = run.pause is not None
        run.standstill.end_pause()
        job.resume_soon()
        if replicas.rules.regroup:
            return self._pause(copy, run, replicas.rules.regroup, None, end)
        if broken_off:
            end = job.record(end, PauseEnded, job.name, run.number)
        return run.standstill.go_on(end)

    def _named(self, groups: Sequence[Group]) -> str:
        """Return the members of these groups as logs write them; empty where no sink wants the
        events that name them."""
        return named(groups) if self.job.system.journal.wants(ReplicasDropped) else ""

    def _unload(self, copy: Copy[Run], group: Group, cause: int) -> None:
        """Have the members of a replica that has dropped out stop fetching and sending, and discard
        what they have fetched; the replica waits until all of them are UP."""
        group.unload(cause)
        copy.dismiss(group.members, cause, keep=True)

    def _pause(
        self, copy: Copy[Run], run: Run, length: float, rejoining: str | None, cause: int
    ) -> int:
        job = self.job
        cause = job.record(cause, RunPaused, job.name, run.number, length, rejoining)
        run.standstill.rest(PauseDue(copy.number, run.number), length, cause)
        return cause

    @handles(PauseDue, during=AT_WORK)
    def pass_pauses(self, message: PauseDue, cause: int) -> None:
        """End the pauses, and the parts, of all this job's runs that are due at this instant, by
        run number."""
        self.job.pass_parts(PartDue(message.copy, message.run), cause)

    def pause_over(self, run: Run, cause: int) -> int:
        cause = self.job.record(cause, PauseEnded, self.job.name, run.number)
        return self._go_on(run.copy, run, cause)

    def _go_on(self, copy: Copy[Run], run: Run, cause: int) -> int:
        replicas, job = _groups(copy), self.job
        rejoining = [it for it in replicas.out() if it.standing is REJOINING]
        if rejoining:
            replicas.rejoin(rejoining, copy.absent)
            about = job.name, run.number, self._named(rejoining), replicas.count
            cause = job.record(cause, ReplicasRejoined, *about)
            # If a member of these groups has a fault that is not known, the run waits from now on.
            run.missing.update(it for it in job.parts.hidden(copy) if replicas.of(it) in rejoining)
        job.resume_soon()
        return run.standstill.go_on(cause)

    def run_ended(self, run: Run, kept: bool, cause: int) -> None:
        """Let all replicas count again. Raises WorkersRetired where the next run would wait for
        ever for a member that is DOWN for ever."""
        copy = run.copy
        _groups(copy).end_run(copy.absent, cause)
        for worker in self._retired.intersection(copy.members) if kept else ():
            if not self.job.described.held_ready:
                raise WorkersRetired(self.job.now, self.job.name, worker, KEPT)

    def retired(self, copy: Copy[Run], worker: int) -> bool:
        """Note a member that is DOWN for ever: the run goes on without its replica, and the member
        is missed only once that run ends."""
        if copy.run is None:
            return False
        self._retired.add(worker)
        return True

    # --- replicas that rejoin -----------------------------------------------------------------

    def takes(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        """Act on a member of a replica that has dropped out of a run under way: it has all that it
        needs, or it comes back UP or is RECLAIMED. That it goes DOWN is for the job to act on, as
        this may cost a checkpoint."""
        group = _groups(copy).of(message.worker)
        if copy.run is None or not group.out:
            return False
        if isinstance(message, MemberReady):
            if group.standing is not LOADING:
                return False
            if copy.run.number == message.run and message.worker in group.lacking:
                # A member that comes back UP reports again; its replica may be loading by then.
                group.lacking.discard(message.worker)
                if not group.lacking:
                    self._load_state(copy, copy.run, group, cause)
            return True
        if not isinstance(message, MemberStateChanged) or message.state is WorkerState.DOWN:
            return False
        copy.move(message.worker, message.state, self.job.now, cause)
        group.cause = cause
        if group.load is not None:
            group.load.review(cause)
        self.job.resume_soon()
        self.job.report_progress(copy, cause)
        return True

    def resumes(self, copy: Copy[Run]) -> None:
        run, replicas = copy.run, _groups(copy)
        if run is None or replicas.count == len(replicas.groups):
            return
        out = replicas.out()
        if copy.down:
            self._refill(copy, replicas)
        whole = [it for it in out if it.standing is OUT and not it.absent]
        for group in whole:
            self._load(copy, run, group)
        if whole:  # those that lack nothing say so at this instant, and rejoin with the others
            self.job.resume_soon()
            return
        loaded = [it for it in out if it.standing is LOADED and not it.absent]
        # No group rejoins a run that does not advance, as it hangs or a fault is not known yet.
        if loaded and run.pause is None and not self.job.parts.doubts(copy):
            self._rejoin(copy, run, loaded)

    def _refill(self, copy: Copy[Run], replicas: Groups) -> None:
        """Have the DOWN members of replicas that have dropped out replaced by workers at hand, as
        far as there are any, the lowest first. Members whose faults are not known yet are left
        out."""
        down = sorted(copy.down.difference(self.job.parts.hidden(copy)))
        waiting = [worker for worker in down if replicas.of(worker).out]
        groups = {worker: replicas.of(worker) for worker in waiting}
        for worker, cause in self.job.parts.substitute(copy, waiting).items():
            groups[worker].cause = cause

    def replaced(self, copy: Copy[Run], worker: int, other: int) -> None:
        _groups(copy).replace(worker, other)

    def _load(self, copy: Copy[Run], run: Run, group: Group) -> None:
        """Have the members of a replica that has dropped out, all of which are UP, fetch from the
        master what they lack, if there is one, and then load the present state."""
        if self.job.needs is not None:
            group.standing, group.lacking = LOADING, set(group.members)
            self.job.stage_in(copy, True, group.cause, group.members)
        else:
            self._load_state(copy, run, group, group.cause)

    def _load_state(self, copy: Copy[Run], run: Run, group: Group, cause: int) -> None:
        """Begin to load the present state into a replica from shared storage: its members' part of
        a state's bytes. Without such storage the replica counts as loaded at once. `cause` is the
        number of the event that leads to it."""
        whole = cast(StorageClient | None, run.client)
        if whole is None or not whole.size:
            self._loaded(group, cause)
            return
        client = whole.of_group(group.number, len(_groups(copy).groups))
        group.standing, group.cause = LOADING, cause
        group.load = GroupLoad(
            GroupLoaded(copy.number, run.number, group.number),
            *(run.actor, copy, run.number, group, client),
        )
        group.load.start(group.cause)

    @handles(GroupBandwidthSet, during=AT_WORK)
    def set_bandwidth(self, message: GroupBandwidthSet, cause: int) -> None:
        """Continue a replica's load at the bandwidth that the storage now gives it."""
        load = _groups(self.job.copies[message.copy]).groups[message.group].load
        if load is not None:
            load.client.share(load, message.bandwidth, cause)

    @handles(GroupLoaded, during=AT_WORK)
    def end_load(self, message: GroupLoaded, cause: int) -> None:
        """Record that a replica has loaded the whole present state from shared storage; it rejoins
        its run once it can."""
        group = _groups(self.job.copies[message.copy]).groups[message.group]
        assert group.load is not None
        group.load.cease(cause)
        group.load = None
        self._loaded(group, cause)

    def _loaded(self, group: Group, cause: int) -> None:
        group.standing, group.cause = LOADED, cause
        self.job.resume_soon()

    def _rejoin(self, copy: Copy[Run], run: Run, groups: Sequence[Group]) -> None:
        """Let these replicas of the copy, which have loaded the state and whose members are all UP,
        rejoin the run together. The run pauses first if rejoining takes time."""
        rules, cause = _groups(copy).rules, max(group.cause for group in groups)
        for group in groups:
            group.standing = REJOINING
        cause = run.standstill.stop(PAUSES, cause)
        if rules.rejoin:
            cause = self._pause(copy, run, rules.rejoin, self._named(groups), cause)
        else:
            cause = self._go_on(copy, run, cause)
        self.job.report_progress(copy, cause)


def _groups(copy: Copy[Run]) -> Groups:
    return cast(Groups, copy.division)
