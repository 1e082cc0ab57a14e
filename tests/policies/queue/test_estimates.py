"""What a queue believes of times beside what users say."""

from __future__ import annotations

from itertools import count

from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid
from policies.queue.estimates import ExactEstimates, Noisy, Recent


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
