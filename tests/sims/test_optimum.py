"""The clairvoyant reference beside a policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from policies.maths.offline import OfflineOptimum
from sims.cli import main
from sims.errors import InputError
from sims.papers.optimum import reference
from sims.scenario.loader import load

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"


@pytest.mark.parametrize("policy", ["IE", "Y-IE", "RANDOM"])
def test_no_policy_beats_the_clairvoyant_optimum(policy: str) -> None:
    found = reference(load(SCENARIOS / "coupled.toml", [f"policy.name={policy}"]), 39, 60)
    assert found.exact
    assert found.first.optimal
    assert found.first.upper is not None
    assert found.policy_first is None or found.policy_first >= found.first.upper
    assert found.policy_most <= found.most.upper


def test_a_scenario_with_communication_gives_a_bound_only() -> None:
    found = reference(load(SCENARIOS / "volatile20.toml"), 40, 20)
    assert not found.exact
    assert found.policy_most <= found.most.upper


def test_a_time_limit_gives_bounds() -> None:
    found = reference(load(SCENARIOS / "volatile20.toml"), 60, 1e-3)
    assert found.first.lower <= (found.first.upper or 61)
    assert found.most.lower <= found.most.upper


def test_the_command_prints_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimum", str(SCENARIOS / "coupled.toml"), "--slots", "39"]) == 0
    assert "clairvoyant optimum over 39 slots" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("protection={kind='images',period=3,cost=0}", r"protection\.kind: 'images': the optimum"),
        ("workers.0.speed={kind='constant',speed=2}", r"workers\.speed: workers are of speeds of"),
        ("job={kind='rigid',jobs=[]}", r"job\.kind"),
    ],
)
def test_another_kind_of_job_who_saves_work_or_varies_in_speed_has_no_optimum_here(
    override: str, key: str
) -> None:
    with pytest.raises(InputError, match=key):
        reference(load(SCENARIOS / "coupled.toml", [override]), 40, 1)


def test_the_first_end_is_reported_as_exactly_as_it_is_known() -> None:
    known = reference(load(SCENARIOS / "coupled.toml"), 39, 60)
    for first, said in {
        OfflineOptimum(7, 7, (), optimal=True): "at 7",
        OfflineOptimum(7, 9, (), optimal=False): "between 7 and 9 (time limit)",
        OfflineOptimum(7, None, (), optimal=False): "not before 7 (time limit)",
        OfflineOptimum(40, None, (), optimal=True): "never",
    }.items():
        told = "\n".join(evolve(known, first=first).lines())
        assert f"first iteration ends   {said}, the policy's at " in told
