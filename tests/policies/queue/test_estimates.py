"""What a queue believes of times beside what users say."""

from __future__ import annotations

from itertools import count

import pytest

from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid
from policies.queue.estimates import ExactEstimates, Noisy, Recent
from policies.queue.orders import first_come

MINUTE, HOUR = 60.0, 3600.0


def job(index: int, time: float = 10, estimate: float | None = None, user: str = "") -> BatchJob:
    return BatchJob(index, f"J{index}", Rigid(1, time), estimate=estimate, user=user)


def test_exact_estimates_are_what_a_job_takes_whatever_its_user_says() -> None:
    assert ExactEstimates()(job(0, 10, estimate=99), 1) == 10


def test_a_jobs_noise_is_drawn_once_and_stays_with_it() -> None:
    factors = count(2)
    noisy = Noisy(lambda: float(next(factors)))
    first, second = job(0, 10, estimate=99), job(1, 10)
    assert [noisy(it, 1) for it in (first, second, first, second)] == [20, 30, 20, 30]


def test_who_outlives_what_is_believed_once_and_for_all_is_expected_at_any_moment() -> None:
    for estimates in (ExactEstimates(), Noisy(lambda: 0.5)):
        estimates.completed(job(0), 10)
        assert estimates(job(0), 1) == estimates(job(0), 1)
        assert estimates.longer(job(0), 5) is None


def test_what_nobodys_jobs_took_teaches_nothing() -> None:
    recent = Recent()
    recent.completed(job(0, 10), 10)
    assert recent(job(1, 70, estimate=90), 1) == 90


def test_without_an_estimate_a_prediction_is_made_longer_without_end() -> None:
    recent = Recent()
    recent.completed(job(0, 10, user="a"), 10)
    mine = job(1, 70, user="a")
    assert recent(mine, 1) == 10
    assert recent.longer(mine, 10) == 10 + 60
    assert recent.longer(mine, 1e9) == 1e9 + 6000 * 60


# --- beyond a prediction (Tsafrir, Etsion and Feitelson 2007) -------------------------------------


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
    assert Recent().longer(job(0), believed) == believed + step


def test_no_prediction_is_made_longer_than_the_users_estimate() -> None:
    recent, mine = Recent(), job(0, estimate=8 * MINUTE)
    assert recent.longer(mine, 2 * MINUTE) == 7 * MINUTE
    assert recent.longer(mine, 7 * MINUTE) == 8 * MINUTE
    assert recent.longer(mine, 8 * MINUTE) is None


def test_a_job_of_which_nothing_else_is_said_is_there_from_the_beginning() -> None:
    plain, later = job(0), BatchJob(1, "b", Rigid(1, 9), submitted=0.5)
    urgent = [first_come(it, 1, it.believed(1), 4, lambda job: 0.0) for it in (plain, later)]
    assert urgent == [0, -0.5]
    assert (plain.submitted, plain.verification, plain.priority) == (0, 0, 0)
