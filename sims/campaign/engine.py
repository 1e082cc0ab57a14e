"""Run many tasks on an executor, and a campaign in batches of seconds until it is precise enough.

Any executor can be used; results are handed out as they come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import islice
from typing import Any, Generic, TypeVar

from attrs import define, field

from sims.campaign.batches import (
    Batch,
    MeasureRefused,
    OwnMeasure,
    RunResult,
    RunStatus,
    simulate_batch,
)
from sims.campaign.executors import Workers, opened
from sims.campaign.plan import Case, Cases
from sims.campaign.question import Question, Watch, unwatched
from sims.campaign.results import Kept, Results
from sims.errors import naming
from sims.scenario import Scenario
from sims.world import run, time_limit

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""Tasks handed over ahead of need, per slot: a campaign of millions of runs is never queued
whole."""
SHORTEST, LONGEST = 0.5, 10.0
"""Shortest and longest time, in seconds, that a batch should take: short batches cost more
overhead, and long ones lose more work when a worker dies."""
MOST = 2000
"""Largest number of runs in a batch, since each may bring a scenario of its own."""
SHARE = 4
"""Number of batches per slot into which the remaining work is cut, so that the last batches are
short."""


def execute(
    question: Question,
    workers: Workers | Executor | None = None,
    store: Kept | None = None,
    *,
    watch: Watch = unwatched,
    retry: bool = False,
    longest: float = LONGEST,
) -> Results:
    """Run those runs of a question that have no result in `store`, on this machine's cores by
    default, and return all results.

    `store` keeps each new result (default: in memory), and `watch` is called with the numbers of
    runs done and asked for. Batches take at most about `longest` seconds. A run that raises an
    error is a result like others (`Results.raised`); `retry` repeats such runs. With `precision`,
    replications are added until intervals are narrow enough. Raises InputError, before anything
    runs, for a question that cannot be run.
    """
    plan = Cases.of(question)
    check(question, plan)
    kept = Kept() if store is None else store
    kept.set_damaged_aside()
    results = Results.of(question, plan, kept)
    if retry:
        results.forget_raised()
    kept.describe(results.description())
    with opened(workers) as ready:
        engine = Engine(results, ready, kept, watch, longest)
        while engine.run() and question.surely.precision is not None:
            pass
    kept.describe(results.description())  # what was looked at before may not be all it read
    watch(engine.asked, engine.asked)
    return results


def check(question: Question, plan: Cases) -> None:
    """Raise InputError for a question that cannot be run, before anything of it runs.

    Each case (a variant at a point of the axes) that is looked at is run until time 0, which checks
    its whole scenario and the policy's first answer. Of many cases only some are looked at
    (`Cases.looked_at`); if another one turns out to be no scenario, the campaign ends when its turn
    comes.
    """
    door, until = question.door, question.surely.until
    with naming(door.source):
        for measure in question.measured.gauges:
            if isinstance(measure, OwnMeasure):
                _ = measure.function  # imports it, or raises InputError
    for case in plan.looked_at():
        scenario = case.scenario(0)
        if until is not None:
            time_limit(until, scenario.times.value, door.source, door("until"))
        run(scenario, folder=plan.folder, until=0)


@define
class Engine:
    """Simulates the runs of a campaign that have no result yet, in batches, and keeps their
    results."""

    results: Results
    workers: Workers
    kept: Kept
    watch: Watch
    longest: float = LONGEST
    """Largest time that a batch should take, seconds."""
    asked: int = 0
    """Number of runs asked for so far."""
    _left: int = 0
    """Number of runs that are still to be handed over, approximately."""
    _spent: float = 0.0
    """Seconds that all finished runs took together."""
    _ran: int = 0
    """Number of finished runs."""
    _each: float = 0.0
    """Estimated seconds for a run: the mean over all finished runs, or over the last batch if
    that is longer."""

    def run(self) -> bool:
        """Run what is missing now, keep each result as soon as its batch is finished, and return
        whether anything was missing.

        Raises InputError where a user's measure returns neither a finite number nor None.
        """
        found = self.results.found
        before, self.asked = len(found), self.results.asked()
        self._left = self.asked - before
        self.watch(before, self.asked)
        flight = Flight(simulate_batch, self.workers, Batch.halves)
        for batch, future in flight.over(self._batches()):
            died = self.workers.died(future)
            try:
                self._keep(list(map(_killer, batch.runs)) if died else future.result())
            except MeasureRefused as refused:
                raise self.results.question.door.refused("measure", *refused.args) from None
            self.watch(len(found), self.asked)
        return len(found) > before

    def _keep(self, fresh: list[RunResult]) -> None:
        """Store the results of a batch and update the estimate of the seconds that a run takes."""
        self.kept.add(fresh)
        self.results.found.update((it.key, it) for it in fresh)
        spent = sum(it.seconds for it in fresh)
        self._spent, self._ran = self._spent + spent, self._ran + len(fresh)
        self._each = max(self._spent / self._ran, spent / len(fresh))

    def _batches(self) -> Iterator[Batch]:
        """Yield the missing runs in batches, each of the size that `_size` gives at that time."""
        fresh = self._fresh()
        while taken := list(islice(fresh, self._size())):
            self._left -= len(taken)
            yield self._batch(taken)

    def _fresh(self) -> Iterator[tuple[Case, int, str]]:
        """Yield each run that is missing, as (case, replication, key). Runs with the same key have
        the same result, so that only the first of them is yielded."""
        begun = set[str]()
        for case, k in self.results.missing():
            if (key := case.key(k)) not in begun:
                begun.add(key)
                yield case, k, key

    def _size(self) -> int:
        """Return the number of runs of the next batch: 1 until a first result tells how long a run
        takes.

        After that a batch is an equal share of the remaining work, SHARE batches for each slot, but
        takes between SHORTEST and `longest` seconds and has at most MOST runs.
        """
        if not self._each:
            return 1
        share = self._each * max(self._left, 1) / (SHARE * self.workers.slots)
        return min(MOST, max(1, int(min(max(share, SHORTEST), self.longest) / self._each)))

    def _batch(self, runs: Sequence[tuple[Case, int, str]]) -> Batch:
        """Return the batch of these runs with everything that a worker process needs for them."""
        question, plan = self.results.question, self.results.plan
        listed = tuple((key, case.made(k).scenario, case.seed(k)) for case, k, key in runs)
        measured = question.measured
        common = measured.gauges, measured.by, question.surely.until, plan.folder
        return Batch(listed, *common, plan.dependencies)


