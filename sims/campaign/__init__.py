"""Many simulations and what they tell: from one file to a table and a figure.

    from sims.campaign import load_campaign
    from sims.campaign.engine import execute
    from sims.campaign.results import Store

    results = execute(load_campaign(Path("mine.toml")), store=Store(Path("results")))
    results.runs()                              # a row per run
    results.comparisons()                       # by cell: means, ratios, verdicts
    Table(results).frame()                      # the same as a frame (sims.campaign.tables)
    draw(results, Path("mine.png"))             # sims.campaign.picture

`load_campaign` reads a campaign file (`Campaign` says what may stand in it), `execute` runs what is
missing on the cores of this machine or on any `concurrent.futures.Executor` (`executors`), and
`Results` answers: a frame, comparisons within each cell, a picture. `engine.run_many` runs tasks
that are no scenarios on what all of it runs on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, log
from pathlib import Path
from typing import Annotated, Any, Literal

from attrs import evolve
from pydantic import Field

from sims.campaign.axes import axes_of, flat
from sims.campaign.cells import Gauge, gauge
from sims.campaign.comparing import Effect
from sims.campaign.intervals import LEVEL
from sims.campaign.kit import OWN
from sims.errors import COMMAND_LINE, InputError
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.scenario import Seed
from sims.scenario.loader import parse
from sims.tables import Section
from sims.tables.fields import (
    NOT_EMPTY,
    AboveOne,
    Accepts,
    Name,
    NotNegative,
    Positive,
    Unacceptable,
)
from sims.tables.refusals import not_accepted, section_of

LOOKS = 1000
"""At whether intervals are narrow enough."""

AtLeastOne = Annotated[int, Accepts("a whole number from 1", {"ge": 1})]


# --- what a file says -------------------------------------------------------------------------


class Precision(Section):
    """`[precision]`: replications until means are known well enough.

    All variants of a cell get as many. Who looks again and again at a 95 % interval, and stops when
    it is narrow, is right less often than that: of k looks in all each is at 1 - 0.05/k, so that
    what holds at the end holds at 95 % whenever that was (Bonferroni).
    """

    measure: str | None = None
    """Whose mean; default: the first measure."""
    relative: Positive | None = None
    """Half-width of the interval over the mean, for every variant."""
    absolute: Positive | None = None
    """Half-width, in the measure's unit, instead."""
    first: AtLeastOne = 10
    """Replications before the first look."""
    most: AtLeastOne = 1000
    """Replications after which it ends as it is."""
    growth: AboveOne = 1.5
    """Replications at a look over those at the one before."""

    def check(self) -> None:
        if (self.relative is None) == (self.absolute is None):
            raise Unacceptable("relative", self.relative, "either `relative` or `absolute`")
        if self.most < self.first:
            raise Unacceptable("most", self.most, "at least `first`")
        if log(self.most / self.first) > LOOKS * log(self.growth):
            raise Unacceptable(
                "growth", self.growth, f"one with which there are at most {LOOKS} looks"
            )

    def looks(self) -> list[int]:
        """Replications at each look."""
        count = ceil(log(self.most / self.first) / log(self.growth) - 1e-9)
        return [min(self.most, round(self.first * self.growth**k)) for k in range(count + 1)]

    def reached(self, mean: float, half: float) -> bool:
        """Whether this interval is narrow enough."""
        wanted = self.absolute if self.relative is None else self.relative * abs(mean)
        return wanted is not None and half <= wanted


class PictureSection(Section):
    """`[picture]`: curves with intervals, over one axis."""

    x: str
    """An axis whose values are numbers, or times such as `20 min`."""
    lines: str = "variant"
    """An axis, or `variant`: a curve for each."""
    panels: str | None = None
    """An axis, or `variant`: a panel for each."""
    measure: str | None = None
    """Default: the first."""
    show: Literal["mean", "ratio", "difference"] = "mean"
    """`mean`; `ratio` or `difference` to the baseline."""
    log_x: bool = False
    log_y: bool = False
    best: bool = False
    """Whether the best of each line's values has a star."""
    periods: tuple[Literal["young", "daly"], ...] = ()
    """Checkpoint periods by these formulas, as lines across x."""
    columns: AtLeastOne = 3
    """Panels side by side."""
    title: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    """What keys, measures and variants are called in the picture."""


