"""All workers of a scenario by number, and the costs of moving data to and between them.

The master's bounded multi-port link is that of volatile13, section III.B (rules.md, L); the link
between workers that of malleable17, sections 3.1 and 3.3.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from attrs import evolve, field, frozen
from numpy.random import Generator

from actors.acts import Act
from actors.events import Struck
from actors.hazards import Change
from actors.runtime import stream
from actors.worker_messages import Needs
from policies.availability import WorkerState
from policies.interface import ServiceOrder
from policies.maths.markov import Belief, Expectation, MarkovChain
from sims.errors import unfit
from sims.scenario.availability import AlwaysUp, Trace, cut
from sims.scenario.trace_files import SpotFile, TraceFile
from sims.scenario.workers import PlatformSection, RandomWorkers, WorkerFields, WorkerSection
from sims.tables import Section
from sims.tables.fields import Count, PositiveAmount, Time

if TYPE_CHECKING:
    from policies.maths.cosched import Link

AnyWorker = TypeVar("AnyWorker", bound=WorkerFields)
Spans = Sequence[tuple[float, float]]
"""Spans [from, until) of time."""


@frozen
class Platform:
    """All workers of a scenario by number, the pool's first; identical ones share one section, so
    that thousands cost no memory."""

    pool: PlatformSection
    own: tuple[WorkerSection, ...]
    """Workers with a section of their own, each named."""
    reclaims: Mapping[int, Spans] = field(factory=dict)
    """Maps a worker to the spans in which its owner takes it back, in addition to its
    availability."""
    windows: Mapping[int, Spans] = field(factory=dict)
    """Maps a worker to its windows, in which its owner takes it DOWN."""
    acts: frozenset[Act] = frozenset()
    """Kinds of acts that an agent of the run may carry out."""

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
        acts: frozenset[Act] = frozenset(),
    ) -> Platform:
        """Return the platform of the sections `pool` ([platform]), `listed` ([[workers]]) and
        `drawn` ([random_workers]): entries with a `count` repeated, drawn workers added, traces
        placed for the run.

        `reclaims` are (from, until, worker). `in_seconds` says whether the unit is a second. Traces
        begin where the run's `seed` puts them and are looked for in `folder`. `acts` are what
        an agent may do. Raises InputError for a trace in another unit, and for a reclaim or a
        window of a worker that does not exist.
        """
        share = float(stream(seed, "trace start").random())
        placed = partial(_placed, about=(in_seconds, share, folder))
        pool, listed = _one_by_one(pool, listed)
        own = tuple(_expanded(map(placed, listed), pool.workers))
        more = drawn.draw(pool.workers + len(own) + 1) if drawn else ()
        bare = cls(placed(pool), (*own, *more))
        spans = defaultdict[int, list[tuple[float, float]]](list)
        for start, end, worker in reclaims:
            if worker >= bare.size:
                accepted = f"a worker from 0 to {bare.size - 1}"
                raise unfit("reclaims", f"there is no worker {worker!r}", accepted)
            spans[worker].append((start, end))
        windows = defaultdict[int, list[tuple[float, float]]](list)
        for section in pool.maintenance:
            for worker in section.workers(bare.size):
                windows[worker].append(section.span)
        return evolve(bare, reclaims=dict(spans), windows=dict(windows), acts=acts)

    @property
    def size(self) -> int:
        """P: number of workers."""
        return self.pool.workers + len(self.own)

    @property
    def node(self) -> int:
        """Number of workers in a node."""
        return self.pool.node

    @property
    def rack(self) -> int:
        """Number of nodes in a rack."""
        return self.pool.rack

    def units(self, of: Struck) -> list[range] | None:
        """Return the workers of each unit (node or rack) that fails as one, by the unit's number;
        the last may have fewer workers. None if workers fail one by one."""
        if of is Struck.WORKERS:
            return None
        each, size = self.unit_size(of), self.size
        return [range(k, min(k + each, size)) for k in range(0, size, each)]

    def count(self, of: Struck) -> int:
        """Return the number of units of this kind (workers, nodes, racks) on the platform, a
        smaller last one included."""
        return -(-self.size // self.unit_size(of))

    def unit_size(self, of: Struck) -> int:
        """Return the number of workers of a whole unit of this kind: 1 for workers themselves."""
        if of is Struck.WORKERS:
            return 1
        return self.node * (self.rack if of is Struck.RACKS else 1)

    @property
    def able(self) -> int:
        """Number of workers on which jobs can start: all but the spares, which only replace
        members."""
        return self.size - self.pool.spares

    @cached_property
    def kept(self) -> range:
        """Numbers of the workers that their owner keeps until they are called for a job that lacks
        workers: the last ones before the spares."""
        return self.pool.kept(self.able)

    @property
    def sections(self) -> tuple[WorkerFields, ...]:
        """Each section of the file that describes workers, once, however many workers it
        describes."""
        return (*((self.pool,) if self.pool.workers else ()), *self.own)

    @property
    def owned(self) -> bool:
        """Whether an owner or an agent can take any worker away: by its availability, a reclaim, a
        window, or because it is kept until a call."""
        kept = self.reclaims or self.windows or self.kept or Act.TAKE in self.acts
        return bool(kept) or any(not it.unowned for it in self.sections)

    @cached_property
    def plain(self) -> bool:
        """Whether every worker has speed 1 and no owner.

        The answer is cached because each job asks for it: computed anew, it made a log of 52,000
        jobs take 40 % longer.
        """
        return not self.owned and not self.varies

    @cached_property
    def only_fails(self) -> bool:
        """Whether every worker has speed 1, and no owner but one who takes it DOWN for a window,
        which is a fault to a run."""
        taken = self.reclaims or self.kept or Act.TAKE in self.acts
        return not taken and not self.varies and all(it.unowned for it in self.sections)

    @cached_property
    def varies(self) -> bool:
        """Whether a worker can have another speed than 1."""
        return Act.SPEED in self.acts or any(section.varies for section in self.sections)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all workers in the log, by number; empty for a pool alone, whose workers have
        numbers only."""
        return tuple(map(self.name, range(self.size))) if self.own else ()

    def __getitem__(self, worker: int) -> WorkerFields:
        alike = self.pool.workers
        return self.pool if worker < alike else self.own[worker - alike]

    def __iter__(self) -> Iterator[WorkerFields]:
        return map(self.__getitem__, range(self.size))

    @cached_property
    def index(self) -> dict[str, int]:
        """Maps the name of each worker to its number."""
        return {self.name(worker): worker for worker in range(self.size)}

    def name(self, worker: int) -> str:
        """Return the name of worker number `worker`, as random streams and errors use it: its own,
        or P and its number counted from 1."""
        own = self[worker]
        return (isinstance(own, WorkerSection) and own.name) or f"P{worker + 1}"

    def alive(self, worker: int) -> bool:
        """Return whether the worker's state or speed can change by itself, without a fault: an
        owner can take it away, or its speed can differ from 1."""
        if worker in self.reclaims or worker in self.windows or worker in self.kept:
            return True
        if worker < self.pool.workers:
            return self._pool_alive
        own = self[worker]
        return not own.unowned or own.varies

    @cached_property
    def _pool_alive(self) -> bool:
        """Whether the state or speed of each of the pool's workers can change by itself. Asked for
        each of thousands of workers, it is cached."""
        return not self.pool.unowned or self.pool.varies

    def changes(self, worker: int, rng: Generator) -> Iterator[Change]:
        """Yield (time, state) for each state that the worker's owner gives it, from time 0 on: by
        its availability, drawn with `rng`, by reclaims, and by windows, in which it is DOWN. Faults
        are not among them.

        Within a reclaim the state is RECLAIMED unless the owner has the worker DOWN (rules.md, W1).
        """
        changes = self[worker].availability.changes(rng)
        if worker in self.reclaims:
            changes = _within(changes, self.reclaims[worker], WorkerState.RECLAIMED)
        if worker in self.windows:
            changes = _within(changes, self.windows[worker], WorkerState.DOWN)
        return changes

    def announced(self, worker: int, rng: Generator) -> Iterator[Change]:
        """Yield (time, state) for the changes of state of which the worker's owner gives notice:
        those of its availability, drawn with `rng`, and windows, but no reclaims."""
        changes = self[worker].availability.changes(rng)
        if worker not in self.windows:
            return changes
        return _within(changes, self.windows[worker], WorkerState.DOWN)

    def refuse_mixed(self) -> None:
        """Raise InputError where the slots of two trace files differ in length."""
        files = (it.availability for it in self.sections)
        lengths = dict.fromkeys(it.seconds() for it in files if isinstance(it, TraceFile))
        if len(lengths) > 1:
            raise unfit(
                "workers.availability.slot",
                f"slots of {' and '.join(f'{it:g} s' for it in lengths)} in one scenario",
                f"slot = {min(lengths):g} for all of them: traces of other ticks are resampled",
            )

    def mtbf(self) -> float:
        """Return the mean time for which a worker is UP before it goes DOWN, over the observed
        parts of all traces of the platform together, time units; inf if no traced worker goes
        DOWN."""
        traces = (it.availability for it in self.sections)
        seen = [it.failures() for it in traces if isinstance(it, Trace)]
        downs = sum(it for _, it in seen)
        return sum(up for up, _ in seen) / downs if downs else inf

    def belief(self, expectation: Expectation) -> Belief:
        """Return what policies assume about the availability of all workers: a Markov chain for
        each, its `belief` or else the one of its availability. `expectation` is the formula that
        policies use.

        Raises InputError for a worker that can have no Markov chain.
        """
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


