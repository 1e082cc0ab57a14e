"""Implements laws of a server's speed: piecewise constant, exact between changes (redundancy17,
section III).

A process has unit mean and a peak rate Delta, is the same for every server and has stationary
increments: slotted ones begin at a random phase, two-state ones in their stationary law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, count, pairwise
from typing import Protocol

from attrs import field, frozen
from attrs.validators import ge, gt, le, lt
from numpy.random import Generator

Change = tuple[float, float]
"""A change of speed: (time, speed from then on)."""

BLOCK = 64
"""Number of draws at a time, because one numpy call for each costs as much as a whole message."""


class SpeedProcess(Protocol):
    """A random law by which one server's speed changes over time: `path` draws the changes, and
    `peak` is never exceeded."""

    @property
    def peak(self) -> float:
        """Peak rate Delta, which the speed never exceeds."""

    def path(self, rng: Generator) -> Iterator[Change]:
        """Yield one server's speed as pairs (time, speed from then on): (0, speed) first, then each
        change in time order. The sequence may be endless. Time is in the scenario's unit, speed in
        work per unit of time."""


@frozen
class ConstantSpeed:
    """Speed 1 at all times, with which redundancy gains nothing."""

    peak = 1.0

    def path(self, rng: Generator) -> Iterator[Change]:
        return iter(((0.0, 1.0),))


@frozen
class TwoPoint:
    """The speed is `low` or `peak`, drawn anew, independently of the present one, after exponential
    times of mean `interval`."""

    peak: float = field(default=4.0, validator=gt(1))
    """Peak rate Delta."""
    interval: float = field(default=1.0, validator=gt(0))
    """Mean time tau between two draws, in time units; most draws change nothing."""
    low: float = field(default=0.0, validator=[ge(0), lt(1)])
    """The lower speed, below 1; the probabilities are such that the mean is 1."""

    @property
    def probability(self) -> float:
        """Probability of the speed `peak`, such that the mean speed is 1."""
        return _probability(self.low, self.peak)

    def path(self, rng: Generator) -> Iterator[Change]:
        # Redraws that repeat the speed are invisible: the times between visible ones are
        # exponential again, at the rate of draws times the chance of the other speed.
        p = self.probability
        means = (self.interval / p, self.interval / (1 - p))
        return _alternating(rng, (self.low, self.peak), means, p)


@frozen
class OnOff:
    """A server alternates between the speed `peak` while on and 0 while off, as a two-state Markov
    chain.

    The times on are exponential of mean `on`, and the times off of mean `on` (peak - 1), which
    makes the mean speed 1.
    """

    peak: float = field(default=4.0, validator=gt(1))
    """Peak rate Delta."""
    on: float = field(default=1.0, validator=gt(0))
    """Mean length of a time on, in time units; a time off lasts on (peak - 1) on average."""

    @property
    def off(self) -> float:
        """Mean length of a time off, in time units."""
        return self.on * (self.peak - 1)

    def path(self, rng: Generator) -> Iterator[Change]:
        return _alternating(rng, (0.0, self.peak), (self.off, self.on), 1 / self.peak)


@frozen
class TwoPointSlots:
    """The speed is `low` or `peak`, drawn independently for every slot of length `slot`. The first
    slot began before time 0, at a uniformly random phase.

    `TwoPoint` has exponential times of the same mean instead; its speeds stay correlated twice as
    long, which shifts SRPT+R's gain by a few percent.
    """

    peak: float = field(default=4.0, validator=gt(1))
    """Peak rate Delta."""
    slot: float = field(default=1.0, validator=gt(0))
    """Length of a slot, in time units; slots begin at a random phase on each worker."""
    low: float = field(default=0.0, validator=[ge(0), lt(1)])
    """The lower speed, below 1; the probabilities are such that the mean is 1."""

    def path(self, rng: Generator) -> Iterator[Change]:
        phase, p = float(rng.uniform(0, self.slot)), _probability(self.low, self.peak)
        last = None
        for block in count():
            for k, high in enumerate((rng.random(BLOCK) < p).tolist(), start=block * BLOCK):
                if high is not last:
                    yield max(0.0, k * self.slot - phase), self.peak if high else self.low
                    last = high


@frozen
class UniformSlots:
    """The speed is uniform in [2 - peak, peak], drawn independently for every slot of length
    `slot`. The first slot began before time 0, at a uniformly random phase."""

    peak: float = field(default=2.0, validator=[gt(1), le(2)])
    """Peak rate Delta; speeds are uniform in [2 - peak, peak]."""
    slot: float = field(default=1.0, validator=gt(0))
    """Length of a slot, in time units; slots begin at a random phase on each worker."""

    def path(self, rng: Generator) -> Iterator[Change]:
        phase = float(rng.uniform(0, self.slot))
        for block in count():
            speeds = rng.uniform(2 - self.peak, self.peak, BLOCK)
            for k, speed in enumerate(speeds.tolist(), start=block * BLOCK):
                yield max(0.0, k * self.slot - phase), speed


@frozen
class TraceSpeed:
    """The speed follows an explicit list of changes, of which the last one lasts for ever.

    Raises ValueError unless times rise from 0 and speeds are finite and 0 or above. The mean speed
    is not checked to be 1.
    """

    changes: tuple[Change, ...]
    """Pairs (time, speed), with times rising from 0."""

    def __attrs_post_init__(self) -> None:
        if not self.changes or self.changes[0][0] != 0:
            raise ValueError("A speed trace begins at time 0.")
        if any(not before[0] < after[0] < math.inf for before, after in pairwise(self.changes)):
            raise ValueError("A speed trace's times rise.")
        if any(not 0 <= speed < math.inf for _, speed in self.changes):
            raise ValueError("A speed is at least 0 and finite.")

    @property
    def peak(self) -> float:
        return max(speed for _, speed in self.changes)

    def path(self, rng: Generator) -> Iterator[Change]:
        return iter(self.changes)


def _probability(low: float, peak: float) -> float:
    """Return the probability of the speed `peak`, with `low` as the other one, for which the mean
    speed is 1."""
    return (1 - low) / (peak - low)


def _alternating(
    rng: Generator, speeds: tuple[float, float], means: tuple[float, float], p: float
) -> Iterator[Change]:
    """Yield, without end, the changes (time, speed from then on) of a server that alternates
    between two speeds. It begins at time 0, with speeds[1] with probability p.

    Each stay at speeds[i] lasts an exponential time of mean means[i].
    """
    state = int(rng.random() < p)
    time = 0.0
    yield time, speeds[state]
    for stay in chain.from_iterable(rng.exponential(1, BLOCK).tolist() for _ in count()):
        time += stay * means[state]
        state = 1 - state
        yield time, speeds[state]
