"""The greedy assignments that were tried before, remembered with their estimates (002, VI.A)."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, log

from attrs import define, field

from policies.enrolment.criteria import Criterion
from policies.interface import Configuration, Enrolment

Load = tuple[int, int]
"""(worker, slots of communication that it would lack with one task more)."""

OPTIONS_KEPT = 1 << 20
"""Estimates remembered at once, about 300 MB; all are forgotten when there are more."""


@define(eq=False)
class Option:
    """One task more for one worker: what that would be worth."""

    log_success: float
    """ln P of the assignment that it leads to."""
    duration: float
    """E of that assignment, slots."""
    score: float
    """By the criterion, at t = 0."""
    after: Assignment | None = None
    """That assignment, once it was chosen."""


@define(eq=False)
class Assignment:
    """Some tasks, assigned in some order."""

    needs: dict[int, int]
    """Slots of communication that each member lacks, by worker."""
    tasks: dict[int, int]
    """Tasks of each member, by worker."""
    work: int
    """W, slots of computation."""
    options: dict[Load, Option] = field(factory=dict, init=False)
    """Every way to add a task that was ever looked at."""
    _configuration: Configuration | None = field(default=None, init=False)

    def configuration(self) -> Configuration:
        """The assignment as a decision."""
        if self._configuration is None:
            self._configuration = Configuration(tuple(sorted(self.tasks.items())))
        return self._configuration


@define(eq=False)
class Tree:
    """Every assignment that one criterion tried for one enrolment, by the order of its tasks.

    Few workers change between two decisions, so that nearly every step was taken before: it
    costs one look-up per UP worker instead of one estimate.
    """

    criterion: Criterion
    enrolment: Enrolment
    _root: Assignment = field(init=False, factory=lambda: Assignment({}, {}, 0))
    _kept: int = field(default=0, init=False)

    def root(self) -> Assignment:
        """The empty assignment."""
        if self._kept > OPTIONS_KEPT:
            self._root, self._kept = Assignment({}, {}, 0), 0
        return self._root

    def best(self, before: Assignment, loads: Iterable[Load], elapsed: int) -> Load:
        """The best task to add, the first of equals; `loads` is not empty."""
        options, yields = before.options, self.criterion is Criterion.Y
        top, chosen = -inf, None
        for load in loads:
            option = options.get(load) or self._consider(before, load)
            score = option.score
            if yields:
                score = option.log_success - log(elapsed + option.duration)
            if chosen is None or score > top:
                top, chosen = score, load
        if chosen is None:
            raise ValueError("There is no worker left to assign a task to.")
        return chosen

    def add(self, before: Assignment, load: Load) -> Assignment:
        """The assignment after one task more, which `best` chose."""
        option, (worker, need) = before.options[load], load
        if option.after is None:
            option.after = Assignment(
                before.needs | {worker: need},
                before.tasks | {worker: before.tasks.get(worker, 0) + 1},
                self._work(before, worker),
            )
        return option.after

    def _consider(self, before: Assignment, load: Load) -> Option:
        worker, need = load
        estimate = self.enrolment.belief.estimate(
            (before.needs | {worker: need}).items(),
            self._work(before, worker),
            self.enrolment.channels,
        )
        score = self.criterion.score(estimate, 0)
        option = before.options[load] = Option(estimate.log_success, estimate.duration, score)
        self._kept += 1
        return option

    def _work(self, before: Assignment, worker: int) -> int:
        tasks = before.tasks.get(worker, 0) + 1
        return max(before.work, tasks * self.enrolment.speeds[worker])
