"""Conservative backfilling: a promise to every job when it arrives (Mu'alem and Feitelson 2001)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from math import inf

from attrs import define, field, frozen

from policies.interface.queue import BatchView, Decision, Queued, Reservation
from policies.queue.filling import Filling, Kind, run_of_twins
from policies.queue.outlook import Outlook

Due = tuple[float, tuple[float, int], Queued]
"""(start, key, who)."""


@define(eq=False)
class Plan:
    """Where every waiting job has its place; changed from decision to decision."""

    outlook: Outlook
    due: list[Due] = field(factory=list)
    """Sorted."""
    promised: dict[int, float] = field(factory=dict)
    """Job index -> the start that it was promised; inf: none, as nobody knows when workers come
    back."""
    news: list[Reservation] = field(factory=list)
    """Promises of this decision that are new, or are put off."""

    def follow(self, view: BatchView) -> list[Queued] | None:
        """Take in what has happened since the last decision; who starts now.

        None: a run has outlived its estimate, or workers have changed. Nothing holds any more.
        """
        outlook, now = self.outlook, view.now
        if view.moved or outlook.overdue:
            return None
        outlook.advance(now)
        for end, _, processors, *_ in view.early:
            outlook.give(now, end, processors)
        begun = bisect_right(self.due, now, key=_start)
        starts = [waiting for _, _, waiting in self.due[:begun]]
        if outlook.free_now != view.free - sum(it.processors for it in starts):
            return None
        del self.due[:begun]
        return starts + self._compress() if view.early else starts

    def fill(self, jobs: Sequence[Queued]) -> list[Queued]:
        """Give each, in this order, the earliest place that is left; who starts now."""
        kinds = [(waiting.processors, waiting.held) for waiting in jobs]
        filling, at, starts = Filling(self.outlook), 0, list[Queued]()
        while at < len(jobs):
            twins = run_of_twins(kinds, at, len(jobs)) - at
            step, count = filling.reserve(kinds[at], twins, twins)
            given, at = jobs[at : at + count], at + count
            if step == 0:
                starts.extend(given)
                continue
            # What is overdue is not there yet: a place at this instant, then, but no start.
            time = self.outlook.times[step]
            for waiting in given:
                insort(self.due, (time, waiting.key, waiting))
                self._promise(waiting, time)
        return starts

    def _promise(self, waiting: Queued, start: float) -> None:
        if start > self.promised.get(waiting.key[1], -inf):
            self.promised[waiting.key[1]] = start
            if start < inf:
                self.news.append(Reservation(start, waiting))

    def _compress(self) -> list[Queued]:
        """In the order of their starts, all take the earliest place that is left; who starts now.

        Who starts later than a job does not stand in its way: where it would overlap with them, it
        has its own place already. So nobody has to leave his place before it is known that there
        is a sooner one; and where one of a kind found none, its twins need not look again.
        """
        due, outlook, at, starts = self.due, self.outlook, 0, list[Queued]()
        swept: dict[Kind, float] = {}
        while at < len(due):
            start, _, first = due[at]
            kind = processors, held = first.processors, first.held
            found = outlook.sooner(processors, held, swept.get(kind, -inf), start)
            if found is None:
                swept[kind] = start
                at += 1
                continue
            step, room = found
            time, end = outlook.times[step], at + 1
            limit = min(len(due), at + room // processors)
            while end < limit and due[end][0] == start and _kind(due[end]) == kind:
                end += 1
            swept[kind] = time
            outlook.take(step, (end - at) * processors, held)
            outlook.give(start, start + held, (end - at) * processors)
            if step == 0:
                starts += [waiting for _, _, waiting in due[at:end]]
            due[at:end] = [(time, key, waiting) for _, key, waiting in due[at:end]]
            at = end
        due.sort()
        del due[: len(starts)]
        outlook.merge()
        return starts


def _start(due: Due) -> float:
    return due[0]


def _kind(due: Due) -> Kind:
    return due[2].processors, due[2].held


@frozen
class Conservative:
    """Every job is promised a start when it arrives: the earliest that delays no promise. Nothing
    puts it off but what nobody could foresee: a run that outlives its estimate, a processor that
    goes away. When a run ends early the schedule is compressed: in the order of their starts, all
    jobs take the earliest place anew, which is never later than the one that they had.
    """

    def __call__(self, view: BatchView) -> Decision:
        """The queue's order says who of one instant's arrivals asks first."""
        plan = view.memory if isinstance(view.memory, Plan) else Plan(_outlook(view))
        plan.news = []
        starts = plan.follow(view)
        if starts is None:
            due = plan.due
            plan = Plan(_outlook(view), promised=plan.promised)
            starts = plan.fill([waiting for _, _, waiting in due])
        if len(view.queue) > len(plan.due) + len(starts):
            known = {it.key[1] for _, _, it in plan.due}.union(it.key[1] for it in starts)
            starts += plan.fill([it for it in view.queue if it.key[1] not in known])
        for waiting in starts:
            plan.promised.pop(waiting.key[1], None)
        return Decision(starts, memory=plan, promised=plan.news)


def _outlook(view: BatchView) -> Outlook:
    return Outlook.of(view.now, view.free, view.running)
