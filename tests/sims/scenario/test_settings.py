"""What a log's first record says of a policy beside its name."""

from __future__ import annotations

import pytest

from sims.history.summary import Summary
from sims.scenario.loader import load
from sims.scenario.policy import settings
from sims.summary import summary_lines
from sims.world import run
from tests.case_files import listed
from tests.sims.kinds import SCENARIOS
from tests.sims.schedules import Schedule


@pytest.mark.parametrize(("name", "overrides", "told"), listed(__file__, "told"))
def test_fields_at_their_defaults_are_left_out(
    name: str, overrides: list[str], told: list[str]
) -> None:
    scenario = load(SCENARIOS / f"{name}.toml", overrides)
    assert list(settings(scenario.policy)) == told


def test_two_orders_have_two_titles() -> None:
    titles = set()
    for order in ("SPT", "LPT"):
        summary = Summary()
        run(load(SCENARIOS / "batch-rigid.toml", [f'policy.order="{order}"']), [summary])
        titles.add(summary_lines(summary)[0])
    assert titles == {"batch-rigid, seed 1, R-LIST-0", "batch-rigid, seed 1, R-LIST-0 (order=SPT)"}


def test_killed_jobs_count_and_the_last_of_all_ends_the_makespan() -> None:
    summary = Summary()
    scenario = load(SCENARIOS / "batch-easy.toml", ['job.overrun="kill"'])
    run(scenario, [summary], SCENARIOS)
    assert len(summary.killed) == 1
    assert len(summary.completed) + 1 == len(summary.submitted)
    assert summary.makespan == max(*summary.completed.values(), *summary.killed.values())
    assert "58 of 59 completed, 1 killed" in summary_lines(summary)[3]


def starts(*policy: str) -> dict[str, float]:
    found = Schedule()
    overrides = ["job.overrun=finish", "platform.workers=40", *(f"policy.{it}" for it in policy)]
    run(load(SCENARIOS / "batch-easy.toml", overrides), [found], SCENARIOS)
    return found.starts


@pytest.mark.parametrize("noise", ["lognormal", "uniform"])
def test_noise_of_next_to_no_spread_is_the_truth_and_other_noise_is_not(noise: str) -> None:
    exact, noisy = starts("estimates=exact"), ("estimates=noise", f"noise={noise}")
    assert starts(*noisy, "spread=1e-12") == exact
    assert starts(*noisy, "spread=2") != exact
