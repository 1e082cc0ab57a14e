"""Runs a campaign: what is missing, in batches of seconds, until it is precise enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path

from attrs import define, field

from sims.campaign.campaign import Campaign
from sims.campaign.cells import Batch, CellResult, RunStatus, simulate_batch
from sims.campaign.executors import Workers, given, local
from sims.campaign.plan import Case, Cells
from sims.campaign.results import Results
from sims.campaign.running import Flight
from sims.campaign.store import Store
from sims.errors import InputError
from sims.world import run, time_limit

SHORTEST, LONGEST = 0.5, 10.0
"""Seconds that a batch is to take: shorter ones cost more, of longer ones more can be lost."""
MOST = 2000
"""Cells that a batch has at most: each may bring a scenario of its own."""
SHARE = 4
"""The rest of the work is cut into so many batches per slot: the last ones are short."""
AHEAD = 2
"""Batches handed over ahead of need, per slot."""

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
    with _running(workers) as ready:
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
    for case in plan.looked_at():
        scenario = case.scenario(0)
        if campaign.until is not None:
            time_limit(campaign.until, scenario.header().unit)
        run(scenario, folder=case.folder, until=0)


def _running(workers: Workers | Executor | None) -> AbstractContextManager[Workers]:
    if workers is None:
        return local()
    return nullcontext(workers if isinstance(workers, Workers) else given(workers))


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
    _under_way: set[str] = field(factory=set)
    """Keys of those that were handed over: what is asked for twice is run once."""
    _spent: float = 0.0
    _ran: int = 0
    _lately: float = 0.0
    """Seconds that a cell of the last batch took."""

    @property
    def done(self) -> int:
        """Cells that have a result."""
        return len(self.results.found)

    def run(self) -> bool:
        """Run what is missing now, if anything; what is finished is kept at once. Whether anything
        was missing."""
        self.asked = self.results.asked()
        self._left = self.asked - self.done
        flight = Flight(simulate_batch, self.workers, self._keep, Batch.halves, AHEAD)
        self.watch(self.done, self.asked)
        before = self._ran
        for batch, future in flight.over(self._batches()):
            self._land(batch, future)
        return self._ran > before

    def _batches(self) -> Iterator[Batch]:
        cells = ((*cell, cell[0].key(cell[1])) for cell in self.results.missing())
        fresh = (it for it in cells if it[2] not in self._under_way)
        while batch := self._taken(fresh):
            yield self._batch(batch)

    def _taken(self, fresh: Iterator[tuple[Case, int, str]]) -> list[tuple[Case, int, str]]:
        taken = []
        for it in islice(fresh, self._size()):
            self._under_way.add(it[2])
            taken.append(it)
        self._left -= len(taken)
        return taken

    def _size(self) -> int:
        """Cells of the next batch, by what they took so far."""
        if not self._spent:
            return 1
        # Cells grow along an axis: by their mean alone, batches would last longer and longer.
        each = max(self._spent / self._ran, self._lately)
        share = each * max(self._left, 1) / (SHARE * self.workers.slots)
        return min(MOST, max(1, int(min(max(share, SHORTEST), LONGEST) / each)))

    def _batch(self, cells: Sequence[tuple[Case, int, str]]) -> Batch:
        campaign, plan = self.results.campaign, self.results.plan
        scenarios = {(it.number, it.index(k)): it.made(k).scenario for it, k, _ in cells}
        places = {each: place for place, each in enumerate(scenarios)}
        listed = tuple((key, places[it.number, it.index(k)], it.seed(k)) for it, k, key in cells)
        home = Path(campaign.folder).absolute()
        return Batch(
            *(tuple(scenarios.values()), listed, campaign.gauges, campaign.until),
            *(plan.folder, home, plan.kit),
        )

    # --- what comes back ----------------------------------------------------------------------

    def _keep(self, batch: Batch, found: list[CellResult]) -> None:
        if self.store is not None:
            self.store.add(found)
        self.results.found.update((it.key, it) for it in found)
        self._under_way.difference_update(it.key for it in found)
        spent = sum(it.seconds for it in found)
        self._lately = spent / len(found)
        self._spent += spent
        self._ran += len(found)

    def _land(self, batch: Batch, future: Future[list[CellResult]]) -> None:
        try:
            if self.workers.died(future):
                self._keep(batch, [_killer(key, seed) for key, _, seed in batch.cells])
            else:
                future.result()
        except CancelledError:
            problem = "the cluster is gone; what is finished is kept"
            raise InputError("cluster", "", problem, "`holdfast campaign resume`") from None
        self.watch(self.done, self.asked)


def _killer(key: str, seed: int) -> CellResult:
    error = "its worker died of it twice, the second time while it ran alone"
    return CellResult(key, seed, RunStatus.RAISED, None, 0, 0, "", 0.0, error)
