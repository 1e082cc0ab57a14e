"""What a table or figure of a paper says here: estimates, beside what the paper prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isfinite
from pathlib import Path
from statistics import stdev
from typing import Any

from attrs import evolve, frozen
from rich.table import Column, Table

from sims.campaign.axes import as_toml
from sims.campaign.cells import Gauge, RunStatus
from sims.campaign.comparing import Verdict
from sims.campaign.intervals import LEVEL, Estimate, mean_of, rounded
from sims.campaign.plan import Case
from sims.campaign.results import Results
from sims.plots.comparisons import draw_panels
from sims.scenario import Scenario
from sims.scenario.keys import axis_words
from sims.telling import grid

Place = tuple[tuple[str, Any], ...]
"""(what varies, value)."""


BASES = ("predicted from other numbers", "formula", "fitted")
"""What a value beside ours rests on: ours uses other published numbers only; it is a source's
formula, evaluated for our parameters; a parameter of ours was fitted on it."""


@frozen
class Value:
    """One figure."""

    place: Place
    """Where in the table, or on the picture's axes."""
    who: str
    """Which policy; the picture's line."""
    what: str
    """The table's column."""
    ours: Estimate
    paper: str | None = None
    """The value that stands beside it, as it is printed there."""
    basis: str = ""
    """What that value rests on, if the paper does not print it as a result: see `BASES`."""

    @property
    def row(self) -> str:
        """Names the table's row."""
        return " | ".join([*(as_toml(it) for _, it in self.place), self.who])

    @property
    def key(self) -> str:
        """Names it within its table."""
        return f"{self.row} | {self.what}"

    @property
    def covered(self) -> bool:
        """Whether what the paper prints, to its digits, may be our true value."""
        assert self.paper is not None
        printed, digits = float(self.paper), len(self.paper.partition(".")[2])
        slack = 0.5 * 10.0**-digits
        return self.ours.low - slack <= printed <= self.ours.high + slack

    def __str__(self) -> str:
        told = f"{self.ours.mean:.6g}" if self.ours.size == 1 else rounded(self.ours)
        if self.paper is None:
            return told
        verdict = (" in" if self.covered else " out") if isfinite(self.ours.half) else ""
        return f"{told} ({self.paper}{verdict})"


Statistic = Callable[[Sequence[float]], Estimate]
"""What is told of several values of a quantity."""


def exactly(value: float) -> Estimate:
    """What is computed, not drawn."""
    return Estimate(value, value, value, 1)


def drawn(value: float) -> Estimate:
    """What has no interval: a maximum, say."""
    return Estimate(value, -inf, inf, 1)


def estimated(values: Sequence[float]) -> Estimate:
    """Their mean at 95 %."""
    return mean_of(values, LEVEL)


def same(values: Sequence[float]) -> Estimate:
    """The one value that they all are: it is computed, not drawn."""
    return exactly(values[0])


def largest(values: Sequence[float]) -> Estimate:
    """The largest."""
    return drawn(max(values))


def spread(values: Sequence[float]) -> Estimate:
    """Their standard deviation; 0 of a single value."""
    return drawn(stdev(values) if len(values) > 1 else 0.0)


# --- runs of a campaign -----------------------------------------------------------------------

Runs = dict[Place, dict[str, list[float | None]]]
"""By place and variant, a value for each replication; None where it did not complete."""


def runs(results: Results, cut_off: bool = False) -> Runs:
    """The first measure of each run that is there; `cut_off`: also of those that were."""
    name, found = results.campaign.measures[0], Runs()
    for (case, _), result in results.finished():
        value = result.values.get(name)
        done = cut_off or result.end is RunStatus.COMPLETED
        row = found.setdefault(case.point, {}).setdefault(case.variant, [])
        row.append(value if done else None)
    return found


def without(place: Place, *keys: str) -> Place:
    """The place on the other axes."""
    return tuple(pair for pair in place if pair[0] not in keys)


def known(values: Iterable[float | None]) -> list[float]:
    """Those that are there."""
    return [it for it in values if it is not None]


@frozen
class Seen:
    """A run that has completed."""

    case: Case
    replication: int
    measured: list[float]
    """By the campaign's measures."""

    @property
    def at(self) -> dict[str, Any]:
        """All that its variant, in its cell, sets."""
        return dict(self.case.settings())

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self.case.scenario(self.replication)


