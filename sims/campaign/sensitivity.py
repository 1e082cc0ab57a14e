"""Answer which numbers of a scenario matter for a measure: `holdfast sensitivity`.

Each number alone is made smaller and larger by the same part, on the seeds of the scenario as it
is; or two numbers are changed together. The effect of a change is the ratio of the means, paired by
seed; all intervals of the table hold together.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf, isfinite
from pathlib import Path
from typing import Any

from attrs import define, frozen
from pydantic import BaseModel

from policies.maths.tolerance import ROUNDING
from sims.campaign.answers import Answer, assumptions, ends, lacking
from sims.campaign.axes import unit_of
from sims.campaign.comparing import Comparison, Line
from sims.campaign.engine import Watch, execute, unwatched
from sims.campaign.executors import Workers
from sims.campaign.question import campaign_of, changed, gauge_of, percentage, refuse_raised
from sims.campaign.results import store_in
from sims.errors import COMMAND_LINE, InputError
from sims.intervals import Estimate, rounded
from sims.metrics.measures import Measure
from sims.plots.maps import Dot, draw_maps
from sims.plots.tornado import Bar, draw_tornado
from sims.scenario import Scenario
from sims.scenario.keys import axis_words, is_time
from sims.scenario.loader import read
from sims.scenario.tables import leaves
from sims.tables.fields import Measured, Timed, annotated
from sims.tables.refusals import meant
from sims.telling import SECOND, amount_of, counted, grid, units

MOST = 40
"""Largest number of keys that are varied without being named."""
BASE = "as it is"
STEPS = -1.0, -0.5, 0.0, 0.5, 1.0
"""Parts of the change at which each of two numbers is looked at."""
Pair = tuple[float, float]
"""Values of two numbers."""


def measured_keys(table: Mapping[str, Any], scenario: BaseModel) -> Iterator[str]:
    """Yield the dotted key of each number of a scenario file's table that has a unit in `scenario`,
    its parsed form, and is above 0 and finite."""
    for key, _ in leaves(table):
        value, measured = _number(scenario, key)
        if measured and 0 < value < inf:
            yield key


LENGTH = re.compile(r"job\.(jobs\.\d+\.)?(time|(speedup|synthetic)\..+)")
"""Pattern of the keys that say how much work jobs are. They matter in every scenario, and tell
nothing."""


def _number(scenario: BaseModel, key: str) -> tuple[float, bool]:
    """Return the number at a dotted key of a scenario, an int where it has to be whole, and whether
    its field has a unit; (inf, False) where the key has no number."""
    place: Any = scenario
    measured, marks = False, Timed | Measured
    for step in key.split("."):
        if isinstance(place, BaseModel) and step.isdigit():
            place = getattr(place, "laws", ())  # `faults` of several laws is a list in files
        if isinstance(place, BaseModel) and step in type(place).model_fields:
            field = type(place).model_fields[step]
            own = any(isinstance(it, marks) for it in field.metadata)
            place, measured = getattr(place, step), own or annotated(field.annotation, marks)
        elif isinstance(place, list | tuple) and step.isdigit() and int(step) < len(place):
            place, measured = place[int(step)], False
        elif isinstance(place, list | tuple) and _named(place, step) is not None:
            place, measured = _named(place, step), False
        else:
            return inf, False
    number = isinstance(place, int | float) and not isinstance(place, bool)
    # Times are read from texts, as ints too; what has a unit need not be whole.
    return (float(place) if measured else place, measured) if number else (inf, False)


def _named(items: Sequence[Any], name: str) -> Any:
    """Return the first of these sections that has this name; None if none has."""
    return next((it for it in items if getattr(it, "name", None) == name), None)


@define(repr=False)
class Changes(Answer):
    """An answer to what small changes of a scenario's numbers do to the mean of a measure, by its
    ratio to the mean without a change."""

    file: str
    comparison: Comparison
    left_out: tuple[str, ...]
    """Keys of the jobs' own lengths, which are not changed unless they are named."""
    by: float
    """Part by which numbers were changed."""
    scenario: Scenario
    """Scenario as it is."""
    whole: Mapping[str, Sequence[float]]
    """Maps the keys of whole numbers to the values at which they were looked at."""

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.comparison.gauge.value

    @property
    def part(self) -> str:
        """Fraction by which numbers were changed, as text, such as `20 %`."""
        return f"{amount_of(100 * self.by)} %"

    @property
    def runs(self) -> str:
        """Number of runs of each change, as text."""
        return f"{counted(self.comparison.seeds, 'run')} each"

    @property
    def title(self) -> str:
        """Title of the table."""
        return f"{Path(self.file).stem}: {self.measure} over its mean as it is"

    def text(self, key: str, value: float) -> str:
        """Return a value of a key as text for people: a time to four digits, in the unit that suits
        the scenario's own value."""
        if not is_time(key):
            return amount_of(value, 6)
        size, unit = 1.0, self.scenario.times.value
        if unit == SECOND:
            size, unit = unit_of(_number(self.scenario, key)[0])
        return counted(value / size, unit, units(unit), 4)

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The answer in one sentence, which claims no more than the intervals support."""

    @property
    def notes(self) -> list[str]:
        """Sentences below the table: the answer, what the scenario assumes, and at which level the
        intervals hold."""
        tested = [it.effect for it in self.comparison.lines if it.tested]
        many = counted(len(tested), "comparison")
        level = [f"All intervals hold together at 95 % ({many}, Bonferroni)."]
        if all(map(_exact, tested)):
            level = []
        missing = lacking([self.comparison], self.measure, ranked=False)
        assumed = f"Assumed: {assumptions(self.scenario)}."
        lengths = (
            f"Left out: {', '.join(self.left_out)}, of which more is more work; --keys has it."
        )
        out = [lengths] if self.left_out else []
        return [self.sentence, *missing, *out, *self._whole(), assumed, *level]

    def _whole(self) -> Iterator[str]:
        """Yield a note on whole numbers, which change by the whole number nearest to the part."""
        said = (
            f"{key} at {', '.join(f'{it:,g}' for it in values)}"
            for key, values in self.whole.items()
        )
        if self.whole:
            yield f"Whole numbers are rounded, and change by at least 1: {'; '.join(said)}."


# --- one number at a time -----------------------------------------------------------------------


@frozen
class Factor:
    """A number of the scenario, and how a measure's mean changes when it is smaller or larger."""

    key: str
    value: float
    down: Line
    up: Line

    @property
    def swing(self) -> float:
        """Largest distance from 1 of the two ratios, by which numbers are ranked; 0 where neither
        ratio is known."""
        return max((abs(it.mean - 1) for it in self.effects), default=0.0)

    @property
    def effects(self) -> list[Estimate]:
        """Ratios of the measure's mean to that of the scenario as it is: first for the smaller
        number, then for the larger one. A ratio that is not known is left out."""
        return [it.effect for it in (self.down, self.up) if it.effect is not None]

    @property
    def least(self) -> float:
        """Distance from 1 that the interval of a ratio shows; 0 where none excludes 1."""
        return max((max(it.low - 1, 1 - it.high, 0.0) for it in self.effects), default=0.0)

    @property
    def most(self) -> float:
        """Distance from 1 for which the intervals of the ratios allow."""
        ends = (max(it.high - 1, 1 - it.low) for it in self.effects)
        return max(ends) if len(self.effects) == 2 else inf

    @property
    def shown(self) -> bool:
        """Whether the intervals show that making the number smaller, or larger, changes the
        measure."""
        return self.down.differs or self.up.differs

    @property
    def refuted(self) -> bool:
        """Whether both ratios are exactly 1, so that the number does not matter."""
        effects = self.effects
        return len(effects) == 2 and all(map(_exact, effects)) and not self.shown


