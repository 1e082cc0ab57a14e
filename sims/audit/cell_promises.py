"""Checks the reservations that a queue's policy makes where workers differ (rules.md, G4 to G6):
which jobs have one, and from which time on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf
from typing import Self

from attrs import define, field

from actors.events import ReservationMade
from sims.audit import cells
from sims.audit.cell_plans import CellPlan, Taken
from sims.audit.cells import CellKey
from sims.audit.facts import ExpectedCopy
from sims.audit.law import allowed, comes, same
from sims.audit.promises import ExpectedPromises, Made
from sims.audit.workers import UP, numbers


@define(eq=False)
class CellPromises(ExpectedPromises):
    """Checks the reservations in force after a decision against the rule of the queue's policy,
    where workers differ.

    EASY's are known: a job has the earliest place beside the runs under way, as those that start
    behind it do not delay it. So are those of R-LIST-m in a known order. Others are bounded from
    below.
    """

    _keys: list[CellKey] | None = field(init=False, default=None)
    _parts: dict[ExpectedCopy, Taken] = field(init=False, factory=dict)
    """Maps copies that have started to the workers that they hold."""

    @classmethod
    def beside(cls, it: ExpectedPromises) -> Self:
        """Return these checks in place of `it`, with which they share what is known of jobs."""
        about = it.w, it.rule, it.settings, it.widths
        return cls(*about, sizes=it.sizes, left=it.left, held=it.held, order=it.order)

    # --- notifications --------------------------------------------------------------------------

    def started(self, copy: ExpectedCopy, work: float, promise: ReservationMade | None) -> None:
        super().started(copy, work, promise)
        end, now = self.ends[copy], self.w.now
        members = set(numbers(copy.spans))
        begins = (
            a for a, _, them in self.w.windows if a > now and members.intersection(numbers(them))
        )
        if end is not None:
            self.ends[copy] = min([end, *begins])

    # --- after a decision -------------------------------------------------------------------------

    def review(self, waiting: int, there: Made, made: Collection[str], once: bool) -> None:
        if not self.rule.most or not (there or waiting):
            return
        plan = self._cells()
        if plan is None:
            return
        exact = not any(end is None for end in self.ends.values())
        if self.rule.remade:
            self._who(there, plan)
        for name in self._in_order(there if self.rule.remade else made):
            promise, job = there[name], self.w.jobs[name]
            held = self._held_by(job, promise)
            if held is None:
                exact = False
                continue
            start, taken = plan.place(job, promise.processors, held)
            why = f"{name} can start at {{}}, not at {promise.start!r}"
            told = max(promise.start, self.w.now)
            due = start <= told or same(start, told)
            allowed(due, why, f"{start!r} at the earliest")
            if not self.rule.remade:
                continue
            if exact and (self.rule.most == 1 or self._known):
                allowed(same(start, told), why, repr(start))
                plan.promised.append((start, start + held, taken))

    def _cells(self) -> CellPlan | None:
        """Return the workers that are free now, after all starts of this instant, and those that
        are expected later. None where jobs hold workers ready, of which the log does not say how
        many later starts get."""
        w = self.w
        if any(job.asked.ready for job in w.jobs.values()):
            return None
        if self._keys is None:
            self._keys = cells.cells_of(w)
        plan = CellPlan(w, self._keys, {})
        plan.free = plan.counted(numbers(w.free.spans))
        for copy, end in self.ends.items():
            if copy in self.starts and copy.job.copies[0] is not copy:
                # Further copies come after all else that was decided.
                for key, count in plan.counted((*copy.members, *copy.rest)).items():
                    plan.free[key] = plan.free.get(key, 0) + count
                continue
            if copy not in self._parts or w.replaces:  # a new member may be of another cell
                self._parts[copy] = plan.counted((*copy.members, *copy.rest))
            # The end is not known of those without one: they may be over at any time.
            plan.later.append((w.now if end is None else max(end, w.now), self._parts[copy]))
        for copy in [it for it in self._parts if it not in self.ends]:
            del self._parts[copy]
        plan.later.extend(self._returns(plan))
        return plan

    def _returns(self, plan: CellPlan) -> Iterator[tuple[float, Taken]]:
        """Yield times at which workers come back that are not UP and that no copy holds, with those
        workers; a node that is taken whole is back when all its workers are."""
        w, now = self.w, self.w.now
        away: dict[int, float] = {}
        for n, it in w.workers.items():
            if (
                n >= w.able
                or it.state is UP
                or n in w.holdings.resting
                or w.holdings.holder(n) is not None
            ):
                continue
            covers = [
                over
                for start, over, them in w.windows
                if start <= now < over and n in numbers(them)
            ]
            away[n] = max(covers) if covers else inf if it.until is None else max(it.until, now)
        nodes: dict[int, float] = {}
        for n, back in away.items():
            if not plan.deals_in_nodes(plan.keys[n]):
                yield back, plan.counted([n])
            else:
                node = n // w.platform.node
                nodes[node] = max(back, nodes.get(node, -inf))
        for node, back in nodes.items():
            yield back, plan.counted(cells.node_of(w, node))

    @property
    def _known(self) -> bool:
        """Whether the order of the queue is known."""
        return self.order is not None and self.order.known

    def _in_order(self, names: Collection[str]) -> list[str]:
        """Return these waiting jobs in the queue's order, if it is known; else as they are."""
        order = self.order
        if order is None or not order.known:
            return list(names)
        found: list[str] = []
        for name in names:
            job = self.w.jobs[name]
            place = next(
                (k for k, it in enumerate(found) if order.ahead(job, self.w.jobs[it])),
                len(found),
            )
            found.insert(place, name)
        return found

    def _who(self, there: Made, plan: CellPlan) -> None:
        """Check which jobs have reservations: not more than m that share workers; and, where all
        workers are to come back, each other job that waits shares workers with m of them and is
        ahead of none of these."""
        reserved = [self.w.jobs[name] for name in there]
        for job in reserved:
            near = sum(cells.share(job, it) for it in reserved)
            disjoint = self.rule.reading == "easy" and self.rule.most == 1
            allowed(not disjoint or near == 1, "{} and others have one", job.name)
        endless = any(time == inf for time, _ in plan.later)
        for name in self.queued():
            job = self.w.jobs[name]
            if name in there:
                continue
            near_ones = [it for it in reserved if cells.share(job, it)]
            for it in near_ones:
                ahead = self._known and self.order is not None and self.order.ahead(job, it)
                allowed(endless or not ahead, "{} is ahead of {}", name, it.name)
            if self.rule.reading == "easy" and not endless:
                comes(near_ones, "{} must get a reservation", name)
