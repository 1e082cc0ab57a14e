"""How long a job would take by itself: what its flowtime is measured against."""

from __future__ import annotations

from math import isnan, nan

from actors.events import JobDescribed


def own_time(work: float, described: JobDescribed | None, before: float = nan) -> float:
    """A job's own error-free time, once a run of so much `work` has started; `before`: as it was
    known from earlier runs.

    It is that of one run from scratch at speed 1, verification included and without checkpoints, on
    the workers of its last run (its first one where it is malleable: it changes their number while
    it runs). Not a number for iterative jobs: it would depend on which workers stay UP.
    """
    if described is None or described.kind == "iterative":
        return nan
    if described.kind == "malleable" and not isnan(before):
        return before
    return work + described.verification
