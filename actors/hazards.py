"""Hazards are silent errors of runs, faults of workers (rules.md, W1 and R3), and their owners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import expm1, log

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.chance import Chance
from actors.events import UnitsWornOut
from actors.intervals import intervals_of, text
from actors.repair_messages import UnitCured, UnitStruck
from actors.runtime import Actor, Phase, Timer, handles, message
from actors.runtime.draws import UnitDraws
from actors.wear import WEAR_DUE, Wear, WearDue
from actors.worker_messages import Fail, FaultComes, Hang
from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
from policies.maths.renewals import weibull_scale


@define(eq=False)
class SilentErrors:
    """Decides whether a verification of one job finds a silent error. A corrupted run looks sound
    until a verification (rigid21, section 3.2).

    Listed results come first, one for each verification of the job that ends. After them errors are
    drawn as a Poisson process over what the members compute, if the job has an error rate;
    otherwise there are none.
    """

    listed: Iterator[int] = field(factory=lambda: iter(()))
    """Results of verifications in order: 1 where one finds an error, else 0."""
    rate: float = 0
    """lambda: errors per worker and unit of computing time."""
    per_work: float = 0
    """lambda: errors per unit of the job's work on one worker."""
    stream: Callable[[], Generator] | None = None
    """Makes the job's random stream when it is first needed: making one takes as long as simulating
    an attempt. None: nothing is drawn."""
    _rng: Generator | None = field(init=False, default=None)

    @property
    def drawn(self) -> bool:
        """Whether errors are drawn at random, with a probability that grows with what was computed
        since the last verified point."""
        return bool(self.rate or self.per_work)

    def finds_error(self, exposure: float, density: float = 1) -> bool:
        """Return whether a verification that ends now finds an error: the next listed result or, at
        random, with probability 1 - exp(-lambda `exposure`).

        `exposure` is workers x computing time since the last verified point; `density` is the job's
        work on one worker per unit of exposure, by which a rate per work is multiplied.
        """
        verdict = next(self.listed, None)
        if verdict is not None:
            return bool(verdict)
        rate = self.rate + self.per_work * density
        if not rate or self.stream is None:
            return False
        if self._rng is None:
            self._rng = self.stream()
        return float(self._rng.random()) < -expm1(-rate * exposure)


# --- faults: exponential, Weibull, or listed (malleable17, sections 3.1 and 6.1) ---------------

Faults = Iterator[tuple[float, int]]
"""Yields (time, worker or unit), times not decreasing."""
Outages = Iterator[tuple[float, int, float]]
"""Yields (time, worker or unit, length of the DOWN), times not decreasing."""

FAULTS_OCCUR = Phase.FAULTS_OCCUR
BATCH = 256
"""Number of faults drawn at once: drawn one by one with numpy, they take ten times as long."""


def exponential_faults(rng: Generator, processors: int, mtbf: float) -> Faults:
    """Yield (time, processor) of the faults of processors 0 to `processors` - 1, times ascending,
    without end. Each fails after exponential times of mean `mtbf`, in the unit of the times,
    whether or not it is in use.

    Together they are one Poisson process whose faults strike processors uniformly.
    """
    time = 0.0
    # Of thousands of units with a stream each, most fail rarely, if ever.
    while processors == 1:
        time += float(rng.exponential(mtbf))
        yield time, 0
    while True:
        gaps = rng.exponential(mtbf / processors, BATCH)
        failed = rng.integers(processors, size=BATCH)
        for gap, processor in zip(gaps.tolist(), failed.tolist(), strict=True):
            time += gap
            yield time, processor