def _killer(task: tuple[str, Scenario, int]) -> RunResult:
    """Return the failed result of a run, given as (key, scenario, seed), whose worker process died
    twice, the second time while the run was alone."""
    error = "its worker died of it twice, the second time while it ran alone"
    return RunResult(task[0], task[2], RunStatus.RAISED, error=error)


# --- many tasks -------------------------------------------------------------------------------


def run_many(
    function: Callable[[T], R], tasks: Iterable[T], executor: Executor | None = None
) -> Iterator[tuple[T, R]]:
    """Yield (task, function(task)) for every task, in whatever order the tasks finish.

    `executor` runs the tasks, by default processes on this machine's cores; `function` and `tasks`
    must pickle. Raises whatever `function` raises.
    """
    with opened(executor) as workers:
        for task, future in Flight(function, workers).over(tasks):
            yield task, future.result()


def _whole(task: T) -> Sequence[T]:
    """Return a task as its own only part, for tasks that cannot be split."""
    return (task,)


@define
class Flight(Generic[T, R]):
    """Tasks that an executor is running or will run next.

    A task whose worker died is run again, alone. If its worker dies again, the task is to blame;
    other tasks that ran when a worker died were only affected by chance.
    """

    function: Callable[[T], R]
    workers: Workers
    split: Callable[[T], Sequence[T]] = _whole
    """Function that returns the parts of a task, to find the part that kills its worker."""
    _pending: dict[Future[R], T] = field(factory=dict)
    """Maps the future of each task that was handed over to the task."""
    _suspects: deque[T] = field(factory=deque)
    """Tasks that were running when a worker died."""

    def over(self, tasks: Iterable[T]) -> Iterator[tuple[T, Future[R]]]:
        """Yield each task with its future once that is done: the task succeeded, failed or, run
        alone, killed its worker.

        Finished tasks are yielded before an error, or Ctrl-C, ends the iteration.
        """
        remaining, ended = iter(tasks), None
        try:
            while not ended:
                alone = bool(self._suspects and not self._pending)
                done: Collection[Future[R]] = ()
                try:
                    self._submit(remaining)
                    if not self._pending:
                        return
                    done = self.workers.first_of(self._pending)
                except BaseException as error:
                    ended, done = error, [it for it in self._pending if it.done()]
                # Successes first: an error may end the iteration, and finished results shall be
                # kept.
                for future in sorted(done, key=_failed):
                    yield from self._landed(future, alone)
            raise ended
        finally:
            # In a pool of ours, one that is cancelled would end its thread with a traceback.
            for future in () if self.workers.renewed else self._pending:
                future.cancel()

    def _submit(self, remaining: Iterator[T]) -> None:
        """Hand over tasks, the next of `remaining`, until AHEAD tasks for each slot are pending.
        While there are suspects, hand over one of them alone, once nothing is pending."""
        free = AHEAD * self.workers.slots - len(self._pending)
        tasks = list(islice(remaining, free)) if not self._suspects else []
        if self._suspects and not self._pending:
            tasks.append(self._suspects.popleft())
        for task in tasks:
            self._pending[self.workers.submit(self.function, task)] = task

    def _landed(self, future: Future[R], alone: bool) -> Iterator[tuple[T, Future[R]]]:
        """Yield a task whose future is done, with the future, unless its worker died and another
        task may be to blame.

        In that case the task becomes a suspect, to be run alone later, and nothing is yielded. If
        it did run `alone` and can be split, each of its parts becomes a suspect.
        """
        task = self._pending.pop(future)
        parts = self.split(task) if alone else (task,)
        if self.workers.died(future) and not (alone and len(parts) == 1):
            self._suspects.extend(parts)
        else:
            yield task, future


def _failed(future: Future[Any]) -> bool:
    """Return whether the task of a future raised an error."""
    return future.exception() is not None
