"""The greedy assignments that were tried before, remembered with their scores (002, VI.A)."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, log

from attrs import define, field

from policies.enrolment.criteria import Criterion, bar
from policies.interface import Configuration, Enrolment
from policies.maths.markov import workers_of

Load = tuple[int, int]
"""(worker, slots of communication that it would lack with one task more)."""

SCORES_KEPT = 1 << 18
"""Scores remembered at once, about 120 MB; all are forgotten when there are more."""


@define(eq=False)
class Assignment:
    """Some tasks, assigned in some order."""

    tasks: dict[int, int]
    """Tasks of each member, by worker."""
    needs: dict[int, int]
    """Slots of communication that each member lacks, by worker."""
    mask: int
    """The members."""
    work: int
    """W, slots of computation."""
    total: int
    """sum n_q, slots of communication."""
    slowest: float
    """max_q E_q(n_q), slots."""
    scores: dict[Load, float] = field(factory=dict, init=False)
    """What one task more is worth, where that was worth a look."""
    estimates: dict[Load, tuple[float, float]] | None = None
    """(ln P, E) of one task more, where what it is worth changes with t."""
    after: dict[Load, Assignment] = field(factory=dict, init=False)
    """The assignments that were chosen next."""
    _configuration: Configuration | None = field(default=None, init=False)

    @classmethod
    def empty(cls) -> Assignment:
        return cls({}, {}, 0, 0, 0, 0.0)

    def configuration(self) -> Configuration:
        """The assignment as a decision."""
        if self._configuration is None:
            self._configuration = Configuration(tuple(sorted(self.tasks.items())))
        return self._configuration


@define(eq=False)
class Tree:
    """Every assignment that one criterion tried for one enrolment, by the order of its tasks.

    Few workers change between two decisions, so that most steps were taken before: such a step
    costs one look-up per UP worker instead of one estimate.
    """

    criterion: Criterion
    enrolment: Enrolment
    _root: Assignment = field(init=False, factory=Assignment.empty)
    _transfers: dict[Load, float] = field(factory=dict, init=False)
    """E_q(n_q)."""
    _kept: int = field(default=0, init=False)

    def root(self) -> Assignment:
        """The empty assignment."""
        if self._kept > SCORES_KEPT:
            self._root, self._kept = Assignment.empty(), 0
        return self._root

    def best(self, before: Assignment, loads: Iterable[Load], elapsed: int) -> Load:
        """The best task to add, the first of equals; ValueError if `loads` is empty."""
        if self.criterion is Criterion.Y:
            return self._best_yield(before, loads, elapsed)
        scores, chosen, to_beat = before.scores, None, -inf
        for load in loads:
            score = scores.get(load)
            if score is None:
                score = self._score(before, load, to_beat)
            if score > to_beat or chosen is None:
                chosen, to_beat = load, bar(score)
        return _found(chosen)

    def _best_yield(self, before: Assignment, loads: Iterable[Load], elapsed: int) -> Load:
        if before.estimates is None:
            before.estimates = {}
        estimates, chosen, to_beat = before.estimates, None, -inf
        for load in loads:
            estimate = estimates.get(load)
            if estimate is None:
                estimate = estimates[load] = self._estimate(before, load)
            score = estimate[0] - log(elapsed + estimate[1])
            if score > to_beat or chosen is None:
                chosen, to_beat = load, bar(score)
        return _found(chosen)

    def add(self, before: Assignment, load: Load) -> Assignment:
        """The assignment after one task more."""
        after = before.after.get(load)
        if after is None:
            after = before.after[load] = self._next(before, load)
        return after

    def _next(self, before: Assignment, load: Load) -> Assignment:
        worker, need = load
        work, total, slowest = self._costs(before, load)
        return Assignment(
            before.tasks | {worker: before.tasks.get(worker, 0) + 1},
            before.needs | {worker: need},
            before.mask | 1 << worker,
            work,
            total,
            slowest,
        )

    def _costs(self, before: Assignment, load: Load) -> tuple[int, int, float]:
        """(W, sum n_q, max_q E_q(n_q)) with one task more; no worker then lacks less."""
        worker, need = load
        tasks = before.tasks.get(worker, 0)
        work = (tasks + 1) * self.enrolment.speeds[worker]
        total = before.total + need - (before.needs[worker] if tasks else 0)
        alone = self._transfers.get(load)
        if alone is None:
            alone = self._transfers[load] = self.enrolment.belief.expected(1 << worker, need)
        return max(before.work, work), total, max(before.slowest, alone)

    def _score(self, before: Assignment, load: Load, to_beat: float) -> float:
        """The score of one task more, or -inf if it is sure not to beat that score."""
        if self.criterion is Criterion.E:
            return self._quickness(before, load, to_beat)
        score = self.criterion.score(*self._estimate(before, load), 0)
        before.scores[load] = score
        return score

    def _quickness(self, before: Assignment, load: Load, to_beat: float) -> float:
        """-E of one task more, or -inf if that cannot beat that score even without interruption.

        Looking that far first spares the analysis of most sets.
        """
        worker = load[0]
        if (
            -before.slowest - (before.tasks.get(worker, 0) + 1) * self.enrolment.speeds[worker]
            < to_beat
        ):
            return -inf
        work, total, slowest = self._costs(before, load)
        transfer = max(slowest, total / self.enrolment.channels)
        if -(transfer + work) < to_beat:
            return -inf
        score = -transfer - self.enrolment.belief.expected(before.mask | 1 << worker, work)
        before.scores[load] = score
        self._kept += 1
        return score

    def _estimate(self, before: Assignment, load: Load) -> tuple[float, float]:
        belief, mask = self.enrolment.belief, before.mask | 1 << load[0]
        work, total, slowest = self._costs(before, load)
        transfer = max(slowest, total / self.enrolment.channels)
        log_success = belief.log_success(mask, work)
        log_success += belief.log_survival(workers_of(mask), transfer)
        self._kept += 1
        return log_success, transfer + belief.expected(mask, work)


def _found(load: Load | None) -> Load:
    if load is None:
        raise ValueError("There is no worker left to assign a task to.")
    return load
