"""Answer which numbers of a scenario matter for a measure: `holdfast sensitivity`.

Each number alone is made smaller and larger by the same part, on the seeds of the scenario as it
is. Its effect is the ratio of the means, paired by seed; all intervals of the table hold together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any, get_args

from attrs import define, frozen
from pydantic import BaseModel

from sims.campaign.answers import AnswerOfChanges, assumptions
from sims.campaign.comparing import Line, Verdict
from sims.campaign.engine import Watch, execute
from sims.campaign.executors import Workers
from sims.campaign.pairs import STEPS, Pair, PairMap
from sims.campaign.question import measure_named, question, refuse_raised
from sims.campaign.results import Store
from sims.errors import COMMAND_LINE, InputError
from sims.intervals import Estimate, estimate_as_json, rounded
from sims.metrics.measures import Measure
from sims.plots.tornado import Bar, draw_tornado
from sims.scenario.loader import parse, put, read
from sims.tables.fields import Measured, Timed
from sims.telling import counted, grid

MOST = 40
"""Largest number of keys that are varied without being named."""
BASE = "as it is"


def measured_keys(table: Mapping[str, Any], scenario: BaseModel) -> Iterator[str]:
    """Yield the dotted key of each number above 0 with a unit that a scenario file's table
    gives."""
    for key in _leaves(table, ""):
        value, measured = _number(scenario, key)
        if measured and 0 < value < inf:
            yield key


def _leaves(node: Any, prefix: str) -> Iterator[str]:
    """Yield the dotted keys of all entries that are no tables and no lists."""
    entries: Any = node.items() if isinstance(node, Mapping) else enumerate(node)
    for name, value in entries:
        place = f"{prefix}{name}"
        if isinstance(value, Mapping | list):
            yield from _leaves(value, f"{place}.")
        elif not isinstance(value, bool):
            yield place


def _number(scenario: BaseModel, key: str) -> tuple[float, bool]:
    """Return the number at a dotted key, and whether it has a unit; inf where there is none."""
    place: Any = scenario
    measured = False
    for step in key.split("."):
        if isinstance(place, BaseModel) and step.isdigit():
            place = getattr(place, "laws", ())  # `faults` of several laws is a list in files
        if isinstance(place, BaseModel) and step in type(place).model_fields:
            field = type(place).model_fields[step]
            measured = any(isinstance(it, Timed | Measured) for it in _annotations(field))
            place = getattr(place, step)
        elif isinstance(place, list | tuple) and step.isdigit() and int(step) < len(place):
            place, measured = place[int(step)], False
        else:
            return inf, False
    number = isinstance(place, int | float) and not isinstance(place, bool)
    return (float(place), measured) if number else (inf, False)


def _annotations(field: Any) -> Iterator[Any]:
    """Yield each annotation of a field's type and of its parts."""
    yield from field.metadata
    inner = [field.annotation]
    while inner:
        found = inner.pop()
        yield from getattr(found, "__metadata__", ())
        inner.extend(get_args(found))


@frozen
class Factor:
    """A number of the scenario, and how a measure's mean changes when it is smaller or larger."""

    key: str
    value: float
    down: Line
    up: Line

    @property
    def swing(self) -> float:
        """Largest distance from 1 of the two ratios, by which numbers are ranked."""
        return max((abs(it.mean - 1) for it in self.effects), default=0.0)

    @property
    def effects(self) -> list[Estimate]:
        """Ratios of the measure's mean to that of the scenario as it is, for less and for more of
        the number, where known."""
        return [it.effect for it in (self.down, self.up) if it.effect is not None]

    @property
    def shown(self) -> bool:
        """Whether the intervals show that a change of the number changes the measure."""
        return any(it.verdict in (Verdict.BETTER, Verdict.WORSE) for it in (self.down, self.up))


@define(repr=False)
class Sensitivity(AnswerOfChanges):
    """Answer to which numbers of a scenario matter: they are ranked by how much a change of each
    changes a measure."""

    factors: list[Factor]

    @property
    def sentence(self) -> str:
        part, runs = self.part, counted(self.comparison.seeds, "run")
        matter = [it for it in self.factors if it.shown]
        rest = [it.key for it in self.factors if not it.shown]
        if not matter:
            return f"Nothing shows that any of them matters, changed by {part}; {runs} each."
        first = matter[0]
        ends = " and ".join(_percent(it) for it in first.effects)
        text = f"{first.key} matters most: {part} less and more change {self.measure} by {ends}"
        if rest:
            text += f"; nothing shows that {' or '.join(rest)} matters"
        return f"{text}; {runs} each."

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each number, the most important first."""
        return [
            {"key": it.key, "value": it.value}
            | {
                f"{name}_{end}": (estimate_as_json(line.effect) or {}).get(end)
                for name, line in (("less", it.down), ("more", it.up))
                for end in ("mean", "low", "high")
            }
            | {"matters": it.shown}
            for it in self.factors
        ]

    def grid(self) -> Any:
        """Return the table of the answer for people."""
        rows = [
            (
                *(it.key, "shown" if it.shown else "not shown", f"{it.value:,.6g}"),
                *(rounded(it.down.effect), rounded(it.up.effect)),
            )
            for it in self.factors
        ]
        words = ["key", "that it matters"]
        numbers = ["value", f"{self.part} less", f"{self.part} more"]
        return grid(words, numbers, rows, self.title)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON."""
        about = {"measure": self.measure, "by": self.by}
        return about | {"keys": self.rows(), "sentence": self.sentence}

    def plot(self, path: str | Path) -> Path:
        """Draw a tornado: a bar for each number, the most important on top. Return its path.

        Raises InputError where matplotlib is missing.
        """
        bars = [Bar(it.key, it.down.effect, it.up.effect) for it in self.factors]
        return draw_tornado(bars, Path(path), self.sentence, f"{self.measure}, ratio", self.part)


