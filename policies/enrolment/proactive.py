"""Implements the proactive heuristics C-H: they replace the running configuration where criterion C
prefers the choice of the passive heuristic H (volatile13, section VI.B).

H would be computed from scratch in every slot; here only the part that changed workers affect is
recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import define, field, frozen
from numpy.random import Generator

from policies.enrolment.passive import Incremental
from policies.enrolment.tree import Assignment, Criterion, Load, Tree, bar
from policies.interface import Configuration, Enrolment, EnrolmentView, Reason, RunningView, Wake
from policies.maths.markov import workers_of
from policies.maths.tolerance import SAME


@frozen
class FromScratch:
    """The present instant as a passive heuristic would see it if no task were allocated to any
    worker (volatile13, section VI.B): only complete programs count as held, data and parts of
    messages do not."""

    reason = Reason.START
    running = None

    enrolment: Enrolment
    elapsed: int
    up: int
    programmed: int

    @classmethod
    def of(cls, view: EnrolmentView) -> FromScratch:
        return cls(view.enrolment, view.elapsed, view.up, view.programmed)

    def missing(self, worker: int, tasks: int) -> float:
        """Return the slots of communication that `worker` needs for `tasks` tasks: the program,
        unless it holds it, and the data of all these tasks."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + tasks * self.enrolment.data


Step = tuple[Assignment, Load, float, Assignment]
"""One task of the last walk: the assignment before, the load added, the score that a rival would
have to approach, the assignment after.

It is a plain tuple because one is made for nearly every new set.
"""


@define(eq=False)
class Walk:
    """Remembers the tasks that a greedy heuristic assigned last, one by one, and the instant's
    workers. The heuristic's criterion does not depend on the time.

    A worker that left, arrived or received the program changes the walk from the first task that it
    had or would now get; the earlier steps stay. No answer depends on earlier calls.
    """

    tree: Tree
    up: int = 0
    programmed: int = 0
    steps: list[Step] = field(factory=list)

    def again(self, fresh: FromScratch) -> Assignment | None:
        """Remove the steps that the heuristic would take differently at the instant `fresh`, from
        the first such step on. Return the assignment of all tasks if the walk is still whole, else
        None."""
        del self.steps[self._unaffected(fresh) :]
        self.up, self.programmed = fresh.up, fresh.programmed
        return self.steps[-1][3] if len(self.steps) == fresh.enrolment.tasks else None

    def on(self, fresh: FromScratch, hopeless: Callable[[Assignment], bool]) -> Assignment | None:
        """Take the steps that are missing after `again`, for the same `fresh`, and return the
        assignment of all tasks.

        Returns None where too few workers are UP, or where the walk reaches an assignment for which
        `hopeless` returns True; the caller guarantees that then all assignments which continue it
        are hopeless too.
        """
        if self.steps and hopeless(self.steps[-1][3]):
            return None
        enrolment, up = fresh.enrolment, workers_of(fresh.up)
        if sum([enrolment.bounds[worker] for worker in up]) < enrolment.tasks:
            return None
        return self._go_on(fresh, up, hopeless)

    def _unaffected(self, fresh: FromScratch) -> int:
        """Return how many of the last walk's first steps would be taken again."""
        # The program matters only for workers that are UP; others can get no task.
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
        self, fresh: FromScratch, up: Sequence[int], hopeless: Callable[[Assignment], bool]
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
            # Rivals within SAME of this score are left to the greedy itself, which breaks ties.
            self.steps.append((before, load, score - SAME * (1.0 + abs(score)), chosen))
            if hopeless(chosen):
                return None
            tasks = chosen.tasks[worker]
            if tasks < bounds[worker]:
                loads[worker] = (worker, fresh.missing(worker, tasks + 1))
            else:
                del loads[worker]
        return chosen


Value = tuple[float, float]
"""Value of a configuration: (ln P, E in slots)."""


