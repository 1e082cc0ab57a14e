"""The time ledger: assigns every processor-second to exactly one use, in exact sums."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from attrs import define, field, frozen

from actors.intervals import count_in, numbers_in
from policies.availability import WorkerState

K = TypeVar("K")

Exact = Fraction | int
"""A sum of times without rounding."""
FINEST = 1074
"""Times are added up as multiples of 2^-FINEST s, which every double is: integers have no rounding,
and add up ten times as fast as fractions."""


class Use(enum.Enum):
    """The use of a processor-second; each processor-second has exactly one."""

    USEFUL = "useful"
    """Computation whose result is in the state that completed the job (or its iteration).

    That is all computation of the completing run, that of the run from whose state it began up to
    `saved`, and so on back.
    """
    LOST = "lost"
    """Computation that has to be done again, of a run that was not cancelled.

    A member went DOWN, or a verification failed; at the log's end, computation that is saved or
    under way counts as lost too.
    """
    CHECKPOINT = "checkpoint"
    """The run spends a checkpoint's `cost`."""
    STARTUP = "startup"
    """Workers are chosen for the run, and its processes start."""
    RECOVERY = "recovery"
    """The run spends `recovery`, a clone's `delay`, or a changeover to other workers."""
    REDISTRIBUTION = "redistribution"
    """The run moves its data to another number of members."""
    TRANSFER = "transfer"
    """The worker is UP and held and sends or receives a message of any kind, while its run does
    nothing else."""
    WAITING = "waiting"
    """The run does not advance: it waits for the link, for other members, or for a speed above 0,
    or its members are kept and not all UP."""
    REDUNDANT = "redundant"
    """Computation of a cancelled run, as far as it is not useful: another copy was first, the job
    was preempted, or its policy moved it to other workers."""
    VERIFICATION = "verification"
    """The run's detector verifies the result."""
    IDLE = "idle"
    """The worker is UP and no run holds it."""
    RECLAIMED = "reclaimed"
    """The worker's owner uses it, whether a run holds it or not."""
    DOWN = "down"
    """The worker is DOWN."""


AWAY = {WorkerState.DOWN: Use.DOWN, WorkerState.RECLAIMED: Use.RECLAIMED}
UNHELD = (Use.IDLE, Use.RECLAIMED, Use.DOWN)
"""Uses of processors that no run holds, or that are not UP."""


@frozen
class Slice:
    """An interval [start, end) over which a set of processors has one use."""

    processors: str
    """Set of processor numbers as intervals, such as `0-3 5`."""
    use: Use
    start: float
    end: float
    seq: int
    """Sequence number of the event that began the interval."""
    job: str | None = None
    run: int | None = None
    share: Fraction | float = 1
    """Part of each processor that this use had; below 1 only where workers multitask."""
    note: str = ""
    """Detail for a picture or an export, such as `program`."""
    holder: str | None = None
    """Name of the job that holds a worker that is DOWN; that time is a loss of the platform, not of
    the job."""

    def part(self, processors: str, use: Use, start: float, end: float) -> Slice:
        """Return the slice of some of these processors over some of this time; all but the use is
        as here.

        `attrs.evolve`, which looks at each field, takes more than twice as long.
        """
        of = self.seq, self.job, self.run, self.share, self.note, self.holder
        return Slice(processors, use, start, end, *of)

    @property
    def each(self) -> Exact:
        """Time that each processor of the slice spends in it, multiplied by `share`, as a multiple
        of 2^-FINEST s."""
        time = _multiple(self.end) - _multiple(self.start)
        return time if self.share == 1 else Fraction(self.share) * time


def _multiple(time: float) -> int:
    """Return a time in seconds as a multiple of 2^-FINEST s, which is exact."""
    above, below = time.as_integer_ratio()  # below is a power of two
    return above << FINEST + 1 - below.bit_length()