def weibull_faults(
    rng: Generator, processors: int, mtbf: float, shape: float, stationary: bool = False
) -> Faults:
    """Yield (time, processor) of the faults of processors 0 to `processors` - 1, times ascending,
    without end. Each fails after Weibull times of mean `mtbf`, in the unit of the times; a fault
    makes a processor as good as new.

    With `shape` below 1 an older processor is safer, as is observed on real platforms. With
    `stationary` the processors are in the middle of their lives at the start: the first fault of
    each comes after what is left of a life at an arbitrary moment, whose density is (1 - F(x)) /
    mtbf.
    """
    scale = weibull_scale(mtbf, shape)
    if stationary and shape != 1:  # the rest of an exponential time is exponential
        due = scale * rng.gamma(1 / shape, size=processors) ** (1 / shape)
    else:
        due = scale * rng.weibull(shape, processors)
    while True:
        processor = int(np.argmin(due))
        yield float(due[processor]), processor
        due[processor] += scale * rng.weibull(shape)


def lognormal_faults(
    rng: Generator, processors: int, mtbf: float, sigma: float, stationary: bool = False
) -> Faults:
    """Yield (time, processor) of the faults of processors 0 to `processors` - 1, times ascending,
    without end. Each fails after lognormal times of mean `mtbf`, whose logarithm has the standard
    deviation `sigma`. `stationary` is as for `weibull_faults`.

    A life that an arbitrary moment meets is drawn with a density that is proportional to its
    length, which for a lognormal law shifts the logarithm by sigma^2; of it a uniform part is left.
    """
    mu = log(mtbf) - sigma**2 / 2
    if stationary:
        due = rng.lognormal(mu + sigma**2, sigma, processors) * rng.random(processors)
    else:
        due = rng.lognormal(mu, sigma, processors)
    while True:
        processor = int(np.argmin(due))
        yield float(due[processor]), processor
        due[processor] += rng.lognormal(mu, sigma)


Spans = Sequence[tuple[float, float]]
"""(start, end) of each failure of a node, in order, as times since the log's first failure."""


def replayed_outages(records: Sequence[Spans], length: float, begin: float) -> Outages:
    """Yield (time, processor, length) of the recorded failures of processors, times ascending, as
    they follow the time `begin` of the log of failures. `records` has the failures of each
    processor, by number. The log is `length` long and begins again after its end, without end.

    A failure under way at `begin` strikes at time 0, for what is left of it.
    """
    under_way, lap = [], []
    for processor, spans in enumerate(records):
        for start, end in spans:
            if start < begin < end:
                under_way.append((0.0, processor, end - begin))
            lap.append(((start - begin) % length, processor, end - start))
    lap.sort()
    yield from sorted(under_way + [it for it in lap if not it[0]])
    for laps in count() if lap else ():
        for time, processor, down in lap:
            if time or laps:
                yield time + laps * length, processor, down


@message
class FaultDue:
    """A hazard tells itself that the unit numbered `struck` (a worker, node or rack) fails or hangs
    now."""

    struck: int
    fault: Fail | Hang


@message
class WornUnitFails:
    """A hazard tells itself that the unit numbered `unit`, which has worn out, fails or hangs
    now."""

    unit: int


@define(eq=False)
class Spread:
    """Decides which other nodes of a rack fail at the same instant because one of its nodes does.
    The fault of a node that fails for this reason spreads no further."""

    rack: int
    """Number of nodes in a rack."""
    chance: Chance
    """Decides whether another node of the rack is struck; asked for each such node, by number."""
    draws: UnitDraws
    """Random numbers of the nodes whose faults spread."""

    def struck(self, node: int, nodes: int) -> Iterator[int]:
        """Yield the numbers, ascending, of the other nodes to which the fault of `node` spreads;
        the platform has `nodes` nodes."""
        first = node - node % self.rack
        for other in range(first, min(first + self.rack, nodes)):
            if other != node and self.chance.comes(self.draws, node):
                yield other