Columns = Mapping[str, float]
"""Quantity -> a run's value."""


def gathered(
    results: Results, row: Callable[[Seen], Columns], *over: str
) -> dict[tuple[Place, str], dict[str, list[float]]]:
    """By place, `over` some of the axes, and variant: each quantity's values over the runs that
    have completed."""
    found: dict[tuple[Place, str], dict[str, list[float]]] = {}
    for (case, k), result in results.finished():
        if result.end is RunStatus.COMPLETED:
            measured = known(result.values[name] for name in results.campaign.measures)
            own = found.setdefault((without(case.point, *over), case.variant), {})
            for what, value in row(Seen(case, k, measured)).items():
                own.setdefault(what, []).append(value)
    return found


def observed(
    results: Results,
    row: Callable[[Seen], Columns],
    statistics: Mapping[str, Statistic],
    *over: str,
) -> list[Value]:
    """What is told of each quantity: its mean, or by name one of `statistics`."""
    return [
        Value(*at, what, statistics.get(what, estimated)(values))
        for at, own in gathered(results, row, *over).items()
        for what, values in own.items()
    ]


# --- views ------------------------------------------------------------------------------------


def ratios(results: Results, gauge: Gauge | None = None) -> list[Value]:
    """View: each variant's mean over the baseline's, paired by seed, of one measure (default: the
    first)."""
    return [
        Value(cell.point, line.variant, "ratio", line.effect.at(LEVEL))
        for cell in results.comparisons(gauge, "ratio")
        for line in cell.lines
        if line.verdict is not Verdict.BASELINE and line.effect is not None
    ]


def means(results: Results) -> list[Value]:
    """View: means of all measures."""
    return [
        Value(cell.point, line.variant, gauge.name.rpartition(":")[2], line.mean)
        for gauge in results.campaign.gauges
        for cell in results.comparisons(gauge)
        for line in cell.lines
    ]


def exact(results: Results) -> list[Value]:
    """View: the same where nothing is random."""
    return [evolve(it, ours=exactly(it.ours.mean)) for it in means(results)]


# --- telling ----------------------------------------------------------------------------------


def table(title: str, values: Sequence[Value]) -> Table:
    """A row for each place and policy, a column for each quantity."""
    whats = list(dict.fromkeys(it.what for it in values))
    keys = list(dict.fromkeys(key for it in values for key, _ in it.place))
    rows: dict[tuple[Place, str], dict[str, Value]] = {}
    for it in values:
        rows.setdefault((it.place, it.who), {})[it.what] = it
    based = ["the value beside ours is"] if any(it.basis for it in values) else []
    cells = (
        (
            *(as_toml(dict(place).get(key, "")) for key in keys),
            who,
            *(row.get(what, "") for what in whats),
            *(next((it.basis for it in row.values() if it.basis), "") for _ in based),
        )
        for (place, who), row in rows.items()
    )
    return grid((*keys, Column("", no_wrap=True)), (*whats, *based), cells, title)


def draw(results: Results, values: Sequence[Value], path: Path) -> list[Path]:
    """The picture that the campaign file asks for, if any, of the table's first quantity."""
    picture = results.campaign.picture
    if picture is None:
        return []
    x, lines = picture.x, picture.lines

    def named(key: str, value: object) -> str:
        return f"{picture.labels.get(key, key)} = {as_toml(value)}"

    shown = [it for it in values if it.what == values[0].what and x in dict(it.place)]
    told = defaultdict[str, set[str]](set)
    for key, value in (pair for it in shown for pair in without(it.place, x, lines)):
        told[key].add(as_toml(value))
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    for it in sorted(shown, key=lambda it: dict(it.place)[x]):
        at = dict(it.place)
        panel = ", ".join(named(key, at[key]) for key in told if len(told[key]) > 1)
        line = it.who if lines == "variant" else named(lines, at[lines])
        panels.setdefault(panel, {}).setdefault(line, []).append((at[x], it.ours))
    path = draw_panels(
        *(panels, path, picture.title, picture.labels.get(x) or axis_words(x, ""), values[0].what),
        columns=min(picture.columns, len(panels)),
        log_x=picture.log_x,
        log_y=picture.log_y,
        line=None,
    )
    return [path]
