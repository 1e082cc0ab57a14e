"""What a check makes of a scenario's jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.runtime import System
from sims.scenario.builders import populate
from sims.scenario.loader import load
from tests.sims.kinds import SCENARIOS


@pytest.mark.parametrize("simulated", [True, False])
def test_jobs_that_nothing_can_refuse_get_actors_for_a_run_alone(simulated: bool) -> None:
    """For a million jobs of a log they took half of the time that a check took."""
    scenario = load(SCENARIOS / "batch-easy.toml")
    system = System(scenario.seed, start=0)
    jobs = populate(scenario, system, Path(SCENARIOS), simulated).jobs
    made = len(system.actors) - 1
    assert made == (jobs if simulated else 0)
