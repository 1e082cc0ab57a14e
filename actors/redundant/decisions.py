"""Whether a decision can be carried out: policies propose, the world disposes."""

from __future__ import annotations

from policies.interface.redundancy import (
    WHOLE,
    ActiveJobs,
    CopyAllocation,
    RedundancyPolicy,
    Sharing,
)

TOLERANCE = 1e-9
"""Relative: shares given as floats may sum to a hair more than a machine."""


def check(
    allocation: CopyAllocation, view: ActiveJobs, policy: RedundancyPolicy, multitasking: bool
) -> None:
    """Raise ValueError, naming the policy and what it saw, where `allocation` is impossible."""
    problem = _problem(allocation, view, multitasking)
    if problem:
        raise ValueError(
            f"{policy!r} {problem}: it saw {len(view)} jobs on {view.servers} servers, remaining "
            f"{view.remaining.tolist()}, and answered {allocation}."
        )


def _problem(allocation: CopyAllocation, view: ActiveJobs, multitasking: bool) -> str | None:
    jobs, copies = allocation.jobs, allocation.copies
    if len(jobs) != len(copies) or not len(jobs):
        return "gives no number of copies for each job that it serves"
    # Lists, because reductions of arrays this short take two to three times as long.
    positions, counts = jobs.tolist(), copies.tolist()
    if not 0 <= min(positions) <= max(positions) < len(view.remaining):
        return "serves a job that is not there"
    if len(set(positions)) < len(positions):
        return "names a job twice"
    if not 1 <= min(counts) <= max(counts) <= view.servers:
        return "gives a job no copy, or more copies than there are servers"
    return _overload(allocation, sum(counts), view.servers, multitasking)


def _overload(
    allocation: CopyAllocation, copies: int, servers: int, multitasking: bool
) -> str | None:
    share = allocation.share
    rotating = allocation.sharing is Sharing.ROTATION
    if share is WHOLE and not rotating and copies <= servers and not allocation.stay:
        return None
    if not 0 < share <= 1:
        return f"gives a share of {share}"
    if not multitasking and (share < 1 or rotating):
        return "shares servers, in a cluster without multitasking"
    if allocation.stay and (copies > servers or copies > len(allocation.jobs)):
        return "lets jobs stay that have several copies or no server of their own"
    if rotating and copies > len(allocation.jobs):
        return "rotates a job that has several copies"
    together = copies if rotating else -(-copies // servers)
    if together * share > 1 + TOLERANCE:
        return f"puts {together} copies at share {share} on one server"
    return None
