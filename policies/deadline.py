"""Implements policies that choose between spot and on-demand workers for jobs with a deadline (Wu
et al. 2024).

The policies assume frequent checkpoints: they ignore what a run has computed since its last one.
"""

from __future__ import annotations

from policies.interface.deadline import DueJob, KindPolicy
from policies.maths.tolerance import SAME

ON_DEMAND = "on-demand"
"""Name of the kind of worker that is always available; all other kinds are spot."""


def on_demand(job: DueJob) -> str:
    """Keep the job on on-demand workers from start to end."""
    return ON_DEMAND


def spot(job: DueJob) -> str:
    """Keep the job on spot workers, however late it becomes: on its present kind if that is
    available, else on the cheapest available kind."""
    kinds = [offer.kind for offer in job.offers if offer.kind != ON_DEMAND]
    return job.kind if job.kind in kinds else next(iter(kinds), "")


def greedy(job: DueJob) -> str:
    """Use spot workers while they are available, and switch to on demand when the deadline requires
    it.

    It does so once the remaining work, a changeover, and another changeover (or the time until the
    next call, if that is longer) take longer than the time to the deadline. Without spot workers
    the job waits until then.
    """
    # The job can wait as long as a changeover to on demand still fits after one more changeover, or
    # after the time until the next call if that is longer.
    spare = job.deadline - job.elapsed - (job.work - job.saved) - job.changeover
    due = max(job.changeover, job.every) - spare > SAME * job.deadline
    return ON_DEMAND if due else spot(job)


def uniform_progress(job: DueJob) -> str:
    """Act as `greedy`, but also go on demand wherever there is no spot worker and the job's saved
    work is behind a straight line from none at its submission to all at its deadline.

    On demand, the job goes back to spot workers once its saved work has the value that the line
    reaches only two changeovers later.
    """
    kind = greedy(job)
    ahead = job.saved / job.work * job.deadline - job.elapsed + SAME * job.deadline
    if job.kind == ON_DEMAND:
        return kind if kind and ahead >= 2 * job.changeover else ON_DEMAND
    return kind or ("" if ahead >= 0 else ON_DEMAND)


NAMED: dict[str, KindPolicy] = {
    ON_DEMAND: on_demand,
    "spot": spot,
    "greedy": greedy,
    "uniform-progress": uniform_progress,
}