def _percent(effect: Estimate) -> str:
    low, high = (100 * (it - 1) for it in (effect.low, effect.high))
    return f"{100 * (effect.mean - 1):+.2g} % [{low:+.2g}, {high:+.2g}]"


def sensitivity(
    file: str | Path,
    keys: Sequence[str] = (),
    *,
    pairs: Sequence[str] = (),
    by: float = 0.2,
    measure: str | Measure = Measure.MAKESPAN,
    changes: Mapping[str, Any] | None = None,
    runs: int = 30,
    seed: int | None = None,
    until: float | None = None,
    workers: Workers | None = None,
    store: Store | None = None,
    watch: Watch = lambda done, total: None,
) -> Sensitivity | PairMap:
    """Change each number of a scenario alone, and rank them by what that does to a measure; with
    `pairs`, change two numbers together.

    `keys`: default, every number with a unit that the file gives; `by`: the part by which each is
    changed, above 0 and below 1. Raises InputError for a key that holds no number above 0, and for
    pairs that are not two keys.
    """
    path = Path(file)
    if not 0 < by < 1:
        raise InputError(COMMAND_LINE, "--by", f"{by!r} is not accepted", "above 0 %, below 100 %")
    if pairs and (len(set(pairs)) != 2 or keys):
        problem = f"{', '.join(pairs)}: a map has two axes" + (", and no --keys" if keys else "")
        raise InputError(COMMAND_LINE, "--pairs", problem, "two keys, A,B")
    table = parse(path)
    for key, value in (changes or {}).items():
        put(table, key, value)
    scenario = read(table, str(path), path.parent)
    names = list(pairs) or list(keys) or list(measured_keys(table, scenario))
    values = {key: _checked(scenario, key) for key in dict.fromkeys(names)}
    if not values or len(values) > MOST:
        problem = f"the file gives {counted(len(values), 'number')} with a unit"
        raise InputError(COMMAND_LINE, "--keys", problem, f"the keys to vary, {MOST} at most")
    points = _points(values, by) if pairs else {}
    asked = question(
        path,
        [((names[0], values[names[0]]),)],
        changes=changes,
        runs=runs,
        measure=measure_named(measure),
        seed=seed,
        until=until,
    ).model_copy(update={"variants": _variants(values, by, points)})
    found = execute(asked, workers, store, watch=watch)
    refuse_raised(found)
    [cell] = found.comparisons()
    lines = {line.variant: line for line in cell.lines}
    assumed = assumptions(found.plan[0].scenario(0))
    if pairs:
        at = {point: lines[name] for point, name in points.items()}
        return PairMap(str(path), cell, by, assumed, (names[0], names[1]), at)
    factors = [
        Factor(key, value, lines[f"{key} -"], lines[f"{key} +"]) for key, value in values.items()
    ]
    factors.sort(key=lambda it: (not it.shown, -it.swing))
    return Sensitivity(str(path), cell, by, assumed, factors)


def _points(values: Mapping[str, float], by: float) -> dict[Pair, str]:
    """Map each pair of changed values of the two numbers to the name of its variant."""
    first, second = (
        dict.fromkeys(_scaled(value, 1 + step * by) for step in STEPS) for value in values.values()
    )
    as_is = tuple(_scaled(value, 1) for value in values.values())
    return {(x, y): BASE if (x, y) == as_is else f"{x:g} {y:g}" for x in first for y in second}


def _variants(
    values: Mapping[str, float], by: float, points: Mapping[Pair, str]
) -> dict[str, dict[str, Any]]:
    """Return the settings of each variant, the scenario as it is first."""
    variants: dict[str, dict[str, Any]] = {BASE: {}}
    if points:
        pairs = ((name, dict(zip(values, at, strict=True))) for at, name in points.items())
        return variants | {name: settings for name, settings in pairs if name != BASE}
    for key, value in values.items():
        variants[f"{key} -"] = {key: _scaled(value, 1 - by)}
        variants[f"{key} +"] = {key: _scaled(value, 1 + by)}
    return variants


def _checked(scenario: BaseModel, key: str) -> float:
    """Return the number at a key. Raises InputError where there is none above 0."""
    value, _ = _number(scenario, key)
    if not isfinite(value) or value <= 0:
        problem = f"{key} holds no number above 0"
        raise InputError(COMMAND_LINE, "--keys", problem, "keys of numbers that the scenario has")
    return value


def _scaled(value: float, part: float) -> float | int:
    """Return the number times `part`; a whole number stays whole."""
    scaled = float(f"{value * part:.12g}")
    return round(scaled) if value == int(value) and scaled == int(scaled) else scaled
