"""Hold the values of a paper's table or figure as estimated here, beside those that the paper
prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import hypot, inf, isfinite
from pathlib import Path
from statistics import stdev
from typing import Any

from attrs import evolve, frozen
from rich.table import Column, Table

from sims.campaign.axes import as_toml
from sims.campaign.batches import AnyMeasure, RunStatus
from sims.campaign.comparing import Verdict
from sims.campaign.plan import Case
from sims.campaign.results import Results
from sims.estimates import rounded
from sims.intervals import LEVEL, Estimate, mean_of
from sims.plots.comparisons import draw_panels
from sims.scenario import Scenario
from sims.scenario.keys import axis_words
from sims.telling import grid

Place = tuple[tuple[str, Any], ...]
"""Pairs (what varies, value) that locate a value in its table."""


BASES = ("predicted from other numbers", "formula", "fitted")
"""Possible bases of a value beside ours: ours uses other published numbers only; the value is a
source's formula, evaluated for our parameters; a parameter of ours was fitted on the value."""


@frozen
class Value:
    """A value of a table or figure: our estimate of a quantity (`what`) under a policy (`who`), at
    one setting of what varies (`place`), and the paper's value if there is one."""

    place: Place
    """Place in the table, or on the picture's axes."""
    who: str
    """Policy of the value, which is a line of the picture."""
    what: str
    """Column of the table."""
    ours: Estimate
    """Estimate of the value by this project."""
    paper: str | None = None
    """Value of the paper, as printed there."""
    basis: str = ""
    """Basis of the paper's value, one of `BASES`, if the paper does not print it as a result."""

    @property
    def row(self) -> str:
        """Name of the table's row."""
        return " | ".join([*(as_toml(it) for _, it in self.place), self.who])

    @property
    def key(self) -> str:
        """Name of the value within its table."""
        return f"{self.row} | {self.what}"

    @property
    def covered(self) -> bool:
        """Whether our value's interval contains the paper's value, to the digits that the paper
        prints.

        If the paper prints an interval, such as `9865.97 ± 12.55`, whether the difference may be 0.
        """
        assert self.paper is not None
        value, _, half = self.paper.partition(" ± ")
        printed, digits = float(value), len(value.partition(".")[2])
        slack = 0.5 * 10.0**-digits
        if half:
            slack += hypot(self.ours.half, float(half)) - self.ours.half
        return self.ours.low - slack <= printed <= self.ours.high + slack

    def __str__(self) -> str:
        text = f"{self.ours.mean:.6g}" if self.ours.size == 1 else rounded(self.ours)
        if self.paper is None:
            return text
        verdict = (" in" if self.covered else " out") if isfinite(self.ours.half) else ""
        return f"{text} ({self.paper}{verdict})"


Statistic = Callable[[Sequence[float]], Estimate]
"""A function that estimates a statistic of several values of a quantity."""


def exactly(value: float) -> Estimate:
    """Return a value that is computed, not drawn, as an estimate whose interval has width 0."""
    return Estimate(value, value, value, 1)


def drawn(value: float) -> Estimate:
    """Return a value of which no interval is known, such as a maximum, as an estimate whose
    interval is unbounded, so that no verdict is given on a paper's value beside it. `holdfast
    papers check` compares the value itself."""
    return Estimate(value, -inf, inf, 1)


def estimated(values: Sequence[float]) -> Estimate:
    """Return the mean of the values with its 95 % interval."""
    return mean_of(values, LEVEL)


def same(values: Sequence[float]) -> Estimate:
    """Return the estimate of a computed quantity, whose values are all the same."""
    return exactly(values[0])


def largest(values: Sequence[float]) -> Estimate:
    """Return the largest value, without an interval."""
    return drawn(max(values))


def spread(values: Sequence[float]) -> Estimate:
    """Return the standard deviation of the values, which is 0 for a single one, without an
    interval."""
    return drawn(stdev(values) if len(values) > 1 else 0.0)


# --- runs of a campaign -----------------------------------------------------------------------

Runs = dict[Place, dict[str, list[float | None]]]
"""Maps each place and variant to a value for each replication, or None where it did not
complete."""


def runs(results: Results, cut_off: bool = False) -> Runs:
    """Return, for each place (setting of the campaign's axes) and variant, the campaign's first
    measure in each finished run, in order of replication.

    It is None for a run that did not complete; under `cut_off`, runs that were cut off have their
    values too.
    """
    name, found = results.question.measured.names[0], Runs()
    for (case, _), result in results.finished():
        value = result.values.get(name)
        done = cut_off or result.end is RunStatus.COMPLETED
        row = found.setdefault(case.point, {}).setdefault(case.variant, [])
        row.append(value if done else None)
    return found


def without(place: Place, *keys: str) -> Place:
    """Return the place without the axes of these names."""
    return tuple(pair for pair in place if pair[0] not in keys)


def known(values: Iterable[float | None]) -> list[float]:
    """Return the values that are not None."""
    return [it for it in values if it is not None]


