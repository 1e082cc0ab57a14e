"""Priority rules."""

import pytest

from policies.interface.queue import BatchJob, Order
from policies.maths.speedup import Rigid
from policies.queue.orders import PAPER_ORDERS, first_come, large_first

JOBS = [
    BatchJob(0, "a", Rigid(5, 2), submitted=3),
    BatchJob(1, "b", Rigid(2, 9), submitted=1),
    BatchJob(2, "c", Rigid(3, 4), estimate=20, submitted=2),
]


def sequence(order: Order, platform: int = 8) -> str:
    draws = {"a": 0.2, "b": 0.1, "c": 0.9}

    def rank(job: BatchJob) -> tuple[float, int]:
        processors = job.profile.processors
        time = job.believed(processors)
        return -order(job, processors, time, platform, lambda j: draws[j.name]), job.index

    return "".join(job.name for job in sorted(JOBS, key=rank))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LPT", "cba"),
        ("SPT", "abc"),
        ("HPA", "acb"),
        ("LPA", "bca"),
        ("LA", "cba"),
        ("SA", "abc"),
        ("RANDOM", "cab"),
    ],
)
def test_each_order_sorts_by_its_own_quantity_and_believes_estimates(
    name: str, expected: str
) -> None:
    assert sequence(PAPER_ORDERS[name]) == expected


def test_large_jobs_come_first_by_allocation_and_small_ones_by_index() -> None:
    assert sequence(large_first, 8) == "abc"
    assert sequence(large_first, 5) == "acb"


def test_first_come_is_first_served() -> None:
    assert sequence(first_come) == "bca"
