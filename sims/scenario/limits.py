"""Limits by user, group or queue: their tables in `[policy]`, the jobs that could never start under
them, and the limits as the decider of a queue gets them."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Collection, Iterable, Sequence
from math import inf
from typing import Annotated

from attrs import frozen

from actors.parts.limits import Counting, Limit, Limits
from policies.interface.queue import Allocation, BatchJob
from policies.maths.speedup import Asking
from policies.queue.lists import Reading
from sims.errors import unfit
from sims.tables import Section
from sims.tables.fields import Accepts, Count, Unacceptable

NAMED = 3
"""Number of names without jobs that a warning has."""


class Per(enum.Enum):
    """Attribute of jobs by which a limit counts them together."""

    USER = "user"
    """The jobs of one user."""
    GROUP = "group"
    """The jobs of one group."""
    QUEUE = "queue"
    """The jobs of one queue."""


class LimitSection(Section):
    """`[[policy.limits]]`: the most that the jobs of one user, group or queue may run and hold at
    once. A job that would exceed a limit does not start, gets no reservation and blocks nobody; it
    is looked at again when a run of the same name ends. Standbys do not count."""

    per: Per
    """Attribute of jobs by which they are counted together: `user`, `group` or `queue`."""
    jobs: Count | None = None
    """Largest number of jobs that run at once; default: any."""
    processors: Count | None = None
    """Largest number of processors that they hold at once; default: any."""
    only: tuple[Annotated[int | str, Accepts("a whole number, a string")], ...] = ()
    """Names that have the limit, each for itself, as the log numbers or names them; default: each
    name. Jobs whose user, group or queue is not known have none."""

    def check(self) -> None:
        if self.jobs is None and self.processors is None:
            raise Unacceptable("jobs", None, "`jobs` or `processors`, or both")

    @property
    def limit(self) -> Limit:
        """The limit as the decider of a queue has it."""
        jobs = inf if self.jobs is None else self.jobs
        processors = inf if self.processors is None else self.processors
        return Limit(self.per.value, jobs, processors, frozenset(map(str, self.only)))

    def told(self) -> dict[str, object]:
        """Return the keys that are set, as a log's head has them."""
        return self.model_dump(mode="json", exclude_defaults=True)


def limits_of(limits: Sequence[LimitSection], name: str, reading: Reading) -> Limits:
    """Return the limits of `[policy]` for the decider of a queue. `name` is the policy's, and
    `reading` says how it understands reservations."""
    counting = Counting.RUNS
    if name == "conservative":
        counting = Counting.PLANNED
    elif name.startswith("R-LIST") and reading is Reading.KEPT:
        counting = Counting.RESERVATIONS
    return Limits([it.limit for it in limits], counting)


# --- jobs that alone exceed one -------------------------------------------------------------------


@frozen
class Within:
    """The jobs that no limit keeps from ever starting, and counts of the others."""

    jobs: tuple[BatchJob, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """Pairs of a reason and the number of jobs left out for that reason."""


def within(
    limits: Sequence[LimitSection], jobs: tuple[BatchJob, ...], listed: Collection[int]
) -> Within:
    """Return the jobs without those that ask for more processors than a limit gives; `listed` has
    the indices of the jobs that the scenario lists.

    Raises InputError for one of these.
    """
    out, counts = set[int](), dict[str, int]()
    for number, section in enumerate(limits):
        _warn_of_nobody(number, section, jobs)
        limit = section.limit
        wide = [
            it
            for it in jobs
            if it.index not in out
            and limit.name_of(it)
            and it.occupied(it.profile.processors if isinstance(it.profile, Asking) else 1)
            > limit.processors
        ]
        for job in wide:
            if job.index in listed:
                raise _too_wide(job, limit)
        if wide:
            reason = f"needs more than the {section.processors} processors of a {limit.per}'s limit"
            counts[reason] = counts.get(reason, 0) + len(wide)
        out.update(job.index for job in wide)
    left = tuple(it for it in jobs if it.index not in out) if out else jobs
    return Within(left, tuple(counts.items()))


def _warn_of_nobody(number: int, section: LimitSection, jobs: Iterable[BatchJob]) -> None:
    """Warn if the limit with this number concerns no job, or names users, groups or queues that no
    job has."""
    per, key = section.per.value, f"policy.limits.{number}"
    known = {getattr(job, per) for job in jobs} - {""}
    missing = [it for it in map(str, section.only) if it not in known]
    if not known:
        warnings.warn(f"{key} has no effect: no job names a {per}", stacklevel=2)
    elif missing:
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        names = ", ".join(map(repr, missing[:NAMED]))
        text = f"{key}.only has no effect for {names}{more}: no job has this {per}"
        warnings.warn(text, stacklevel=2)


def _too_wide(job: BatchJob, limit: Limit) -> Exception:
    whose = f"the limit of {limit.per} {limit.name_of(job)}, {limit.processors:g}"
    problem = f"{job.name} could never start: it is above {whose}"
    return unfit(f"job.jobs.{job.index}.processors", problem, f"up to {limit.processors:g}")


def allotted_within(limits: Iterable[LimitSection], rule: Allocation) -> Allocation:
    """Return the allocation rule `rule`, but a job gets no more processors than its limits give."""
    given = [it.limit for it in limits]

    def most(job: BatchJob) -> float:
        found = min((it.processors for it in given if it.name_of(job)), default=inf)
        return found // job.node * job.node if job.node and found < inf else found

    def allot(jobs: Sequence[BatchJob], processors: int) -> list[int]:
        counts = rule(jobs, processors)
        return [int(min(n, most(job))) for job, n in zip(jobs, counts, strict=True)]

    return allot
