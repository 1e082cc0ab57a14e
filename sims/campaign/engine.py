"""Runs many tasks, and a campaign: what is missing, in batches of seconds, until it is precise
enough. Any executor in, results out as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import define, field

from sims.campaign import Campaign
from sims.campaign.cells import Batch, CellResult, MeasureRefused, RunStatus, simulate_batch
from sims.campaign.executors import Workers, opened
from sims.campaign.plan import Case, Cells
from sims.campaign.results import Results, Store
from sims.errors import InputError, naming
from sims.scenario import Scenario
from sims.world import run, time_limit

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""Tasks handed over ahead of need, per slot: a campaign of millions is never queued whole."""
SHORTEST, LONGEST = 0.5, 10.0
"""Seconds that a batch is to take: shorter ones cost more, of longer ones more can be lost."""
MOST = 2000
"""Cells that a batch has at most: each may bring a scenario of its own."""
SHARE = 4
"""The rest of the work is cut into so many batches per slot: the last ones are short."""

Watch = Callable[[int, int], None]
"""Is told (cells done, cells asked for so far)."""


def execute(
    campaign: Campaign,
    workers: Workers | Executor | None = None,
    store: Store | None = None,
    *,
    watch: Watch = lambda done, total: None,
    retry: bool = False,
) -> Results:
    """Run what is missing in `store`, if anything; on this machine's cores unless told otherwise.

    A cell that raises is a result like others (`Results.raised`); `retry` runs those of before
    again. Raises InputError, before anything runs, for what cannot be run.
    """
    plan = Cells.of(campaign)
    check(campaign, plan)
    results = Results.of(campaign, plan, store)
    if retry:
        results.forget_raised()
    if store is not None:
        store.describe(results.description())
    with opened(workers) as ready:
        engine = Engine(results, ready, store, watch)
        while engine.run() and campaign.precision is not None:
            pass
    if store is not None:
        store.describe(results.description())  # what was looked at before may not be all it read
    watch(engine.asked, engine.asked)
    return results


def check(campaign: Campaign, plan: Cells) -> None:
    """Raises InputError for what cannot be run: until time 0 all of a scenario is looked at, the
    policy's first answer included. Of many cases these are some, as Plan says; another one that
    is no scenario ends the campaign when its turn comes."""
    with naming(campaign.source):
        for it in campaign.gauges:
            if it.ours is None:
                it.function(Path(campaign.folder).absolute())
    for case in plan.looked_at():
        scenario = case.scenario(0)
        if campaign.until is not None:
            time_limit(campaign.until, scenario.times.value)
        run(scenario, folder=plan.folder, until=0)


@define
class Engine:
    """A campaign under way."""

    results: Results
    workers: Workers
    store: Store | None
    watch: Watch
    asked: int = 0
    """Cells, so far."""
    _left: int = 0
    """Cells to hand over, about."""
    _spent: float = 0.0
    """Seconds, over all cells that were run."""
    _ran: int = 0
    _each: float = 0.0
    """Seconds that a cell takes: as all so far, or as the last ones, if those took longer."""

    def run(self) -> bool:
        """Run what is missing now, if anything; what is finished is kept at once. Whether anything
        was missing."""
        found = self.results.found
        before, self.asked = len(found), self.results.asked()
        self._left = self.asked - before
        self.watch(before, self.asked)
        flight = Flight(simulate_batch, self.workers, Batch.halves)
        for batch, future in flight.over(self._batches()):
            died = self.workers.died(future)
            try:
                self._keep(list(map(_killer, batch.cells)) if died else future.result())
            except MeasureRefused as refused:
                source = self.results.campaign.source
                raise InputError(source, "measures", *refused.args) from None
            self.watch(len(found), self.asked)
        return len(found) > before

    def _keep(self, fresh: list[CellResult]) -> None:
        if self.store is not None:
            self.store.add(fresh)
        self.results.found.update((it.key, it) for it in fresh)
        spent = sum(it.seconds for it in fresh)
        self._spent, self._ran = self._spent + spent, self._ran + len(fresh)
        self._each = max(self._spent / self._ran, spent / len(fresh))

    def _batches(self) -> Iterator[Batch]:
        fresh = self._fresh()
        while taken := list(islice(fresh, self._size())):
            self._left -= len(taken)
            yield self._batch(taken)

    def _fresh(self) -> Iterator[tuple[Case, int, str]]:
        """What is missing, and its key; what is asked for twice is run once."""
        begun = set[str]()
        for case, k in self.results.missing():
            if (key := case.key(k)) not in begun:
                begun.add(key)
                yield case, k, key

    def _size(self) -> int:
        """Cells of the next batch, by what they took so far."""
        if not self._each:
            return 1
        share = self._each * max(self._left, 1) / (SHARE * self.workers.slots)
        return min(MOST, max(1, int(min(max(share, SHORTEST), LONGEST) / self._each)))

    def _batch(self, cells: Sequence[tuple[Case, int, str]]) -> Batch:
        campaign, plan = self.results.campaign, self.results.plan
        listed = tuple((key, it.made(k).scenario, it.seed(k)) for it, k, key in cells)
        home = Path(campaign.folder).absolute()
        return Batch(
            listed, campaign.gauges, campaign.by, campaign.until, plan.folder, home, plan.kit
        )