class CampaignFile(Section):
    """A campaign file: a base scenario, what varies, how often, and what is wanted of it."""

    name: Name
    """What it is called, and its results: logs/campaigns/NAME unless told otherwise."""
    scenario: str
    """The base: a scenario file, from this one's folder, or `package.module:function` of yours. The
    function gets settings as arguments of their names (and `seed`, if it has one), and returns a
    scenario file's table or a `Scenario`; other settings are then set in its table."""
    seed: Seed | None = None
    """The first one of every cell; default: the scenario's."""
    replications: AtLeastOne = 10
    """Runs of every variant in every cell, at seeds that follow each other."""
    precision: Precision | None = None
    """How narrow intervals have to be, instead."""
    until: NotNegative | None = None
    """End every run then, in the scenario's unit, if not before."""
    measures: Annotated[tuple[str, ...], NOT_EMPTY] = ("makespan",)
    """What runs are measured by; `package.module:function` of yours gets a `Report`; one
    whose argument is annotated `Summary`, `Flowtimes` or with a fold of yours (`cells.Gauge`) gets
    that, which takes a third of the time."""
    higher_is_better: tuple[str, ...] = ()
    """Measures of yours of which more is better."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Keys of the scenario, for all cells. Tables merge; one that says its `kind` replaces."""
    axes: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Key of the scenario -> its values: a list, or a range. All combinations are cells."""
    variants: dict[str, dict[str, Any]] = Field({"as it is": {}})
    """Name -> keys of the scenario. Every variant is run in every cell, on the same seeds."""
    baseline: str | None = None
    """The variant that others are compared with in each cell; default: the first."""
    effect: Effect = "ratio"
    """What they are compared by: the ratio of their means, or the difference."""
    by: By | None = None
    """Compare anew for the jobs of each user, say; measures are then those of jobs."""
    picture: PictureSection | None = None

    def check(self) -> None:
        for name in self.measures:
            try:
                ours = self.gauge(name).ours
            except ValueError:
                known = ", ".join(it.value for it in Measure)
                raise Unacceptable("measures", name, f"{known}, package.module:function") from None
            if self.by and not (ours and ours.quantity):
                known = ", ".join(it.value for it in Measure if it.quantity)
                raise Unacceptable("measures", name, f"measures of jobs, for `by`: {known}")
        if not self.variants:
            raise Unacceptable("variants", {}, "at least one, or none of this section")
        for key, value, accepted in self._choices():
            if value not in accepted:
                raise Unacceptable(key, value, ", ".join(filter(None, accepted)))

    def gauge(self, name: str | None) -> Gauge:
        """Return that measure, or the first. Raises ValueError where there is none of the name."""
        return gauge(name or self.measures[0], self.higher_is_better)

    def _choices(self) -> Iterator[tuple[str, str | None, list[str | None]]]:
        """(key, value, what it can be)."""
        axes, measures = list[str | None](self.axes), [None, *self.measures]
        yield "baseline", self.baseline, [None, *self.variants]
        if self.precision is not None:
            yield "precision.measure", self.precision.measure, measures
        if self.picture is not None:
            yield "picture.x", self.picture.x, axes
            yield "picture.lines", self.picture.lines, [*axes, "variant"]
            yield "picture.panels", self.picture.panels, [None, *axes, "variant"]
            yield "picture.measure", self.picture.measure, measures


class Campaign(CampaignFile):
    """A campaign, and where its file lies."""

    folder: str = "."
    """Where `scenario` and modules are sought: the file's."""
    source: str = COMMAND_LINE
    """What errors name: the file."""
    given: dict[str, Any] = Field(default_factory=dict)
    """Measures that a program gives as functions, by their names."""

    @property
    def made(self) -> bool:
        """Whether a function makes its scenarios."""
        return OWN.fullmatch(self.scenario) is not None

    @property
    def gauges(self) -> tuple[Gauge, ...]:
        """The measures."""
        return tuple(map(self.gauge, self.measures))

    def gauge(self, name: str | None) -> Gauge:
        name = name or self.measures[0]
        if name in self.given:
            return Gauge(name, name in self.higher_is_better, given=self.given[name])
        return super().gauge(name)

    @property
    def reference(self) -> str:
        """The baseline's name."""
        return self.baseline or next(iter(self.variants))

    @property
    def most(self) -> int:
        """Replications of a cell, or after how many it ends."""
        return self.precision.most if self.precision else self.replications

    @property
    def level(self) -> float:
        """Of each interval, for it to hold at 95 % whenever replications ended."""
        looks = len(self.precision.looks()) if self.precision else 1
        return 1 - (1 - LEVEL) / looks


# --- reading ----------------------------------------------------------------------------------


def load_campaign(
    path: Path, size: str | None = None, changes: Mapping[str, Any] | None = None
) -> Campaign:
    """Read a campaign file. `size` names a table of its `[sizes]`, whose keys take the place of the
    file's own (axes and other tables merge); `changes` do so after it.

    Raises InputError, naming file, key, value and what would be accepted.
    """
    try:
        table = parse(path)
    except InputError as error:
        raise evolve(error, accepted="a campaign file") from None
    sizes = table.pop("sizes", {})
    if not isinstance(sizes, dict) or not all(isinstance(it, dict) for it in sizes.values()):
        accepted = "a table of tables: `[sizes.small]` and keys of the campaign"
        raise InputError(str(path), "sizes", not_accepted(sizes), accepted)
    if size is not None and size not in sizes:
        known = ", ".join(sizes) or "none: the file has no [sizes]"
        raise InputError(str(path), "sizes", f"{size!r} is not there", known)
    _merge(table, sizes.get(size, {}))
    _merge(table, changes or {})
    _flatten(table, str(path))
    asked = section_of(CampaignFile, table, str(path))
    return Campaign.model_construct(**dict(asked), folder=str(path.parent), source=str(path))


def _flatten(table: dict[str, Any], source: str) -> None:
    """Keys of tables in tables become dotted ones; what is no table is left to be refused."""
    if isinstance(table.get("set"), dict):
        table["set"] = dict(flat(table["set"]))
    if isinstance(table.get("axes"), dict):
        table["axes"] = {it.key: it.values for it in axes_of(table["axes"], source)}
    if isinstance(table.get("variants"), dict):
        variants = table["variants"].items()
        table["variants"] = {k: dict(flat(v)) if isinstance(v, dict) else v for k, v in variants}


def _merge(table: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), dict):
            _merge(table[key], value)
        else:
            table[key] = value
