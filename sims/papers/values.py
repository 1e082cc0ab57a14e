"""What a table or figure of a paper says here: estimates, beside what the paper prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf, isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from attrs import frozen
from rich.box import SIMPLE
from rich.table import Column, Table
from rich.text import Text

from sims.campaign.axes import as_toml
from sims.campaign.campaign import PictureSection
from sims.campaign.cells import Gauge
from sims.campaign.comparing import Verdict
from sims.campaign.intervals import LEVEL, Estimate, mean_of
from sims.campaign.plan import Case
from sims.campaign.results import Results
from sims.campaign.tables import rounded
from sims.plots.panels import draw_panels

Place = tuple[tuple[str, Any], ...]
"""(what varies, value)."""


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
    """As it is printed there."""

    @property
    def key(self) -> str:
        """Names it within its table."""
        return " | ".join([*(as_toml(it) for _, it in self.place), self.who, self.what])

    @property
    def covered(self) -> bool:
        """Whether what the paper prints, to its digits, may be our true value."""
        assert self.paper is not None
        printed, digits = float(self.paper), len(self.paper.partition(".")[2])
        slack = 0.0 if "e" in self.paper else 0.5 * 10.0**-digits
        return self.ours.low - slack <= printed <= self.ours.high + slack

    def __str__(self) -> str:
        told = f"{self.ours.mean:.6g}" if self.ours.size == 1 else rounded(self.ours)
        if self.paper is None:
            return told
        if not isfinite(self.ours.half):
            return f"{told} ({self.paper})"
        return f"{told} ({self.paper} {'in' if self.covered else 'out'})"


def exactly(value: float) -> Estimate:
    """What is computed, not drawn."""
    return Estimate(value, value, value, 1)


def drawn(value: float) -> Estimate:
    """What has no interval: a maximum, say."""
    return Estimate(value, -inf, inf, 1)


# --- runs of a campaign -----------------------------------------------------------------------


@frozen
class Ran:
    """One run of a campaign."""

    place: Place
    variant: str
    case: Case
    replication: int
    value: float | None
    """None where it did not complete."""


def runs(results: Results, gauge: Gauge | None = None) -> Iterator[Ran]:
    """All runs that are there, of one measure (default: the first)."""
    name = (gauge or results.campaign.gauges[0]).name
    for (case, k), result in results.finished():
        known = result.values.get(name) if result.end.value == "completed" else None
        yield Ran(case.point, case.variant, case, k, known)


def without(place: Place, *keys: str) -> Place:
    """The place on the other axes."""
    return tuple(pair for pair in place if pair[0] not in keys)


def grouped(found: Iterable[tuple[Place, str, float]]) -> dict[tuple[Place, str], list[float]]:
    """Values by place and who."""
    groups: dict[tuple[Place, str], list[float]] = {}
    for place, who, value in found:
        groups.setdefault((place, who), []).append(value)
    return groups


def over_sets(
    found: Iterable[tuple[Place, str, float]], key: str
) -> dict[tuple[Place, str], list[float]]:
    """Means within each set of jobs, which the axis `key` numbers, by place and who: runs of one
    set are no independent observations."""
    within = grouped(found).items()
    return grouped((without(place, key), who, fmean(it)) for (place, who), it in within)


def estimated(values: Sequence[float]) -> Estimate:
    """Their mean at 95 %."""
    return mean_of(list(values), LEVEL)


def ratios(results: Results, gauge: Gauge | None = None) -> list[Value]:
    """View: each variant's mean over the baseline's, paired by seed, of one measure (default: the
    first)."""
    return [
        Value(cell.point, line.variant, "ratio", line.ratio.at(LEVEL))
        for cell in results.comparisons(gauge)
        for line in cell.lines
        if line.verdict is not Verdict.BASELINE and line.ratio is not None
    ]


def means(results: Results) -> list[Value]:
    """View: means of all measures."""
    return [
        Value(cell.point, line.variant, gauge.name.rpartition(":")[2], line.mean)
        for gauge in results.campaign.gauges
        for cell in results.comparisons(gauge)
        for line in cell.lines
    ]


# --- telling ----------------------------------------------------------------------------------


def table(title: str, values: Sequence[Value]) -> Table:
    """A row for each place and policy, a column for each quantity."""
    whats = list(dict.fromkeys(it.what for it in values))
    keys = list(dict.fromkeys(key for it in values for key, _ in it.place))
    rows: dict[tuple[Place, str], dict[str, Value]] = {}
    for it in values:
        rows.setdefault((it.place, it.who), {})[it.what] = it
    heads = [Column(what, justify="right", no_wrap=True) for what in whats]
    grid = Table(*keys, Column("", no_wrap=True), *heads, title=title, box=SIMPLE)
    for (place, who), row in rows.items():
        at = dict(place)
        left = [as_toml(at[key]) if key in at else "" for key in keys]
        grid.add_row(*map(Text, [*left, who]), *(str(row.get(what, "")) for what in whats))
    return grid


def draw(results: Results, values: Sequence[Value], path: Path) -> list[Path]:
    """The picture that the campaign file asks for, if any, of the table's first quantity."""
    picture = results.campaign.picture
    if picture is None:
        return []
    shown = [it for it in values if it.what == values[0].what and picture.x in dict(it.place)]
    panels: dict[str, dict[str, list[tuple[float, Estimate]]]] = {}
    for it in shown:
        at = dict(it.place)
        line = it.who if picture.lines == "variant" else _at(picture, picture.lines, it)
        others = (_at(picture, key, it) for key in _panelled(picture, shown))
        curves = panels.setdefault(", ".join(others), {})
        curves.setdefault(line, []).append((at[picture.x], it.ours))
    sorted_panels = {
        name: {who: sorted(curve, key=_first) for who, curve in curves.items()}
        for name, curves in panels.items()
    }
    names = picture.labels.get(picture.x, picture.x), values[0].what
    columns = min(picture.columns, len(panels))
    title = picture.title
    path = draw_panels(
        *(sorted_panels, path, title, *names),
        columns=columns,
        log_x=picture.log_x,
        log_y=picture.log_y,
        line=None,
    )
    return [path]


def _panelled(picture: PictureSection, values: Sequence[Value]) -> list[str]:
    """What varies beside the picture's axis and its lines."""
    seen: dict[str, set[str]] = {}
    for it in values:
        for key, value in it.place:
            seen.setdefault(key, set()).add(as_toml(value))
    shown = (picture.x, picture.lines)
    return [key for key, known in seen.items() if len(known) > 1 and key not in shown]


def _at(picture: PictureSection, key: str, value: Value) -> str:
    return f"{picture.labels.get(key, key)} = {as_toml(dict(value.place)[key])}"


def _first(point: tuple[float, Estimate]) -> float:
    return point[0]
