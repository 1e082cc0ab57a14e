"""Records of one wait of a job: promised starts and numbers of free workers; and wording of
lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import field, frozen

from actors.events import Outcome, ScenarioStarted
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history.reader import Run
from sims.telling import counted, in_units, worker_of
from sims.trace import Span
from sims.trace.instant import Held, Look
from sims.trace.limits import Room

NAMED = 3
"""How many jobs or runs, the largest first, a text names before it counts the others."""


@frozen
class Broken:
    """A promise that was not kept: a reservation promised the job's start for the time `t`, and the
    job did not start then."""

    t: float
    """Time at which the start was due."""
    look: Look
    """State of the machine at that time; its holders are the runs that the promise did not expect
    to hold workers then."""


@frozen
class Promise:
    """One value of a job's reservation: the start that it promises from one event on, and the
    reasons why that changed."""

    record: Record
    start: float | None
    """Start that the reservation promises; None if the reservation is dropped."""
    early: Sequence[Held]
    """Runs that ended at that instant, earlier than believed."""
    upset: Sequence[Run | int] = ()
    """Runs that were lost or failed, and workers that went DOWN, at that instant."""
    ahead: str | None = None
    """Name of the job that got the place of a dropped reservation."""
    broken: Broken | None = None
    """State of the machine when the start was due; None if the promise was kept or changed
    before."""


@frozen
class FreeWorkers:
    """Numbers of free workers at one instant, before and after the decisions of that instant."""

    t: float
    before: int
    after: int
    reserved: str | None
    """Name of the other job whose reservation promises the earliest start; None if no other job has
    one."""
    begun: tuple[Run, ...] = ()
    """Runs of other jobs that started at that instant."""
    numbers: frozenset[int] = frozenset()
    """Numbers of the workers that were free before the decisions; known only where the log has
    windows."""
    first: str | None = None
    """Name of the job ahead in the queue that kept free workers of a partition from later ones;
    None if a reservation did, or all workers form one pool."""
    room: Room = field(factory=Room)
    """Processors that limits leave to the job after the decisions."""


def upsets(promise: Promise, held: Held) -> bool:
    """Return whether `held` are processors that the promise did not expect to be held at its start.

    That is so for workers kept after a run's end, for a run that started after the promise was
    made, and for a run that was believed to be over by then.
    """
    due = promise.start
    return held.kept or held.start > promise.record.t or (due is not None and held.believed <= due)


def mishap(started: ScenarioStarted, it: Run | int) -> str:
    """Return the words that say that the run `it` was lost or failed, or, where `it` is a worker's
    number, that this worker went DOWN."""
    if isinstance(it, int):
        return f"{worker_of(started, it)} went DOWN"
    how = "lost" if it.outcome is Outcome.LOST else "in vain, as it failed"
    return f"run {it.number} of {it.job.name} was {how}"


def ended_early(promise: Promise, unit: str) -> list[str]:
    """Return a clause for each of the first runs whose early end moved the promise: its job, and
    how long before its believed end it ended."""
    now = promise.record.t
    early = [(it.job, in_units(it.believed - now, unit)) for it in promise.early[:NAMED]]
    return [f"{job} ended {time} before it was believed to" for job, time in early]


def members(started: ScenarioStarted, held: Held) -> str:
    """Name the workers of a holder if they are few, else say how many they are."""
    if held.width > NAMED:
        return counted(held.width, "worker")
    return joined([worker_of(started, worker) for worker in numbers_in(held.processors)])


def starters(runs: Iterable[Run]) -> list[str]:
    """Return the names of the jobs that these runs started, each with its number of processors,
    such as `J7 (64)`, the largest first."""
    begun = {run.job.name: run.asked for run in runs}
    return [f"{name} ({size:,})" for name, size in sorted(begun.items(), key=lambda it: -it[1])]


def at_once(t: float, *titles: str) -> Iterator[Span]:
    """Yield a span of zero length at `t` for each title that is not empty."""
    return (Span(title, t, t) for title in titles if title)


def largest(holders: Sequence[Held], tell: Callable[[Held], str]) -> str:
    """Return words on the largest of `holders`, which come by size: the first three in the words of
    `tell`, then how many others there are and how many processors they hold."""
    size = sum(it.width for it in holders[NAMED:])
    return some([tell(it) for it in holders], "other run", f" ({size:,})")


def some(words: Sequence[str], other: str, size: str = "") -> str:
    """Join the first three words, and say how many others there are: `J1, J2, J3 and 4 other jobs`.

    `other` is the singular of what the others are called, and `size` text that follows it, on how
    large they are.
    """
    rest = len(words) - NAMED
    return joined([*words[:NAMED], *([counted(rest, other) + size] if rest > 0 else [])])


def joined(parts: Sequence[str]) -> str:
    """Join the parts as in `a, b and c`."""
    *first, last = parts or [""]
    return f"{', '.join(first)} and {last}" if first else last


def are(number: int) -> str:
    """Return the verb form for `number` things: "is" or "are"."""
    return "is" if number == 1 else "are"
