"""Hold the results of a campaign; on disk, a Parquet file for each finished batch of runs.

A file exists as a whole or not at all. Its name is the digest of its bytes, as each row's `key` is
a digest of everything on which the row depends. Results therefore never become wrong: a campaign
takes the rows whose keys it asks for, and leaves others, such as those from before a file has
changed; a file that is damaged is refused, and its runs are run again.
"""

from __future__ import annotations

import io
import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, groupby, repeat
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from sims.campaign.axes import as_toml
from sims.campaign.batches import AnyMeasure, RunResult, RunStatus
from sims.campaign.comparing import Comparison, Effect, compare, judged, widths
from sims.campaign.observations import Compared, known_of, run_of, values_of
from sims.campaign.plan import Case, Cases
from sims.campaign.question import Question
from sims.campaign.sections import Precision
from sims.campaign.stored import COLUMNS, noted_in, results_in, types_of
from sims.errors import InputError
from sims.exports.tables import guarded, polars_or_error, restore_interrupts
from sims.intervals import mean_of
from sims.packing import digest
from sims.writing import refusing, replacing

if TYPE_CHECKING:
    import polars as pl

Run = tuple[Case, int]
"""A run of a campaign: a case and the number of one of its replications."""


class Kept:
    """Results of a campaign's runs, kept in memory; a `Store` keeps them on disk, too."""

    @cached_property
    def results(self) -> dict[str, RunResult]:
        """All results, by the digest of everything on which a result depends (`RunResult.key`)."""
        return {}

    def set_damaged_aside(self) -> None:
        """Leave out files that cannot be used, and warn of each. In memory there are none."""

    def add(self, fresh: Sequence[RunResult]) -> None:
        """Keep the results of a batch."""
        for it in fresh:
            known = self.results.get(it.key)
            self.results[it.key] = known.with_more(it) if known else it

    def describe(self, about: dict[str, Any]) -> None:
        """Note the facts `about` the campaign: its name, its file, and the files that it read. Here
        nothing is noted; a `Store` writes them into its folder."""