def _to_seconds(account: dict[K, Exact]) -> None:
    """Turn the account's amounts, multiples of 2^-FINEST s, into exact seconds, in place: an int
    where that is whole, else a fraction."""
    for key, multiple in account.items():
        if multiple:
            time = Fraction(multiple, 1 << FINEST)
            account[key] = time.numerator if time.denominator == 1 else time


Account = dict[Use, Exact]


EMPTY: Account = dict.fromkeys(Use, 0)
"""An account of zeros, copied for each job: the hash of an enum member is a Python call, and a new
dictionary would take twelve."""


@define
class Ledger:
    """Exact sums of processor time by use, for the platform, each job and each worker. They are in
    seconds once the ledger is closed.

    Idle time is what the other uses leave of processors x makespan; as sums are exact, it has no
    rounding error.
    """

    processors: int
    """Number of processors of the platform."""
    end: float = 0
    """End of the accounts, the makespan; no slice ends later."""
    total: Account = field(factory=EMPTY.copy)
    by_job: dict[str, Account] = field(factory=lambda: defaultdict(EMPTY.copy))
    by_worker: dict[int, Account] = field(factory=lambda: defaultdict(EMPTY.copy))
    down: defaultdict[str, Exact] = field(init=False, factory=lambda: defaultdict(int))
    """Maps jobs to the time for which they held workers that were DOWN; empty without accounts per
    job."""
    _unheld: Account = field(init=False, factory=EMPTY.copy)
    """Time of workers that were away while no job held them."""
    workers: bool = False
    """Whether to keep an account for each worker too (one per processor that worked)."""
    jobs: bool = True
    """Whether to keep an account for each job; if not, asking for one raises KeyError."""

    def __attrs_post_init__(self) -> None:
        if not self.jobs:
            self.by_job = {}

    def enter(self, it: Slice) -> None:
        """Add one slice to the accounts of the platform, of its job and of its workers, as far as
        these are kept.

        The time of a DOWN worker that a job held is added to that job's `down`, and not to its
        account.
        """
        each = it.each
        amount = count_in(it.processors) * each
        self.total[it.use] += amount
        if self.jobs and it.job is not None:
            self.by_job[it.job][it.use] += amount
        elif self.jobs and it.holder is not None:
            self.down[it.holder] += amount
        if it.use in UNHELD and it.job is it.holder is None:
            self._unheld[it.use] += amount
        for number in numbers_in(it.processors) if self.workers else ():
            self.by_worker[number][it.use] += each

    def close(self, end: float) -> None:
        """End the accounts at the makespan `end`, and count the rest of all processors' time as
        idle."""
        self.end, whole = end, _multiple(end)
        self.total[Use.IDLE] = self.processors * whole - _sum(self.total)
        for number in range(self.processors if self.workers else 0):
            own = self.by_worker[number]
            own[Use.IDLE] = whole - _sum(own)
        for account in (self.total, self._unheld, *self.by_job.values(), *self.by_worker.values()):
            _to_seconds(account)
        _to_seconds(self.down)

    def held(self, job: str | None = None) -> Account:
        """Return, by use, the processor-seconds for which the job held workers, or for None all
        jobs; call it after `close` (rules.md, M1).

        Time for which a held worker is RECLAIMED or DOWN is included, idle time is 0.
        """
        if job is not None:
            return self.by_job[job] | {Use.DOWN: self.down[job]}
        away = {use: self.total[use] - self._unheld[use] for use in AWAY.values()}
        return self.total | {Use.IDLE: 0} | away

    @property
    def capacity(self) -> Exact:
        """Processors x makespan, in processor-seconds."""
        return self.processors * Fraction(self.end)

    def share(self, use: Use) -> float:
        """Return the part of processors x makespan, from 0 to 1, that went to `use`."""
        return float(self.total[use] / self.capacity) if self.capacity else 0.0


def _sum(account: Mapping[Use, Exact]) -> Exact:
    return sum(amount for use, amount in account.items() if use is not Use.IDLE)
