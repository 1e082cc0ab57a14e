"""Answer which numbers of a scenario matter for a measure: `holdfast sensitivity`.

Each number alone is made smaller and larger by the same part, on the seeds of the scenario as it
is; or two numbers are changed together. The effect of a change is the ratio of the means, paired by
seed; all intervals of the table hold together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

from attrs import define, frozen

from policies.maths.tolerance import ROUNDING
from sims.campaign.answers import Answer, assumptions, ends, lacking
from sims.campaign.asking import ran
from sims.campaign.axes import unit_of
from sims.campaign.comparing import Comparison, Line
from sims.campaign.question import Question
from sims.campaign.shifts import Pair, Shifts, number_at
from sims.campaign.tables import Table
from sims.estimates import rounded
from sims.intervals import Estimate
from sims.plots.maps import Dot, draw_maps
from sims.plots.tornado import Bar, draw_tornado
from sims.scenario import Scenario
from sims.scenario.keys import axis_words, is_time
from sims.telling import SECOND, amount_of, counted, grid, units


@define(repr=False)
class Changes(Answer):
    """An answer to what small changes of a scenario's numbers do to the mean of a measure, by its
    ratio to the mean without a change."""

    question: Question
    shifts: Shifts
    """How the question varies the scenario."""
    comparisons: Sequence[Comparison]
    """The changes compared with the scenario as it is by each measure; sentences and pictures are
    about the first."""
    scenario: Scenario
    """Scenario as it is."""

    @property
    def comparison(self) -> Comparison:
        """The changes compared by the first measure."""
        return self.comparisons[0]

    @property
    def measure(self) -> str:
        """Name of the first measure."""
        return self.comparison.gauge.value

    @property
    def part(self) -> str:
        """Fraction by which numbers were changed, as text, such as `20 %`."""
        return f"{amount_of(100 * self.shifts.part)} %"

    @property
    def runs(self) -> str:
        """Number of runs of each change, as text."""
        return f"{counted(self.comparison.seeds, 'run')} each"

    @property
    def title(self) -> str:
        """Title of the table."""
        names = ", ".join(self.question.measured.names)
        own = "its mean" if len(self.comparisons) == 1 else "their means"
        return f"{self.question.title}: {names} over {own} as it is"

    def text(self, key: str, value: float) -> str:
        """Return a value of a key as text for people: a time to four digits, in the unit that suits
        the scenario's own value."""
        if not is_time(key):
            return amount_of(value, 6)
        size, unit = 1.0, self.scenario.times.value
        if unit == SECOND:
            size, unit = unit_of(number_at(self.scenario, key)[0])
        return counted(value / size, unit, units(unit), 4)

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The answer in one sentence, which claims no more than the intervals support."""

    @property
    def notes(self) -> list[str]:
        """Sentences below the table: the answer, what the scenario assumes, and at which level the
        intervals hold."""
        tested = [it.effect for cell in self.comparisons for it in cell.lines if it.tested]
        many = counted(len(tested), "comparison")
        level = [f"All intervals hold together at 95 % ({many}, Bonferroni)."]
        if all(map(_exact, tested)):
            level = []
        each = (lacking([it], self.question, ranked=False) for it in self.comparisons)
        missing = dict.fromkeys(chain.from_iterable(each))
        assumed = f"Assumed: {assumptions(self.scenario)}."
        left, has = ", ".join(self.shifts.left_out), self.question.door("keys")
        out = [f"Left out: {left}, of which more is more work; {has} has it."] if left else []
        return [self.sentence, *missing, *out, *self._whole(), assumed, *level]

    def _whole(self) -> Iterator[str]:
        """Yield a note on whole numbers, which change by the whole number nearest to the part."""
        said = [
            f"{key} at {', '.join(f'{it:,g}' for it in values)}"
            for key, values in self.shifts.whole.items()
        ]
        if said:
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
    change of each changes the first measure, those that are shown to matter first."""

    factors: list[Factor]

    @property
    def notes(self) -> list[str]:
        several = len(self.comparisons) > 1
        return [*super().notes, *([f"Ranked by {self.measure}."] if several else [])]

    def _beside(self, key: str) -> list[tuple[str, Line, Line]]:
        """Return, for each further measure, its name and what less and more of a number do to
        it."""
        down, up = self.shifts.changes(key)
        found = []
        for cell in self.comparisons[1:]:
            lines = {line.variant: line for line in cell.lines}
            found.append((cell.gauge.value, lines[down], lines[up]))
        return found

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
        its interval for less and for more of it, and whether it is shown to matter. Columns of
        further measures begin with their names, such as `cost_less_mean`."""
        return [self._row(it) for it in self.factors]

    def _row(self, it: Factor) -> dict[str, Any]:
        row: dict[str, Any] = {"key": it.key, "value": it.value}
        row |= _columns("", it.down, it.up) | {"matters": it.shown}
        for name, down, up in self._beside(it.key):
            row |= _columns(f"{name}_", down, up)
        return row

    def grid(self) -> Any:
        rows = [
            (
                *(it.key, _shown(it), self.text(it.key, it.value)),
                *(rounded(it.down.effect), rounded(it.up.effect)),
                *(rounded(line.effect) for _, *both in self._beside(it.key) for line in both),
            )
            for it in self.factors
        ]
        sides = [f"{self.part} less", f"{self.part} more"]
        names = self.question.measured.names
        named = [f"{name}: {side}" for name in names for side in sides]
        numbers = ["value", *(named if len(names) > 1 else sides)]
        return grid(["key", "that it matters"], numbers, rows, self.title)

    def as_json(self) -> dict[str, Any]:
        names = self.question.measured.names
        several = {"measures": list(names)} if len(names) > 1 else {}
        about = {"measure": self.measure, **several, "by": self.shifts.part}
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


def _columns(name: str, down: Line, up: Line) -> dict[str, float | None]:
    """Return the ratios of a measure for less and for more of a number, with their intervals."""
    sides = ("less", down), ("more", up)
    return {
        key: value
        for side, line in sides
        for key, value in ends(
            line.effect, *(f"{name}{side}_{end}" for end in ("mean", "low", "high"))
        ).items()
    }


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

    points: Mapping[Pair, Line]
    """Maps the values of the two numbers to what they do."""

    @property
    def sentence(self) -> str:
        first, second = self.shifts.keys
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
            dict(zip(self.shifts.keys, at, strict=True))
            | ends(it.effect, "mean", "low", "high")
            | {"matters": it.differs}
            for at, it in self.points.items()
        ]

    def grid(self) -> Any:
        """Return the table of the answer for people: a row for each value of the first number, a
        column for each of the second."""
        first, second = self.shifts.keys
        down, across = map(dict.fromkeys, zip(*self.points, strict=True))
        rows = [
            (self.text(first, x), *(rounded(self.points[x, y].effect) for y in across))
            for x in down
        ]
        heads = [f"{second} = {self.text(second, y)}" for y in across]
        return grid([first], heads, rows, self.title)

    def as_json(self) -> dict[str, Any]:
        about = {"measure": self.measure, "by": self.shifts.part, "keys": self.shifts.keys}
        return about | {"points": self.rows(), "sentence": self.sentence}

    def plot(self, path: str | Path) -> Path:
        """Draw a map: a dot for each pair of values, with a ring where its interval shows that the
        pair changes the measure. Return the map's path.

        Raises InputError where matplotlib is missing.
        """
        points = self.points.items()
        dots = [Dot(*at, it.effect.mean, it.differs, False) for at, it in points if it.effect]
        unit = self.scenario.times.value
        first, second = (axis_words(key, unit) for key in self.shifts.keys)
        names = first, second, f"{self.measure}, ratio"
        ring = "an interval shows that it matters"
        return draw_maps({"": dots}, Path(path), self.sentence, names, ring=ring)


# --- the question ---------------------------------------------------------------------------------


def sensitivity(question: Question) -> Sensitivity | PairMap:
    """Change each number of a scenario alone, and rank the numbers by what that does to a measure;
    or change two numbers together.

    Raises InputError for fewer than two runs, where no run of the scenario as it is has a measure,
    and for two numbers and several measures.
    """
    shifts, door = question.varied, question.door
    assert isinstance(shifts, Shifts)
    if shifts.paired and len(question.measured.gauges) > 1:
        problem = f"{', '.join(question.measured.names)}: a map has one"
        raise door.refused("measure", problem, f"one of them, or {door('keys')}")
    if question.surely.runs < 2:
        accepted = "a whole number from 2: one run has no interval"
        raise door.refused("runs", f"{question.surely.runs} is not accepted", accepted)
    found = Table(ran(question)).cells
    lines = {line.variant: line for line in found[0].lines}
    for cell in found:
        if not next(it for it in cell.lines if it.variant == shifts.reference).as_asked:
            problem = f"no run of the scenario as it is has a {cell.gauge.value}"
            later = f"a later {door('until')}, or another measure"
            raise door.refused("measure", problem, f"a scenario whose runs complete, {later}")
    facts = question, shifts, found, question.subject.scenario(door)
    if shifts.paired:
        return PairMap(*facts, {at: lines[name] for at, name in shifts.points.items()})
    factors = [
        Factor(key, value, *(lines[name] for name in shifts.changes(key)))
        for key, value in shifts.values.items()
    ]
    factors.sort(key=lambda it: (not it.shown, -it.swing))
    return Sensitivity(*facts, factors)