@define
class Results:
    """The runs of a campaign and their results."""

    question: Question
    plan: Cases
    found: dict[str, RunResult] = field(factory=dict)
    """Maps the key of each run that has a result to it."""
    _precise: dict[tuple[int, int], bool] = field(init=False, factory=dict)
    """Maps each point, and each number of replications that were looked at, to whether what
    `precision` is of was known well enough."""

    @classmethod
    def of(
        cls,
        question: Question,
        plan: Cases | None = None,
        store: Kept | None = None,
        partly: bool = False,
    ) -> Results:
        """Return a question with those results of `store` that are of its runs; with none where
        `store` is None.

        `plan` has the campaign's cases, by default made here. With `partly`, runs of which not all
        of its measures are known are among them. Raises InputError where a case is no scenario.
        """
        plan = Cases.of(question) if plan is None else plan
        known = {} if store is None else store.results
        keys = (case.key(k) for case in plan for k in range(question.surely.most)) if known else ()
        found = {key: known[key] for key in keys if key in known}
        asked = [it.value for it in question.measured.gauges]
        return cls(
            question, plan, {key: it for key, it in found.items() if partly or it.has(asked)}
        )

    def forget_raised(self) -> None:
        """Forget the results of runs that raised an error, so that these runs are missing again."""
        self.found = {key: it for key, it in self.found.items() if it.end is not RunStatus.RAISED}
        self._precise.clear()

    @property
    def unit(self) -> str:
        """Unit of times in the scenarios."""
        return self.plan[0].scenario(0).times.value

    # --- runs ---------------------------------------------------------------------------------

    def asked(self) -> int:
        """Return the number of runs that are asked for, as far as known by now: with `precision`,
        more may be asked for after the next look at the intervals."""
        return sum(self._counts()) * len(self.question.varied.variants)

    def left(self) -> int:
        """Return the number of runs that are asked for and have no result."""
        return self.asked() - sum(1 for _ in self.finished())

    def missing(self) -> Iterator[Run]:
        """Yield the runs that are asked for and have no result when their turn comes, as (case,
        replication).

        Runs come in rounds, each of as many replications as all rounds before. A campaign that is
        stopped early then has some replications of each case; and where there are more cases than
        scenarios are kept, the scenario of a case is made again for each round and not for each
        replication.
        """
        counts = list(self._counts())
        begin, end = 0, 1
        while begin < max(counts, default=0):
            for case, k in self._planned(counts, begin, end):
                # Digests take time; a campaign without results needs none of them here.
                if not self.found or case.key(k) not in self.found:
                    yield case, k
            begin, end = end, 2 * end

    def finished(self) -> Iterator[tuple[Run, RunResult]]:
        """Yield each run that is asked for and has a result, as ((case, replication), result), in
        the order of points on the axes, variants and replications."""
        for case, k in self._planned(self._counts()) if self.found else ():
            if (key := case.key(k)) in self.found:
                yield (case, k), self.found[key]

    def raised(self) -> Iterator[tuple[Run, RunResult]]:
        """Yield each finished run that an error ended, as ((case, replication), result)."""
        if any(it.end is RunStatus.RAISED for it in self.found.values()):
            yield from (it for it in self.finished() if it[1].end is RunStatus.RAISED)

    def _planned(self, counts: Iterable[int], begin: int = 0, end: float = inf) -> Iterator[Run]:
        """Yield the runs, as (case, replication), whose replication is at least `begin` and below
        `end`, and below the number that `counts` has for their point on the axes."""
        for cases, count in zip(self.plan.points(), counts, strict=True):
            replications = range(begin, int(min(end, count)))
            yield from ((case, k) for case in cases for k in replications)

    def _counts(self) -> Iterator[int]:
        """Yield, for each point on the axes, the number of replications of each variant that are
        asked for now."""
        if self.question.surely.precision is None:
            return repeat(self.question.surely.runs, self.plan.places)
        return map(self._looked, self.plan.points())

    def _looked(self, cases: list[Case]) -> int:
        """Return the number of replications of each variant that are asked for now at a point on
        the axes, which has these cases.

        It is that of the first look for which replications are missing, or at which the intervals
        are narrow enough; after the last look it is the most that `precision` allows.
        """
        precision = self.question.surely.precision
        assert precision is not None
        for count in precision.looks():
            if self._known_well(precision, cases, count) is not False:
                return count
        return precision.most

    def wide(self) -> int:
        """Return the number of points on the axes that had all replications that `precision` allows
        and still have too wide an interval; 0 without `precision`."""
        asked = self.question.surely.precision
        if asked is None:
            return 0
        known = (self._known_well(asked, cases, asked.most) for cases in self.plan.points())
        return sum(it is False for it in known)

    def _known_well(self, precision: Precision, cases: list[Case], count: int) -> bool | None:
        """Return whether the means or effects of a point on the axes, which has these cases, are
        known as well as `precision` asks from `count` replications of each variant; None while one
        of these is missing.

        The answer is kept, since each look comes after all those before it.
        """
        at = cases[0].place, count
        if at not in self._precise:
            if any(case.key(k) not in self.found for case in cases for k in range(count)):
                return None
            self._precise[at] = self._look(precision, cases, count)
        return self._precise[at]

    def _look(self, precision: Precision, cases: list[Case], count: int) -> bool:
        measured, surely = self.question.measured, self.question.surely
        gauge = measured.gauge(precision.measure)
        runs = {
            case.variant: [
                run_of(self.found[case.key(k)], gauge, surely.until) for k in range(count)
            ]
            for case in cases
        }
        if precision.of == "effect":
            tests = max((len(cases) - 1) * self.plan.places, 1)
            level = 1 - (1 - surely.level) / tests  # that of the intervals that are printed
            names = self.question.varied.reference, measured.effect
            found = widths(compare((), gauge, runs, *names, level))
        else:
            known = ((values_of(row), known_of(row, gauge)) for row in runs.values())
            means = (mean_of(values, surely.level, it) for values, it in known)
            found = ((it.mean, it.half) for it in means)
        return all(precision.reached(scale, half) for scale, half in found)

    # --- answers ------------------------------------------------------------------------------

    def comparisons(
        self, gauge: AnyMeasure | None = None, effect: Effect | None = None
    ) -> list[Comparison]:
        """Return a comparison by one measure for each point on the axes that has results, and
        within it for each class of jobs if the campaign has `by`.

        The measure is `gauge`, by default the first, and variants are compared by `effect`, by
        default the campaign's. All intervals hold together at 95 %.
        """
        found = self.compared(gauge or self.question.measured.gauges[0], effect)
        return judged(found, self.question.surely.level)

    def compared(self, gauge: AnyMeasure, effect: Effect | None = None) -> list[Comparison]:
        """Return the comparisons as `comparisons` does, but with each interval at `Certainty.level`
        by itself and with verdicts still open, so that several measures can be judged together."""
        varied, measured, surely = (
            self.question.varied,
            self.question.measured,
            self.question.surely,
        )
        effect, found = effect or measured.effect, list[Comparison]()
        for _, group in groupby(self.finished(), lambda it: it[0][0].place):
            listed = list(group)
            for job_class in self._classes(gauge, [result for _, result in listed]):
                runs = {name: list[Compared]() for name in varied.variants}
                for (case, _), result in listed:
                    runs[case.variant].append(run_of(result, gauge, surely.until, job_class))
                at = (
                    *listed[0][0][0].point,
                    *([(measured.by.value, job_class)] if measured.by else ()),
                )
                found.append(compare(at, gauge, runs, varied.reference, effect, surely.level))
        return found

    def _classes(self, gauge: AnyMeasure, results: list[RunResult]) -> Iterable[str]:
        """Return the names of the classes of jobs that are compared, in order of appearance.
        Without `by` it is the class of all jobs, which has the empty name."""
        if self.question.measured.by is None:
            return [""]
        return dict.fromkeys(
            job_class for it in results for job_class in it.blocks.get(gauge.value, ()) if job_class
        )

    def runs(self) -> pl.DataFrame:
        """Return a frame of polars with a row for each finished run: its point on the axes, its
        variant, its seed, how it ended, and what was measured.

        Columns come in the campaign file's order; measures that it no longer asks for come last.
        `.to_pandas()` converts it to pandas. Raises InputError without polars.
        """
        found = list(self.finished())
        places = (
            {key: plain(value) for key, value in case.point}
            | {"variant": case.variant, "replication": k}
            for (case, k), _ in found
        )
        frame = frame_of([result for _, result in found], places)
        frame = frame.drop("key", "blocks", "speaks", "drew", "sampled", "expected", "struck")
        frame = frame.cast({"seed": polars_or_error().UInt64})
        asked = [it.value for it in self.question.measured.gauges if it.value in frame.columns]
        former = {name for _, result in found for name in result.values} - set(asked)
        others = [it for it in frame.columns if it not in (*asked, *former)]
        return frame.select(*others, *asked, *sorted(former))

    def description(self) -> dict[str, Any]:
        """Return the campaign's name, source and number of runs, and the digests of Holdfast's code
        and of the files read; a store notes them, to tell later what has changed."""
        return {
            "campaign": self.question.name,
            "source": self.question.door.source,
            "cells": self.asked(),
            "code": self.plan.dependencies.code,
            "files": self.plan.dependencies.digests(),
        }