@define(repr=False)
class Sensitivity(Changes):
    """Answer to which numbers of a scenario matter. Its factors come in the order of how much a
    change of each changes a measure, those that are shown to matter first."""

    factors: list[Factor]

    @property
    def sentence(self) -> str:
        first, *others = self.factors
        if not first.shown:
            none = all(it.refuted for it in self.factors)
            head = "None of them matters" if none else "Nothing shows that any of them matters"
            return f"{head}, changed by {self.part}; {self.runs}."
        rest = [it.key for it in others if not it.shown and not it.refuted]
        without = [it.key for it in others if it.refuted]
        rivals = [it.key for it in others if it.most >= first.least * (1 - ROUNDING)]
        sides = {"less": first.down.effect, "more": first.up.effect}
        known = [side for side, effect in sides.items() if effect]
        change = f"{' and '.join(known)} change{'s' * (len(known) == 1)} {self.measure} by "
        change += " and ".join(_percent(it) for it in first.effects)
        most = "" if rivals or not others else " most"
        text = f"{first.key} matters{most}: {self.part} {change}"
        as_much = f"; {' or '.join(rivals)} may matter as much" if rivals else ""
        unknown = f"; nothing shows that {' or '.join(rest)} matters" if rest else ""
        do = "does" if len(without) == 1 else "do"
        not_ = f"; {' and '.join(without)} {do} not matter" if without else ""
        return f"{text}{as_much}{unknown}{not_}; {self.runs}."

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each number, the most important first: its key and value, the ratio with
        its interval for less and for more of it, and whether it is shown to matter."""
        return [
            {"key": it.key, "value": it.value}
            | ends(it.down.effect, "less_mean", "less_low", "less_high")
            | ends(it.up.effect, "more_mean", "more_low", "more_high")
            | {"matters": it.shown}
            for it in self.factors
        ]

    def grid(self) -> Any:
        rows = [
            (
                *(it.key, _shown(it), self.text(it.key, it.value)),
                *(rounded(it.down.effect), rounded(it.up.effect)),
            )
            for it in self.factors
        ]
        numbers = ["value", f"{self.part} less", f"{self.part} more"]
        return grid(["key", "that it matters"], numbers, rows, self.title)

    def as_json(self) -> dict[str, Any]:
        about = {"measure": self.measure, "by": self.by}
        return about | {"keys": self.rows(), "sentence": self.sentence}

    def plot(self, path: str | Path) -> Path:
        """Draw a tornado: a bar for each number, the most important on top. Return its path.

        Raises InputError where matplotlib is missing.
        """
        bars = [
            Bar(f"{it.key} = {self.text(it.key, it.value)}", it.down.effect, it.up.effect)
            for it in self.factors
        ]
        return draw_tornado(bars, Path(path), self.sentence, f"{self.measure}, ratio", self.part)


def _exact(effect: Estimate | None) -> bool:
    """Return whether a ratio is known without error."""
    return effect is not None and effect.half == 0


def _shown(factor: Factor) -> str:
    """Return, as text, whether it is shown that a number matters."""
    return "shown" if factor.shown else "does not" if factor.refuted else "not shown"


def _percent(effect: Estimate) -> str:
    if _exact(effect):
        return f"{_signed(100 * (effect.mean - 1))} %"
    low, high = (100 * (it - 1) for it in (effect.low, effect.high))
    return f"{_signed(100 * (effect.mean - 1))} % [{_signed(low)}, {_signed(high)}]"


def _signed(percent: float) -> str:
    """Return a change as text, to two digits and never with an exponent."""
    return f"{percent:+.2g}" if abs(percent) < 99.5 else f"{percent:+,.0f}"


# --- two numbers together -------------------------------------------------------------------------


@define(repr=False)
class PairMap(Changes):
    """Answer to how a measure changes with two numbers of a scenario: its mean for each pair of
    values, over its mean for the scenario as it is."""

    keys: tuple[str, ...]
    points: Mapping[Pair, Line]
    """Maps the values of the two numbers to what they do."""

    @property
    def sentence(self) -> str:
        first, second = self.keys
        shown = [(it.effect, *at) for at, it in self.points.items() if it.differs and it.effect]
        if not shown:
            exact = all(_exact(it.effect) for it in self.points.values())
            both = f"{first} nor {second}" if exact else f"{first} or {second}"
            head = "Neither" if exact else "Nothing shows that"
            text = f"{head} {both}, within {self.part}, matters"
            return f"{text}; {self.runs}."
        extremes = (pick(shown, key=lambda it: it[0].mean) for pick in (min, max))
        clauses = dict.fromkeys(
            f"{rounded(effect)} at {first} = {self.text(first, x)} and "
            f"{second} = {self.text(second, y)}"
            for effect, x, y in extremes
        )
        text = f"Within {self.part} of both, {self.measure} over its mean as it is becomes "
        return f"{text}{', '.join(clauses)}; {self.runs}."

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each pair of values: the two values, the ratio with its interval, and
        whether the pair is shown to matter."""
        return [
            dict(zip(self.keys, at, strict=True))
            | ends(it.effect, "mean", "low", "high")
            | {"matters": it.differs}
            for at, it in self.points.items()
        ]

    def grid(self) -> Any:
        """Return the table of the answer for people: a row for each value of the first number, a
        column for each of the second."""
        first, second = self.keys
        down, across = map(dict.fromkeys, zip(*self.points, strict=True))
        rows = [
            (self.text(first, x), *(rounded(self.points[x, y].effect) for y in across))
            for x in down
        ]
        heads = [f"{second} = {self.text(second, y)}" for y in across]
        return grid([first], heads, rows, self.title)

    def as_json(self) -> dict[str, Any]:
        about = {"measure": self.measure, "by": self.by, "keys": list(self.keys)}
        return about | {"points": self.rows(), "sentence": self.sentence}

    def plot(self, path: str | Path) -> Path:
        """Draw a map: a dot for each pair of values, with a ring where its interval shows that the
        pair changes the measure. Return the map's path.

        Raises InputError where matplotlib is missing.
        """
        points = self.points.items()
        dots = [Dot(*at, it.effect.mean, it.differs, False) for at, it in points if it.effect]
        unit = self.scenario.times.value
        first, second = (axis_words(key, unit) for key in self.keys)
        names = first, second, f"{self.measure}, ratio"
        ring = "an interval shows that it matters"
        return draw_maps({"": dots}, Path(path), self.sentence, names, ring=ring)


