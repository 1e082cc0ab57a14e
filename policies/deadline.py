"""Spot or on-demand, with a deadline (Wu et al. 2024).

Checkpoints are taken to be frequent: what a run computed since the last one is left out.
"""

from __future__ import annotations

from policies.interface.deadline import DueJob, KindPolicy

ON_DEMAND = "on-demand"
"""The kind that can be had whenever it is wanted; all others are spot."""
NEGLIGIBLE = 1e-9
"""Of a deadline: sums of decimals differ by less."""


def on_demand(job: DueJob) -> str:
    """On demand from the start to the end."""
    return ON_DEMAND


def spot(job: DueJob) -> str:
    """Spot only, however late: its present kind, else the cheapest that can be had."""
    kinds = [offer.kind for offer in job.offers if offer.kind != ON_DEMAND]
    return job.kind if job.kind in kinds else next(iter(kinds), "")


def greedy(job: DueJob) -> str:
    """Spot where it can be had, none elsewhere; on demand once the work left and two changeovers
    take longer than until the deadline, or would when it is asked again."""
    spare = job.deadline - job.elapsed - (job.work - job.saved) - job.changeover
    due = max(job.changeover, job.every) - spare > NEGLIGIBLE * job.deadline
    return ON_DEMAND if due else spot(job)


def uniform_progress(job: DueJob) -> str:
    """As greedy, but on demand wherever there is no spot and the job is behind a straight line from
    its submission to its deadline; back to spot once it is ahead of where that line is two
    changeovers later."""
    kind = greedy(job)
    ahead = job.saved / job.work * job.deadline - job.elapsed + NEGLIGIBLE * job.deadline
    if job.kind == ON_DEMAND:
        return kind if kind and ahead >= 2 * job.changeover else ON_DEMAND
    return kind or ("" if ahead >= 0 else ON_DEMAND)


NAMED: dict[str, KindPolicy] = {
    ON_DEMAND: on_demand,
    "spot": spot,
    "greedy": greedy,
    "uniform-progress": uniform_progress,
}
