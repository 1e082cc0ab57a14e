"""Lublin and Feitelson's model, held against a log that their own program made.

The numbers of that log are those of lublin-256 of the Parallel Workloads Archive: 10,000 jobs on
256 processors.
"""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import gamma

from actors.runtime import stream
from sims.scenario.jobs.drawn import Lublin
from sims.scenario.jobs.logs import Replay
from tests.case_files import listed

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
JOBS = 40_000


@pytest.fixture(scope="module")
def drawn() -> Replay:
    return Replay.of(Lublin(jobs=JOBS).draw(stream(1, "workload/lublin"), 256))


def ranks(values: np.ndarray, at: tuple[float, ...]) -> np.ndarray:
    """Shares of `values` below, half of those equal counted, as quantiles of a few values are."""
    return np.array([(np.mean(values < it) + np.mean(values <= it)) / 2 for it in at])


def near(share: float, jobs: int = 10_000) -> float:
    """Four standard errors of a share seen in the log's jobs and in ours."""
    return float(4 * np.sqrt(share * (1 - share) * (1 / jobs + 1 / JOBS)))


def test_sizes_are_those_of_the_log(drawn: Replay) -> None:
    sizes = drawn["processors"]
    powers = (sizes & (sizes - 1)) == 0
    for found, logged in ((sizes == 1, 0.2493), (powers, 0.8613), (sizes <= 8, 0.6139)):
        assert found.mean() == pytest.approx(logged, abs=near(logged))
    assert (sizes > 64).mean() == pytest.approx(0.0682, abs=near(0.0682))
    assert sizes.mean() == pytest.approx(22.101, rel=0.04)
    assert (sizes.min(), sizes.max()) == (1, 256)


def test_runs_are_those_of_the_log_and_hang_on_sizes(drawn: Replay) -> None:
    found = ranks(drawn["times"], (7, 21, 137, 8270.5, 15578.3))
    allowed = [near(share) for share in QUANTILES]
    assert (abs(found - QUANTILES) < np.array(allowed) + 0.01).all()
    assert drawn["times"].mean() == pytest.approx(4862.8, rel=0.04)
    assert 1 <= drawn["times"].min() <= drawn["times"].max() <= np.exp(12)
    for low, high, long, jobs in (
        (1, 8, 0.2940, 6139),
        (9, 64, 0.4228, 3179),
        (65, 256, 0.922, 682),
    ):
        these = (low <= drawn["processors"]) & (drawn["processors"] <= high)
        share = (drawn["times"][these] > 1000).mean()
        assert share == pytest.approx(long, abs=near(long, jobs) + 0.01)


def test_times_between_arrivals_are_those_of_the_log(drawn: Replay) -> None:
    found = ranks(np.diff(drawn["submitted"]), (18, 41, 116, 366, 1266.8))
    assert (abs(found - QUANTILES) < [near(share) + 0.01 for share in QUANTILES]).all()


def test_arrivals_follow_the_published_cycle_of_a_day(drawn: Replay) -> None:
    weights = Lublin(jobs=1).weights()
    assert weights.mean() == pytest.approx(1)
    assert weights.argmin() == 9  # 4:30, the law's half hour 11
    noon = gamma.cdf(26.5, 8.1737, scale=3.9631) - gamma.cdf(25.5, 8.1737, scale=3.9631)
    late = gamma.cdf(52.5, 8.1737, scale=3.9631) - gamma.cdf(51.5, 8.1737, scale=3.9631)
    assert weights[24] / weights[2] == pytest.approx(noon / late)  # 12:00 and 1:00
    slots = (drawn["submitted"] % 86_400 // 1800).astype(int)
    found = np.bincount(slots, minlength=48) * 48 / JOBS
    # Arrivals come in bursts, so that a half hour's count scatters more than a Poisson one's.
    assert np.corrcoef(found, weights)[0, 1] > 0.98


HALF_HOURS = np.array(listed(__file__, "half_hours"))
"""The log's submissions by half hour of the day, from midnight on."""


def test_the_days_hours_are_those_of_the_log() -> None:
    weights = Lublin(jobs=1).weights()
    assert np.corrcoef(HALF_HOURS, weights)[0, 1] > 0.97
    likelihoods = {
        later: float(HALF_HOURS @ np.log(np.roll(weights, later))) for later in range(-4, 5)
    }
    assert max(likelihoods, key=likelihoods.__getitem__) == 0


def test_sizes_and_runs_follow_the_parameters_that_are_set() -> None:
    model = Lublin(jobs=5000, serial=1, short=(2, 1.5), mix=(0, 1))
    drawn = Replay.of(model.draw(stream(2, "workload/lublin"), 64))
    assert set(drawn["processors"]) == {1}
    law = gamma(2, scale=1.5)
    shares = [0.25, 0.5, 0.75]
    found = ranks(np.log(drawn["times"] + 0.5), tuple(law.ppf(shares)))
    assert found == pytest.approx(shares, abs=0.04)


def test_laws_that_lie_beyond_the_bounds_are_refused() -> None:
    with pytest.raises(ValidationError, match="mean 12 or less"):
        Lublin(jobs=1, long=(100, 1))