def _within(changes: Iterator[Change], spans: Spans, lies: WorkerState) -> Iterator[Change]:
    """Yield the changes, as (time, state), with the state replaced by `lies` within these spans of
    time, except where it is DOWN. Changes that leave the state as it is are left out."""
    bounds = sorted({time for span in spans for time in span if 0 < time < inf})
    told: WorkerState | None = None
    for time, state in cut(changes, bounds):
        within = any(start <= time < end for start, end in spans)
        shown = lies if within and state is not WorkerState.DOWN else state
        if shown is not told:
            told = shown
            yield time, shown


def _placed(section: AnyWorker, about: tuple[bool, float, Path]) -> AnyWorker:
    trace = section.availability
    if not isinstance(trace, TraceFile):
        return section
    return section.model_copy(update={"availability": trace.placed(*about)})


def _one_by_one(
    pool: PlatformSection, listed: tuple[WorkerSection, ...]
) -> tuple[PlatformSection, tuple[WorkerSection, ...]]:
    """Return the sections of a platform with the pool's workers as an entry of `listed`, each with
    a trace of its own, where the pool's trace counts instances; otherwise as they are."""
    if not (pool.workers and _counts(pool)):
        return pool, listed
    about = {key: getattr(pool, key) for key in WorkerFields.model_fields}
    each = WorkerSection.model_construct(**about, name="", count=pool.workers)
    none = {"workers": 0, "availability": AlwaysUp()}
    return pool.model_copy(update=none), (each, *listed)