def refuse_raised(found: Results) -> None:
    """Raise InputError for the first run that an error ended, if there is one: an answer without
    that run would be meaningless."""
    for (case, _), result in found.raised():
        raise InputError(f"{case}, seed {result.seed}", "", str(result.error))


def plain(value: object) -> int | float | str:
    """Return a value as it stands in a column of a table: a number or a text as it is, anything
    else as its text on a command line."""
    return value if isinstance(value, int | float | str) else as_toml(value)


# --- on disk -----------------------------------------------------------------------------------

DESCRIPTION = "campaign.json"
ASIDE = ".damaged"
"""Suffix that is added to the name of a file which cannot be used."""


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as CSV or Parquet, according to the file's suffix. Raises InputError where the
    file cannot be written."""
    with replacing(path) as new:
        try:
            csv = path.suffix == ".csv"
            (guarded(frame).write_csv if csv else frame.write_parquet)(new)
        except polars_or_error().exceptions.PolarsError as error:  # of a full disk, say
            raise OSError(str(error).splitlines()[0]) from None
        restore_interrupts()


def frame_of(
    results: Sequence[RunResult], places: Iterable[dict[str, Any]] = repeat({})
) -> pl.DataFrame:
    """Return a frame of polars with a row for each result, whose first columns are those of its
    entry in `places`.

    Seeds are text, since seeds from 2**63 on fit in no column of numbers.
    """
    rows = [
        place
        | {name: getattr(it, name) for name in COLUMNS}
        | {"seed": str(it.seed), "end": it.end.value, "blocks": json.dumps(it.blocks)}
        | it.values
        for it, place in zip(results, places, strict=False)
    ]
    polars = polars_or_error()
    types = types_of((*COLUMNS, *(name for it in results for name in it.values)))
    return polars.DataFrame(  # type: ignore[no-any-return]
        rows, schema_overrides=types, infer_schema_length=None, strict=False
    )


@define(slots=False)
class Store(Kept):
    """A folder with results of campaigns, a Parquet file for each batch. Raises InputError where
    the path is no folder, or polars is missing."""

    folder: Path

    def __attrs_post_init__(self) -> None:
        polars_or_error()
        if self.folder.is_symlink() and not self.folder.exists():
            problem = f"is a link to {os.path.realpath(self.folder)}, which is not there"
            raise InputError(str(self.folder), "", problem, "a folder, or a new one")
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(str(self.folder), "", "is no folder", "a folder, or a new one")

    @property
    def description(self) -> Path:
        """Path of the file with the facts about the campaign."""
        return self.folder / DESCRIPTION

    def files(self) -> list[Path]:
        """Return the paths of the files of finished batches, sorted."""
        return sorted(self.folder.glob("*.parquet"))

    def add(self, fresh: Sequence[RunResult]) -> None:
        """Write the results of a batch to a new file of the folder, and keep them in memory. Raises
        InputError where it cannot be written."""
        packed = io.BytesIO()
        frame_of(fresh).write_parquet(packed)
        restore_interrupts()
        data = packed.getvalue()
        with replacing(self.folder / f"{digest(data)}.parquet") as new:
            new.write_bytes(data)
        super().add(fresh)

    def set_damaged_aside(self) -> None:
        """Rename each file of the folder that is not as a campaign wrote it, so that its runs are
        missing, and warn of it in one line."""
        if "results" in self.__dict__:
            return  # all files have been read
        if os.path.lexists(self.description):
            with _aside(self.description):
                noted_in(self.description)
        rows = list[RunResult]()
        for path in self.files():
            with _aside(path):
                rows += results_in(path)
        self.results = _best(rows)

    @cached_property
    def results(self) -> dict[str, RunResult]:
        """All results in the folder by `RunResult.key`, read when first asked for. If a run raised
        an error and was repeated, its result without an error is taken.

        Raises InputError for a file that is not as a campaign wrote it.
        """
        return _best(chain.from_iterable(map(results_in, self.files())))

    def describe(self, about: dict[str, Any]) -> None:
        """Write the facts `about` the campaign to a JSON file in the folder: its name, its file,
        and the digests of the files that it read."""
        with replacing(self.description) as new:
            new.write_text(json.dumps(about, indent=1))

    def changed(self, about: dict[str, Any]) -> list[str]:
        """Return the names of the files whose digest in `about` differs from the one that the
        folder notes; `code` stands for Holdfast itself.

        Files that the folder does not note are left out. The list is empty where it notes nothing.
        Raises InputError where the file with its notes is damaged.
        """
        if not os.path.lexists(self.description):
            return []
        noted = noted_in(self.description)
        before, now = {"code": noted.code, **noted.files}, {"code": about["code"], **about["files"]}
        return [name for name, own in now.items() if before.get(name, own) != own]

    def recent(self, seconds: float) -> int:
        """Return the number of runs whose file was written within the last `seconds` of real
        time."""
        since = time.time() - seconds
        return sum(len(results_in(it)) for it in self.files() if it.stat().st_mtime >= since)


def store_in(folder: str | Path | None) -> Kept:
    """Return a store in the given folder of results, or one in memory for None."""
    return Store(Path(folder)) if folder else Kept()


def _best(rows: Iterable[RunResult]) -> dict[str, RunResult]:
    """Return results by their keys; several with one key become one with the measures of all, and
    those that no error ended are taken."""
    found: dict[str, RunResult] = {}
    for it in rows:
        found[it.key] = found[it.key].with_more(it) if it.key in found else it
    return found


@contextmanager
def _aside(path: Path) -> Iterator[None]:
    """Return a context in which an InputError about the file at `path` becomes a warning, and the
    file gets another name. Raises InputError where it cannot be renamed."""
    try:
        yield
    except InputError as error:
        aside = path.with_name(path.name + ASIDE)
        with refusing(path):
            path.replace(aside)
        told = f"{path} {error.problem}; it is now {aside.name}"
        warnings.warn(f"{told}, and what it held is made again", stacklevel=4)