@frozen
class Seen:
    """A completed run of a campaign: its case (place and variant), the number of its replication,
    and its measures."""

    case: Case
    replication: int
    measured: list[float]
    """Values of the campaign's measures, in their order."""

    @property
    def at(self) -> dict[str, Any]:
        """Settings of the run's variant in its cell."""
        return dict(self.case.settings())

    @property
    def scenario(self) -> Scenario:
        """Scenario of the run."""
        return self.case.scenario(self.replication)


Columns = Mapping[str, float]
"""Maps the name of each quantity to its value in a run."""


def gathered(
    results: Results, row: Callable[[Seen], Columns], *over: str
) -> dict[tuple[Place, str], dict[str, list[float]]]:
    """Return, for each pair of a place (setting of the campaign's axes) and a variant, the values
    of each quantity over the runs that have completed, by the quantity's name.

    `row` computes a run's quantities. Places lack the axes in `over`, over which values are
    gathered.
    """
    found: dict[tuple[Place, str], dict[str, list[float]]] = {}
    for (case, k), result in results.finished():
        if result.end is RunStatus.COMPLETED:
            measured = known(result.values[name] for name in results.question.measured.names)
            columns = found.setdefault((without(case.point, *over), case.variant), {})
            for what, value in row(Seen(case, k, measured)).items():
                columns.setdefault(what, []).append(value)
    return found


def observed(
    results: Results,
    row: Callable[[Seen], Columns],
    statistics: Mapping[str, Statistic],
    *over: str,
) -> list[Value]:
    """Return the mean of each quantity over the runs that have completed, for each place (setting
    of the campaign's axes) and variant; for a quantity in `statistics`, that statistic instead.

    `row` computes a run's quantities. Places lack the axes in `over`: values are gathered over
    these.
    """
    return [
        Value(*at, what, statistics.get(what, estimated)(values))
        for at, columns in gathered(results, row, *over).items()
        for what, values in columns.items()
    ]


# --- views ------------------------------------------------------------------------------------


def ratios(results: Results, gauge: AnyMeasure | None = None) -> list[Value]:
    """Return, for each place and variant but the baseline, the mean of a measure (`gauge`, default:
    the campaign's first) over the baseline's mean, paired by seed."""
    return [
        Value(cell.point, line.variant, "ratio", line.effect.at(LEVEL))
        for cell in results.comparisons(gauge, "ratio")
        for line in cell.lines
        if line.verdict is not Verdict.BASELINE and line.effect is not None
    ]


def means(results: Results) -> list[Value]:
    """Return the mean of each measure of the campaign, for each place and variant."""
    return [
        Value(cell.point, line.variant, gauge.value.rpartition(":")[2], line.mean)
        for gauge in results.question.measured.gauges
        for cell in results.comparisons(gauge)
        for line in cell.lines
    ]


def exact(results: Results) -> list[Value]:
    """Return the means of all measures as exact values, for campaigns without randomness."""
    return [evolve(it, ours=exactly(it.ours.mean)) for it in means(results)]


# --- telling ----------------------------------------------------------------------------------


def table(title: str, values: Sequence[Value]) -> Table:
    """Return a table with a row for each place and policy and a column for each quantity."""
    whats = list(dict.fromkeys(it.what for it in values))
    keys = list(dict.fromkeys(key for it in values for key, _ in it.place))
    rows: dict[tuple[Place, str], dict[str, Value]] = {}
    for it in values:
        rows.setdefault((it.place, it.who), {})[it.what] = it
    basis_column = ["the value beside ours is"] if any(it.basis for it in values) else []
    cells = (
        (
            *(as_toml(dict(place).get(key, "")) for key in keys),
            who,
            *(row.get(what, "") for what in whats),
            *(next((it.basis for it in row.values() if it.basis), "") for _ in basis_column),
        )
        for (place, who), row in rows.items()
    )
    return grid((*keys, Column("", no_wrap=True)), (*whats, *basis_column), cells, title)


def draw(results: Results, values: Sequence[Value], path: Path) -> list[Path]:
    """Draw the picture that the campaign file asks for to `path`, and return its path in a list,
    which is empty without such a picture.

    It shows the values of the first quantity, with a panel for each combination of the axes that
    are neither abscissa nor lines.
    """
    picture = results.question.picture
    if picture is None:
        return []
    x, lines = picture.x, picture.lines

    def named(key: str, value: object) -> str:
        return f"{picture.labels.get(key, key)} = {as_toml(value)}"

    shown = [it for it in values if it.what == values[0].what and x in dict(it.place)]
    varying = defaultdict[str, set[str]](set)
    for key, value in (pair for it in shown for pair in without(it.place, x, lines)):
        varying[key].add(as_toml(value))
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    for it in sorted(shown, key=lambda it: dict(it.place)[x]):
        at = dict(it.place)
        panel = ", ".join(named(key, at[key]) for key in varying if len(varying[key]) > 1)
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
