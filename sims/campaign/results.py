"""What a campaign has found so far; on disk, a Parquet file for each finished batch of cells.

A file is there as a whole or not at all, and its name is that of its content, as each row's `key`
is that of all that the row follows from. So nothing is ever wrong here: a campaign takes the rows
whose keys it asks for, and what it does not ask for, since a file has changed say, is not taken.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from math import inf
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import attrs
from attrs import define, field

from sims.campaign import Campaign, Precision
from sims.campaign.axes import as_toml
from sims.campaign.cells import CellResult, Gauge, RunStatus
from sims.campaign.comparing import Compared, Comparison, Effect, compare, judged, run_of
from sims.campaign.intervals import mean_of
from sims.campaign.kit import digest
from sims.campaign.plan import Case, Cells
from sims.errors import InputError, imported
from sims.exports.tables import guarded
from sims.writing import refusing, replacing

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
        found = self.compared(gauge or self.campaign.gauges[0], effect)
        return judged(found, self.campaign.level)

    def compared(self, gauge: Gauge, effect: Effect | None = None) -> list[Comparison]:
        """Return the same before they are judged together: each interval holds by itself."""
        campaign, level, found = self.campaign, self.campaign.level, list[Comparison]()
        effect = effect or campaign.effect
        for _, group in groupby(self.finished(), lambda it: it[0][0].place):
            cells = list(group)
            for of in self._classes(gauge, [result for _, result in cells]):
                runs = {name: list[Compared]() for name in campaign.variants}
                for (case, _), result in cells:
                    runs[case.variant].append(run_of(result, gauge, campaign.until, of))
                at = (*cells[0][0][0].point, *([(campaign.by.value, of)] if campaign.by else ()))
                found.append(compare(at, gauge, runs, campaign.reference, effect, level))
        return found

    def _classes(self, gauge: Gauge, results: list[CellResult]) -> Iterable[str]:
        """The classes of jobs that are compared; without `by`, that of all."""
        if self.campaign.by is None:
            return [""]
        return dict.fromkeys(of for it in results for of in it.blocks.get(gauge.name, ()) if of)

    def runs(self) -> pl.DataFrame:
        """A row for each finished cell: its place on the axes, its variant, and what was measured,
        in the campaign file's order; measures that it no longer asks for come last. `.to_pandas()`
        makes it the other kind. Raises InputError without polars."""
        found = list(self.finished())
        places = (
            {key: plain(value) for key, value in case.point}
            | {"variant": case.variant, "replication": k}
            for (case, k), _ in found
        )
        frame = frame_of([result for _, result in found], places)
        frame = frame.drop("key", "blocks", "speaks").cast({"seed": polars_or_error().UInt64})
        asked = [it.name for it in self.campaign.gauges if it.name in frame.columns]
        former = {name for _, result in found for name in result.values} - set(asked)
        others = [it for it in frame.columns if it not in (*asked, *former)]
        return frame.select(*others, *asked, *sorted(former))

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


# --- on disk -----------------------------------------------------------------------------------

DESCRIPTION = "campaign.json"
COLUMNS = tuple(it.name for it in attrs.fields(CellResult) if it.name != "values")
"""Of every file, beside one for each measure."""


def polars_or_error() -> ModuleType:
    """Raises InputError, naming the pip command, where polars is missing."""
    polars: ModuleType = imported("polars", "results", "pip install 'holdfast[results]'")
    _hear_of_interrupts()
    return polars


def _hear_of_interrupts() -> None:
    """Polars brings a handler, when imported or when it first computes, under which a wait for a
    result goes on through Ctrl-C: ours takes its place again."""
    ours = signal.getsignal(signal.SIGINT)
    if ours is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ours)


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """As CSV or Parquet, by its suffix. Raises InputError where it cannot be written."""
    with replacing(path) as new:
        try:
            csv = path.suffix == ".csv"
            (guarded(frame).write_csv if csv else frame.write_parquet)(new)
        except polars_or_error().exceptions.PolarsError as error:  # of a full disk, say
            raise OSError(str(error).splitlines()[0]) from None
        _hear_of_interrupts()


def frame_of(
    results: Sequence[CellResult], places: Iterable[dict[str, Any]] = repeat({})
) -> pl.DataFrame:
    """A row for each, with its place before it. Seeds are text: those from 2**63 on fit in no
    column of numbers."""
    rows = [
        place
        | {name: getattr(it, name) for name in COLUMNS}
        | {"seed": str(it.seed), "end": it.end.value, "blocks": json.dumps(it.blocks)}
        | it.values
        for it, place in zip(results, places, strict=False)
    ]
    polars = polars_or_error()
    types = {"time": polars.Float64, "error": polars.String}
    types |= {name: polars.Float64 for it in results for name in it.values}
    return polars.DataFrame(  # type: ignore[no-any-return]
        rows, schema_overrides=types, infer_schema_length=None, strict=False
    )


@define
class Store:
    """A folder of results."""

    folder: Path

    def __attrs_post_init__(self) -> None:
        polars_or_error()
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(str(self.folder), "", "is no folder", "a folder, or a new one")

    def files(self) -> list[Path]:
        """Those of finished batches."""
        return sorted(self.folder.glob("*.parquet"))

    def add(self, results: Sequence[CellResult]) -> None:
        """Keep a batch. Raises InputError where it cannot be written."""
        name = digest(" ".join(it.key for it in results).encode())
        write_frame(frame_of(results), self.folder / f"{name}.parquet")

    def results(self) -> dict[str, CellResult]:
        """All by key. What raised and was tried again is as it was then.

        Raises InputError for a file that holds something else.
        """
        found: dict[str, CellResult] = {}
        for it in chain.from_iterable(map(_read, self.files())):
            if it.key not in found or found[it.key].end is RunStatus.RAISED:
                found[it.key] = it
        return found

    def describe(self, told: dict[str, Any]) -> None:
        """Note what the campaign is and which files it read."""
        with replacing(self.folder / DESCRIPTION) as new:
            new.write_text(json.dumps(told, indent=1))

    def changed(self, told: dict[str, Any]) -> list[str]:
        """Which of those files are others now; `code`: Holdfast itself is."""
        path = self.folder / DESCRIPTION
        if not path.exists():
            return []
        before, now = (
            {"code": it["code"], **it["files"]} for it in (json.loads(path.read_text()), told)
        )
        return [name for name, own in now.items() if before.get(name, own) != own]

    def recent(self, seconds: float) -> int:
        """Cells that were finished within the last `seconds`."""
        since = time.time() - seconds
        return sum(len(list(_read(it))) for it in self.files() if it.stat().st_mtime >= since)


def _read(path: Path) -> Iterator[CellResult]:
    polars = polars_or_error()
    try:
        with refusing(path):
            frame = polars.read_parquet(path)
        measured = [it for it in frame.columns if it not in COLUMNS]
        rows = frame.select([*COLUMNS, *measured]).to_dicts()
    except polars.exceptions.PolarsError as error:
        problem = f"holds no results: {str(error).splitlines()[0]}"
        raise InputError(str(path), "", problem, "a file that a campaign wrote") from None
    for row in rows:
        own = {name: row.pop(name) for name in COLUMNS}
        own |= {"seed": int(own["seed"]), "end": RunStatus(own["end"])}
        yield CellResult(**own | {"blocks": json.loads(own["blocks"])}, values=row)
