"""What a scenario file may say of its workers: a pool of them alike, others one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from attrs import evolve, field, frozen
from numpy.random import Generator
from pydantic import Field

from actors.hazards import Change as StateChange
from actors.runtime import stream
from policies.availability import WorkerState
from policies.maths.speeds import Change
from sims.errors import InputError
from sims.scenario.availability import AlwaysUp, Markov, cut
from sims.scenario.speeds import ConstantLaw, GainSection, Speed, process_of
from sims.scenario.trace_files import Availability, TraceFile
from sims.tables.fields import Accepts, Count, Duration, Natural, NotNegative, Positive
from sims.tables.section import Section

MOST = 2**53
"""Workers: allotments are worked out in doubles, which count no further."""
SLOWEST = 10**9
"""w_min of drawn workers: ten times as much, times an iteration's tasks, fits in a log's line."""


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


AnyWorker = TypeVar("AnyWorker", bound=WorkerFields)
Spans = Sequence[tuple[float, float]]
"""[from, until) each."""


@frozen
class Platform:
    """All workers, by number: the pool's first. Thousands of them alike cost nothing."""

    pool: PlatformSection | None
    own: tuple[WorkerSection, ...]
    """Every one named."""
    reclaims: Mapping[int, Spans] = field(factory=dict)
    """When its owner takes a worker back, whatever else it does."""

    @classmethod
    def of(
        cls,
        pool: PlatformSection | None,
        listed: tuple[WorkerSection, ...],
        drawn: RandomWorkers | None,
        reclaims: Sequence[tuple[float, float, int]] = (),
        in_seconds: bool = True,
        seed: int = 0,
    ) -> Platform:
        """`count` unfolded, traces in the file's unit and from where the run's `seed` says. Raises
        InputError for a trace in another unit, and a reclaim of a worker that there is not."""
        share = float(stream(seed, "trace start").random())
        placed = partial(_placed, in_seconds=in_seconds, share=share)
        pool, first = pool and placed(pool), pool.workers if pool else 0
        own = tuple(_unfolded(map(placed, listed), first))
        bare = cls(pool, (*own, *(drawn.draw(first + len(own) + 1) if drawn else ())))
        spans = defaultdict[int, list[tuple[float, float]]](list)
        for start, end, worker in reclaims:
            if not 0 <= worker < bare.size:
                problem = f"there is no worker {worker!r}"
                accepted = f"a worker from 0 to {bare.size - 1}"
                raise InputError("scenario", "reclaims", problem, accepted)
            spans[worker].append((start, end))
        return evolve(bare, reclaims=dict(spans))

    @property
    def alike(self) -> int:
        """Workers of the pool."""
        return self.pool.workers if self.pool else 0

    @property
    def size(self) -> int:
        """P."""
        return self.alike + len(self.own)

    @property
    def node(self) -> int:
        """Workers of a node."""
        return self.pool.node if self.pool else 1

    @property
    def nodes(self) -> list[range]:
        """The workers of each; the last may have fewer."""
        return [range(k, min(k + self.node, self.size)) for k in range(0, self.size, self.node)]

    @property
    def able(self) -> int:
        """Workers that are no spares."""
        return self.size - (self.pool.spares if self.pool else 0)

    @property
    def sections(self) -> tuple[WorkerFields, ...]:
        """Each different section once."""
        return (*((self.pool,) if self.pool and self.alike else ()), *self.own)

    @property
    def owned(self) -> bool:
        """Whether an owner may take a worker away."""
        return bool(self.reclaims) or any(not it.unowned for it in self.sections)

    @cached_property
    def plain(self) -> bool:
        """Whether no worker has an owner, or another speed than 1. Asked for each job: worked out
        anew, it made a log of 52,000 jobs take 40 % longer."""
        return not self.owned and not self.varies

    @cached_property
    def varies(self) -> bool:
        """Whether a worker has another speed than 1."""
        return any(section.varies for section in self.sections)

    @property
    def names(self) -> tuple[str, ...]:
        """As the log has them: none for a pool, whose workers have numbers."""
        return tuple(map(self.name, range(self.size))) if self.own else ()

    def __getitem__(self, worker: int) -> WorkerFields:
        if self.pool and worker < self.alike:
            return self.pool
        return self.own[worker - self.alike]

    def __iter__(self) -> Iterator[WorkerFields]:
        return map(self.__getitem__, range(self.size))

    def name(self, worker: int) -> str:
        """What streams of randomness and errors call it."""
        own = self.own[worker - self.alike].name if worker >= self.alike else ""
        return own or f"P{worker + 1}"

    def alive(self, worker: int) -> bool:
        """Whether it has an owner, or another speed than 1."""
        own = self[worker]
        return not own.unowned or own.varies or worker in self.reclaims

    def changes(self, worker: int, rng: Generator, folder: Path) -> Iterator[StateChange]:
        """(time, state) of its owner from time 0 on: RECLAIMED within a span unless DOWN (WORLD.md,
        W1)."""
        changes = self[worker].availability.changes(rng, folder)
        if worker not in self.reclaims:
            return changes
        return _taken_back(changes, self.reclaims[worker])


def _taken_back(changes: Iterator[StateChange], spans: Spans) -> Iterator[StateChange]:
    bounds = sorted({time for span in spans for time in span if time > 0})
    for time, state in cut(changes, bounds):
        within = any(start <= time < end for start, end in spans)
        yield time, WorkerState.RECLAIMED if within and state is WorkerState.UP else state


def _placed(section: AnyWorker, in_seconds: bool, share: float) -> AnyWorker:
    trace = section.availability
    if not isinstance(trace, TraceFile):
        return section
    return section.model_copy(update={"availability": trace.placed(in_seconds, share)})


def _unfolded(listed: Iterable[WorkerSection], first: int) -> Iterator[WorkerSection]:
    for section in listed:
        for k in range(section.count):
            first += 1
            name = section.name or f"P{first}"
            if section.name and section.count > 1:
                name = f"{name}.{k + 1}"
            yield section.model_copy(update={"name": name, "count": 1})
