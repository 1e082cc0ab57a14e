"""The greedy heuristic from scratch in every slot, recomputed only where workers have changed."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field, frozen

from policies.enrolment.tree import Assignment, Load, Tree
from policies.interface import Enrolment, EnrolmentView, Reason
from policies.maths.markov import workers_of


@frozen
class FromScratch:
    """The same instant as if no task were allocated to any worker (volatile13, section VI.B).

    Complete programs count; data and parts of messages do not.
    """

    enrolment: Enrolment
    elapsed: int
    up: int
    programmed: int

    @classmethod
    def of(cls, view: EnrolmentView) -> FromScratch:
        return cls(view.enrolment, view.elapsed, view.up, view.programmed)

    @property
    def reason(self) -> Reason:
        return Reason.START

    @property
    def running(self) -> None:
        return None

    def missing(self, worker: int, tasks: int) -> int:
        """Slots to send the program, unless it is there, and the data of `tasks` tasks."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + tasks * self.enrolment.data


CLOSE = 1e-9
"""Scores nearer than this (relative) are compared by the greedy itself, which knows its ties."""


Step = tuple[Assignment, Load, float, Assignment]
"""One task of the last walk: the assignment before, who got it, the score that a rival would have
to come near, the assignment after. A plain tuple: one is made for nearly every new set."""


@define(eq=False)
class Walk:
    """The last walk of a greedy whose criterion does not look at the time.

    A worker that left, or came, or received the program changes the walk from the first task that
    it had, or would have: the steps before stay. No answer depends on what was asked before.
    """

    tree: Tree
    up: int = 0
    programmed: int = 0
    steps: list[Step] = field(factory=list)

    def again(self, fresh: FromScratch) -> Assignment | None:
        """Takes back the steps that would be others now; the assignment of all tasks if none."""
        del self.steps[self._unaffected(fresh) :]
        self.up, self.programmed = fresh.up, fresh.programmed
        return self.steps[-1][3] if len(self.steps) == fresh.enrolment.tasks else None

    def on(self, fresh: FromScratch, hopeless: Callable[[Assignment], bool]) -> Assignment | None:
        """The assignment of all tasks, after `again` at the same instant.

        None where too few workers are UP, or where the walk comes to a `hopeless` assignment and
        ends: what follows one must be hopeless too.
        """
        if self.steps and hopeless(self.steps[-1][3]):
            return None
        enrolment, up = fresh.enrolment, workers_of(fresh.up)
        if sum([enrolment.bounds[worker] for worker in up]) < enrolment.tasks:
            return None
        return self._go_on(fresh, up, hopeless)

    def _unaffected(self, fresh: FromScratch) -> int:
        """How many of the last walk's steps would be taken again."""
        changed = (self.up ^ fresh.up) | ((self.programmed ^ fresh.programmed) & fresh.up)
        if not changed:
            return len(self.steps)
        rivals = [
            (worker, fresh.missing(worker, 1))
            for worker in workers_of(changed & fresh.up)
            if fresh.enrolment.bounds[worker] > 0
        ]
        could_reach = self.tree.could_reach
        for taken, (before, load, score, _) in enumerate(self.steps):
            if changed >> load[0] & 1:
                return taken
            for rival in rivals:
                if could_reach(before, rival, score):
                    return taken
        return len(self.steps)

    def _go_on(
        self, fresh: FromScratch, up: list[int], hopeless: Callable[[Assignment], bool]
    ) -> Assignment | None:
        bounds = fresh.enrolment.bounds
        chosen = self.steps[-1][3] if self.steps else self.tree.root()
        loads = {
            q: (q, fresh.missing(q, chosen.tasks.get(q, 0) + 1))
            for q in up
            if chosen.tasks.get(q, 0) < bounds[q]
        }
        while len(self.steps) < fresh.enrolment.tasks:
            before, load = chosen, self.tree.best(chosen, loads.values(), 0)
            chosen, worker = self.tree.add(before, load), load[0]
            score = self.tree.score(before, load)
            self.steps.append((before, load, score - CLOSE * (1.0 + abs(score)), chosen))
            if hopeless(chosen):
                return None
            tasks = chosen.tasks[worker]
            if tasks < bounds[worker]:
                loads[worker] = (worker, fresh.missing(worker, tasks + 1))
            else:
                del loads[worker]
        return chosen
