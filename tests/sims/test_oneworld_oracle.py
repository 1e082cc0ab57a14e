"""The one world against an independent simulator of its rules: tests/oracle/."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import case_file
from tests.oracle.__main__ import differences
from tests.oracle.coincidences import EIGHTH, TENTH, WHOLE
from tests.oracle.world import simulate

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize("name", ["oneworld.json", "practice.json"])
def test_the_oracle_gives_every_expected_value_of_every_case(cases_dir: Path, name: str) -> None:
    """Else what it says of random scenarios would say nothing."""
    cases = case_file(cases_dir, name)["cases"]
    assert len(cases) > 100
    wrong = [
        f"{case['name']}: {key}"
        for case in cases
        for key, told in simulate(case["scenario"]).items()
        if told != case["expected"].get(key, told)
    ]
    assert wrong == []


@pytest.mark.parametrize(("seeds", "finest"), [(80, WHOLE), (40, EIGHTH), (60, TENTH)])
@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_our_world_does_what_the_oracle_says_in_random_scenarios(seeds: int, finest: int) -> None:
    """In tenths: within rounding, and what is one instant on paper is one."""
    wrong = [problem for seed in range(seeds) for problem in differences(seed, finest)]
    assert wrong == []
