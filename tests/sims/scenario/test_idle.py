"""Settings that nothing reads are said."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.scenario.idle import idle
from sims.scenario.loader import load

SCENARIOS = Path(__file__).parents[3] / "sims/scenarios"


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_shipped_scenarios_say_nothing_that_nobody_reads(path: Path) -> None:
    assert list(idle(load(path))) == []


@pytest.mark.parametrize(
    ("name", "override"),
    [
        ("batch-rigid", "policy.look=next-pair"),
        ("batch-rigid", "policy.eps=0.3"),
        ("batch-rigid", "policy.reading=easy"),
        ("batch-easy", "policy.spread=3.0"),
        ("batch-easy", "policy.noise=uniform"),
        ("batch-rigid", "link.latency=2"),
        ("batch-rigid", "protection.period=4"),
        ("batch-rigid", "protection.cloning=true"),
        ("volatile20", "policy.order=SPT"),
        ("volatile20", "policy.placement=IP"),
        ("redundant", "policy.reuse=false"),
        ("malleable10", "policy.look=next-pair"),
        ("malleable10", "policy.placement=lowest"),
    ],
)
def test_a_setting_without_effect_is_named_with_the_reason(name: str, override: str) -> None:
    [(key, reason)] = idle(load(SCENARIOS / f"{name}.toml", [override]))
    assert override.startswith(key)
    assert reason


def test_a_setting_that_is_read_is_not_named() -> None:
    overrides = ["policy.name=R-LIST-1", "policy.reading=easy", "policy.order=SPT"]
    assert list(idle(load(SCENARIOS / "batch-rigid.toml", overrides))) == []
