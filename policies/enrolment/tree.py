"""Defines the four criteria that rank configurations (volatile13, section VI) and remembers the
greedy assignments tried before with their scores (section VI.A)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from math import inf, log

from attrs import define, field

from policies.interface import Configuration, Enrolment
from policies.maths.markov import workers_of
from policies.maths.tolerance import ROUNDING

Load = tuple[int, float]
"""A worker and the slots of communication that it would need with one task more."""

SCORES_KEPT = 1 << 18
"""Number of scores that are remembered at once, about 120 MB; beyond it all are discarded."""


@define(eq=False)
class Assignment:
    """A number of tasks for each of some workers, and the communication and computation that these
    tasks need."""

    tasks: dict[int, int]
    """Number of tasks of each member, by worker."""
    needs: dict[int, float]
    """Slots of communication that each member needs, by worker."""
    mask: int
    """Bit mask of the members."""
    work: float
    """Slots of computation, W."""
    total: float
    """Slots of communication of all members together, sum n_q."""
    slowest: float
    """Expected slots of the slowest member's transfers alone, max_q E_q(n_q)."""
    scores: dict[Load, float] = field(factory=dict, init=False)
    """Maps each additional task that was evaluated to the score of the assignment with the task."""
    estimates: dict[Load, tuple[float, float]] | None = None
    """Maps each additional task to (ln P, E) of the assignment with the task; None if the score
    does not change with t."""
    after: dict[Load, Assignment] = field(factory=dict, init=False)
    """Maps each task that was chosen next to the assignment with the task."""
    value: tuple[float, float] | None = field(default=None, init=False)
    """The pair (ln P, E) of this assignment; None while not computed."""
    ceiling: tuple[float, float] | None = field(default=None, init=False)
    """The pair (ln P, E) that no assignment continuing from this one can exceed; None while not
    computed."""
    _configuration: Configuration | None = field(default=None, init=False)

    @classmethod
    def empty(cls) -> Assignment:
        return cls({}, {}, 0, 0, 0, 0.0)

    def configuration(self) -> Configuration:
        """Return the assignment as a decision of an enrolment policy: pairs (worker, tasks) by
        worker."""
        if self._configuration is None:
            self._configuration = Configuration(tuple(sorted(self.tasks.items())))
        return self._configuration


