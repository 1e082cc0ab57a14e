"""What a scenario file may say of workers: their speeds over time and g(r, t); a pool of workers
alike, others one by one, or drawn."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from attrs import frozen
from numpy.random import Generator
from pydantic import Field

from actors.decisions import ours
from actors.runtime import stream
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
from sims.scenario.availability import AlwaysUp, Markov
from sims.scenario.own_code import own, running
from sims.scenario.trace_files import Availability
from sims.tables import Held, OneOf, Section
from sims.tables.fields import Accepts, Count, Duration, Natural, NotNegative, Positive, Timed

MOST = 2**53
"""Workers: allotments are worked out in doubles, which count no further."""
SLOWEST = 10**9
"""w_min of drawn workers: ten times as much, times an iteration's tasks, fits in a log's line."""


class ConstantLaw(Section):
    """`1` or `{kind = "constant", speed = 1}`."""

    SHORT = ((int, float), "speed")

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

    SHORT = ((list,), "changes")

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


# --- workers --------------------------------------------------------------------------------------

Span = Annotated[
    tuple[Annotated[float, Timed()], Annotated[float, Timed()], int],
    Accepts(
        "a time from 0 on, a later finite one, and a worker",
        check=lambda it: 0 <= it[0] < it[1] < inf and it[2] >= 0,
    ),
]
Stay = Annotated[
    tuple[float, float],
    Accepts("two numbers from 0 to 1, the lower first", check=lambda it: 0 <= it[0] <= it[1] <= 1),
]


class WorkerFields(Section):
    """What a worker is; each of several alike has randomness of its own."""

    speed: Speed = Field(default_factory=ConstantLaw)
    """How fast it works: a number, or a law of speed over time (`two-point` and so on)."""
    availability: Availability = Field(default_factory=AlwaysUp)
    """Its owner's states: `always`, a string of states such as `uurrdu`, or a table."""
    task_time: Duration = 1
    """w_q: time units per task of iterative jobs."""
    memory: Natural | None = None
    """mu_q: the most tasks held at once; default: all of a job's, which never binds."""
    price: NotNegative | None = None
    """Of an hour of it, paid while a run holds it, in place of all other prices; default: as
    [measures] or its availability's trace says."""
    belief: Markov | None = None
    """The chain that policies believe in; default: the true chain, or the one fitted to the
    availability."""

    @property
    def unowned(self) -> bool:
        """Whether no owner takes it away."""
        return isinstance(self.availability, AlwaysUp)

    @property
    def varies(self) -> bool:
        """Whether its speed may be another than 1."""
        return not (isinstance(self.speed, ConstantLaw) and self.speed.speed == 1)

    def speeds(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """Its speed over time, drawn from `rng`; files are looked for from `folder`."""
        return process_of(self.speed, folder).path(rng)


class PlatformSection(WorkerFields):
    """`[platform]`: workers alike, numbered from 0."""

    workers: Annotated[int, Accepts(f"a whole number, 0 to {MOST:,}", {"ge": 0, "le": MOST})] = 0
    """P; with `[[workers]]` those of the pool alone."""
    node: Count = 1
    """k: workers 0 to k - 1 are node 0, the next k node 1, and so on, `[[workers]]` too."""
    spares: Natural = 0
    """The last so many workers start no job; under `protection.replace_after` they replace members
    that are away."""
    multitasking: bool = True
    """Whether a worker may run several copies at once, where a policy shares them
    (redundancy17)."""
    augmentation: Positive = 1.0
    """Multiplies all speeds, or g(r, t) (redundancy17, section III.C)."""
    gain: GainSection | None = None
    """g(r, t): r copies progress as the mean of their furthest (redundancy17, Assumption 2),
    `process`, `linear` or `frozen-two-point`; default: each copy progresses as its own worker
    does."""

    @property
    def varies(self) -> bool:
        """See WorkerFields: never where jobs progress by g(r, t)."""
        return self.gain is None and (self.augmentation != 1 or super().varies)

    def speeds(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """See WorkerFields."""
        path = super().speeds(rng, folder)
        if self.augmentation == 1:
            return path
        return ((time, self.augmentation * speed) for time, speed in path)


class WorkerSection(WorkerFields):
    """`[[workers]]`: one worker, or `count` alike, after those of `[platform]`."""

    name: str = ""
    """Default: P1, P2, ...; with `count` above 1 a number is appended."""
    count: Count = 1
    """How many workers are alike."""


class RandomWorkers(Section):
    """`[random_workers]`: workers drawn as in volatile13, section VII.A, after those of
    `[[workers]]`."""

    count: Count
    """How many workers."""
    fastest: Annotated[
        int, Accepts(f"a whole number, 1 to {SLOWEST:,}", {"ge": 1, "le": SLOWEST})
    ] = 1
    """w_min: times per task are uniform over w_min..10 w_min."""
    stay: Stay = (0.90, 0.99)
    """Probabilities to stay in a state are uniform between these; the rest is split evenly."""
    memory: Natural | None = None
    """mu_q, as in `[[workers]]`."""
    seed: Natural = 0
    """Which platform is drawn; the scenario's own seed draws what happens on it."""

    def draw(self, first: int) -> tuple[WorkerSection, ...]:
        """The workers; their names count from P`first`."""
        rng = stream(self.seed, "platform")
        return tuple(self._worker(f"P{first + k}", rng) for k in range(self.count))

    def _worker(self, name: str, rng: Generator) -> WorkerSection:
        stays = rng.uniform(*self.stay, size=(3, 1))
        rows = np.where(np.eye(3), stays, 0.5 * (1 - stays)).tolist()
        time = int(rng.integers(self.fastest, 10 * self.fastest, endpoint=True))
        life = Markov.model_validate({"rows": rows})
        return WorkerSection(name=name, task_time=time, memory=self.memory, availability=life)
