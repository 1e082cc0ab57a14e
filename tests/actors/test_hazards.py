"""Silent errors: how often they strike, and what they undo."""

from __future__ import annotations

from math import exp
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from actors.events import RunEnded
from actors.hazards import SilentErrors
from sims.errors import InputError
from sims.papers.optimum import reference
from sims.scenario.faults import ErrorSection
from sims.scenario.loader import load
from tests.actors.deciders.enrolment.worlds import Costs, play, workers, world

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"


def test_a_run_is_struck_as_often_as_its_area_says() -> None:
    errors = SilentErrors(rate=0.02, stream=lambda: np.random.default_rng(1))
    struck = sum(errors.finds_error(30.0) for _ in range(20_000)) / 20_000
    expected = 1 - exp(-0.6)
    assert struck == pytest.approx(expected, abs=4 * (expected * (1 - expected) / 20_000) ** 0.5)


@pytest.mark.usefixtures("unchecked")
def test_the_time_of_many_iterations_is_that_of_a_geometric_number_of_attempts() -> None:
    """Two tasks of 4 slots on two workers, with a program and data to send."""
    rate, iterations, costs = 0.05, 2000, Costs(channels=2, program=1, data=1)
    asked = world(workers(["u"] * 2, speeds=[4, 4]), 2, costs, iterations, cap=100_000)
    played = play(evolve(asked, jobs=(evolve(asked.jobs[0], rate=rate),)))
    attempts = len(played.told(RunEnded))
    sound = exp(-rate * 2 * 4)
    deviation = (iterations * (1 - sound)) ** 0.5 / sound
    assert attempts == pytest.approx(iterations / sound, abs=4 * deviation)
    # A program once; data at each iteration's beginning, not at its later attempts.
    assert played.time == 1 + iterations + 4 * attempts


def test_nobody_can_foresee_silent_errors() -> None:
    asked = load(SCENARIOS / "coupled.toml").model_copy(update={"errors": ErrorSection(rate=0.1)})
    with pytest.raises(InputError, match=r"errors\.rate: 0\.1: nobody can foresee silent errors"):
        reference(asked, 40, 1.0)
