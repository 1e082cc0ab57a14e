"""All workers of a scenario by number, and what moving data to them takes: the master's bounded
multi-port link (volatile13, section III.B; WORLD.md, L), and the link between workers (malleable17,
sections 3.1 and 3.3)."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TypeVar

from attrs import evolve, field, frozen
from numpy.random import Generator

from actors.hazards import Change
from actors.runtime import stream
from actors.worker_messages import Needs
from policies.availability import WorkerState
from policies.interface import ServiceOrder
from policies.maths.markov import Belief, Expectation, MarkovChain
from sims.errors import unfit
from sims.scenario.availability import Trace, cut
from sims.scenario.trace_files import TraceFile
from sims.scenario.workers import PlatformSection, RandomWorkers, WorkerFields, WorkerSection
from sims.tables import Section
from sims.tables.fields import Count, Time

AnyWorker = TypeVar("AnyWorker", bound=WorkerFields)
Spans = Sequence[tuple[float, float]]
"""[from, until) each."""


@frozen
class Platform:
    """All workers, by number: the pool's first. Thousands of them alike cost nothing."""

    pool: PlatformSection
    own: tuple[WorkerSection, ...]
    """Every one named."""
    reclaims: Mapping[int, Spans] = field(factory=dict)
    """When its owner takes a worker back, whatever else it does."""

    @classmethod
    def of(
        cls,
        pool: PlatformSection,
        listed: tuple[WorkerSection, ...],
        drawn: RandomWorkers | None,
        reclaims: Sequence[tuple[float, float, int]],
        in_seconds: bool,
        seed: int,
        folder: Path,
    ) -> Platform:
        """`count` unfolded, traces in the file's unit and from where the run's `seed` says, their
        files sought in `folder`. Raises InputError for a trace in another unit, and a reclaim of a
        worker that there is not."""
        share = float(stream(seed, "trace start").random())
        placed = partial(_placed, about=(in_seconds, share, folder))
        own = tuple(_unfolded(map(placed, listed), pool.workers))
        more = drawn.draw(pool.workers + len(own) + 1) if drawn else ()
        bare = cls(placed(pool), (*own, *more))
        spans = defaultdict[int, list[tuple[float, float]]](list)
        for start, end, worker in reclaims:
            if worker >= bare.size:
                accepted = f"a worker from 0 to {bare.size - 1}"
                raise unfit("reclaims", f"there is no worker {worker!r}", accepted)
            spans[worker].append((start, end))
        return evolve(bare, reclaims=dict(spans))

    @property
    def size(self) -> int:
        """P."""
        return self.pool.workers + len(self.own)

    @property
    def node(self) -> int:
        """Workers of a node."""
        return self.pool.node

    @property
    def nodes(self) -> list[range]:
        """The workers of each; the last may have fewer."""
        return [range(k, min(k + self.node, self.size)) for k in range(0, self.size, self.node)]

    @property
    def able(self) -> int:
        """Workers that are no spares."""
        return self.size - self.pool.spares

    @property
    def sections(self) -> tuple[WorkerFields, ...]:
        """Each different section once."""
        return (*((self.pool,) if self.pool.workers else ()), *self.own)

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
        alike = self.pool.workers
        return self.pool if worker < alike else self.own[worker - alike]

    def __iter__(self) -> Iterator[WorkerFields]:
        return map(self.__getitem__, range(self.size))

    @cached_property
    def index(self) -> dict[str, int]:
        """Number of the worker of each name."""
        return {self.name(worker): worker for worker in range(self.size)}

    def name(self, worker: int) -> str:
        """What streams of randomness and errors call it."""
        own = self[worker]
        return (isinstance(own, WorkerSection) and own.name) or f"P{worker + 1}"

    def alive(self, worker: int) -> bool:
        """Whether it has an owner, or another speed than 1."""
        own = self[worker]
        return not own.unowned or own.varies or worker in self.reclaims

    def changes(self, worker: int, rng: Generator) -> Iterator[Change]:
        """(time, state) of its owner from time 0 on: RECLAIMED within a span unless DOWN (WORLD.md,
        W1)."""
        changes = self[worker].availability.changes(rng)
        if worker not in self.reclaims:
            return changes
        return _taken_back(changes, self.reclaims[worker])

    def refuse_mixed(self) -> None:
        """Raises InputError where the slots of two traces differ in length."""
        files = (it.availability for it in self.sections)
        lengths = dict.fromkeys(it.seconds() for it in files if isinstance(it, TraceFile))
        if len(lengths) > 1:
            raise unfit(
                "workers.availability.slot",
                f"slots of {' and '.join(f'{it:g} s' for it in lengths)} in one scenario",
                f"slot = {min(lengths):g} for all of them: traces of other ticks are resampled",
            )

    def mtbf(self) -> float:
        """Time that a worker is UP until it goes DOWN, over all traces; inf: it never does."""
        traces = (it.availability for it in self.sections)
        seen = [it.failures() for it in traces if isinstance(it, Trace)]
        downs = sum(it for _, it in seen)
        return sum(up for up, _ in seen) / downs if downs else inf

    def belief(self, expectation: Expectation) -> Belief:
        """What policies believe of each worker. Raises InputError where nothing can be."""
        chains = tuple(self._chain(worker) for worker in range(self.size))
        return Belief(chains, expectation)

    def _chain(self, worker: int) -> MarkovChain:
        section = self[worker]
        try:
            return (section.belief or section.availability).chain()
        except ValueError as error:
            raise unfit(
                "workers.availability",
                f"{self.name(worker)}: {error}",
                "a worker that is UP at times, or one with a belief",
            ) from None


