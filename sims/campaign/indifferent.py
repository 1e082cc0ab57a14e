"""Warn of keys that a question varies although the scenario shows that they cannot matter."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

from sims.campaign.axes import within
from sims.campaign.batches import AnyMeasure
from sims.campaign.plan import Case, Cases
from sims.durations import seconds
from sims.metrics.measures import Measure
from sims.scenario.advice import idle
from sims.scenario.parts.part import Limit
from sims.scenario.saturation import saturation

PRICED = {"measures.prices": Measure.COST, "measures.watts": Measure.ENERGY}
"""Maps the sections of prices and powers to the measure that each changes."""


def warn_of_indifference(plan: Cases, keys: Iterable[str]) -> None:
    """Warn of each varied key that cannot matter in the cases of a plan, or not from some value on,
    for a reason that their scenarios show."""
    for key in keys:
        for text in _reasons(plan, key):
            # The line of a program that called `holdfast.compare` or `tune`.
            warnings.warn(f"{key} {text}", stacklevel=4)


def _reasons(plan: Cases, key: str) -> Iterator[str]:
    for section, measure in PRICED.items():
        if within(key, section) and not _asked(measure, plan.question.measured.gauges):
            yield f"cannot matter: it changes nothing but {measure.value}"
            return
    found = _limits(plan, key)
    known = [it for it in found if it is not None]
    if not known or len(found) == 1:
        return
    least, why = max(known, key=lambda it: it[0])
    if not least:
        yield f"cannot matter: {why}"
    elif len(known) == len(found):
        yield f"cannot matter, as all its values are {least:g} or more: {why}"
    elif len(known) > 1:
        yield f"cannot matter from {least:g} on: {why}"


def _limits(plan: Cases, key: str) -> list[Limit | None]:
    """Return, for each value of a key, the limit that the value reaches in all cases, if there is
    one."""
    cases: dict[str, tuple[Any, list[Case]]] = {}
    for case in plan.looked_at():
        settings = dict(case.settings())
        if key in settings:
            value = settings[key]
            cases.setdefault(repr(value), (value, []))[1].append(case)
    return [_reached(key, value, each) for value, each in cases.values()]


def _reached(key: str, value: Any, cases: Sequence[Case]) -> Limit | None:
    """Return the limit from which on the key does not matter, and why, if `value` reaches it in all
    of these cases; else None."""
    found = [_limit(case, key) for case in cases]
    known = [it for it in found if it is not None]
    if len(known) < len(found):
        return None
    least, why = max(known, key=lambda it: it[0])
    return (least, why) if not least or _number(value) >= least else None


def _limit(case: Case, key: str) -> Limit | None:
    scenario = case.scenario(0)
    without = dict(idle(scenario)).get(key)
    return (0, without) if without else saturation(scenario, key)


def _number(value: Any) -> float:
    """Return a value as a number, a time in seconds; -inf for any other value."""
    try:
        return float(seconds(value) if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return -inf


def _asked(measure: Measure, asked: Sequence[AnyMeasure]) -> bool:
    """Return whether a question asks for a measure, or for a measure of the user's, which may
    depend on anything."""
    return any(it is measure or not isinstance(it, Measure) for it in asked)
