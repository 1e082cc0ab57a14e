"""Faults that strike processors: exponential, Weibull, or listed (003, sections 3.1 and 6.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gamma

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.malleable.messages import FaultDue, Strike
from actors.malleable.processor import Processor
from actors.runtime import Actor, Phase, handles

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


@define(eq=False)
class Hazard(Actor):
    """Strikes processors at the times that `faults` yields; it knows nothing of applications."""

    faults: Faults
    processors: Sequence[Processor] = field(repr=False)

    def started(self) -> None:
        self._await_fault()

    def _await_fault(self) -> None:
        fault = next(self.faults, None)
        if fault is not None:
            time, processor = fault
            self.at(time, FaultDue(processor), Phase.STATES_CHANGE)

    @handles(FaultDue)
    def strike(self, message: FaultDue) -> None:
        self.send(self.processors[message.processor], Strike())
        self._await_fault()