def _taken_back(changes: Iterator[Change], spans: Spans) -> Iterator[Change]:
    bounds = sorted({time for span in spans for time in span if time > 0})
    for time, state in cut(changes, bounds):
        within = any(start <= time < end for start, end in spans)
        yield time, WorkerState.RECLAIMED if within and state is WorkerState.UP else state


def _placed(section: AnyWorker, about: tuple[bool, float, Path]) -> AnyWorker:
    trace = section.availability
    if not isinstance(trace, TraceFile):
        return section
    return section.model_copy(update={"availability": trace.placed(*about)})


def _unfolded(listed: Iterable[WorkerSection], first: int) -> Iterator[WorkerSection]:
    for section in listed:
        for k in range(section.count):
            first += 1
            name = section.name or f"P{first}"
            if section.name and section.count > 1:
                name = f"{name}.{k + 1}"
            yield section.model_copy(update={"name": name, "count": 1})


# --- links ----------------------------------------------------------------------------------------


class Service(enum.Enum):
    """Whom the master serves first."""

    STARTED_FIRST = "started-first"
    """Messages in progress, then the lowest worker index."""
    LONGEST_FIRST = "longest-first"
    """Whoever lacks most communication, in every slot."""


class MasterSection(Section):
    """`[master]`: whom jobs' runs fetch what they need from; sizes are every job's that says
    nothing else."""

    channels: Count
    """n_com: messages under way at once, in both directions together."""
    program: Time = 0
    """T_prog: time units to send a job's program to a worker."""
    data: Time = 0
    """T_data: time units to send a unit of data: a task's, or all of a job that has no tasks."""
    image: Time = 0
    """Time units to send, or to fetch, one worker's checkpoint image."""
    order: Service = Service.STARTED_FIRST
    """Who is served first."""
    timetable: tuple[tuple[str, ...], ...] = ()
    """Names of the workers to serve in each slot from 0 on; overrides `order` where given."""
    shared_program: bool = False
    """Whether all jobs have one program; else each has its own."""

    def needs(
        self,
        job: str,
        program: float | None = None,
        data: float | None = None,
        image: float | None = None,
    ) -> Needs:
        """What members of a job's runs fetch, which may say so itself."""
        return Needs(
            "program" if self.shared_program else job,
            self.program if program is None else program,
            self.data if data is None else data,
            self.image if image is None else image,
        )

    @property
    def served(self) -> str:
        """How the log calls its order of service."""
        return "timetable" if self.timetable else self.order.value

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """The order of service. Raises InputError for a timetable that cannot be kept."""
        from policies.service import LongestFirst, StartedFirst, Timetable

        if not self.timetable:
            return LongestFirst() if self.order is Service.LONGEST_FIRST else StartedFirst()
        if cap == inf:
            raise unfit(
                "job.cap",
                "inf, with a timetable: nobody is served after its end",
                "a number of slots",
            )
        index = platform.index
        unknown = [name for slot in self.timetable for name in slot if name not in index]
        if unknown:
            raise unfit("master.timetable", f"there is no worker {unknown[0]!r}", ", ".join(index))
        return Timetable(tuple(tuple(index[name] for name in slot) for slot in self.timetable))


class LinkSection(Section):
    """`[link]`: between workers, for buddies' checkpoints and redistributions alike
    (malleable17)."""

    unit: Time = 1.0
    """c = 1 / bandwidth: s per data unit, for checkpoints and redistributions alike."""
    latency: Time = 0.0
    """beta: s for each message."""
    startup: Time = 0.0
    """S: s for each redistribution."""
