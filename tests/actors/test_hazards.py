"""Silent errors: how often they strike, and what they undo."""

from __future__ import annotations

from math import exp
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from actors.events import (
    IterationStarted,
    JobCompleted,
    Outcome,
    RunEnded,
    TransferStarted,
    WorkerChanged,
)
from actors.hazards import SilentErrors
from sims.errors import InputError
from sims.papers.optimum import reference
from sims.scenario.faults import ErrorSection
from sims.scenario.loader import load
from tests.actors.deciders.enrolment.worlds import Costs, Played, play, workers, world

SCENARIOS = Path(__file__).parents[2] / "sims" / "scenarios"
STEADY = ["u" * 40] * 2


def under(rate: float, seed: int = 0, states: list[str] = STEADY, iterations: int = 1) -> Played:
    """Two tasks of 4 slots on two workers, with a program and data to send."""
    asked = world(
        workers(states, speeds=[4, 4]),
        2,
        Costs(channels=2, program=1, data=1),
        iterations,
        cap=100_000,
    )
    return play(evolve(asked, seed=seed, jobs=(evolve(asked.jobs[0], rate=rate),)))


def test_a_run_is_struck_as_often_as_its_area_says() -> None:
    errors = SilentErrors(rate=0.02, stream=lambda: np.random.default_rng(1))
    struck = sum(errors.finds_error(30.0) for _ in range(20_000)) / 20_000
    expected = 1 - exp(-0.6)
    assert struck == pytest.approx(expected, abs=4 * (expected * (1 - expected) / 20_000) ** 0.5)


def test_an_error_is_found_at_the_end_and_the_iteration_begins_again_at_once() -> None:
    played = next(it for it in (under(0.2, seed) for seed in range(50)) if len(it.outcomes()) == 3)
    assert played.outcomes() == [(6, "failed"), (10, "failed"), (14, "completed")]
    assert played.times(IterationStarted) == [0]
    assert [why for _, _, why in played.choices()] == ["start", "error", "error"]
    assert played.time == 14


def test_what_workers_have_received_outlives_an_error() -> None:
    played = next(it for it in (under(0.2, seed) for seed in range(50)) if len(it.outcomes()) > 1)
    assert max(played.times(TransferStarted)) == 1


def test_the_time_of_many_iterations_is_that_of_a_geometric_number_of_attempts() -> None:
    rate, iterations = 0.05, 2000
    played = under(rate, iterations=iterations, states=["u"] * 2)
    attempts = len(played.told(RunEnded))
    sound = exp(-rate * 2 * 4)
    deviation = (iterations * (1 - sound)) ** 0.5 / sound
    assert attempts == pytest.approx(iterations / sound, abs=4 * deviation)
    # A program once; data at each iteration's beginning, not at its later attempts.
    assert played.time == 1 + iterations + 4 * attempts


def test_errors_never_change_what_workers_owners_do() -> None:
    states = ["uururduuru" * 4, "uuuruuudru" * 4]
    sound, struck = under(0.0, states=states), under(0.1, states=states)
    changes = sound.told(WorkerChanged)
    assert struck.told(WorkerChanged)[: len(changes)] == changes
    assert struck.times(JobCompleted) >= sound.times(JobCompleted)


def test_without_a_rate_nothing_fails() -> None:
    ended = [event.outcome for _, event in under(0.0, iterations=50).told(RunEnded)]
    assert ended == [Outcome.COMPLETED] * 50


def test_nobody_can_foresee_silent_errors() -> None:
    asked = load(SCENARIOS / "coupled.toml").model_copy(update={"errors": ErrorSection(rate=0.1)})
    with pytest.raises(InputError, match=r"errors\.rate: 0\.1: nobody can foresee silent errors"):
        reference(asked, 40, 1.0)
