"""Runs a campaign: what is missing, in batches of seconds, until it is precise enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from attrs import define, field

from sims.campaign.campaign import Campaign
from sims.campaign.cells import Batch, Fate, Result, simulate_batch
from sims.campaign.executors import Workers, given, local
from sims.campaign.plan import Plan
from sims.campaign.results import Cell, Results
from sims.campaign.running import Flight
from sims.campaign.store import Store
from sims.errors import InputError
from sims.world import run, time_limit

SHORTEST, LONGEST = 0.5, 10.0
"""Seconds that a batch is to take: shorter ones cost more, of longer ones more can be lost."""
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
    plan = Plan.of(campaign)
    check(campaign, plan)
    results = Results.of(campaign, plan, store)
    if retry:
        results.forget_raised()
    if store is not None:
        store.describe(results.description())
    with _running(workers) as ready:
        engine = Engine(results, ready, store, watch)
        while missing := engine.missing():
            engine.run(missing)
    watch(engine.done, engine.asked)
    return results


def check(campaign: Campaign, plan: Plan) -> None:
    """Raises InputError for what cannot be run: until time 0 all of a scenario is looked at, the
    policy's first answer included."""
    for case in plan.cases:
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
    _waiting: deque[Cell] = field(factory=deque)
    _spent: float = 0.0
    _ran: int = 0

    @property
    def done(self) -> int:
        """Cells that have a result."""
        return len(self.results.found)

    def missing(self) -> list[Cell]:
        """Cells to run now."""
        self.asked = self.results.asked()
        return self.results.missing()

    def run(self, cells: Sequence[Cell]) -> None:
        """Run these cells; what is finished is kept at once."""
        self._waiting.extend(cells)
        flight = Flight(simulate_batch, self.workers, self._keep, Batch.halves, AHEAD)
        self.watch(self.done, self.asked)
        for batch, future in flight.over(self._batches()):
            self._land(batch, future)

    def _batches(self) -> Iterator[Batch]:
        while self._waiting:
            size = min(self._size(), len(self._waiting))
            yield self._batch([self._waiting.popleft() for _ in range(size)])

    def _size(self) -> int:
        """Cells of the next batch, by what they took so far."""
        if not self._spent:
            return 1
        each = self._spent / self._ran
        share = each * len(self._waiting) / (SHARE * self.workers.slots)
        return max(1, int(min(max(share, SHORTEST), LONGEST) / each))

    def _batch(self, cells: Sequence[Cell]) -> Batch:
        campaign = self.results.campaign
        scenarios = {(case, case.index(k)): case.scenarios[case.index(k)] for case, k in cells}
        places = {each: place for place, each in enumerate(scenarios)}
        listed = tuple(
            (case.key(k), places[case, case.index(k)], case.seed(k)) for case, k in cells
        )
        home = Path(campaign.folder).absolute()
        first, _ = cells[0]
        return Batch(
            *(tuple(scenarios.values()), listed, campaign.gauges, campaign.until),
            *(first.folder, home, self.results.plan.kit),
        )

    # --- what comes back ----------------------------------------------------------------------

    def _keep(self, batch: Batch, found: list[Result]) -> None:
        if self.store is not None:
            self.store.add(found)
        self.results.found.update((it.key, it) for it in found)
        self._spent += sum(it.seconds for it in found)
        self._ran += len(found)

    def _land(self, batch: Batch, future: Future[list[Result]]) -> None:
        try:
            if self.workers.died(future):
                self._keep(batch, [_killer(key, seed) for key, _, seed in batch.cells])
            else:
                future.result()
        except CancelledError:
            problem = "the cluster is gone; what is finished is kept"
            raise InputError("cluster", "", problem, "`holdfast campaign resume`") from None
        self.watch(self.done, self.asked)


def _killer(key: str, seed: int) -> Result:
    error = "its worker died of it twice, the second time while it ran alone"
    return Result(key, seed, Fate.RAISED, None, 0, 0, "", 0.0, error)