@define(eq=False)
class Tree:
    """All assignments of tasks to workers that one criterion has tried for one enrolment, as a
    tree: each step adds one task to one worker.

    Few workers change between two decisions, so most steps were taken before: such a step costs one
    look-up per UP worker instead of one estimate.
    """

    criterion: Criterion
    enrolment: Enrolment
    _root: Assignment = field(init=False, factory=Assignment.empty)
    _transfers: dict[Load, float] = field(factory=dict, init=False)
    """Expected slots of a worker's transfers alone, E_q(n_q), by load."""
    _kept: int = field(default=0, init=False)

    def root(self) -> Assignment:
        """Return the assignment without tasks, at which every walk begins. If the tree has grown
        too large it is discarded first."""
        if self._kept > SCORES_KEPT:
            # Discarding everything is simpler than choosing, and rare: no answer depends on the
            # tree.
            self._root, self._kept = Assignment.empty(), 0
        return self._root

    def best(self, before: Assignment, loads: Iterable[Load], elapsed: int) -> Load:
        """Return the one of `loads` that gives the best score when it is added to the assignment
        `before`; of equal ones the first. A load is a pair: a worker that can get one task more,
        and the communication that it would need then. `elapsed`, slots since the iteration began,
        matters to criterion Y only. Raises ValueError if `loads` is empty."""
        if self.criterion is Criterion.E:
            return self._best_duration(before, loads)
        if self.criterion is Criterion.Y:
            return self._best_yield(before, loads, elapsed)
        scores, chosen, to_beat = before.scores, None, -inf
        for load in loads:
            score = scores.get(load)
            if score is None:
                score = self.score(before, load)
            if score > to_beat or chosen is None:
                chosen, to_beat = load, bar(score)
        return _found(chosen)

    def _best_duration(self, before: Assignment, loads: Iterable[Load]) -> Load:  # noqa: C901
        """Compute `best` for criterion E. This is the inner loop of every C-IE; helper methods are
        inlined here because their calls took most of the time.

        Workers that could not win even without interruption are skipped before their set is
        analysed.
        """
        scores, tasks, needs = before.scores, before.tasks, before.needs
        speeds, channels = self.enrolment.speeds, self.enrolment.channels
        alone, chosen, to_beat = self._transfers, None, -inf
        for load in loads:
            score = scores.get(load)
            if score is None:
                worker, need = load
                held = tasks.get(worker, 0)
                work = (held + 1) * speeds[worker]
                if work < before.work:
                    work = before.work
                transfer = before.slowest
                # Computation takes at least `work` slots and transfers at least `transfer`, so this
                # bounds the score from above.
                if -transfer - work < to_beat:
                    continue
                own = alone.get(load)
                if own is None:
                    own = self._alone(load)
                if own > transfer:
                    transfer = own
                # A member's need is replaced by that with one task more, not added to it.
                shared = (before.total + need - (needs[worker] if held else 0)) / channels
                if shared > transfer:
                    transfer = shared
                if -transfer - work < to_beat:
                    continue
                self._kept += 1
                mask = before.mask | 1 << worker
                score = scores[load] = -transfer - self.enrolment.belief.expected(mask, work)
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
        """Return the assignment `before` with one task more for the worker of `load`, a pair
        (worker, slots of communication that it needs then)."""
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

    def _costs(self, before: Assignment, load: Load) -> tuple[float, float, float]:
        """Return the costs of `before` with one task more, for the worker of `load`: slots of
        computation W, slots of communication of all members sum n_q, and the slowest member's
        expected transfers max_q E_q(n_q). The first and the last are never less than before."""
        worker, need = load
        tasks = before.tasks.get(worker, 0)
        work = (tasks + 1) * self.enrolment.speeds[worker]
        total = before.total + need - (before.needs[worker] if tasks else 0)
        return max(before.work, work), total, max(before.slowest, self._alone(load))

    def _alone(self, load: Load) -> float:
        """Return E_q(n_q), the expected slots that the transfers of a load (worker q, n_q slots of
        communication) take if the worker alone uses the link."""
        alone = self._transfers.get(load)
        if alone is None:
            worker, need = load
            alone = self._transfers[load] = self.enrolment.belief.expected(1 << worker, need)
        return alone

    def score(self, before: Assignment, load: Load) -> float:
        """Return the score of the assignment `before` with one task more for the worker of `load`;
        higher is better. Not for criterion Y, whose score depends on the time."""
        score = before.scores.get(load)
        if score is None:
            score = before.scores[load] = self._score(before, load)
        return score

    def _score(self, before: Assignment, load: Load) -> float:
        if self.criterion is not Criterion.E:
            return self.criterion.score(*self._estimate(before, load), 0)
        self._kept += 1
        work, total, slowest = self._costs(before, load)
        transfer = max(slowest, total / self.enrolment.channels)
        return -transfer - self.enrolment.belief.expected(before.mask | 1 << load[0], work)

    def could_reach(self, before: Assignment, load: Load, score: float) -> bool:
        """Return whether the assignment `before` could have at least the score `score` with a first
        task for the worker of `load`, which has none in it. For criterion E a cheap bound is tried
        first."""
        if self.criterion is Criterion.E and load not in before.scores:
            transfer = (before.total + load[1]) / self.enrolment.channels
            if before.slowest > transfer:
                transfer = before.slowest
            work = self.enrolment.speeds[load[0]]
            if -transfer - (work if work > before.work else before.work) < score:
                return False
        return self.score(before, load) >= score

    def value(self, whole: Assignment) -> tuple[float, float]:
        """Return (ln P, E) of an assignment: the logarithm of its probability of success, and its
        expected duration in slots."""
        if whole.value is None:
            whole.value = self._value(whole.mask, whole.work, whole.total, whole.slowest)
        return whole.value

    def ceiling(self, part: Assignment) -> tuple[float, float]:
        """Return bounds (ln P, E in slots) on all assignments of all tasks that continue from
        `part`: P is no larger, and E no smaller.

        More members, more transfers and more slots of computation only lower P. E counts slots of
        computation without interruption, because given success E(S)(W) can fall with one member
        more.
        """
        if part.ceiling is None:
            part.ceiling = self._ceiling(part)
        return part.ceiling

    def _ceiling(self, part: Assignment) -> tuple[float, float]:
        enrolment, belief = self.enrolment, self.enrolment.belief
        data = enrolment.data * (enrolment.tasks - sum(part.tasks.values()))
        transfer = max(part.slowest, (part.total + data) / enrolment.channels)
        log_success = belief.log_success(part.mask, part.work)
        log_success += belief.log_survival(workers_of(part.mask), transfer)
        return log_success, transfer + part.work

    def _estimate(self, before: Assignment, load: Load) -> tuple[float, float]:
        self._kept += 1
        return self._value(before.mask | 1 << load[0], *self._costs(before, load))

    def _value(self, mask: int, work: float, total: float, slowest: float) -> tuple[float, float]:
        belief = self.enrolment.belief
        transfer = max(slowest, total / self.enrolment.channels)
        log_success = belief.log_success(mask, work)
        log_success += belief.log_survival(workers_of(mask), transfer)
        return log_success, transfer + belief.expected(mask, work)


def _found(load: Load | None) -> Load:
    if load is None:
        raise ValueError("There is no worker left to assign a task to.")
    return load


class Criterion(enum.Enum):
    """Measure by which configurations are ranked, from their probability of success P (no member
    goes DOWN before the iteration ends) and their expected duration E."""

    P = "P"
    """The probability of success."""
    E = "E"
    """The expected completion time; shorter is better."""
    Y = "Y"
    """The yield P / (t + E), with t the slots since the iteration began."""
    AY = "AY"
    """The apparent yield P / E."""

    def score(self, log_success: float, duration: float, elapsed: int) -> float:
        """Return the score of a configuration; higher is better. P and the yields are scored by
        their logarithms, so that hopeless cases remain comparable.

        `log_success` is ln P, unused by E; `duration` is E in slots, unused by P; `elapsed` is t in
        slots, used by Y alone.
        """
        if self is Criterion.E:
            return -duration
        if self is Criterion.P:
            return log_success
        since = elapsed if self is Criterion.Y else 0
        return log_success - log(since + duration)


def bar(score: float) -> float:
    """Return the score that another must exceed to be better than `score` by more than rounding:
    1e-12 of 1 + |score| above it."""
    return score + ROUNDING * (1.0 + abs(score)) if score > -inf else score
