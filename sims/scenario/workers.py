"""The sections that describe workers: their speeds over time and g(r, t); a pool of identical
workers, workers listed one by one, and workers drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from attrs import frozen
from numpy.random import Generator
from pydantic import Field

from actors.decisions import ours
from actors.intervals import members
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
from sims.errors import InputError, unfit
from sims.own_modules import running
from sims.scenario.availability import AlwaysUp, Markov
from sims.scenario.dates import Calendar, Moment, is_dated
from sims.scenario.own_code import own
from sims.scenario.partitions import PartitionSection, check_partitions
from sims.scenario.trace_files import Availability
from sims.scenario.units import Units, intervals_in
from sims.tables import Held, OneOf, Section
from sims.tables.fields import (
    Accepts,
    Amount,
    Count,
    Duration,
    Natural,
    Positive,
    Time,
    Timed,
)

MOST = 2**53
"""Largest number of workers, because allotments are computed in doubles, which count no further."""
SLOWEST = 10**9
"""Largest w_min of drawn workers; ten times as much, times the tasks of an iteration, still fits in
a line of the log."""


class ConstantLaw(Section):
    """`1` or `{kind = "constant", speed = 1}`: a constant speed."""

    SHORT = ((int, float), "speed")

    kind: Literal["constant"] = "constant"
    speed: Positive = 1
    """Work per time unit, at all times."""

    def process(self, folder: Path) -> SpeedProcess:
        """Return the process that gives the worker its constant speed; `folder` is not used."""
        return ConstantSpeed() if self.speed == 1 else TraceSpeed(((0, self.speed),))


Changes = Annotated[
    tuple[tuple[Annotated[float, Timed()], float], ...],
    Accepts(
        "[time, speed] pairs: times rise from 0, speeds are finite, 0 or above, not all 0",
        check=lambda changes: TraceSpeed(changes).peak > 0,
    ),
]


class ListedSpeeds(Section):
    """`[[0, 1], [3, 2]]` or `{kind = "list", changes = [[0, 1], [3, 2]]}`: a speed that changes at
    listed times."""

    SHORT = ((list,), "changes")

    kind: Literal["list"] = "list"
    changes: Changes
    """[time, speed from then on] of each change; the last speed lasts for ever."""

    def process(self, folder: Path) -> SpeedProcess:
        """Return the process that gives the worker its listed speeds over time; `folder` is not
        used."""
        return TraceSpeed(self.changes)


class OwnLaw(Section):
    """`{kind = "own", name = "package.module:Name", parameters = {...}}`: a process of the user's
    own."""

    kind: Literal["own"] = "own"
    name: str
    """Name of a class with `peak` and `path(rng)`, as policies.maths.speeds.SpeedProcess has
    them."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the class's constructor."""

    def process(self, folder: Path) -> SpeedProcess:
        """Return an instance of the user's class, which gives the worker its speed over time, with
        a check of what it yields unless the class is Holdfast's own. Its module is looked for in
        `folder` first.

        Raises InputError where the class cannot be loaded.
        """
        law: SpeedProcess = own(self.name, self.parameters, folder, "speed.name", SpeedProcess)
        return law if ours(law) else UsersLaw(law, self.name)


@frozen
class UsersLaw:
    """Checks a user's speed process, of the given `name`, as it is used: an exception that it
    raises, or a value that is no speed, becomes an InputError."""

    law: SpeedProcess
    name: str
    ACCEPTED: ClassVar = (
        "(time, speed) pairs: the first at 0, times that rise, speeds of 0 or above"
    )

    @property
    def peak(self) -> float:
        """Largest speed that the process can have, as the user's class says."""
        with running("speed.name", self.name, "a number `peak`"):
            return float(self.law.peak)

    def path(self, rng: Generator) -> Iterator[Change]:
        """Yield (time, speed from then on) of each change of the user's process, after a check.

        Raises InputError for the first pair that is none, or that is out of order.
        """
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
    """Return the process that gives a worker its speed over time; a module of the user's is looked
    for in `folder`."""
    return speed.process(folder) if isinstance(speed, Section) else speed


class ProcessGain(Section):
    """`"process"`: g(r, t) computed from the workers' own process of speed."""

    kind: Literal["process"] = "process"
    sample: Count = 4000
    """Number of workers simulated for each time where g cannot be integrated; copies are at most
    half as many."""


GainSection = Annotated[
    ProcessGain
    | Annotated[ConstantGain, Held("linear")]
    | Annotated[FrozenTwoPoint, Held("frozen-two-point")],
    OneOf(),
]


