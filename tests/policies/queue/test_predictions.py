"""What is believed of a job that has outlived a prediction (Tsafrir, Etsion and Feitelson 2007)."""

from __future__ import annotations

import pytest

from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid
from policies.queue.estimates import Recent
from policies.queue.orders import first_come

MINUTE, HOUR = 60.0, 3600.0


@pytest.mark.parametrize(
    ("believed", "step"),
    [
        (0.5 * MINUTE, MINUTE),
        (MINUTE, 5 * MINUTE),
        (5 * MINUTE, 15 * MINUTE),
        (15 * MINUTE, 30 * MINUTE),
        (30 * MINUTE, HOUR),
        (HOUR, 2 * HOUR),
        (2 * HOUR, 5 * HOUR),
        (5 * HOUR, 10 * HOUR),
        (10 * HOUR, 20 * HOUR),
        (20 * HOUR, 50 * HOUR),
        (50 * HOUR, 100 * HOUR),
        (100 * HOUR, 100 * HOUR),
        (101 * HOUR, 100 * HOUR),
    ],
)
def test_an_exceeded_prediction_is_made_longer_by_the_next_of_the_papers_steps(
    believed: float, step: float
) -> None:
    """Section 3.2: 1, 5, 15, 30 minutes, 1, 2, 5, 10, 20, 50, 100 hours."""
    recent = Recent()
    assert recent.longer(BatchJob(0, "a", Rigid(1, 9)), believed) == believed + step


def test_no_prediction_is_made_longer_than_the_users_estimate() -> None:
    recent, job = Recent(), BatchJob(0, "a", Rigid(1, 9), estimate=8 * MINUTE)
    assert recent.longer(job, 2 * MINUTE) == 7 * MINUTE
    assert recent.longer(job, 7 * MINUTE) == 8 * MINUTE
    assert recent.longer(job, 8 * MINUTE) is None


def test_a_job_of_which_nothing_else_is_said_is_there_from_the_beginning() -> None:
    plain, later = BatchJob(0, "a", Rigid(1, 9)), BatchJob(1, "b", Rigid(1, 9), submitted=0.5)
    urgent = [first_come(it, 1, it.believed(1), 4, lambda job: 0.0) for it in (plain, later)]
    assert urgent == [0, -0.5]
    assert (plain.submitted, plain.verification, plain.priority) == (0, 0, 0)
