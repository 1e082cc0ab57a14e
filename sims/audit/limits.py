"""Derives which waiting jobs a limit by user, group or queue keeps from starting (rules.md, G7).

What counts is summed over the copies that hold workers, and over the promises in force where a
policy keeps these.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Collection, Iterator, Mapping
from math import inf
from typing import Any

from attrs import Factory, define, frozen

from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.law import allowed, framed

PER = {"user", "group", "queue"}


@frozen
class GivenLimit:
    """One limit, as the log's head has it."""

    per: str
    jobs: int | None
    processors: int | None
    only: tuple[str, ...]


Names = tuple[tuple[int, str], ...]
"""The limits that a job has, by their place in the head, each with the name that it has it by."""
Promised = Mapping[str, tuple[Names, int]] | None
"""Waiting jobs that count, with their limits and the number of their workers; None where none
does."""


@define(eq=False)
class LimitChecks:
    """The limits of a queue, and the copies that count."""

    limits: tuple[GivenLimit, ...] = ()
    held: dict[tuple[int, str], set[ExpectedCopy]] = Factory(dict)
    """Maps a limit and a name to the copies that hold workers."""

    def names(self, job: ExpectedJob) -> Names:
        """Return the limits that the job has."""
        own = [(k, str(getattr(job.whose, it.per))) for k, it in enumerate(self.limits)]
        return tuple(
            (k, name) for k, name in own if name and name in (self.limits[k].only or (name,))
        )

    def started(self, copy: ExpectedCopy, size: int, promised: Promised) -> Names:
        """Note that a copy, which asks for so many workers, holds them, and return the limits that
        its job has. Raises Broken where it exceeds one."""
        job = copy.job
        names = self.names(job)
        room, why = self.room(names, job.name, promised=promised)
        allowed(size <= room, f"{job.name} asks for {size} above {why}")
        for of in names:
            self.held.setdefault(of, set()).add(copy)
        return names

    def ended(self, copy: ExpectedCopy) -> None:
        """Note that a copy holds workers no more."""
        for of in self.names(copy.job):
            self.held[of].remove(copy)

    def reserved(self, job: ExpectedJob, size: int, promised: Promised) -> None:
        """Check a new reservation of a job for `size` members. Raises Broken where they exceed a
        limit now."""
        room, why = self.room(self.names(job), job.name, promised=promised)
        allowed(size <= room, f"{job.name} gets a reservation above {why}")

    def review(
        self,
        jobs: Mapping[str, ExpectedJob],
        asked: Mapping[str, int],
        starts: Collection[ExpectedCopy],
    ) -> None:
        """Check that no job with a reservation, for the number of members that `asked` has,
        exceeded a limit before the copies `starts` of this instant started."""
        for name, size in asked.items():
            room, why = self.room(self.names(jobs[name]), name, starts)
            allowed(size <= room, f"{name} has a reservation above {why}")

    def room(
        self,
        names: Names,
        job: str = "",
        but: Collection[ExpectedCopy] = (),
        promised: Promised = None,
    ) -> tuple[float, str]:
        """Return (the most processors of a further run of a job of these names, the words for the
        limit that says so).

        `job` is the job's name; runs of its own are no further job. Copies in `but` do not count;
        the jobs `promised`, which have reservations, do.
        """
        most, why = inf, ""
        for of in names:
            copies = (it for it in self.held.get(of, ()) if it not in but)
            sizes = [(it.job.name, it.full + len(it.rest)) for it in copies]
            for other, (theirs, size) in (promised or {}).items():
                if of in theirs and other != job:
                    sizes.append((other, size))
            for left, words in self._left(of, job, sizes):
                if left < most:
                    most, why = left, words
        return most, why

    def _left(
        self, of: tuple[int, str], job: str, sizes: list[tuple[str, int]]
    ) -> Iterator[tuple[float, str]]:
        """Yield (processors left, words) for each bound of a limit, given the jobs that count and
        their processors."""
        limit, jobs, size = self.limits[of[0]], {it for it, _ in sizes}, sum(n for _, n in sizes)
        whose = f"the limit of {limit.per} {of[1]}"
        if limit.jobs is not None:
            full = len(jobs | {job}) > limit.jobs
            yield 0 if full else inf, f"{whose}: {len(jobs)} of {limit.jobs} jobs"
        if limit.processors is not None:
            words = f"{whose}: {size} of {limit.processors} processors"
            yield limit.processors - size, words


def limits_of(settings: Mapping[str, str]) -> LimitChecks:
    """Return the limits that the settings of the log's head give. Raises Broken for others."""
    try:
        rows = literal_eval(settings.get("limits", "[]"))
        return LimitChecks(tuple(map(_limit, rows)))
    except (ValueError, SyntaxError, TypeError, KeyError, AttributeError):
        framed(False, "its limits cannot be read")
        raise


def _limit(row: dict[str, Any]) -> GivenLimit:
    framed(row["per"] in PER, "a limit is by user, group or queue")
    only = tuple(str(it) for it in row.get("only", ()))
    return GivenLimit(row["per"], row.get("jobs"), row.get("processors"), only)
