"""What a scenario file may say of the servers' speeds and of g(r, t)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from attrs import Factory, field, frozen
from attrs.validators import deep_iterable
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
from sims.scenario.fields import Unacceptable, above_one, not_empty, part, positive
from sims.scenario.policies import imported


@frozen(kw_only=True)
class ConstantSection:
    """`"constant"`: speed 1."""

    kind: Literal["constant"] = "constant"

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """The law of the server's speed."""
        return ConstantSpeed()


@frozen(kw_only=True)
class TwoPointSection:
    """`{kind = "two-point", peak = 4, interval = 0.3}`: redrawn at exponential times."""

    kind: Literal["two-point"] = "two-point"
    peak: float = field(default=4.0, validator=above_one)
    """Delta, above 1."""
    interval: float = field(default=1.0, validator=positive)
    """tau: mean time between two draws, time units."""
    low: float = field(default=0.0, validator=part)
    """The other speed, below 1; probabilities are such that the mean is 1."""

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """The law of the server's speed."""
        return TwoPoint(self.peak, self.interval, self.low)


@frozen(kw_only=True)
class TwoPointSlotsSection:
    """`{kind = "two-point-slots", peak = 4, slot = 0.3}`: redrawn in every slot."""

    kind: Literal["two-point-slots"] = "two-point-slots"
    peak: float = field(default=4.0, validator=above_one)
    """Delta, above 1."""
    slot: float = field(default=1.0, validator=positive)
    """Length of a slot, time units; slots begin at a random phase on each server."""
    low: float = field(default=0.0, validator=part)
    """The other speed, below 1; probabilities are such that the mean is 1."""

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """The law of the server's speed."""
        return TwoPointSlots(self.peak, self.slot, self.low)


@frozen(kw_only=True)
class OnOffSection:
    """`{kind = "on-off", peak = 4, on = 1}`: a two-state Markov chain."""

    kind: Literal["on-off"] = "on-off"
    peak: float = field(default=4.0, validator=above_one)
    """Delta, above 1: the speed while on."""
    on: float = field(default=1.0, validator=positive)
    """Mean length of a time on, time units; a time off lasts on (peak - 1) on average."""

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """The law of the server's speed."""
        return OnOff(self.peak, self.on)


def _uniform_peak(_: object, attribute: object, value: float) -> None:
    """attrs validator: a number above 1, up to 2."""
    if not 1 < value <= 2:
        raise Unacceptable("peak", value, "a number above 1, up to 2")


@frozen(kw_only=True)
class UniformSection:
    """`{kind = "uniform", peak = 2, slot = 1}`: drawn afresh for every slot."""

    kind: Literal["uniform"] = "uniform"
    peak: float = field(default=2.0, validator=_uniform_peak)
    """Delta, in (1, 2]; speeds are uniform in [2 - peak, peak]."""
    slot: float = field(default=1.0, validator=positive)
    """Length of a slot, time units; slots begin at a random phase on each server."""

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """The law of the server's speed."""
        return UniformSlots(self.peak, self.slot)


def _trace(_: object, attribute: object, value: tuple[Change, ...]) -> None:
    """attrs validator: [time, speed] pairs whose times rise from 0."""
    try:
        TraceSpeed(value)
    except ValueError as error:
        accepted = "[time, speed] pairs: times rise from 0, speeds are finite, 0 or above"
        raise Unacceptable("servers", value, f"{accepted} ({error})") from None


def _moving(_: object, attribute: object, value: tuple[tuple[Change, ...], ...]) -> None:
    """attrs validator: a speed above 0 at some time."""
    if not any(speed > 0 for trace in value for _, speed in trace):
        raise Unacceptable("servers", value, "a speed above 0 at some time")


@frozen(kw_only=True)
class TraceSection:
    """`{kind = "trace", servers = [[[0, 1], [3, 2]], ...]}`: (time, speed) from that time on."""

    kind: Literal["trace"] = "trace"
    servers: tuple[tuple[Change, ...], ...] = field(
        validator=[not_empty, deep_iterable(_trace), _moving]
    )
    """One trace per server; one for all where only one is given."""

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """The trace of that server."""
        if len(self.servers) == 1:
            return TraceSpeed(self.servers[0])
        if server >= len(self.servers):
            problem = f"{len(self.servers)} traces, and a server {server}"
            raise InputError("scenario", "servers.speed.servers", problem, "one trace per server")
        return TraceSpeed(self.servers[server])


@frozen(kw_only=True)
class OwnSection:
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: your own process."""

    kind: Literal["own"] = "own"
    name: str
    """A class with `peak` and `path(rng)`; see policies.maths.speeds.SpeedProcess."""
    parameters: dict[str, Any] = Factory(dict)
    """What its constructor takes."""

    def process(self, server: int, folder: Path) -> SpeedProcess:
        """An instance of the class."""
        law = imported(self.name, folder, "servers.speed.name")
        process: SpeedProcess = law(**self.parameters)
        return process


SpeedSection = (
    ConstantSection
    | TwoPointSection
    | TwoPointSlotsSection
    | OnOffSection
    | UniformSection
    | TraceSection
    | OwnSection
)


@frozen(kw_only=True)
class ProcessGain:
    """`"process"`: g(r, t) of the servers' own speed process."""

    kind: Literal["process"] = "process"
    sample: int = field(default=4000, validator=positive)
    """Servers simulated per time where g cannot be integrated; copies are at most half of it."""

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