# --- the question ---------------------------------------------------------------------------------


def sensitivity(
    file: str | Path,
    keys: Sequence[str] = (),
    *,
    pairs: Sequence[str] = (),
    by: float | str = 0.2,
    measure: str | Measure = Measure.MAKESPAN,
    changes: Mapping[str, Any] | None = None,
    runs: int = 30,
    seed: int | None = None,
    until: float | None = None,
    workers: Workers | None = None,
    store: str | Path | None = None,
    watch: Watch = unwatched,
) -> Sensitivity | PairMap:
    """Change each number of a scenario alone, and rank the numbers by what that does to a measure;
    with `pairs`, change two numbers together.

    `keys`: the numbers' dotted keys, by default those of every number with a unit that the file
    gives, but for the jobs' own lengths; `pairs`: two such keys instead; `by`: the part by which
    each is made smaller and larger, such as 0.2 or "20%", above 0 and below 1. The rest is as for
    `compare`. Raises InputError for a key that holds no number above 0, for no key, for more than
    MOST that are not named, for pairs that are not two keys, and for fewer than two runs.
    """
    if runs < 2:
        accepted = "a whole number from 2: one run has no interval"
        raise InputError(COMMAND_LINE, "--runs", f"{runs} is not accepted", accepted)
    path, changes, (part, _) = Path(file), changes or {}, percentage(by)
    if not 0 < part < 1:
        accepted = "a percentage such as 20%, above 0 %, below 100 %"
        raise InputError(COMMAND_LINE, "--by", f"{by!r} is not accepted", accepted)
    if pairs and (len(set(pairs)) != 2 or keys):
        problem = f"{', '.join(pairs)}: a map has two axes" + (", and no --keys" if keys else "")
        raise InputError(COMMAND_LINE, "--pairs", problem, "two keys, A,B")
    asked = campaign_of(path, changes, gauge_of(measure), runs, seed, until)
    table = changed(path, changes)
    scenario = read(table, str(path), path.parent)
    every = tuple(measured_keys(table, scenario))
    lengths = tuple(key for key in every if LENGTH.fullmatch(key) and not (keys or pairs))
    names = tuple(pairs or keys or (key for key in every if key not in lengths))
    values = {key: _checked(table, scenario, key) for key in names}
    if not values or (not keys and len(values) > MOST):
        problem = f"the file gives {counted(len(values), 'number')} with a unit"
        raise InputError(COMMAND_LINE, "--keys", problem, "the keys to vary")
    points = dict[Pair, str]()
    if pairs:
        steps = [[_scaled(it, 1 + step * part) for step in STEPS] for it in values.values()]
        as_is = tuple(_scaled(it, 1) for it in values.values())
        points = {(x, y): BASE if (x, y) == as_is else f"{x:g} {y:g}" for x, y in product(*steps)}
        variants = {name: dict(zip(names, at, strict=True)) for at, name in points.items()}
    else:
        variants = {
            f"{key} {sign}": {key: _scaled(value, 1 + step)}
            for key, value in values.items()
            for sign, step in (("-", -part), ("+", part))
        }
    set_to = [(key, it) for settings in variants.values() for key, it in settings.items()]
    whole = {
        key: sorted({it for name, it in set_to if name == key} | {value})
        for key, value in values.items()
        if isinstance(value, int)
    }
    # The first variant is the baseline, which changes nothing; a map has it as one of its pairs.
    asked = asked.model_copy(update={"variants": {BASE: {}} | variants | {BASE: {}}})
    found = execute(asked, workers, store_in(store), watch=watch)
    refuse_raised(found)
    [cell] = found.comparisons()
    lines = {line.variant: line for line in cell.lines}
    if not lines[BASE].as_asked:
        problem = f"no run of the scenario as it is has a {cell.gauge.value}"
        accepted = "a scenario whose runs complete, a later --until, or another measure"
        raise InputError(COMMAND_LINE, "--measure", problem, accepted)
    facts = str(path), cell, lengths, part, scenario, whole
    if pairs:
        return PairMap(*facts, names, {at: lines[name] for at, name in points.items()})
    factors = [
        Factor(key, value, lines[f"{key} -"], lines[f"{key} +"]) for key, value in values.items()
    ]
    factors.sort(key=lambda it: (not it.shown, -it.swing))
    return Sensitivity(*facts, factors)


def _checked(table: Mapping[str, Any], scenario: BaseModel, key: str) -> float:
    """Return the number at a dotted key of the scenario of a file's table. Raises InputError where
    there is no finite number above 0."""
    value, _ = _number(scenario, key)
    if not isfinite(value) or value <= 0:
        problem = f"{key} holds no number above 0{meant(key, dict(leaves(table)))}"
        raise InputError(COMMAND_LINE, "--keys", problem, "keys of numbers that the scenario has")
    return value


def _scaled(value: float, part: float) -> float | int:
    """Return the number times `part`, to twelve digits. A number that has to be whole, an int, is
    rounded, to another one unless `part` is 1. A whole number whose product is whole is an int."""
    scaled = float(f"{value * part:.12g}")
    if isinstance(value, int) and part != 1:
        more = max(abs(round(scaled) - value), 1)
        return value + more if part > 1 else value - more
    return round(scaled) if value == int(value) and scaled == int(scaled) else scaled
