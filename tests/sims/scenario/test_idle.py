"""Settings that nothing reads are said."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.scenario.advice import idle
from sims.scenario.loader import load, read
from sims.world import run
from tests.case_files import listed
from tests.sims.kinds import SCENARIOS


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_shipped_scenarios_say_nothing_that_nobody_reads(path: Path) -> None:
    assert list(idle(load(path))) == []


@pytest.mark.parametrize(("name", "override"), listed(__file__, "idle"))
def test_a_setting_without_effect_is_named_with_the_reason(name: str, override: str) -> None:
    [(key, reason)] = idle(load(SCENARIOS / f"{name}.toml", [override]))
    assert override.startswith(key)
    assert reason


def test_a_setting_that_is_read_is_not_named() -> None:
    overrides = ["policy.name=R-LIST-1", "policy.reading=easy", "policy.order=SPT"]
    assert list(idle(load(SCENARIOS / "batch-rigid.toml", overrides))) == []


def test_copies_of_which_no_second_fits_are_warned_of() -> None:
    jobs = [{"processors": width, "time": 5} for width in (4, 3)]
    table = {"platform": {"workers": 6}, "job": {"kind": "rigid", "jobs": jobs}}
    told = r"copies has no effect for J1: a second copy .* 4 wide never fits on 6 workers$"
    with pytest.warns(UserWarning, match=told):
        run(read(table | {"name": "wide", "protection": {"copies": 2}}, "test"))
