"""Priority rules (rigid21, section 5.1): the larger value first, ties by job index."""

from __future__ import annotations

from policies.interface.queue import BatchJob, Draw, Order


def longest_time(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """LPT: the longest processing time first."""
    return time


def shortest_time(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """SPT: the shortest processing time first."""
    return -time


def highest_allocation(
    job: BatchJob, processors: int, time: float, platform: int, draw: Draw
) -> float:
    """HPA: the highest processor allocation first."""
    return processors


def lowest_allocation(
    job: BatchJob, processors: int, time: float, platform: int, draw: Draw
) -> float:
    """LPA: the lowest processor allocation first."""
    return -processors


def largest_area(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """LA: the largest area first."""
    return processors * time


def smallest_area(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """SA: the smallest area first."""
    return -processors * time


def random(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """RANDOM: one draw per job and run, kept through all its failures."""
    return draw(job)


def large_first(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """LJF: jobs of at least (P+1)/2 processors by decreasing allocation, then the small ones in
    any order, here by index (rigid21, section 4.2.1)."""
    return processors if 2 * processors >= platform + 1 else 0


def first_come(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """FCFS: the earliest submission first, what EASY is usually combined with (rigid21,
    section 2.4)."""
    return -job.submitted


PAPER_ORDERS: dict[str, Order] = {
    "LPT": longest_time,
    "SPT": shortest_time,
    "HPA": highest_allocation,
    "LPA": lowest_allocation,
    "LA": largest_area,
    "SA": smallest_area,
    "RANDOM": random,
}
"""The seven of rigid21, by the papers' names. Read only."""
