"""Scenarios whose numbers are tenths, which no float is: where sums of decimals must coincide."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import isclose
from numbers import Real
from random import Random
from typing import Any

Job = dict[str, Any]
Pairs = dict[str, tuple[Any, Any]]

OF_JOBS = (
    "t",
    "times",
    "w",
    "verification",
    "period",
    "cost",
    "recovery",
    "delay",
    "data",
    "image",
    "image_cost",
    "replace_after",
    "think",
)
"""Amounts, by key, but for the program, which jobs may share, and the release."""
ROUNDING = 1e-9


def in_tenths(rng: Random, scenario: dict[str, Any]) -> None:
    """Jobs' numbers become multiples of some tenths, or now and then any; workers' move by some."""
    unit = rng.randint(1, 30)
    for job in scenario["jobs"]:
        for key in OF_JOBS:
            if key in job and rng.random() < 0.8:
                job[key] = _times(job[key], unit)
            elif key in job:
                job[key] = _times(job[key], rng.randint(1, 30))
        for key in ("program", "release"):
            job[key] = _times(job[key], unit)
    for key in ("downtime", "notice", "detection"):
        if key in scenario:
            scenario[key] = _times(scenario[key], unit)
    scenario["faults"] = [[_moved(rng, time), it] for time, it in scenario["faults"]]
    scenario["speeds"] = scenario["speeds"] and [
        [[_moved(rng, time) if time else 0, _sped(rng, speed)] for time, speed in changes]
        for changes in scenario["speeds"]
    ]


def _times(amount: Any, tenths: int) -> Any:
    if isinstance(amount, list):
        return [_times(it, tenths) for it in amount]
    return amount and amount * tenths / 10


def _moved(rng: Random, time: float) -> float:
    return (10 * time + rng.randint(0, 9)) / 10


def _sped(rng: Random, speed: float) -> float:
    return rng.choice([0.5, 0.8, 1.2, 1.5, 2.5]) if speed and rng.random() < 0.5 else speed


def apart(pairs: Pairs) -> list[str]:
    """What differs by more than rounding, of what was told and what it should be."""
    wrong = [what for what, (told, expected) in pairs.items() if not _alike(told, expected)]
    return wrong or ["instants"] * (not _same_instants(pairs))


def _alike(told: Any, expected: Any) -> bool:
    if isinstance(expected, list | tuple):
        same = len(told) == len(expected)
        return same and all(_alike(a, b) for a, b in zip(told, expected, strict=True))
    if isinstance(expected, Real) and isinstance(told, Real):
        return isclose(told, expected, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(told == expected)


def _same_instants(pairs: Pairs) -> bool:
    """Whether what is one instant in exact arithmetic is one time, and what is not is in order."""
    told, expected = (
        [it for what in INSTANTS for it in INSTANTS[what](pairs[what][k])] for k in (0, 1)
    )
    instants = sorted(zip(expected, told, strict=True))
    return all((a == b) == (c == d) and c <= d for (a, c), (b, d) in pairwise(instants))


INSTANTS = {
    "runs": lambda runs: [time for run in runs for time in run[3:5]],
    "completions": list,
    "checkpoints": lambda checkpoints: [it[2] for it in checkpoints],
    "transfers": lambda transfers: [time for it in transfers for span in it[5] for time in span],
}
"""Where times stand in the lists of a case."""


def exact(number: float | Fraction) -> Fraction:
    """As it is written."""
    return Fraction(str(number))
