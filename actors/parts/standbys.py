"""Standbys: workers that a copy holds ready to take the places of members that go DOWN (rules.md,
P12).

A standby's state matters to no run. One that goes DOWN is released at once, as a fault of it needs
no detection. Members are replaced only when all changes of an instant are known: a standby that
goes DOWN at the same instant replaces nobody.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.events import (
    MemberReplaced,
    Outcome,
    StandbyJoined,
    StandbyLost,
    StandbysHeld,
)
from actors.intervals import members, text
from actors.job import AT_WORK
from actors.messages import (
    MemberReady,
    MemberSpeedChanged,
    ReplaceMember,
    StartCopy,
    WorkerLeft,
)
from actors.parts.part import Host, MemberMessage, Part
from actors.parts.scheduler_part import SchedulerPart
from actors.run import Run
from actors.runtime import Actor, handles, message
from actors.worker_messages import AwaitRun, StageIn
from policies.availability import WorkerState

UP, DOWN = WorkerState.UP, WorkerState.DOWN
NONE: dict[int, int] = {}


@message
class StandbyJoins:
    """Scheduler to job: this worker is a standby of the copy from now on: the copy holds it ready
    to replace a member that goes DOWN."""

    copy: int
    worker: int
    speeds: Sequence[float] = ()
    """Speed of the worker as only item; empty where all speeds are 1."""
    addresses: Sequence[Actor] = ()


@define(eq=False)
class Ready:
    """The standbys of one copy."""

    speeds: dict[int, float] = field(factory=dict)
    """Maps the standbys to their speeds."""
    numbers: list[int] = field(init=False)
    """The standbys, ascending."""
    away: set[int] = field(init=False, factory=set)
    """Standbys that are RECLAIMED."""
    lost: set[int] = field(init=False, factory=set)
    """Workers that went DOWN as standbys, and that the copy then released: messages about them may
    still come at the same instant."""

    def __attrs_post_init__(self) -> None:
        self.numbers = sorted(self.speeds)

    @property
    def able(self) -> int:
        """Number of standbys that are UP."""
        return len(self.speeds) - len(self.away)

    def add(self, worker: int, speed: float) -> None:
        """Add a standby, which has this speed."""
        self.speeds[worker] = speed
        insort(self.numbers, worker)
        self.lost.discard(worker)

    def drop(self, worker: int) -> float:
        """Release a standby; return its speed."""
        self.numbers.remove(worker)
        self.away.discard(worker)
        return self.speeds.pop(worker)

    def up(self, count: int) -> list[int]:
        """Return the lowest standbys that are UP, ascending; no more than `count`."""
        if not self.away:
            return self.numbers[:count]
        return [worker for worker in self.numbers if worker not in self.away][:count]


@define(eq=False)
class Standbys(Part):
    """Holds the standbys of a job's copies, and gives them the places of members that are DOWN."""

    keeps: ClassVar[bool] = True
    _of: dict[int, Ready] = field(init=False, factory=dict)
    _newcomers: dict[int, dict[int, int]] = field(init=False, factory=dict)
    """Maps each copy to its standbys that have become members at this instant, and that no run has
    asked to fetch since, each with the number of the event that logged it."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        return bool(job.described.held_ready)

    def placed(self, copy: Copy[Run], message: StartCopy) -> None:
        ready = message.ready
        assert ready is not None
        held = members(ready.numbers)
        speeds = ready.speeds or (1,) * len(held)
        self._of[copy.number] = Ready(dict(zip(held, speeds, strict=True)))
        copy.know(held, ready.addresses)

    def started(self, copy: Copy[Run], message: StartCopy, cause: int) -> None:
        if message.ready is not None and message.ready.numbers:
            named, job = text(message.ready.numbers), self.job
            cause = job.record(cause, StandbysHeld, job.name, copy.last, named)
            self._stage_in(copy, tuple(self._of[copy.number].numbers), cause)

    def _stage_in(self, copy: Copy[Run], workers: Sequence[int], cause: int) -> None:
        """Have standbys fetch the job's program from the master, if there is a master and the
        program has a size. `cause` is the number of the event that leads to it."""
        needs = self.job.needs
        if needs is not None and needs.program:
            stage_in = StageIn(copy.job, copy.number, copy.last, needs, 0, False, standby=True)
            for worker in workers:
                copy.send(worker, stage_in, cause)

    @handles(StandbyJoins, during=AT_WORK)
    def join(self, message: StandbyJoins, cause: int) -> None:
        """Record that a free worker is a standby of a copy from now on."""
        job, copy, worker = self.job, self.job.copies[message.copy], message.worker
        self._of[copy.number].add(worker, message.speeds[0] if message.speeds else 1)
        copy.know((worker,), message.addresses)
        joined = job.record(cause, StandbyJoined, job.name, copy.last, worker)
        self._stage_in(copy, (worker,), joined)
        if copy.run is None or copy.division is not None:  # it may wait for its replacement
            job.resume_soon()

    def takes(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        ready, worker = self._of[copy.number], message.worker
        if worker not in ready.speeds:
            return worker in ready.lost
        if isinstance(message, MemberSpeedChanged):
            ready.speeds[worker] = message.speed
        elif not isinstance(message, MemberReady):
            self._change(copy, ready, worker, message.state, cause)
        return True

    def _change(
        self, copy: Copy[Run], ready: Ready, worker: int, state: WorkerState, cause: int
    ) -> None:
        """Act on a standby's change of state. One that goes DOWN is released, which is logged. One
        that is RECLAIMED replaces nobody until it is UP again. One that is UP can replace a member
        that is DOWN later in this instant."""
        (ready.away.discard if state is UP else ready.away.add)(worker)
        if state is not DOWN:
            self.job.resume_soon()
            return
        ready.drop(worker)
        ready.lost.add(worker)
        cause = self.job.record(cause, StandbyLost, self.job.name, copy.last, worker)
        self.job.send(self.job.scheduler, WorkerLeft(copy.number, worker), cause)

    def known(self, copy: Copy[Run], worker: int) -> None:
        if copy.run is None:
            self.job.resume_soon()

    def retired(self, copy: Copy[Run], worker: int) -> bool:
        """Return whether the worker is a standby, which is lost already, or a member of a copy that
        keeps none without a standby, or whose place a standby takes at this instant."""
        ready, protection = self._of[copy.number], self.job.protection
        if worker in ready.speeds or protection.rules.replace_after is not None:
            return worker in ready.speeds
        return not protection.keeps or worker in self._waiting(copy)[: ready.able]

    def resumes(self, copy: Copy[Run]) -> None:
        """Replace each member that is DOWN, of a copy without a run, by a standby that is UP, the
        lowest first. If there are too few standbys, end the copy; under buddies use those that
        there are, and let the copy wait for its other members."""
        if copy.run is not None or not copy.down:
            return
        job, down = self.job, self._waiting(copy)
        able = self._of[copy.number].able
        if len(down) > able and not job.protection.keeps:
            _, fall = copy.went_down[down[able]]
            job.drop(copy, copy.outcome or Outcome.LOST, fall, early=True)
            return
        for cause in self.substitute(copy, down).values():
            copy.cause = cause

    def _waiting(self, copy: Copy[Run]) -> list[int]:
        """Return the members of a copy that are known to be DOWN, in the order in which standbys
        take their places."""
        return sorted(copy.down.difference(self.job.parts.hidden(copy)))

    def substitute(self, copy: Copy[Run], workers: Sequence[int]) -> Mapping[int, int]:
        ready = self._of[copy.number].up(len(workers))
        pairs = zip(workers, ready, strict=False)
        return {worker: self._promote(copy, worker, other) for worker, other in pairs}

    def _promote(self, copy: Copy[Run], worker: int, other: int) -> int:
        """Give the place of `worker`, a member that is DOWN, to the standby `other`, and let the
        scheduler know that the copy no longer holds `worker`. Return the number (seq) of the event
        that logs it."""
        (_, fall), ready, job = copy.went_down[worker], self._of[copy.number], self.job
        speed = ready.drop(other)
        job.replace(copy, ReplaceMember(copy.number, worker, other, copy.text, (speed,)))
        cause = job.record(fall, MemberReplaced, job.name, copy.last, worker, other)
        self._newcomers.setdefault(copy.number, {})[other] = cause
        job.send(job.scheduler, WorkerLeft(copy.number, worker), cause)
        return cause

    def replaced(self, copy: Copy[Run], worker: int, other: int) -> None:
        self._of[copy.number].lost.discard(other)
        if copy.text:  # empty where no log names the workers
            copy.text = copy.named()  # the scheduler's text names standbys, too

    def staged_in(self, copy: Copy[Run], workers: Sequence[int]) -> None:
        newcomers = self._newcomers.get(copy.number, NONE)
        for worker in workers if newcomers else ():
            newcomers.pop(worker, None)

    def settled(self, copy: Copy[Run]) -> None:
        """Have each standby that became a member at this instant, and that no run has asked to
        fetch since, stop fetching until one does."""
        if self._newcomers:
            for worker, cause in self._newcomers.pop(copy.number, {}).items():
                copy.send(worker, AwaitRun(copy.number), cause)

    def left(self, copy: Copy[Run], cause: int) -> None:
        self._newcomers.pop(copy.number, None)
        copy.dismiss(self._of.pop(copy.number).numbers, cause, keep=False)


@define(eq=False)
class StandbyIntake(SchedulerPart):
    """Makes free workers whose downtime or repair has ended standbys of copies that have fewer than
    they can (rules.md, P12)."""

    _members: dict[int, int] = field(init=False, factory=dict)
    """Maps each copy that may hold standbys to the number of its members, standbys not counted."""
    _repaired: dict[int, int] = field(init=False, factory=dict)
    """Maps each worker whose downtime or repair ended at this instant to the number of the event
    with which it came UP."""

    def holds_ready(self, copy: int, count: int) -> None:
        self._members[copy] = count

    def ended(self, copy: int, cause: int) -> None:
        self._members.pop(copy, None)

    @property
    def calls(self) -> bool:
        return bool(self._repaired)

    def came_up(self, worker: int, repaired: bool, cause: int) -> None:
        if repaired and self._members:
            self._repaired[worker] = cause

    def settle(self) -> bool:
        """Make each free worker whose downtime or repair ended at this instant a standby of the
        first copy, by job and copy number, that may have it and has fewer standbys than its job can
        have. Return whether there is such a worker."""
        scheduler, joined = self.scheduler, False
        held, pool = scheduler.pool.held, scheduler.pool
        by_job = list(self._members)
        if len(by_job) > 1:
            by_job.sort(key=lambda copy: (held[copy][0], copy))
        for worker, cause in sorted(self._repaired.items()):
            if worker in pool.away or worker >= pool.size or pool.holder(worker) >= 0:
                continue
            for copy in by_job:
                if self._has_room(copy) and scheduler.may_have(copy, worker):
                    self._join(copy, worker, cause)
                    scheduler.holds(copy)
                    joined = True
                    break
        self._repaired.clear()
        return joined

    def _has_room(self, copy: int) -> bool:
        index, processors, _ = self.scheduler.pool.held[copy]
        most = self.scheduler.described[index].held_ready
        return processors - self._members[copy] < most

    def _join(self, copy: int, worker: int, cause: int) -> None:
        dispatcher, pool = self.scheduler.dispatcher, self.scheduler.pool
        index, _, _ = pool.held[copy]
        pool.join(copy, worker)
        joins = StandbyJoins(copy, worker, *dispatcher.about((worker,)))
        self.scheduler.send(dispatcher.jobs[index], joins, cause)
