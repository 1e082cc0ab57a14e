"""What a scenario file may say of workers' speeds over time, and of g(r, t)."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from attrs import frozen
from numpy.random import Generator
from pydantic import Field

from actors.decisions import ours
from policies.maths.gains import ConstantGain, FrozenTwoPoint, Gain, tabulated_gain
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
from sims.scenario.policies import own, running
from sims.tables.fields import Accepts, Count, Positive, Timed
from sims.tables.section import Held, OneOf, Section


class ConstantLaw(Section):
    """`1` or `{kind = "constant", speed = 1}`."""

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((int, float), "speed")

    kind: Literal["constant"] = "constant"
    speed: Positive = 1
    """For ever."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return ConstantSpeed() if self.speed == 1 else TraceSpeed(((0, self.speed),))


Changes = Annotated[
    tuple[tuple[Annotated[float, Timed()], float], ...],
    Accepts(
        "[time, speed] pairs: times rise from 0, speeds are finite, 0 or above, not all 0",
        check=lambda changes: TraceSpeed(changes).peak > 0,
    ),
]


class ListedSpeeds(Section):
    """`[[0, 1], [3, 2]]` or `{kind = "list", changes = [[0, 1], [3, 2]]}`."""

    SHORT: ClassVar[tuple[tuple[type, ...], str]] = ((list,), "changes")

    kind: Literal["list"] = "list"
    changes: Changes
    """[time, speed from then on]; the last one lasts for ever."""

    def process(self, folder: Path) -> SpeedProcess:
        """The law of the worker's speed."""
        return TraceSpeed(self.changes)


class OwnLaw(Section):
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: your own process."""

    kind: Literal["own"] = "own"
    name: str
    """A class with `peak` and `path(rng)`; see policies.maths.speeds.SpeedProcess."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """What its constructor takes."""

    def process(self, folder: Path) -> SpeedProcess:
        """An instance of the class. Raises InputError."""
        law: SpeedProcess = own(self.name, self.parameters, folder, "speed.name", SpeedProcess)
        return law if ours(law) else UsersLaw(law, self.name)


@frozen
class UsersLaw:
    """A law of the user's: whatever it raises, or gives that is no speed, is an InputError."""

    law: SpeedProcess
    name: str
    ACCEPTED: ClassVar = (
        "(time, speed) pairs: the first at 0, times that rise, speeds of 0 or above"
    )

    @property
    def peak(self) -> float:
        """The law's own."""
        with running("speed.name", self.name, "a number `peak`"):
            return float(self.law.peak)

    def path(self, rng: Generator) -> Iterator[Change]:
        """The law's own."""
        last: float | None = None
        with running("speed.name", self.name, self.ACCEPTED):
            changes = iter(self.law.path(rng))
        while True:
            with running("speed.name", self.name, self.ACCEPTED):
                if (change := next(changes, None)) is None:
                    return
                time, speed = map(float, change)
                if not (0 <= speed < inf and (time == 0 if last is None else last <= time < inf)):
                    raise ValueError(f"it gave {change!r:.80}")
            last = time
            yield time, speed


Speed = Annotated[
    ConstantLaw
    | Annotated[TwoPoint, Held("two-point", "interval")]
    | Annotated[TwoPointSlots, Held("two-point-slots", "slot")]
    | Annotated[OnOff, Held("on-off", "on")]
    | Annotated[UniformSlots, Held("uniform", "slot")]
    | ListedSpeeds
    | OwnLaw,
    OneOf(),
]


def process_of(speed: Speed, folder: Path) -> SpeedProcess:
    """The law of a worker's speed; a module of the user's is sought in `folder`."""
    return speed.process(folder) if isinstance(speed, Section) else speed


class ProcessGain(Section):
    """`"process"`: g(r, t) of the workers' own law of speed."""

    kind: Literal["process"] = "process"
    sample: Count = 4000
    """Workers simulated per time where g cannot be integrated; copies are at most half of it."""


GainSection = Annotated[
    ProcessGain
    | Annotated[ConstantGain, Held("linear")]
    | Annotated[FrozenTwoPoint, Held("frozen-two-point")],
    OneOf(),
]


def gain_of(section: GainSection, process: SpeedProcess, rng: Generator) -> Gain:
    """g(r, t), integrated for two-state speeds, else simulated."""
    if isinstance(section, ProcessGain):
        return tabulated_gain(process, section.sample, rng)
    return section
