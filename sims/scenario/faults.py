"""When processors fail, whatever kind of job they run (003, sections 3.1 and 6.1)."""

from __future__ import annotations

import math
from typing import Literal

from attrs import field, frozen
from attrs.validators import deep_iterable
from numpy.random import Generator

from actors.hazards import Faults, exponential_faults, weibull_faults
from sims.errors import InputError
from sims.scenario.fields import Unacceptable, positive

YEAR = 365 * 86400.0
"""Seconds in a year, as 003 counts them."""

SMALLEST_SHAPE = 0.05
"""Of Weibull laws: the smaller, the more of the faults follow the last one within no time."""


@frozen(kw_only=True)
class NoFaults:
    """`"none"`: no processor fails."""

    kind: Literal["none"] = "none"

    mtbf_years = math.inf

    def faults(self, rng: Generator, processors: int) -> Faults:
        """(time in s, processor) of each fault, in order of time."""
        return iter(())


@frozen(kw_only=True)
class Exponential:
    """`{kind = "exponential", mtbf_years = 100}`."""

    kind: Literal["exponential"]
    mtbf_years: float = field(default=100.0, validator=positive)
    """mu of each processor."""

    def faults(self, rng: Generator, processors: int) -> Faults:
        """(time in s, processor) of each fault, in order of time."""
        return exponential_faults(rng, processors, self.mtbf_years * YEAR)


def _shape(_: object, attribute: object, value: float) -> None:
    """attrs validator: a finite number, 0.05 or above."""
    if not SMALLEST_SHAPE <= value < math.inf:
        accepted = f"a finite number, {SMALLEST_SHAPE} or above: below, most faults come at once"
        raise Unacceptable("shape", value, accepted)


@frozen(kw_only=True)
class Weibull:
    """`{kind = "weibull", mtbf_years = 100, shape = 0.7}`."""

    kind: Literal["weibull"]
    mtbf_years: float = field(default=100.0, validator=positive)
    """Mean of each processor's times between faults."""
    shape: float = field(validator=_shape)
    """k: below 1, the older the safer; 1 is exponential."""

    def faults(self, rng: Generator, processors: int) -> Faults:
        """(time in s, processor) of each fault, in order of time."""
        return weibull_faults(rng, processors, self.mtbf_years * YEAR, self.shape)


def _strike(_: object, attribute: object, value: tuple[float, int]) -> None:
    """attrs validator: a finite time from 0 on, and a processor."""
    time, processor = value
    if not (0 <= time < math.inf and processor >= 0):
        raise Unacceptable("strikes", value, "a finite time from 0 on, and a processor")


@frozen(kw_only=True)
class Listed:
    """`{kind = "list", strikes = [[3.5e6, 14], [7.1e6, 7]]}`."""

    kind: Literal["list"]
    strikes: tuple[tuple[float, int], ...] = field(validator=deep_iterable(_strike))
    """[time in s, processor], in any order."""

    mtbf_years = math.inf

    def faults(self, rng: Generator, processors: int) -> Faults:
        """(time in s, processor) of each fault, in order of time. Raises InputError."""
        for time, processor in self.strikes:
            if processor >= processors:
                problem = f"[{time!r}, {processor!r}] is not accepted"
                accepted = f"a time from 0 on, a processor from 0 to {processors - 1}"
                raise InputError("scenario", "faults.strikes", problem, accepted)
        return iter(sorted(self.strikes, key=lambda fault: fault[0]))
