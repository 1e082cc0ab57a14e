"""What a scenario file may say of workers' speeds over time, and of g(r, t)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from attrs import Factory, field, frozen
from numpy.random import Generator

from policies.maths.gain_table import tabulated_gain
from policies.maths.gains import ConstantGain, FrozenTwoPoint, Gain
from policies.maths.speeds import (
    Change,
    ConstantSpeed,
    OnOff,
    SpeedProcess,
    TraceSpeed,
    TwoPoint,
    TwoPointSlots,
    UniformSlots,
)
from sims.errors import InputError
from sims.scenario.fields import Unacceptable, above_one, part, positive
from sims.scenario.policies import imported


@frozen(kw_only=True)
class ConstantLaw:
    """`1` or `{kind = "constant", speed = 1}`."""

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((int, float), "speed")

    kind: Literal["constant"] = "constant"
    speed: float = field(default=1, validator=positive)
    """For ever."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return ConstantSpeed() if self.speed == 1 else TraceSpeed(((0, self.speed),))


@frozen(kw_only=True)
class TwoPointLaw:
    """`{kind = "two-point", peak = 4, interval = 0.3}`: redrawn at exponential times."""

    kind: Literal["two-point"] = "two-point"
    peak: float = field(default=4.0, validator=above_one)
    """Delta, above 1."""
    interval: float = field(default=1.0, validator=positive)
    """tau: mean time between two draws, time units."""
    low: float = field(default=0.0, validator=part)
    """The other speed, below 1; probabilities are such that the mean is 1."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return TwoPoint(self.peak, self.interval, self.low)


@frozen(kw_only=True)
class TwoPointSlotsLaw:
    """`{kind = "two-point-slots", peak = 4, slot = 0.3}`: redrawn in every slot."""

    kind: Literal["two-point-slots"] = "two-point-slots"
    peak: float = field(default=4.0, validator=above_one)
    """Delta, above 1."""
    slot: float = field(default=1.0, validator=positive)
    """Length of a slot, time units; slots begin at a random phase on each worker."""
    low: float = field(default=0.0, validator=part)
    """The other speed, below 1; probabilities are such that the mean is 1."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return TwoPointSlots(self.peak, self.slot, self.low)


@frozen(kw_only=True)
class OnOffLaw:
    """`{kind = "on-off", peak = 4, on = 1}`: a two-state Markov chain."""

    kind: Literal["on-off"] = "on-off"
    peak: float = field(default=4.0, validator=above_one)
    """Delta, above 1: the speed while on."""
    on: float = field(default=1.0, validator=positive)
    """Mean length of a time on, time units; a time off lasts on (peak - 1) on average."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return OnOff(self.peak, self.on)


def _uniform_peak(_: object, attribute: object, value: float) -> None:
    """attrs validator: a number above 1, up to 2."""
    if not 1 < value <= 2:
        raise Unacceptable("peak", value, "a number above 1, up to 2")


@frozen(kw_only=True)
class UniformLaw:
    """`{kind = "uniform", peak = 2, slot = 1}`: drawn afresh for every slot."""

    kind: Literal["uniform"] = "uniform"
    peak: float = field(default=2.0, validator=_uniform_peak)
    """Delta, in (1, 2]; speeds are uniform in [2 - peak, peak]."""
    slot: float = field(default=1.0, validator=positive)
    """Length of a slot, time units; slots begin at a random phase on each worker."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return UniformSlots(self.peak, self.slot)


def _changes(_: object, attribute: object, value: tuple[Change, ...]) -> None:
    """attrs validator: [time, speed] pairs whose times rise from 0, one speed above 0."""
    accepted = "[time, speed] pairs: times rise from 0, speeds are finite, 0 or above, not all 0"
    try:
        TraceSpeed(value)
    except ValueError as error:
        raise Unacceptable("changes", value, f"{accepted} ({error})") from None
    if not any(speed for _, speed in value):
        raise Unacceptable("changes", value, accepted)


@frozen(kw_only=True)
class ListedSpeeds:
    """`[[0, 1], [3, 2]]` or `{kind = "list", changes = [[0, 1], [3, 2]]}`."""

    SHORT: ClassVar[tuple[type, str]] = (list, "changes")

    kind: Literal["list"] = "list"
    changes: tuple[Change, ...] = field(validator=_changes)
    """[time, speed from then on]; the last one lasts for ever."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return TraceSpeed(self.changes)


@frozen(kw_only=True)
class OwnLaw:
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: your own process."""

    kind: Literal["own"] = "own"
    name: str
    """A class with `peak` and `path(rng)`; see policies.maths.speeds.SpeedProcess."""
    parameters: dict[str, Any] = Factory(dict)
    """What its constructor takes."""

    def process(self, folder: Path) -> SpeedProcess:
        """An instance of the class. Raises InputError."""
        law = imported(self.name, folder, "speed.name")
        try:
            process: SpeedProcess = law(**self.parameters)
        except (TypeError, ValueError) as error:
            accepted = "parameters that its class takes"
            raise InputError("scenario", "speed.parameters", str(error), accepted) from None
        return process


Speed = ConstantLaw | TwoPointLaw | TwoPointSlotsLaw | OnOffLaw | UniformLaw | ListedSpeeds | OwnLaw


@frozen(kw_only=True)
class ProcessGain:
    """`"process"`: g(r, t) of the workers' own law of speed."""

    kind: Literal["process"] = "process"
    sample: int = field(default=4000, validator=positive)
    """Workers simulated per time where g cannot be integrated; copies are at most half of it."""

    def gain(self, process: SpeedProcess, rng: Generator) -> Gain:
        """g(r, t), integrated for two-state speeds, else simulated."""
        return tabulated_gain(process, self.sample, rng)


@frozen(kw_only=True)
class LinearGain:
    """`"linear"`: g = t, redundancy gains nothing."""

    kind: Literal["linear"] = "linear"

    def gain(self, process: SpeedProcess, rng: Generator) -> Gain:
        """g(r, t)."""
        return ConstantGain()


@frozen(kw_only=True)
class FrozenGain:
    """`{kind = "frozen-two-point", peak = 4}`: g = peak (1 - (1 - 1/peak)^r) t."""

    kind: Literal["frozen-two-point"] = "frozen-two-point"
    peak: float = field(default=4.0, validator=above_one)
    """Delta."""

    def gain(self, process: SpeedProcess, rng: Generator) -> Gain:
        """g(r, t)."""
        return FrozenTwoPoint(self.peak)


GainSection = ProcessGain | LinearGain | FrozenGain
