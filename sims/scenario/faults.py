"""When workers fail, whatever they run (malleable17, sections 3.1 and 6.1)."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from attrs import field, frozen
from attrs.validators import deep_iterable
from numpy.random import Generator

from actors.hazards import Faults, exponential_faults, weibull_faults
from sims.errors import InputError
from sims.scenario.fields import Unacceptable, not_negative, positive

YEAR = 365 * 86400.0
"""Seconds in a year, as malleable17 counts them."""

SMALLEST_SHAPE = 0.05
"""Of Weibull laws: the smaller, the more of the faults follow the last one within no time."""


@frozen(kw_only=True)
class FaultFields:
    """What all kinds of faults have."""

    downtime: float = field(default=60.0, validator=not_negative)
    """D: how long a fault keeps a worker DOWN, in the file's unit."""


Strikes = tuple[tuple[float, int], ...]


def _strike(_: object, attribute: object, value: tuple[float, int]) -> None:
    """attrs validator: a finite time from 0 on, and a worker."""
    time, worker = value
    if not (0 <= time < math.inf and worker >= 0):
        raise Unacceptable("strikes", value, "a finite time from 0 on, and a worker")


def listed(strikes: Strikes, workers: int) -> Faults:
    """By time. Raises InputError where one strikes a worker that there is not."""
    for time, worker in strikes:
        if worker >= workers:
            problem = f"[{time!r}, {worker!r}] is not accepted"
            accepted = f"a time from 0 on, a worker from 0 to {workers - 1}"
            raise InputError("scenario", "faults.strikes", problem, accepted)
    return iter(sorted(strikes, key=lambda fault: fault[0]))


def _merged(drawn: Faults, more: Faults) -> Faults:
    """Both, in order of time; of equal times the drawn one first."""
    later = next(more, None)
    for fault in drawn:
        while later is not None and later[0] < fault[0]:
            yield later
            later = next(more, None)
        yield fault


@frozen(kw_only=True)
class NoFaults(FaultFields):
    """`"none"`: no worker fails."""

    kind: Literal["none"] = "none"

    mtbf: ClassVar[float] = math.inf

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time."""
        return iter(())


@frozen(kw_only=True)
class ExponentialFaults(FaultFields):
    """`{kind = "exponential", mtbf = 1e6}`."""

    kind: Literal["exponential"]
    mtbf: float = field(default=100 * YEAR, validator=positive)
    """mu: mean time between the faults of one worker, in the file's unit."""
    strikes: Strikes = field(default=(), validator=deep_iterable(_strike))
    """[time, worker] of more faults, beside those drawn."""

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time. Raises InputError."""
        drawn = exponential_faults(rng, workers, self.mtbf)
        return _merged(drawn, listed(self.strikes, workers))


def _shape(_: object, attribute: object, value: float) -> None:
    """attrs validator: a finite number, 0.05 or above."""
    if not SMALLEST_SHAPE <= value < math.inf:
        accepted = f"a finite number, {SMALLEST_SHAPE} or above: below, most faults come at once"
        raise Unacceptable("shape", value, accepted)


@frozen(kw_only=True)
class Weibull(FaultFields):
    """`{kind = "weibull", mtbf = 1e6, shape = 0.7}`."""

    kind: Literal["weibull"]
    mtbf: float = field(default=100 * YEAR, validator=positive)
    """Mean time between the faults of one worker, in the file's unit."""
    shape: float = field(validator=_shape)
    """k: below 1, the older the safer; 1 is exponential."""
    strikes: Strikes = field(default=(), validator=deep_iterable(_strike))
    """[time, worker] of more faults, beside those drawn."""

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time. Raises InputError."""
        drawn = weibull_faults(rng, workers, self.mtbf, self.shape)
        return _merged(drawn, listed(self.strikes, workers))


@frozen(kw_only=True)
class ListedFaults(FaultFields):
    """`{kind = "list", strikes = [[3.5e6, 14], [7.1e6, 7]]}`."""

    kind: Literal["list"]
    strikes: Strikes = field(validator=deep_iterable(_strike))
    """[time, worker], in any order."""

    mtbf: ClassVar[float] = math.inf

    def faults(self, rng: Generator, workers: int) -> Faults:
        """(time, worker) of each fault, in order of time. Raises InputError."""
        return listed(self.strikes, workers)


AnyFaults = NoFaults | ExponentialFaults | Weibull | ListedFaults
