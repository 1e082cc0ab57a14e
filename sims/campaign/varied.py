"""Say how a question varies its scenario: variants at points of axes, ranges that are searched, or
numbers that are changed by a part.

Each kind has `variants` and `axes`, the cases that are run or looked at, `reference`, the variant
with which others are compared, `follows`, and `key`, the question's key that its errors name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from math import inf
from typing import Any, ClassVar

from attrs import field, frozen

from sims.campaign.axes import (
    FORMS,
    Axis,
    Dimension,
    Point,
    Settings,
    as_toml,
    dimension,
    each_once,
    settings_at,
    settings_text,
)
from sims.campaign.door import Door
from sims.campaign.search import EACH, FIRST
from sims.durations import FORMS as FORMS_OF_TIME
from sims.durations import seconds

AS_IS = "as it is"
"""Name of the variant without settings."""
FEW = 7
"""Numbers of a range at which it is looked whether it can matter."""
Named = Mapping[str, Mapping[str, Any]]
"""Maps names of variants to their settings."""


@frozen
class Variants:
    """Variants of a scenario, each of which is run at every point of the axes."""

    variants: Named = field(factory=lambda: {AS_IS: {}})
    """Maps names of variants to their settings, by dotted key."""
    axes: Mapping[str, tuple[Any, ...]] = field(factory=dict)
    """Maps keys of the scenario to their values, all combinations of which are points."""
    baseline: str | None = None
    """Variant with which others are compared; default: the first."""
    follows: Mapping[str, str] = field(factory=dict)
    """Maps keys of the scenario that follow from others in each case to their expressions."""
    key: str = "vary"

    @classmethod
    def of(
        cls,
        variants: Sequence[Settings],
        door: Door,
        *,
        across: Sequence[Axis] = (),
        baseline: str | None = None,
        follows: Mapping[str, str] | None = None,
    ) -> Variants:
        """Return the variants that have these settings, at each point of the axes `across`; the
        word `baseline` is the name of one, or its values with commas between them.

        Raises InputError where there is nothing to vary, where a key is the seed, and where the
        baseline is none of the variants.
        """
        found = named(variants, door)
        base = baseline and _baseline(baseline, found, door)
        made = cls(found, dict(across), base, dict(follows or {}))
        made.refuse_seed(door)
        return made

    def refuse_seed(self, door: Door) -> None:
        """Raise InputError where a key that varies is the seed: all variants meet the same luck."""
        for key, varied in (("vary", self.variants.values()), ("across", [self.axes])):
            if any("seed" in it for it in varied):
                problem = "seed: all variants are run with the same seeds"
                accepted = f"another key; {door('seed')}, {door('runs')}"
                raise door.refused(key, problem, accepted)

    @property
    def reference(self) -> str:
        """Name of the variant with which others are compared."""
        return self.baseline or next(iter(self.variants))

    @property
    def keys(self) -> list[str]:
        """Keys of the scenario that vary, each once, those of variants first."""
        return list(
            dict.fromkeys((*(key for it in self.variants.values() for key in it), *self.axes))
        )


def combined(vary: Sequence[Axis], door: Door, across: Sequence[Axis] = ()) -> list[Settings]:
    """Return all combinations of the values of the axes in `vary`, each as settings; the last axis
    varies fastest.

    Raises InputError where `vary` and `across` together name a key twice; `across` has no other
    use.
    """
    each_once((key for key, _ in (*vary, *across)), "vary", door)
    return list(product(*([(key, value) for value in values] for key, values in vary)))


def named(variants: Sequence[Settings], door: Door) -> dict[str, dict[str, Any]]:
    """Map a name to each of the variants: the text of its settings, numbered from the second of the
    same text on, such as `policy.name=IE (2)`. A variant without settings is called `as it is`.

    Raises InputError where no variant has any settings, or there is no variant.
    """
    if not any(variants):
        accepted = f"{door('vary')} KEY=V1,V2; `holdfast run` runs the file"
        raise door.refused("vary", "nothing is varied", accepted)
    return numbered(variants)


def numbered(variants: Sequence[Settings]) -> dict[str, dict[str, Any]]:
    """Map a name to each of the variants, as `named` does."""
    found: dict[str, dict[str, Any]] = {}
    seen = Counter[str]()
    for settings in variants:
        name = settings_text(settings)
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} ({seen[name]})"] = dict(settings)
    return found


def _baseline(word: str, variants: Named, door: Door) -> str:
    """Return the name of the variant that `word` names, by its whole name or by its values with
    commas between them. Raises InputError where it names none."""
    for name, settings in variants.items():
        if word in (name, ",".join(map(as_toml, settings.values()))):
            return name
    raise door.refused("baseline", f"{word!r} is no variant", "; ".join(variants))


# --- a search -------------------------------------------------------------------------------------


@frozen
class Ranges:
    """Keys of a scenario whose best values are searched, and with how much effort."""

    over: tuple[Dimension, ...]
    follows: Mapping[str, str] = field(factory=dict)
    """Maps keys of the scenario that follow from others at each point to their expressions."""
    each: int = EACH
    """Largest number of runs of a point of the search."""
    tolerance: float = 0.01
    """Part of the best mean within which points are as good."""
    within: float = inf
    """Seconds of real time in which the search ends with what it then knows."""

    key: ClassVar = "over"
    axes: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    reference: ClassVar = ""

    @classmethod
    def of(
        cls,
        over: Mapping[str, Any] | Sequence[Dimension],
        door: Door,
        *,
        follows: Mapping[str, str] | None = None,
        each: int = EACH,
        tolerance: float = 0.01,
        within: float | str | None = None,
    ) -> Ranges:
        """Return the search over keys, each mapped to what `dimension` takes, or over dimensions;
        `within` is a number of seconds, or a time such as `2min`.

        Raises InputError where there is nothing to search: no dimension, one of a single value, a
        key twice, the key `seed`, fewer than FIRST runs of a point, or no time.
        """
        if isinstance(over, Mapping):
            over = [dimension(key, values, door) for key, values in over.items()]
        _check(over, each, door)
        return cls(tuple(over), dict(follows or {}), each, tolerance, _real_seconds(within, door))

    @property
    def variants(self) -> Named:
        """A variant for each word and some numbers of each dimension, while the others are at their
        first value: what is looked at before the search."""
        values = [it.coarse(FEW) for it in self.over]
        first = tuple(it[0] for it in values)
        points = dict.fromkeys(
            (*first[:place], value, *first[place + 1 :])
            for place, own in enumerate(values)
            for value in own
        )
        return self.at(list(points)).variants

    @property
    def keys(self) -> list[str]:
        """Keys of the scenario that vary."""
        return [it.key for it in self.over]

    def at(self, points: Sequence[Point]) -> Variants:
        """Return a variant for each of these points."""
        variants = numbered([settings_at(self.over, it) for it in points])
        return Variants(variants, follows=self.follows, key=self.key)


def _check(over: Sequence[Dimension], each: int, door: Door) -> None:
    if not over:
        raise door.refused("over", "nothing is varied", FORMS)
    names = [it.key for it in over]
    each_once(names, "over", door)
    if "seed" in names:
        problem = "seed: all points are run with the same seeds"
        accepted = f"another key; {door('seed')}, {door('runs')}"
        raise door.refused("over", problem, accepted)
    for it in over:
        if len(it.words) == 1:
            problem = f"{it.key} has one value, {it.text(it.words[0])}: nothing is chosen"
            raise door.refused("over", problem, "two values or more, or a range")
    if each < FIRST:
        accepted = f"a whole number from {FIRST}: the runs before points are compared first"
        raise door.refused("each", f"{each} is not accepted", accepted)


def _real_seconds(within: float | str | None, door: Door) -> float:
    """Return the seconds that a time such as `2min` states; inf for None.

    Raises InputError for anything that is no time above 0.
    """
    try:
        found = inf if within is None else float(seconds(str(within)))
    except ValueError:
        found = 0.0
    if not found > 0:
        accepted = f"a time above 0: {FORMS_OF_TIME}"
        raise door.refused("within", f"{within!r} is not accepted", accepted)
    return found