@define(eq=False)
class Hazard(Actor):
    """Makes workers fail, or the runs that hold them hang, at the times that `faults` yields; it
    knows nothing of what workers run."""

    faults: Faults | Outages
    worker: Callable[[int], Actor]
    """Returns the address of a worker, whose actor is made when it is first addressed."""
    fault: Fail | Hang
    """Message to a worker that is struck. An outage's own length takes the place of its
    downtime."""
    nodes: Sequence[Sequence[int]] | None = None
    """The workers of each node, or rack, where these fail as one (rules.md, N1); None: workers fail
    by themselves."""
    spread: Spread | None = None
    """Decides which other nodes of the rack a node's fault strikes at the same instant; None:
    none."""
    repairs: Actor | None = None
    """Actor that repairs what faults strike (rules.md, R6); None: a fault has a downtime
    instead."""
    wear: Wear | None = None
    """Chooses the units that come under the law in the course of time; None: none do."""
    cured: set[int] = field(init=False, factory=set)
    """Numbers of the units that `faults` strikes no more, because a repair has removed the
    cause."""
    _worn: dict[int, Timer] = field(init=False, factory=dict)
    """Maps each unit that has worn out to the timer of its next fault."""
    _wears: bool = field(init=False, default=False)
    """Whether a timer is set for the next instant at which units wear out."""

    def started(self) -> None:
        self._await_fault()
        self._await_wear()

    def _await_fault(self, cause: int | None = None) -> None:
        """Set a timer for the next fault of `faults`. With `cause`, the number of an event, let
        faults that are due at this very instant strike at once instead: all faults of a law come
        before those of the next law (rules.md, Z2)."""
        for time, struck, *lasts in self.faults:
            fault = self.fault
            if lasts and isinstance(fault, Fail):  # it lasts as long as in the log
                fault = Fail(lasts[0], fault.detection, fault.logs_detection, fault.law)
            if cause is None or time > self.due_by:
                system, due = self.system, FaultDue(struck, fault)
                system.loop.schedule(time, FAULTS_OCCUR, self, due, system.origin)
                return
            if struck not in self.cured:
                self.strike(struck, fault, cause)

    @handles(FaultDue)
    def fail_workers(self, message: FaultDue, cause: int) -> None:
        if message.struck not in self.cured:
            self.strike(message.struck, message.fault, cause)
        self._await_fault(cause)

    def strike(self, struck: int, fault: Fail | Hang, cause: int) -> None:
        """Make all workers of the unit numbered `struck` fail or hang now, and those of the units
        to which its fault spreads. Where faults are repaired, report the units that fail to the
        actor that repairs instead."""
        self._strike(struck, struck, fault, cause)
        if self.spread is not None and self.nodes:
            for unit in self.spread.struck(struck, len(self.nodes)):
                self._strike(unit, struck, fault, cause)

    def _strike(self, unit: int, first: int, fault: Fail | Hang, cause: int) -> None:
        """Make all workers of one unit fail or hang now, or report it to the actor that repairs.
        `first` is the unit in which the fault arose."""
        if self.repairs is not None and isinstance(fault, Fail):
            detection, logs = fault.detection, fault.logs_detection
            self.send(self.repairs, UnitStruck(fault.law, unit, first, detection, logs), cause)
        elif self.nodes is None:
            self.fail_worker(unit, fault, cause)
        else:
            for worker in self.nodes[unit]:
                self.fail_worker(worker, fault, cause)

    @handles(UnitCured)
    def cure(self, message: UnitCured, _: int) -> None:
        self.cured.add(message.unit)
        timer = self._worn.pop(message.unit, None)
        if timer is not None:
            self.cancel(timer)
        self.note_cure(message.unit)

    # --- units that wear out ------------------------------------------------------------------

    def note_cure(self, unit: int) -> None:
        """Count a unit whose faults' cause is removed as one that can wear out again."""
        if self.wear is not None:
            self.wear.struck.discard(unit)
            self._await_wear()

    def _await_wear(self) -> None:
        """Set a timer for the next instant at which units wear out, unless one is set."""
        if self.wear is None or self._wears:
            return
        due = self.wear.next(self.due_by)
        if due is not None:
            self._wears = True
            # Before repairs end: what they cure at this instant can wear out at the next one.
            self.at(due, WEAR_DUE, self.system.origin, Phase.RUNS_END)

    @handles(WearDue)
    def wear_out(self, _: WearDue, cause: int) -> None:
        """Record which units wear out at this instant, and strike them from now on."""
        assert self.wear is not None
        units = self.wear.worn()
        if units:
            self.record(cause, UnitsWornOut, self.wear.law, text(intervals_of(units)))
            self.take_on(units)
        self._wears = False
        self._await_wear()

    def take_on(self, units: Sequence[int]) -> None:
        """Strike these units, which have worn out at this instant, from now on."""
        for unit in units:
            self._await_worn(unit)

    def _await_worn(self, unit: int) -> None:
        assert self.wear is not None
        gap, fails = self.wear.gap(unit), WornUnitFails(unit)
        self._worn[unit] = self.after(gap, fails, self.system.origin, FAULTS_OCCUR)

    @handles(WornUnitFails)
    def fail_worn(self, message: WornUnitFails, cause: int) -> None:
        self.strike(message.unit, self.fault, cause)
        self._await_worn(message.unit)

    def fail_worker(self, worker: int, fault: Fail | Hang, cause: int) -> None:
        """Send the worker the message `fault`, by which it fails, or the run that holds it hangs,
        now."""
        self.send(self.worker(worker), fault, cause)


