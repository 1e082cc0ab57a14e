"""What a campaign has found so far, and what it says of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby, repeat
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from sims.campaign.axes import as_toml
from sims.campaign.campaign import Campaign, Precision
from sims.campaign.cells import CellResult, Gauge, RunStatus
from sims.campaign.comparing import Compared, Comparison, Effect, compare, judged, run_of
from sims.campaign.intervals import mean_of
from sims.campaign.plan import Case, Cells
from sims.campaign.store import Store, frame_of, polars_or_error

if TYPE_CHECKING:
    import polars as pl

Cell = tuple[Case, int]
"""A case and one of its replications."""


@define
class Results:
    """A campaign's cells and their results."""

    campaign: Campaign
    plan: Cells
    found: dict[str, CellResult] = field(factory=dict)
    """By key."""

    @classmethod
    def of(
        cls, campaign: Campaign, plan: Cells | None = None, store: Store | None = None
    ) -> Results:
        """What a store has of it. Raises InputError where a cell is no scenario."""
        plan = Cells.of(campaign) if plan is None else plan
        known = {} if store is None else store.results()
        keys = (case.key(k) for case in plan for k in range(campaign.most)) if known else ()
        return cls(campaign, plan, {key: known[key] for key in keys if key in known})

    def forget_raised(self) -> None:
        """Cells that raised are unknown again."""
        self.found = {key: it for key, it in self.found.items() if it.end is not RunStatus.RAISED}

    @property
    def unit(self) -> str:
        """Of times: the scenarios'."""
        return self.plan[0].scenario(0).times.value

    # --- cells --------------------------------------------------------------------------------

    def asked(self) -> int:
        """How many cells are asked for as far as that is known by now."""
        return sum(self._counts()) * len(self.campaign.variants)

    def left(self) -> int:
        """How many of them have no result."""
        return self.asked() - sum(1 for _ in self.finished())

    def missing(self) -> Iterator[Cell]:
        """Those of them that have no result when their turn comes. They come in rounds, each of as
        many replications as all before: whoever stops early has some of each cell, and where there
        are more cases than are kept each is made again for each round, not for each replication."""
        counts = list(self._counts())
        begin, end = 0, 1
        while begin < max(counts, default=0):
            for case, k in self._cells(counts, begin, end):
                if not self.found or case.key(k) not in self.found:
                    yield case, k
            begin, end = end, 2 * end

    def finished(self) -> Iterator[tuple[Cell, CellResult]]:
        """Those of them that have a result, by point, variant and replication."""
        for case, k in self._cells(self._counts()) if self.found else ():
            if (key := case.key(k)) in self.found:
                yield (case, k), self.found[key]

    def raised(self) -> Iterator[tuple[Cell, CellResult]]:
        """Cells that an error ended."""
        if any(it.end is RunStatus.RAISED for it in self.found.values()):
            yield from (it for it in self.finished() if it[1].end is RunStatus.RAISED)

    def _cells(self, counts: Iterable[int], begin: int = 0, end: float = inf) -> Iterator[Cell]:
        for cases, count in zip(self.plan.points(), counts, strict=True):
            replications = range(begin, int(min(end, count)))
            yield from ((case, k) for case in cases for k in replications)

    def _counts(self) -> Iterator[int]:
        """How many replications of each variant, at each point."""
        if self.campaign.precision is None:
            return repeat(self.campaign.replications, self.plan.places)
        return map(self._looked, self.plan.points())

    def _looked(self, cases: list[Case]) -> int:
        """Up to the look at which they are enough, or some are missing."""
        precision = self.campaign.precision
        assert precision is not None
        for count in precision.looks():
            missing = (case.key(k) not in self.found for case in cases for k in range(count))
            if any(missing) or all(self._precise(precision, case, count) for case in cases):
                return count
        return precision.most

    def _precise(self, precision: Precision, case: Case, count: int) -> bool:
        campaign, gauge = self.campaign, self.campaign.gauge(precision.measure)
        runs = (run_of(self.found[case.key(k)], gauge, campaign.until) for k in range(count))
        mean = mean_of([run.value for run in runs if run.value is not None], campaign.level)
        return mean.size > 1 and precision.reached(mean.mean, mean.half)

    # --- answers ------------------------------------------------------------------------------

    def comparisons(
        self, gauge: Gauge | None = None, effect: Effect | None = None
    ) -> list[Comparison]:
        """Of one measure (default: the first), a comparison for each cell that has results, and
        within it for each class of jobs; their intervals hold all together."""
        campaign, found = self.campaign, []
        gauge, effect, level = (
            gauge or campaign.gauges[0],
            effect or campaign.effect,
            campaign.level,
        )
        for _, group in groupby(self.finished(), lambda it: it[0][0].place):
            cells = list(group)
            for of in self._classes(gauge, [result for _, result in cells]):
                runs = {name: list[Compared]() for name in campaign.variants}
                for (case, _), result in cells:
                    runs[case.variant].append(run_of(result, gauge, campaign.until, of))
                at = (*cells[0][0][0].point, *([(campaign.by.value, of)] if campaign.by else ()))
                found.append(compare(at, gauge, runs, campaign.reference, effect, level))
        return judged(found, level)

    def _classes(self, gauge: Gauge, results: list[CellResult]) -> Iterable[str]:
        """The classes of jobs that are compared; without `by`, that of all."""
        if self.campaign.by is None:
            return [""]
        return dict.fromkeys(of for it in results for of in it.blocks.get(gauge.name, ()) if of)

    def runs(self) -> pl.DataFrame:
        """A row for each finished cell: its place on the axes, its variant, and what was measured.
        `.to_pandas()` makes it the other kind. Raises InputError without polars."""
        found = list(self.finished())
        places = (
            {key: plain(value) for key, value in case.point}
            | {"variant": case.variant, "replication": k}
            for (case, k), _ in found
        )
        frame = frame_of([result for _, result in found], places)
        return frame.drop("key", "blocks", "speaks").cast({"seed": polars_or_error().UInt64})

    # --- telling ------------------------------------------------------------------------------

    def reproducing(self, case: Case, replication: int) -> str:
        """The command that runs one cell alone, and logs it; of a scenario that a function makes,
        what it is made of."""
        campaign = self.campaign
        words = [f"{key}={as_toml(value)}" for key, value in case.settings()]
        seed = ["--seed", str(case.seed(replication))]
        if campaign.made:
            return shlex.join([campaign.scenario, *words, *seed])
        file = Path(campaign.folder, campaign.scenario)
        sets = [part for word in words for part in ("--set", word)]
        until = [] if campaign.until is None else ["--until", str(campaign.until)]
        return shlex.join(["holdfast", "run", str(file), *sets, *seed, *until])

    def description(self) -> dict[str, Any]:
        """What a store notes of it."""
        return {
            "campaign": self.campaign.name,
            "source": self.campaign.source,
            "cells": self.asked(),
            "code": self.plan.kit.code,
            "files": self.plan.kit.digests(),
        }


def plain(value: object) -> int | float | str:
    """As a column of a table has it."""
    return value if isinstance(value, int | float | str) else as_toml(value)
