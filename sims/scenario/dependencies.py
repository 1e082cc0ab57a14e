"""Dependencies between the jobs of a scenario: the keys of listed jobs, the chains of a log, and
the conditions of each job's submission that follow from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, frozen

from actors.dependencies import Dependence
from policies.interface.queue import BatchJob
from sims.errors import InputError, unfit
from sims.readers import Preceding
from sims.tables import Section
from sims.tables.fields import Time

CIRCLE = "the jobs that precede it go round in a circle: submitted at the time of the log"
UNKNOWN = "its preceding job takes no part: submitted at the time of the log"
TOO_WIDE = "follows a job that is left out: submitted without waiting for it"


class FollowingJob(Section):
    """The keys by which a listed job follows others."""

    after: tuple[str, ...] = ()
    """Names of the jobs that it follows: it is submitted once all of them have ended (completed or
    killed), and not before its `release`."""
    think: Time = 0
    """Time from the last of these ends to its submission, time units; without effect where `after`
    is empty."""


@frozen
class Following:
    """A job that follows others, by their names."""

    job: BatchJob
    after: tuple[str, ...]
    think: float


@frozen
class Chained:
    """The jobs of a workload that wait for others to end, and counts of those that do not wait for
    all that their log or their list names."""

    waits: Mapping[int, Dependence]
    """Maps the index of each job that follows others to the conditions of its submission."""
    changed: tuple[tuple[str, int], ...] = ()
    """Pairs of a reason and the number of jobs that do not wait for that reason."""


def chained(
    listed: Sequence[Following],
    preceding: Mapping[str, Preceding],
    jobs: Mapping[str, BatchJob],
    left_out: Collection[str] = (),
) -> Chained:
    """Return what each of `jobs`, which take part, waits for: those `listed` by the scenario, and
    those that a log's `preceding` names. `left_out` are the names of listed jobs that take no part.

    A log's job whose predecessor takes no part, or whose chain of predecessors is a circle, is
    submitted as the log says, and counted. Raises InputError where a listed job follows one that
    there is not, or a circle of jobs follow each other.
    """
    for it in listed:
        for name in it.after:
            if name not in jobs and name not in left_out:
                key, accepted = f"job.jobs.{it.job.index}.after", "names of jobs"
                raise unfit(key, f"no job is called {name!r}", accepted)
    of_log = [
        Following(jobs[name], (it.name,), it.think)
        for name, it in preceding.items()
        if name in jobs
    ]
    known = [_taking_part(it, jobs) for it in (*listed, *of_log)]
    circles = _circles([it for it in known if it.after])
    for it in listed:
        if it.job.name in circles:
            raise _circle(it, listed)
    waits = {
        it.job.index: Dependence(
            tuple(jobs[name].index for name in it.after), it.think, it.job.submitted
        )
        for it in known
        if it.after and it.job.name not in circles
    }
    given = dict.fromkeys(it.job.name for it in listed)
    lacks = [
        it for it, left in zip((*listed, *of_log), known, strict=True) if left.after != it.after
    ]
    wide = sum(it.job.name in given for it in lacks)
    counts = {TOO_WIDE: wide, UNKNOWN: len(lacks) - wide, CIRCLE: len(circles)}
    return Chained(waits, tuple((why, count) for why, count in counts.items() if count))


def _taking_part(it: Following, jobs: Mapping[str, BatchJob]) -> Following:
    """Return the job without those of its predecessors that are not among `jobs`."""
    return evolve(it, after=tuple(name for name in it.after if name in jobs))


def _circles(following: Sequence[Following]) -> set[str]:
    """Return the names of the jobs that can never be submitted: each is in a circle of jobs that
    follow each other, or follows such a job, perhaps through others."""
    left = {it.job.name: len(it.after) for it in following}
    followers: dict[str, list[str]] = {}
    for it in following:
        for name in it.after:
            followers.setdefault(name, []).append(it.job.name)
    over = [name for name in followers if name not in left]
    while over:
        for name in followers.get(over.pop(), ()):
            left[name] -= 1
            if not left[name]:
                del left[name]
                over.append(name)
    return set(left)


def _circle(first: Following, listed: Sequence[Following]) -> InputError:
    """Return the error that names a circle of jobs, which is found from `first`, a job that is in
    it or follows it."""
    after = {it.job.name: it for it in listed}
    circles = _circles(listed)
    path = [first.job.name]
    while path[-1] not in path[:-1]:
        path.append(next(name for name in after[path[-1]].after if name in circles))
    path = path[path.index(path[-1]) :]
    steps = " follows ".join(path)
    key = f"job.jobs.{after[path[0]].job.index}.after"
    return unfit(key, f"{steps}: none of them could ever begin", "jobs that do not wait for it")


# --- chains of a log that is drawn anew, or scaled ------------------------------------------------


def drawn_anew(
    preceding: Mapping[str, Preceding], blocks: Sequence[Sequence[str]], names: Sequence[str]
) -> dict[str, Preceding]:
    """Return the chains of a log whose jobs were drawn anew in `blocks`, given by the names that
    the jobs had; `names` are those that they have now, in the same order.

    A chain is kept where it lies within a block.
    """
    found, new = dict[str, Preceding](), iter(names)
    for block in blocks:
        now = dict(zip(block, new, strict=False))
        for name in block:
            it = preceding.get(name)
            if it is not None and it.name in now:
                found[now[name]] = Preceding(now[it.name], it.think)
    return found