def _killer(cell: tuple[str, Scenario, int]) -> CellResult:
    error = "its worker died of it twice, the second time while it ran alone"
    return CellResult(cell[0], cell[2], RunStatus.RAISED, error=error)


# --- many tasks -------------------------------------------------------------------------------


def run_many(
    function: Callable[[T], R], tasks: Iterable[T], executor: Executor | None = None
) -> Iterator[tuple[T, R]]:
    """Yield (task, function(task)) for every task, in whatever order they finish.

    `function` and `tasks` must pickle. Raises what `function` raises.
    """
    with opened(executor) as workers:
        for task, future in Flight(function, workers).over(tasks):
            yield task, future.result()


def _whole(task: T) -> Sequence[T]:
    """A task that is one thing."""
    return (task,)


@define
class Flight(Generic[T, R]):
    """Tasks on their way through an executor. One whose worker died is run again, alone: who dies
    alone has killed its worker, and others that were under way had bad luck."""

    function: Callable[[T], R]
    workers: Workers
    split: Callable[[T], Sequence[T]] = _whole
    """The parts of a task, to find the one that kills its worker."""
    _pending: dict[Future[R], T] = field(factory=dict)
    _suspects: deque[T] = field(factory=deque)
    """Tasks that were under way when a worker died."""

    def over(self, tasks: Iterable[T]) -> Iterator[tuple[T, Future[R]]]:
        """Yield each task with its future, which is done: it failed, succeeded, or, run by itself,
        killed its worker. What is done is handed over before an error, or Ctrl-C, ends it all."""
        waiting, ended = iter(tasks), None
        try:
            while not ended:
                alone = bool(self._suspects and not self._pending)
                done: Collection[Future[R]] = ()
                try:
                    self._submit(waiting)
                    if not self._pending:
                        return
                    done = self.workers.first_of(self._pending)
                except BaseException as error:
                    ended, done = error, [it for it in self._pending if it.done()]
                for future in sorted(done, key=_failed):
                    yield from self._landed(future, alone)
            raise ended
        finally:
            # In a pool of ours, one that is cancelled would end its thread with a traceback.
            for future in () if self.workers.renewed else self._pending:
                future.cancel()

    def _submit(self, waiting: Iterator[T]) -> None:
        free = AHEAD * self.workers.slots - len(self._pending)
        tasks = list(islice(waiting, free)) if not self._suspects else []
        if self._suspects and not self._pending:
            tasks.append(self._suspects.popleft())
        for task in tasks:
            self._pending[self.workers.submit(self.function, task)] = task

    def _landed(self, future: Future[R], alone: bool) -> Iterator[tuple[T, Future[R]]]:
        task = self._pending.pop(future)
        parts = self.split(task) if alone else (task,)
        if self.workers.died(future) and not (alone and len(parts) == 1):
            self._suspects.extend(parts)
        else:
            yield task, future


def _failed(future: Future[Any]) -> bool:
    return future.exception() is not None
