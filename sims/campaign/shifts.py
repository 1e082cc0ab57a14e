"""Say which numbers of a scenario are changed, and by which part, to see what they matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf, isfinite
from typing import Any, ClassVar

from attrs import frozen
from pydantic import BaseModel

from sims.campaign.certainty import percentage
from sims.campaign.door import Door
from sims.campaign.subject import Subject
from sims.campaign.varied import AS_IS, Named
from sims.scenario import Scenario
from sims.scenario.tables import leaves
from sims.tables.fields import Measured, Timed, annotated
from sims.tables.refusals import meant
from sims.telling import counted

MOST = 40
"""Largest number of keys that are varied without being named."""
STEPS = -1.0, -0.5, 0.0, 0.5, 1.0
"""Parts of the change at which each of two numbers is looked at."""
Pair = tuple[float, float]
"""Values of two numbers."""
LENGTH = re.compile(r"job\.(jobs\.\d+\.)?(time|(speedup|synthetic)\..+)")
"""Pattern of the keys that say how much work jobs are. They matter in every scenario, and tell
nothing."""


@frozen
class Shifts:
    """Numbers of a scenario, each of which is made smaller and larger by the same part alone, or
    two of which are changed together."""

    values: Mapping[str, float]
    """Maps the dotted keys of the numbers to their values."""
    part: float
    """Part by which each is changed, above 0 and below 1."""
    paired: bool = False
    """Whether two numbers are changed together."""
    left_out: tuple[str, ...] = ()
    """Keys of the jobs' own lengths, which are not changed unless they are named."""

    axes: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    follows: ClassVar[Mapping[str, str]] = {}
    reference: ClassVar = AS_IS

    @classmethod
    def of(
        cls,
        subject: Subject,
        scenario: Scenario,
        door: Door,
        *,
        keys: Sequence[str] = (),
        pairs: Sequence[str] = (),
        by: float | str = 0.2,
    ) -> Shifts:
        """Return the numbers of the subject's `scenario` at these keys, or at two `pairs`; by
        default every number with a unit that its file gives, but for the jobs' own lengths. `by` is
        a part such as 0.2 or `20%`.

        Raises InputError for a part that is none, for pairs that are not two keys, for a key that
        holds no number above 0, for no key, and for more than MOST that are not named.
        """
        part, _ = percentage(by)
        if not 0 < part < 1:
            accepted = "a percentage such as 20%, above 0 %, below 100 %"
            raise door.refused("by", f"{by!r} is not accepted", accepted)
        if pairs and (len(set(pairs)) != 2 or keys):
            more = f", and no {door('keys')}" if keys else ""
            problem = f"{', '.join(pairs)}: a map has two axes{more}"
            raise door.refused("pairs", problem, "two keys, A,B")
        table = subject.changed(door)
        every = tuple(measured_keys(table, scenario))
        lengths = tuple(key for key in every if LENGTH.fullmatch(key) and not (keys or pairs))
        names = tuple(pairs or keys or (key for key in every if key not in lengths))
        values = {key: _checked(table, scenario, key, door) for key in names}
        if not values or (not keys and len(values) > MOST):
            problem = f"the file gives {counted(len(values), 'number')} with a unit"
            raise door.refused("keys", problem, "the keys to vary")
        return cls(values, part, bool(pairs), lengths)

    @property
    def key(self) -> str:
        """The question's key that errors name."""
        return "pairs" if self.paired else "keys"

    @property
    def keys(self) -> list[str]:
        """Keys of the scenario that vary."""
        return list(self.values)

    @property
    def whole(self) -> dict[str, list[float]]:
        """Maps the keys of whole numbers to the values at which they are looked at."""
        set_to = [(key, it) for named in self.variants.values() for key, it in named.items()]
        return {
            key: sorted({it for name, it in set_to if name == key} | {value})
            for key, value in self.values.items()
            if isinstance(value, int)
        }

    def changes(self, key: str) -> tuple[str, str]:
        """Return the names of the variants in which a number is smaller, and in which it is
        larger."""
        return f"{key} -", f"{key} +"

    @property
    def points(self) -> dict[Pair, str]:
        """Maps each pair of values at which two numbers are looked at to the name of its
        variant."""
        steps = [
            [_scaled(it, 1 + step * self.part) for step in STEPS] for it in self.values.values()
        ]
        as_is = tuple(_scaled(it, 1) for it in self.values.values())
        return {(x, y): AS_IS if (x, y) == as_is else f"{x:g} {y:g}" for x, y in product(*steps)}

    @property
    def variants(self) -> Named:
        """The scenario as it is, and a variant for each change."""
        if self.paired:
            changed = {
                name: dict(zip(self.values, at, strict=True)) for at, name in self.points.items()
            }
        else:
            changed = {
                name: {key: _scaled(value, 1 + step)}
                for key, value in self.values.items()
                for name, step in zip(self.changes(key), (-self.part, self.part), strict=True)
            }
        # The first variant is the reference; a map has it as one of its pairs.
        return {AS_IS: {}} | changed | {AS_IS: {}}


def measured_keys(table: Mapping[str, Any], scenario: BaseModel) -> Iterator[str]:
    """Yield the dotted key of each number of a scenario file's table that has a unit in `scenario`,
    its parsed form, and is above 0 and finite."""
    for key, _ in leaves(table):
        value, measured = number_at(scenario, key)
        if measured and 0 < value < inf:
            yield key


def number_at(scenario: BaseModel, key: str) -> tuple[float, bool]:
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


def _checked(table: Mapping[str, Any], scenario: BaseModel, key: str, door: Door) -> float:
    """Return the number at a dotted key of the scenario of a file's table. Raises InputError where
    there is no finite number above 0."""
    value, _ = number_at(scenario, key)
    if not isfinite(value) or value <= 0:
        problem = f"{key} holds no number above 0{meant(key, dict(leaves(table)))}"
        raise door.refused("keys", problem, "keys of numbers that the scenario has")
    return value


def _scaled(value: float, part: float) -> float | int:
    """Return the number times `part`, to twelve digits. A number that has to be whole, an int, is
    rounded, to another one unless `part` is 1. A whole number whose product is whole is an int."""
    scaled = float(f"{value * part:.12g}")
    if isinstance(value, int) and part != 1:
        more = max(abs(round(scaled) - value), 1)
        return value + more if part > 1 else value - more
    return round(scaled) if value == int(value) and scaled == int(scaled) else scaled
