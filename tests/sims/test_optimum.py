"""The clairvoyant reference beside a policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.cli import main
from sims.errors import InputError
from sims.optimum import reference
from sims.scenario.loader import load

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"


@pytest.mark.parametrize("policy", ["IE", "IP", "Y-IE", "E-IAY", "RANDOM"])
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


def test_other_kinds_of_scenario_are_refused() -> None:
    with pytest.raises(InputError, match=r"job\.kind"):
        reference(load(SCENARIOS / "batch-rigid.toml"), 40, 1)


def test_the_command_prints_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimum", str(SCENARIOS / "coupled.toml"), "--slots", "39"]) == 0
    assert "clairvoyant optimum over 39 slots" in capsys.readouterr().out
