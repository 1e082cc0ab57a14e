"""What is kept of a wait: promises, and how many workers were free; and how lists are worded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen

from actors.events import Outcome, ScenarioStarted
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history import Run
from sims.telling import Clock, counted, in_units, worker_of
from sims.trace import Span
from sims.trace.instant import Held, Look
from sims.trace.ranking import wanted

NAMED = 3
"""Of many jobs or runs, the largest are named."""


@frozen
class Broken:
    """A promised start that did not come."""

    t: float
    """When it was due."""
    look: Look
    """What was free and away then; those hold workers that were not to hold them any more."""


@frozen
class Promise:
    """What a reservation of the job says from some instant on."""

    record: Record
    start: float | None
    """None: it is dropped."""
    early: Sequence[Held]
    """Runs that ended at that instant, before they were believed to."""
    upset: Sequence[Run | int] = ()
    """Runs that were lost, or failed, and workers that went DOWN at that instant."""
    ahead: str | None = None
    """To whom the place of one that is dropped was given."""
    broken: Broken | None = None
    """What there was when it was due; None: it was kept, or changed before."""


@frozen
class FreeWorkers:
    """How many workers were free: before and after what was decided."""

    t: float
    before: int
    after: int
    reserved: str | None
    """Of the other jobs that have a reservation, the one that is promised the earliest start; None:
    none has."""
    begun: tuple[Run, ...] = ()
    """Of other jobs, started at that instant."""


def upsets(promise: Promise, held: Held) -> bool:
    """Whether workers that are held when the promised start is due were not to be held then, or
    were when it was promised and are held by another run now."""
    due = promise.start
    return held.kept or held.start > promise.record.t or (due is not None and held.believed <= due)


def mishap(started: ScenarioStarted, it: Run | int) -> str:
    """Say that a run was lost or failed, or that a worker went DOWN."""
    if isinstance(it, int):
        return f"{worker_of(started, it)} went DOWN"
    how = "lost" if it.outcome is Outcome.LOST else "in vain, as it failed"
    return f"run {it.number} of {it.job.name} was {how}"


def ended_early(promise: Promise, unit: str) -> list[str]:
    """Say which runs ended before they were believed to as the promise was made."""
    now = promise.record.t
    early = [(it.job, in_units(it.believed - now, unit)) for it in promise.early[:NAMED]]
    return [f"{job} ended {time} before it was believed to" for job, time in early]


def outlasts(
    held: Held,
    promise: Promise,
    upset: Mapping[str, Run],
    look: Look,
    clock: Clock,
    started: ScenarioStarted,
) -> str:
    """Say until when a job holds what was promised to be free, and why: by job, `upset` has the
    runs that were lost or failed last."""
    end, lost = look.ends.get(held.key), upset.get(held.job)
    until = "the log's end" if end is None else clock(end)
    if lost is not None and lost.end is not None and lost.end >= promise.record.t:
        why = f"{mishap(started, lost)} at {clock(lost.end)}"
    elif held.start > promise.record.t:
        why = f"it started at {clock(held.start)}"
    else:
        why = f"it was believed to end at {clock(held.believed)}"
    return f"{held.job} holds {held.width:,} until {until} ({why})"


def members(started: ScenarioStarted, held: Held) -> str:
    """Name the workers of a run where they are few, else count them."""
    if held.width > NAMED:
        return counted(held.width, "worker")
    return joined([worker_of(started, worker) for worker in numbers_in(held.processors)])


def starters(instants: Sequence[FreeWorkers]) -> list[str]:
    """Who started at those instants, the largest first."""
    begun = {run.job.name: wanted(run) for it in instants for run in it.begun}
    return [f"{name} ({size:,})" for name, size in sorted(begun.items(), key=lambda it: -it[1])]


def _data(held: Held) -> dict[str, object]:
    return {"job": held.job, "run": held.run, "processors": held.width}


def at_once(t: float, *titles: str) -> Iterator[Span]:
    """Yield what happened at `t`, in these words."""
    return (Span(title, t, t) for title in titles if title)


def largest(holders: Sequence[Held], tell: Callable[[Held], str]) -> str:
    """The first ones, which are the largest, by name."""
    size = sum(it.width for it in holders[NAMED:])
    return some([tell(it) for it in holders], "other run", f" ({size:,})")


def some(words: Sequence[str], other: str, size: str = "") -> str:
    """The first ones, and how many others there are."""
    rest = len(words) - NAMED
    return joined([*words[:NAMED], *([counted(rest, other) + size] if rest > 0 else [])])


def joined(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = parts or [""]
    return f"{', '.join(first)} and {last}" if first else last


def are(number: int) -> str:
    """Choose the verb for so many."""
    return "is" if number == 1 else "are"