def gain_of(section: GainSection, process: SpeedProcess, rng: Generator) -> Gain:
    """Return g(r, t), the expected service of the fastest of r workers by time t: the one that the
    section states, or, for `process`, that of workers whose speed is `process`, integrated for
    processes of two speeds and otherwise simulated with `rng`."""
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
    """The keys that describe a worker; each of several identical workers has randomness of its
    own."""

    speed: Speed = Field(default_factory=ConstantLaw)
    """Work per time unit: a number, or a process of speed over time (`two-point` and so on)."""
    availability: Availability = Field(default_factory=AlwaysUp)
    """States that the worker's owner gives it: `always`, a string of states such as `uurrdu`, or a
    table."""
    task_time: Duration = 1
    """w_q: time that a task of an iterative job takes, time units."""
    memory: Natural | None = None
    """mu_q: largest number of tasks held at once; default: all of a job's, which is no limit."""
    price: Amount | None = None
    """Price of an hour of the worker, paid while it is UP and a run holds it, in place of all other
    prices; default: that of `[measures]` or of its availability's trace."""
    belief: Markov | None = None
    """Markov chain that policies assume for the worker; default: the true chain, or the one fitted
    to its availability."""

    @property
    def unowned(self) -> bool:
        """Whether the worker's availability is `always`, so that no owner takes it away by it."""
        return isinstance(self.availability, AlwaysUp)

    @property
    def varies(self) -> bool:
        """Whether the worker's speed may differ from 1."""
        return not (isinstance(self.speed, ConstantLaw) and self.speed.speed == 1)

    def speeds(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """Yield (time, speed from then on) for the first speed and each change of the worker's
        speed, drawn from `rng`; a user's module is looked for in `folder` first."""
        return process_of(self.speed, folder).path(rng)


class WindowSection(Section):
    """`[[platform.maintenance]]`: a window of maintenance, in which an owner takes workers DOWN,
    and which everybody knows from the start."""

    __annotations__["from"] = Moment  # no name of Python's, but the key of a file
    locals()["from"] = Field(
        description="Time at which the workers go DOWN, or a date, in the time zone of the jobs' "
        "log if it names none."
    )
    to: Moment
    """Time or date from which their owner has them UP again; inf: never."""
    units: Units
    """Numbers of the workers, such as `"0-15, 40"`."""

    @property
    def ends(self) -> tuple[float | str, float | str]:
        """Start and end of the window, as the file has them."""
        return getattr(self, "from"), self.to

    @property
    def span(self) -> tuple[float, float]:
        """Start and end of the window, time units; the end is not part of it, and inf if it never
        comes. Those of a platform's windows are never dates."""
        start, end = self.ends
        assert not (isinstance(start, str) or isinstance(end, str))
        return start, end

    def check(self) -> None:
        if is_dated(*self.ends):
            return
        start, end = self.span
        if end <= start:
            raise InputError(
                "", "to", f"{end!r} is not after {start!r}", "a later time than `from`"
            )

    def dated(self, calendar: Calendar, key: str) -> Self:
        """Return the window with times in place of dates. Raises InputError, naming the `key`, for
        dates out of order."""
        if not is_dated(*self.ends):
            return self
        start, end = calendar.span(*self.ends, key)
        return self.model_copy(update={"from": start, "to": end})

    def workers(self, size: int) -> tuple[int, ...]:
        """Return the numbers of the workers of the window, ascending. Raises InputError for one
        that does not exist among `size` workers."""
        found = members(intervals_in(self.units))
        if found[-1] >= size:
            accepted = f"workers 0 to {size - 1}"
            raise unfit("platform.maintenance.units", f"{self.units!r} is not accepted", accepted)
        return found


class PlatformSection(WorkerFields):
    """`[platform]`: identical workers, numbered from 0."""

    workers: Annotated[int, Accepts(f"a whole number, 0 to {MOST:,}", {"ge": 0, "le": MOST})] = 0
    """P: number of workers; with `[[workers]]`, of the identical workers alone."""
    node: Count = 1
    """k: number of workers in a node; workers 0 to k - 1 are node 0, the next k are node 1, and so
    on, with `[[workers]]` included."""
    rack: Count = 1
    """Number of nodes in a rack; nodes 0 to rack - 1 are rack 0, and so on."""
    spares: Natural = 0
    """Number of spares: the last workers, which start no job; under `protection.replace_after` they
    replace members that are away."""
    reserve: Natural = 0
    """Number of workers, the last ones before the spares, that their owner keeps RECLAIMED until
    they are called, one after the other, for the first job of a queue."""
    reserve_delay: Time = 0
    """Time from the call of a worker of the reserve until its owner has it UP, time units."""
    maintenance: tuple[WindowSection, ...] = ()
    """Windows of maintenance: a queue starts jobs only on workers that stay UP to their expected
    ends."""
    partitions: tuple[PartitionSection, ...] = ()
    """Partitions: sets of workers that only the jobs of a queue use that name them; default: all
    workers form one pool."""
    multitasking: bool = True
    """Whether a worker may run several copies at once, where a policy shares workers
    (redundancy17)."""
    augmentation: Positive = 1.0
    """Factor on all speeds, or on g(r, t) (redundancy17, section III.C)."""
    gain: GainSection | None = None
    """g(r, t): mean progress of the furthest of r copies, which all r then have (redundancy17,
    Assumption 2): `process`, `linear` or `frozen-two-point`; default: each copy progresses as its
    own worker does."""

    def check(self) -> None:
        super().check()
        check_partitions(self.partitions, self.node)

    @property
    def calls(self) -> bool:
        """Whether there are workers that their owner keeps until they are called."""
        return self.reserve > 0

    def kept(self, able: int) -> range:
        """Return the numbers of the workers that their owner keeps until they are called: the last
        ones of the `able` that are no spares."""
        return range(max(able - self.reserve, 0), able)

    def dated(self, calendar: Callable[[str], Calendar]) -> Self:
        """Return the section with times in place of the dates of its windows; `calendar` returns,
        for the key of a date, the calendar by which the date is a time."""
        if not any(is_dated(*it.ends) for it in self.maintenance):
            return self
        key, ours = "platform.maintenance", calendar("platform.maintenance.from")
        windows = enumerate(self.maintenance)
        times = tuple(it.dated(ours, f"{key}.{k}") for k, it in windows)
        return self.model_copy(update={"maintenance": times})

    @property
    def varies(self) -> bool:
        """Whether a worker's speed may differ from 1; never so where jobs progress by g(r, t)."""
        return self.gain is None and (self.augmentation != 1 or super().varies)

    def speeds(self, rng: Generator, folder: Path) -> Iterator[Change]:
        """Yield (time, speed from then on) for each change of a worker's speed, multiplied by
        `augmentation`."""
        path = super().speeds(rng, folder)
        if self.augmentation == 1:
            return path
        return ((time, self.augmentation * speed) for time, speed in path)


class WorkerSection(WorkerFields):
    """`[[workers]]`: one worker, or `count` identical ones, numbered after those of
    `[platform]`."""

    name: Annotated[str, Accepts("a name without control characters", check=str.isprintable)] = ""
    """Name of the worker; default: P1, P2, ...; with `count` above 1 a number is appended."""
    count: Count = 1
    """Number of workers of this description."""


class RandomWorkers(Section):
    """`[random_workers]`: workers drawn as in volatile13, section VII.A, numbered after those of
    `[[workers]]`."""

    count: Count
    """Number of workers."""
    fastest: Annotated[
        int, Accepts(f"a whole number, 1 to {SLOWEST:,}", {"ge": 1, "le": SLOWEST})
    ] = 1
    """w_min: time per task of the fastest possible worker; times are uniform over w_min..10
    w_min."""
    stay: Stay = (0.90, 0.99)
    """Bounds of the probabilities of staying in a state, which are uniform between the two; the
    rest is split evenly between the other states."""
    memory: Natural | None = None
    """mu_q: largest number of tasks held at once; default: all of a job's, which is no limit."""
    seed: Natural = 0
    """Seed of the platform; the scenario's own seed draws what happens on the platform."""

    def draw(self, first: int) -> tuple[WorkerSection, ...]:
        """Draw the workers with the section's own seed; they are called P`first`, and so on with
        rising numbers."""
        rng = stream(self.seed, "platform")
        return tuple(self._worker(f"P{first + k}", rng) for k in range(self.count))

    def _worker(self, name: str, rng: Generator) -> WorkerSection:
        stays = rng.uniform(*self.stay, size=(3, 1))
        rows = np.where(np.eye(3), stays, 0.5 * (1 - stays)).tolist()
        time = int(rng.integers(self.fastest, 10 * self.fastest, endpoint=True))
        life = Markov.model_validate({"rows": rows})
        return WorkerSection(name=name, task_time=time, memory=self.memory, availability=life)
