"""What may befall a run, whatever the kind of its job."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import expm1, gamma

import numpy as np
from attrs import define, frozen
from numpy.random import Generator

from actors.runtime import Actor, Phase, handles, message


@frozen(eq=False)
class SilentErrors:
    """A Poisson process over what processors compute; a run that is struck looks sound until its
    end, when the error is found and all of it is lost (001, section 3.2)."""

    rate: float
    """lambda: errors per processor and unit of time."""
    rng: Generator

    def strike(self, area: float) -> bool:
        """Whether a run of this area (processors x time) is struck: q = 1 - exp(-lambda a)."""
        return float(self.rng.random()) < -expm1(-self.rate * area)


# --- faults: exponential, Weibull, or listed (003, sections 3.1 and 6.1) -----------------------

Faults = Iterator[tuple[float, int]]
"""(time in s, processor), times not decreasing."""

BATCH = 256
"""Faults drawn at once: one at a time, numpy takes ten times as long."""


def exponential_faults(rng: Generator, processors: int, mtbf: float) -> Faults:
    """Each processor fails after exponential times of mean `mtbf` s, whoever holds it.

    Together they are one Poisson process whose faults strike processors uniformly.
    """
    time = 0.0
    while True:
        gaps = rng.exponential(mtbf / processors, BATCH)
        struck = rng.integers(processors, size=BATCH)
        for gap, processor in zip(gaps.tolist(), struck.tolist(), strict=True):
            time += gap
            yield time, processor


def weibull_faults(rng: Generator, processors: int, mtbf: float, shape: float) -> Faults:
    """Each processor fails after Weibull times of mean `mtbf` s; a fault makes it as good as new.

    `shape` below 1: the older, the safer, as is observed on real platforms.
    """
    scale = mtbf / gamma(1 + 1 / shape)
    due = scale * rng.weibull(shape, processors)
    while True:
        processor = int(np.argmin(due))
        yield float(due[processor]), processor
        due[processor] += scale * rng.weibull(shape)


@message
class FaultDue:
    """A hazard to itself: a fault strikes this processor now."""

    processor: int


@define(eq=False)
class Hazard(Actor):
    """Strikes processors at the times that `faults` yields; it knows nothing of what they run."""

    faults: Faults

    def started(self) -> None:
        self._await_fault()

    def _await_fault(self) -> None:
        fault = next(self.faults, None)
        if fault is not None:
            time, processor = fault
            self.at(time, FaultDue(processor), Phase.STATES_CHANGE)

    @handles(FaultDue)
    def be_due(self, message: FaultDue) -> None:
        # First: no fault is caused by the one before.
        self._await_fault()
        self.strike(message.processor)

    @abstractmethod
    def strike(self, processor: int) -> None:
        """What a fault does to this processor."""
