"""What a campaign has found so far, and what it says of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from sims.campaign.axes import as_toml
from sims.campaign.campaign import Campaign
from sims.campaign.cells import Fate, Gauge, Result
from sims.campaign.comparing import Comparison, compare, judged, run_of
from sims.campaign.intervals import mean_of
from sims.campaign.kit import OWN
from sims.campaign.plan import Case, Plan, settings
from sims.campaign.store import COLUMNS, Store, polars_or_error

if TYPE_CHECKING:
    import polars as pl

Cell = tuple[Case, int]
"""A case and one of its replications."""


@define
class Results:
    """A campaign's cells and their results."""

    campaign: Campaign
    plan: Plan
    found: dict[str, Result] = field(factory=dict)
    """By key."""

    @classmethod
    def of(
        cls, campaign: Campaign, plan: Plan | None = None, store: Store | None = None
    ) -> Results:
        """What a store has of it. Raises InputError where a cell is no scenario."""
        plan = plan or Plan.of(campaign)
        if store is None or not store.files():
            return cls(campaign, plan)
        keys = {case.key(k) for case in plan.cases for k in range(campaign.most)}
        return cls(campaign, plan, store.results(keys))

    def forget_raised(self) -> None:
        """Cells that raised are unknown again."""
        self.found = {key: it for key, it in self.found.items() if it.end is not Fate.RAISED}

    @property
    def unit(self) -> str:
        """Of times: the scenarios'."""
        return self.plan.cases[0].scenario(0).header().unit

    # --- cells --------------------------------------------------------------------------------

    def cells(self) -> list[Cell]:
        """Those asked for as far as that is known by now, replication by replication: whoever stops
        early has some of each."""
        wanted = self._all_wanted()
        most = max(count for _, count in wanted)
        return [(case, k) for k in range(most) for case, count in wanted if k < count]

    def asked(self) -> int:
        """How many they are."""
        return sum(count for _, count in self._all_wanted())

    def missing(self) -> list[Cell]:
        """Those of them that have no result; what is asked for twice is there once."""
        unknown = {case.key(k): (case, k) for case, k in self.cells()}
        return [cell for key, cell in unknown.items() if key not in self.found]

    def raised(self) -> Iterator[tuple[Cell, Result]]:
        """Cells that an error ended."""
        known = {key for key, result in self.found.items() if result.end is Fate.RAISED}
        for case, k in self.cells() if known else ():
            if (key := case.key(k)) in known:
                yield (case, k), self.found[key]

    def _points(self) -> Iterator[tuple[Any, Iterator[Case]]]:
        return groupby(self.plan.cases, lambda case: case.point)

    def _all_wanted(self) -> list[tuple[Case, int]]:
        """How many replications of each case."""
        return [pair for _, cases in self._points() for pair in self._wanted(list(cases))]

    def _wanted(self, cases: list[Case]) -> list[tuple[Case, int]]:
        """How many replications of the variants in one cell."""
        precision = self.campaign.precision
        if precision is None:
            return [(case, self.campaign.replications) for case in cases]
        looks = precision.looks()
        enough = (count for count in looks if self._ends(cases, count))
        count = next(enough, looks[-1])
        return [(case, count) for case in cases]

    def _ends(self, cases: list[Case], count: int) -> bool:
        """Whether `count` replications are missing, or enough."""
        return any(case.key(k) not in self.found for case in cases for k in range(count)) or all(
            self._precise(case, count) for case in cases
        )

    def _precise(self, case: Case, count: int) -> bool:
        campaign = self.campaign
        assert campaign.precision is not None
        name = campaign.precision.measure or campaign.measures[0]
        gauge = next(it for it in campaign.gauges if it.name == name)
        runs = (run_of(self.found[case.key(k)], gauge, campaign.until) for k in range(count))
        values = [run.value for run in runs if run.value is not None]
        mean = mean_of(values, campaign.level)
        return len(values) > 1 and campaign.precision.reached(mean.mean, mean.half)

    # --- answers ------------------------------------------------------------------------------

    def comparisons(self, gauge: Gauge | None = None) -> list[Comparison]:
        """Of one measure (default: the first), a comparison for each cell that has results; their
        verdicts hold all together."""
        gauge = gauge or self.campaign.gauges[0]
        level = self.campaign.level
        runs: dict[Any, dict[str, list[Any]]] = {}
        for number, (_, cases) in enumerate(self._points()):
            runs[number] = {case.variant: [] for case in cases}
        numbers = {id(case): n for n, (_, cases) in enumerate(self._points()) for case in cases}
        for case, k in self.cells():
            result = self.found.get(case.key(k))
            if result is not None:
                run = run_of(result, gauge, self.campaign.until)
                runs[numbers[id(case)]][case.variant].append(run)
        found = [
            compare(point, gauge, runs[number], self.campaign.reference, level)
            for number, (point, _) in enumerate(self._points())
            if any(runs[number].values())
        ]
        return judged(found, level)

    def frame(self) -> pl.DataFrame:
        """A row for each finished cell: its place on the axes, its variant, and what was measured.
        `.to_pandas()` makes it the other kind. Raises InputError without polars."""
        rows = [
            {
                key: value if isinstance(value, int | float | str) else as_toml(value)
                for key, value in case.point
            }
            | {"variant": case.variant, "replication": k}
            | {
                name: getattr(result, name)
                for name in COLUMNS
                if name not in ("key", "blocks", "speaks")
            }
            | {"end": result.end.value}
            | {name: result.values.get(name) for name in self.campaign.measures}
            for case, k in self.cells()
            if (result := self.found.get(case.key(k))) is not None
        ]
        frame: pl.DataFrame = polars_or_error().DataFrame(
            rows, infer_schema_length=None, strict=False
        )
        return frame

    # --- telling ------------------------------------------------------------------------------

    def reproducing(self, case: Case, replication: int) -> str:
        """The command that runs one cell alone, and logs it; of a scenario that a function makes,
        what it is made of."""
        campaign = self.campaign
        given = settings(campaign, case.point, case.variant)
        words = [f"{key}={as_toml(value)}" for key, value in given]
        seed = ["--seed", str(case.seed(replication))]
        if OWN.fullmatch(campaign.scenario):
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
