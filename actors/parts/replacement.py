"""Replacement: a member that has been DOWN for long enough gives its place to a free worker or a
spare (rules.md, P10).

The scheduler chooses the worker. Until then the copy keeps its other members. What has happened to
a member that is not known to be DOWN yet does not count: its job would not ask.
"""

from __future__ import annotations

from itertools import chain

from attrs import define, field

from actors.copy import Copy
from actors.events import MemberReplaced
from actors.job import AT_WORK
from actors.messages import ReplaceMember, Resume
from actors.parts.part import Host, Part
from actors.parts.scheduler_part import SchedulerPart
from actors.run import Run
from actors.runtime import NOTHING, Phase, handles, message

RESUME = Resume()


@message
class ReplacementDue:
    """A job tells itself that a member that went DOWN has now been away for as long as the
    protection's `replace_after` says, and is to be replaced (P10)."""

    copy: int
    worker: int
    since: float
    """Time at which the member went DOWN."""


@message
class ReplacementWanted:
    """Job to scheduler: a member of this copy has been away for long enough; give its place to
    another worker as soon as one is free. Until then I keep the other members."""

    copy: int
    worker: int


@define(eq=False)
class Replacement(Part):
    """Asks the scheduler for workers in the places of members that have been DOWN for
    `replace_after` of the protection."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        return job.protection.rules.replace_after is not None

    @property
    def _after(self) -> float:
        after = self.job.protection.rules.replace_after
        assert after is not None
        return after

    def down(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> None:
        since, _ = copy.went_down[worker]
        if since == self.job.now:
            due = ReplacementDue(copy.number, worker, since)
            self.job.at(since + self._after, due, cause, Phase.RUNS_RESUME)

    def known(self, copy: Copy[Run], worker: int) -> None:
        """Ask for a worker if the time passed before the member's fault was detected."""
        since, _ = copy.went_down[worker]
        if since < self.job.now:
            self.ask(ReplacementDue(copy.number, worker, since), NOTHING)

    @handles(ReplacementDue)
    def ask(self, message: ReplacementDue, _: int) -> None:
        """Ask the scheduler for a worker to replace the member that the message names. Nothing
        happens unless the member has been away since the time in the message, its fault is known,
        and `replace_after` has passed."""
        copy, worker = self.job.copies.get(message.copy), message.worker
        if copy is None:
            return
        since, fall = copy.went_down.get(worker, (-1, NOTHING))
        known = self.job.parts.hidden(copy).get(worker) != since  # a later fault does not matter
        if known and since == message.since and since + self._after <= self.job.due_by:
            self.job.send(self.job.scheduler, ReplacementWanted(copy.number, worker), fall)

    def retired(self, copy: Copy[Run], worker: int) -> bool:
        """Ask at once, without waiting for `replace_after`, for a worker in the place of a member
        that is DOWN for ever."""
        _, fall = copy.went_down[worker]
        self.job.send(self.job.scheduler, ReplacementWanted(copy.number, worker), fall)
        return True

    @handles(ReplaceMember, during=AT_WORK)
    def replace_member(self, message: ReplaceMember, cause: int) -> None:
        """Give a member's place to the worker that the scheduler has chosen."""
        job, copy = self.job, self.job.copies[message.copy]
        job.replace(copy, message)
        who = message.worker, message.replacement
        copy.cause = job.record(cause, MemberReplaced, job.name, copy.last, *who)
        job.report_progress(copy, copy.cause)


@define(eq=False)
class ReplacementChoice(SchedulerPart):
    """Chooses free workers and spares for members that their jobs want replaced, because they have
    been away for long enough."""

    _wanted: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """Maps each member that is to be replaced to its copy and the number of the event with which it
    went DOWN."""

    @handles(ReplacementWanted)
    def want(self, message: ReplacementWanted, cause: int) -> None:
        if message.worker in self.scheduler.pool.away:
            self._wanted[message.worker] = message.copy, cause
            self.scheduler.call(cause)

    @property
    def calls(self) -> bool:
        return bool(self._wanted)

    def came_up(self, worker: int, repaired: bool, cause: int) -> None:
        self._wanted.pop(worker, None)

    def settle(self) -> bool:
        """Replace the members that wait for it, the lowest first; those for which no worker is free
        go on waiting.

        Jobs start runs only after all replacements: of one job's runs the copy that was placed
        earlier has the lower number (R4).
        """
        scheduler, served = self.scheduler, dict[int, int]()
        pool, dispatcher = scheduler.pool, scheduler.dispatcher
        for worker, (copy, cause) in sorted(self._wanted.items()):
            held = pool.holder(worker) == copy
            other = self._choice(copy) if held else None
            if held and other is None:
                continue
            del self._wanted[worker]
            if other is not None:
                if dispatcher.tracker is not None:  # the copy may have waited for a worker
                    cause = dispatcher.tracker.freed_last(other, cause)
                served[pool.held[copy][0]] = cause
                self._replace(copy, worker, other, cause)
                scheduler.holds(copy)
        for index, cause in served.items():
            scheduler.send(dispatcher.jobs[index], RESUME, cause)
        return False

    def _choice(self, copy: int) -> int | None:
        """Return the worker that is to take the place of a member of this copy: the lowest spare
        that is UP and free, else the lowest other worker of its partition that is; None if there is
        none. Workers that are promised are left out, because another copy still computes on
        them."""
        pool, promised = self.scheduler.pool, self.scheduler.dispatcher.promised
        size = pool.size
        for worker in chain(range(size, size + pool.spares), range(size if pool.free else 0)):
            free = pool.holder(worker) < 0 and worker not in promised
            if not free or worker in pool.away:
                continue
            if worker >= size or self.scheduler.may_have(copy, worker):
                return worker
        return None

    def _replace(self, copy: int, worker: int, other: int, cause: int) -> None:
        dispatcher = self.scheduler.dispatcher
        index, _, _ = self.scheduler.pool.held[copy]
        numbers = self.scheduler.pool.replace(copy, worker, other)
        named, about = dispatcher.present(numbers), dispatcher.about((other,))
        message = ReplaceMember(copy, worker, other, named, *about)
        self.scheduler.send(dispatcher.jobs[index], message, cause)