def _counts(section: WorkerFields) -> bool:
    """Return whether the section's availability is a trace that counts instances."""
    return isinstance(section.availability, SpotFile) and not section.availability.states


def _expanded(listed: Iterable[WorkerSection], first: int) -> Iterator[WorkerSection]:
    for section in listed:
        for k in range(section.count):
            first += 1
            name = section.name or f"P{first}"
            if section.name and section.count > 1:
                name = f"{name}.{k + 1}"
            update: dict[str, object] = {"name": name, "count": 1}
            if _counts(section):
                update["availability"] = cast(SpotFile, section.availability).of_worker(k)
            yield section.model_copy(update=update)


# --- links ----------------------------------------------------------------------------------------


class Service(enum.Enum):
    """Order in which the master serves workers."""

    STARTED_FIRST = "started-first"
    """Messages in progress first, then the lowest worker index."""
    LONGEST_FIRST = "longest-first"
    """The worker that lacks most communication first, in every slot."""


class MasterSection(Section):
    """`[master]`: the source of what jobs' runs fetch; its sizes apply to every job that sets
    none."""

    channels: Count
    """n_com: number of messages under way at once, in both directions together."""
    program: Time = 0
    """T_prog: time to send a job's program to a worker, time units."""
    data: Time = 0
    """T_data: time to send a unit of data, time units: the data of a task, or of a whole job that
    has no tasks."""
    image: Time = 0
    """Time to send or fetch the checkpoint image of one worker, time units."""
    order: Service = Service.STARTED_FIRST
    """Order in which workers are served: `started-first` or `longest-first`."""
    timetable: tuple[tuple[str, ...], ...] = ()
    """Names of the workers to serve in each slot from 0 on; overrides `order` where set."""
    shared_program: bool = False
    """Whether all jobs share one program; if not, each job has its own."""

    def needs(
        self,
        job: str,
        program: float | None = None,
        data: float | None = None,
        image: float | None = None,
    ) -> Needs:
        """Return the sizes of the messages that members of the runs of the job called `job` fetch:
        `program`, `data` and `image`, or the master's own where one is None."""
        return Needs(
            "program" if self.shared_program else job,
            self.program if program is None else program,
            self.data if data is None else data,
            self.image if image is None else image,
        )

    @property
    def served(self) -> str:
        """Name in the log of the order in which the master serves workers."""
        return "timetable" if self.timetable else self.order.value

    def service(self, platform: Platform, cap: float) -> ServiceOrder:
        """Return the order in which the master serves the workers of `platform`: the timetable if
        there is one, else that of the key `order`.

        Raises InputError for a timetable that names an unknown worker, or where `cap`, the time at
        which the run ends, is infinite, as nobody is served after a timetable's end.
        """
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


class StorageSection(Section):
    """`[storage]`: storage that all runs share, to which checkpoints are saved and from which they
    are loaded."""

    bandwidth: PositiveAmount
    """B: bandwidth of the storage, shared by all runs that save or load, bytes per time unit."""
    worker_bandwidth: PositiveAmount | None = None
    """b: largest bandwidth of one worker, bytes per time unit; default: that of the storage."""

    @property
    def each(self) -> float:
        """Largest bandwidth of one worker, bytes per time unit; inf where only the storage has
        one."""
        return inf if self.worker_bandwidth is None else self.worker_bandwidth

    def time(self, size: float, members: int) -> float:
        """Return the time in which `members` workers that have the storage for themselves save
        `size` bytes in all: size / min(B, members x b)."""
        return size / min(self.bandwidth, self.each * members)


class LinkSection(Section):
    """`[link]`: the network between workers, for buddies' checkpoints and redistributions alike
    (malleable17)."""

    unit: Time = 1.0
    """c = 1 / bandwidth: time to send one data unit, s, for checkpoints and redistributions
    alike."""
    latency: Time = 0.0
    """beta: time that each message adds, s."""
    startup: Time = 0.0
    """S: time that each redistribution adds, s."""

    @property
    def costs(self) -> Link:
        """The parameters of the cost of a redistribution."""
        from policies.maths.cosched import Link  # only a pack needs it

        return Link(self.startup, self.latency, self.unit)
