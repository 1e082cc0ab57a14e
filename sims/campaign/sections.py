"""The sections of a campaign file: what it may say, and how its parts go together."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.maths.tolerance import SAME
from sims.campaign.comparing import Effect
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.packing import OWN
from sims.scenario import Seed
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

LOOKS = 1000
"""Largest number of looks at whether intervals are narrow enough."""

AtLeastOne = Annotated[int, Accepts("a whole number from 1", {"ge": 1})]


class Precision(Section):
    """`[precision]`: add replications until means are known well enough.

    All variants of a cell get as many. An interval at 95 % that is looked at again and again, until
    it is narrow, covers the mean less often than that. So each of k looks is at 1 - 0.05/k, and the
    interval at the end holds at 95 % whenever replications ended (Bonferroni).
    """

    measure: str | None = None
    """Measure that is looked at; default: the first measure."""
    of: Literal["mean", "effect"] = "mean"
    """Quantity that has to be known well: the `mean` of every variant, or its `effect` against
    the baseline (the ratio or the difference), with the interval that the table prints."""
    relative: Positive | None = None
    """Half-width of the interval over the mean, over the ratio, or, of a difference, over the
    baseline's mean."""
    absolute: Positive | None = None
    """Half-width of the interval in the unit of the mean or effect, instead of `relative`."""
    first: AtLeastOne = 10
    """Replications before the first look."""
    most: AtLeastOne = 1000
    """Replications after which a cell ends even if it is not precise enough."""
    growth: AboveOne = 1.5
    """Ratio of the replications at a look to those at the look before."""

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
        """Return the numbers of replications after which the intervals are looked at, in order:
        `first`, then each `growth` times the one before (rounded), and last `most`."""
        # Rounding must not add a look where the ratio is a power of `growth`.
        count = ceil(log(self.most / self.first) / log(self.growth) - SAME)
        return [min(self.most, round(self.first * self.growth**k)) for k in range(count + 1)]

    def reached(self, mean: float, half: float) -> bool:
        """Return whether an interval with this mean and half-width is narrow enough: its half-width
        is at most `absolute`, or at most `relative` times the mean's absolute value."""
        wanted = self.absolute if self.relative is None else self.relative * abs(mean)
        return wanted is not None and half <= wanted


class TuneSection(Section):
    """`[tune]`: search for the settings at which a measure is best, as `holdfast tune` does, in
    place of axes and variants."""

    over: Annotated[dict[str, Any], NOT_EMPTY]
    """Keys of the scenario that may be chosen: a range such as `"5min..4h"` or `"0..8"`, or a list
    of words."""
    minimise: str | None = None
    """Measure to make small; either this or `maximise`."""
    maximise: str | None = None
    """Measure to make large."""
    subject_to: tuple[str, ...] = ()
    """Bounds of means, such as `"goodput>=0.95"`."""
    runs: AtLeastOne = 30
    """Runs of the answer, on seeds that the search did not use."""
    precision: str | None = None
    """Half-width of the answer's interval at which no more runs are added, such as `"1%"`."""
    each: AtLeastOne = 64
    """Largest number of runs of a point of the search."""
    within: str | None = None
    """Real time in which the search ends with what it then knows, such as `"2min"`."""


class PictureSection(Section):
    """`[picture]`: draw curves with intervals over one axis."""

    x: str
    """An axis whose values are numbers, or times such as `20 min`."""
    lines: str = "variant"
    """An axis, or `variant`, with a curve for each value."""
    panels: str | None = None
    """An axis, or `variant`, with a panel for each value."""
    measure: str | None = None
    """Measure that is drawn; default: the first."""
    show: Literal["mean", "ratio", "difference"] = "mean"
    """Value that is drawn: the measure's `mean`, or its `ratio` or `difference` to the baseline."""
    log_x: bool = False
    log_y: bool = False
    best: bool = False
    """Whether the best value of each line is marked by a star."""
    periods: tuple[Literal["young", "daly"], ...] = ()
    """Formulas of checkpoint periods, drawn as lines across x."""
    columns: AtLeastOne = 3
    """Panels side by side."""
    title: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    """Names of keys, measures and variants in the picture."""