@frozen
class Proactive:
    """Calls the passive heuristic again from scratch, and replaces the running configuration by its
    answer if the criterion says that this is better (volatile13, section VI.B). Without a running
    configuration it answers as the passive heuristic.

    The running configuration is valued by the communication and computation that it still needs,
    with its RECLAIMED members counted as UP. It stays at a tie, and where the answer is the same
    allocation.
    """

    criterion: Criterion
    passive: Incremental

    @property
    def wake(self) -> Wake:
        """Return when the policy has to be called: ON_CHANGE if neither the criterion nor the
        heuristic depends on the time, else EVERY_SLOT.

        Between two changes the running configuration only comes closer to its end. So P, E and AY
        only get better for it, and a passive heuristic that does not depend on the time repeats its
        answer: it will not win later. The yields of both fall with time, at different rates.
        """
        timeless = self.criterion is not Criterion.Y and self.passive.timeless
        return Wake.ON_CHANGE if timeless else Wake.EVERY_SLOT

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        running = view.running
        if running is None:
            return self.passive(view, rng)
        fresh = FromScratch.of(view)
        if self.passive.timeless:
            return self._walked(view, running, fresh)
        chosen = self.passive(fresh, rng)
        if chosen is None or chosen == running.configuration:
            return None
        return (
            chosen if self._score(_begun(fresh, chosen), view) > self._kept(view, running) else None
        )

    def _walked(
        self, view: EnrolmentView, running: RunningView, fresh: FromScratch
    ) -> Configuration | None:
        """Decide as `__call__` does, by repeating the heuristic's last walk from the first step
        that changes. Return the configuration to change to, or None to keep the running one.

        The walk ends as soon as it can lead to no change of the configuration, which makes Y-IE 1.2
        times as fast.
        """
        walk = self._walk(view.enrolment)
        whole = walk.again(fresh)
        if whole is not None and whole.configuration() == running.configuration:
            return None
        kept = self._kept(view, running)
        whole = whole or walk.on(fresh, self._hopeless(view, walk.tree, kept))
        if whole is None or whole.configuration() == running.configuration:
            return None
        better = self._score(walk.tree.value(whole), view) > kept
        return whole.configuration() if better else None

    def _walk(self, enrolment: Enrolment) -> Walk:
        """Return the last walk of the passive heuristic for this enrolment, which holds no steps at
        first. It lives as long as the enrolment's belief."""
        return enrolment.belief.recall(
            (Walk, self.passive.criterion, enrolment), lambda: Walk(self.passive.tree(enrolment))
        )

    def _hopeless(
        self, view: EnrolmentView, tree: Tree, kept: float
    ) -> Callable[[Assignment], bool]:
        """Return a function that says of an assignment of some tasks whether no assignment of all
        tasks that continues it can reach the score `kept`, rounding included."""
        score, elapsed, enough = self.criterion.score, view.elapsed, kept - SAME * (1 + abs(kept))
        return lambda part: score(*tree.ceiling(part), elapsed) < enough

    def _kept(self, view: EnrolmentView, running: RunningView) -> float:
        """Return the score that a candidate must exceed to replace the running configuration: that
        configuration's own, plus what rounding may add."""
        return bar(self._score(_left(view.enrolment, running), view))

    def _score(self, value: Value, view: EnrolmentView) -> float:
        return self.criterion.score(*value, view.elapsed)


def _begun(fresh: FromScratch, configuration: Configuration) -> Value:
    """Return the value (ln P, E in slots) of a configuration that would begin now, from scratch."""
    enrolment, members = fresh.enrolment, configuration.members
    needs = [(worker, fresh.missing(worker, tasks)) for worker, tasks in members]
    work = max(tasks * enrolment.speeds[worker] for worker, tasks in members)
    return enrolment.belief.estimate(needs, work, enrolment.channels)


def _left(enrolment: Enrolment, running: RunningView) -> Value:
    """Return the value (ln P, E in slots) of the running configuration for the communication and
    computation that it still has to do."""
    members = (worker for worker, _ in running.configuration.members)
    needs = zip(members, running.missing(), strict=True)
    return enrolment.belief.estimate(needs, running.work_left, enrolment.channels)