@define(eq=False)
class PaperFaults(Hazard):
    """Faults by malleable17's own model, in which some faults change nothing (section 6.1): each
    goes to the scheduler, which decides whether it reaches the worker."""

    scheduler: Actor = field(kw_only=True)

    def fail_worker(self, worker: int, fault: Fail | Hang, cause: int) -> None:
        assert isinstance(fault, Fail)  # a pack that ignores faults has no hangs
        self.send(self.scheduler, FaultComes(worker, fault), cause)


Change = tuple[float, WorkerState]

STATES = (WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN)
OTHER_STATES = ((1, 2), (0, 2), (0, 1))
"""Indices of the two other states, by index of the state."""

FIRST_BLOCK, LARGEST_BLOCK = 8, 1024
"""Numbers of random numbers in the first and in the largest block that is drawn at once. The first
is small because most of 100,000 workers need few."""


def markov_changes(
    chain: MarkovChain, rng: Generator, first: WorkerState = WorkerState.UP
) -> Iterator[Change]:
    """Yield one random path of a worker's availability as (slot, new state), beginning with (0,
    `first`). States follow the Markov chain of volatile13 (section V.A).

    Sojourns are drawn whole, geometric with the state's probability to stay; slots in which nothing
    changes cost nothing. The path ends where a state is never left.
    """
    draws = _uniforms(rng)
    rows = chain.rows
    time, now = 0, STATES.index(first)
    yield time, first
    while (row := rows[now])[now] < 1.0:
        time += _sojourn(row[now], next(draws))
        now = _successor(row, now, next(draws))
        yield time, STATES[now]


def _uniforms(rng: Generator) -> Iterator[float]:
    for doubling in count():
        yield from rng.random(min(FIRST_BLOCK << doubling, LARGEST_BLOCK)).tolist()


def _sojourn(stay: float, draw: float) -> int:
    """Return for how many slots, at least 1, a worker stays in a state that it keeps with
    probability `stay` (below 1) from slot to slot. `draw` is uniform in [0, 1): P(more than k
    slots) = stay^k, by inversion of 1 - draw, which is never 0."""
    return 1 + int(log(1.0 - draw) / log(stay)) if stay else 1


def _successor(row: tuple[float, float, float], now: int, draw: float) -> int:
    low, high = OTHER_STATES[now]
    return low if draw * (row[low] + row[high]) < row[low] else high
