"""Implements local processor allocation: each job is decided on its own (moldable21, sections 4.2.2
and 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from attrs import frozen

from policies.interface.queue import Allocation, Allotment, BatchAllocation, BatchJob
from policies.maths.profiles import Counts, Formulas, Listed, each
from policies.maths.speedup import Asking


def requested(jobs: Sequence[BatchJob], processors: int) -> list[int]:
    """Return, for each of `jobs`, the number of processors that its user requested. Raises
    ValueError for a moldable job, whose user requested none. `processors` does not matter."""
    counts = []
    for job in jobs:
        if not isinstance(job.profile, Asking):
            raise ValueError(f"{job.name} is moldable: it has not asked for any processors")
        counts.append(job.profile.processors)
    return counts


@frozen
class WhereAsked:
    """Gives jobs whose user fixed their number of processors exactly that number; the local rule
    `rule` allots the others."""

    rule: Allocation

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> list[int]:
        moldable = [job for job in jobs if not isinstance(job.profile, Asking)]
        counts = iter(self.rule(moldable, processors) if moldable else ())
        return [
            job.profile.processors if isinstance(job.profile, Asking) else next(counts)
            for job in jobs
        ]


@frozen
class BatchWhereAsked:
    """Gives all attempts of jobs whose user fixed their number of processors exactly that number;
    the batch rule `rule` allots the attempts of the others together."""

    rule: BatchAllocation

    def allot(
        self, jobs: Sequence[BatchJob], attempts: Sequence[int], processors: int
    ) -> list[Allotment]:
        open_ = [k for k, job in enumerate(jobs) if not isinstance(job.profile, Asking)]
        chosen = [jobs[k] for k in open_], [attempts[k] for k in open_]
        given = dict(zip(open_, self.rule.allot(*chosen, processors) if open_ else (), strict=True))
        asked = zip(jobs, attempts, strict=True)
        return [
            given[k] if k in given else ((times, cast(Asking, job.profile).processors),)
            for k, (job, times) in enumerate(asked)
        ]


@frozen
class EachAlone:
    """Local rule that gives each job a number of processors by its own profile alone: `formula`
    computes those of all jobs whose profile is a formula, as arrays; `table` that of one job whose
    profile is a table. Ties go to fewer processors."""

    formula: Callable[[Formulas], Counts]
    table: Callable[[Listed], int]

    def __call__(self, jobs: Sequence[BatchJob], processors: int) -> list[int]:
        profiles = [job.profile for job in jobs]
        return each(profiles, processors, lambda it: self.formula(it).tolist(), self.table)


LPA = EachAlone(Formulas.local, Listed.local)
"""The rule LPA: each job gets the count with the smallest r(alpha, beta) (moldable21, algorithm
2)."""
MINTIME = EachAlone(Formulas.min_time, Listed.min_time)
"""The rule MINTIME: each job gets the count with its shortest execution time."""
MINAREA = EachAlone(Formulas.min_area, Listed.min_area)
"""The rule MINAREA: each job gets the count with its smallest area."""