class CampaignFile(Section):
    """A campaign file: a base scenario, what varies, how often runs are repeated, and what is
    measured."""

    name: Name
    """Name of the campaign and of its results: logs/campaigns/NAME unless another folder is
    given."""
    scenario: str
    """The base: a scenario file, relative to this file's folder, or `package.module:function` of
    yours. The function gets settings as arguments of their names (and `seed`, if it has one), and
    returns a scenario file's table or a `Scenario`; other settings are then set in its table."""
    seed: Seed | None = None
    """First seed of every cell; default: the scenario's."""
    replications: AtLeastOne = 10
    """Runs of every variant in every cell, at consecutive seeds."""
    precision: Precision | None = None
    """How narrow intervals have to be, instead of `replications`."""
    until: NotNegative | None = None
    """Time, in the scenario's unit, at which every run ends, if not before."""
    measures: Annotated[tuple[str, ...], NOT_EMPTY] = ("makespan",)
    """Measures of a run. `package.module:function` of yours gets a `Report`; one whose argument is
    annotated `Summary`, `Flowtimes` or with a fold of yours (`batches.OwnMeasure`) gets that,
    which takes a third of the time."""
    higher_is_better: tuple[str, ...] = ()
    """Measures of yours of which more is better."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Keys of the scenario, for all cells. Tables merge; a table with a `kind` replaces the
    scenario's."""
    axes: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Keys of the scenario with their values, a list or a range each. All combinations are
    cells."""
    follows: dict[str, str] = Field(default_factory=dict)
    """Keys of the scenario that follow from others in each case, such as `platform.workers = "128 +
    spares"`: sums and products of numbers, of keys, and of names that axes have."""
    variants: dict[str, dict[str, Any]] = Field(default={"as it is": {}})
    """Names of variants with their keys of the scenario. Every variant is run in every cell, on the
    same seeds."""
    baseline: str | None = None
    """Variant with which others are compared in each cell; default: the first."""
    effect: Effect = "ratio"
    """How variants are compared: by the ratio of their means, or by the difference."""
    by: By | None = None
    """Compare separately for the jobs of each user, for example; measures are then those of
    jobs."""
    picture: PictureSection | None = None
    tune: TuneSection | None = None

    def check(self) -> None:
        more = self.axes or self.precision or self.picture or OWN.fullmatch(self.scenario)
        if self.tune is not None and (more or len(self.variants) != 1):
            alone = "a scenario file, without axes, variants, precision and a picture"
            raise Unacceptable("tune", dict(self.tune.over), alone)
        for name in self.measures:
            self._check_measure(name)
        if not self.variants:
            raise Unacceptable("variants", {}, "at least one, or none of this section")
        varied = {key for settings in self.variants.values() for key in settings}
        for key in varied & self.axes.keys():
            # Each value would be the same runs once more, counted as further observations.
            raise Unacceptable(f"axes.{key}", list(self.axes[key]), "a key that no variant sets")
        for key, value, accepted in self._choices():
            if value not in accepted:
                raise Unacceptable(key, value, ", ".join(filter(None, accepted)))

    def _check_measure(self, name: str) -> None:
        try:
            quantity = None if OWN.fullmatch(name) else Measure(name).quantity
        except ValueError:
            known = ", ".join(it.value for it in Measure)
            raise Unacceptable("measures", name, f"{known}, package.module:function") from None
        if self.by and not quantity:
            known = ", ".join(it.value for it in Measure if it.quantity)
            raise Unacceptable("measures", name, f"measures of jobs, for `by`: {known}")

    def _choices(self) -> Iterator[tuple[str, str | None, list[str | None]]]:
        """Yield each key whose value names another part of the file, as (dotted key, value,
        accepted values).

        An accepted value of None means that the key may be left out.
        """
        axes, measures = list[str | None](self.axes), [None, *self.measures]
        yield "baseline", self.baseline, [None, *self.variants]
        if self.precision is not None:
            yield "precision.measure", self.precision.measure, measures
        if self.picture is not None:
            yield "picture.x", self.picture.x, axes
            yield "picture.lines", self.picture.lines, [*axes, "variant"]
            yield "picture.panels", self.picture.panels, [None, *axes, "variant"]
            yield "picture.measure", self.picture.measure, measures
