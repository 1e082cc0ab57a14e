"""Silent errors: how often they strike, and what they undo; realised availability against its law.

Samples of that are long and their seeds fixed; tolerances are six standard errors of the sample's
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from actors.events import RunEnded
from actors.hazards import STATES, Change, SilentErrors, markov_changes
from actors.runtime import stream
from policies.availability import WorkerState
from policies.maths.markov import MarkovChain
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


UP, RECLAIMED, DOWN = STATES
CHAIN = MarkovChain(((0.9, 0.07, 0.03), (0.3, 0.6, 0.1), (0.25, 0.05, 0.7)))
RESTLESS = MarkovChain(((0.0, 1.0, 0.0), (0.5, 0.0, 0.5), (1.0, 0.0, 0.0)))
ERRORS = 6


def changes(chain: MarkovChain, seed: int = 1, name: str = "P1") -> Iterator[Change]:
    return markov_changes(chain, stream(seed, name))


def sojourns(chain: MarkovChain, number: int) -> Iterator[tuple[WorkerState, int, WorkerState]]:
    """(state, slots in it, next state) of the first `number` sojourns."""
    for (start, state), (end, following) in pairwise(islice(changes(chain), number + 1)):
        yield state, int(end - start), following


def near(successes: int, trials: int, probability: float) -> bool:
    """Whether a frequency is within `ERRORS` standard errors of its probability."""
    error = sqrt(max(probability * (1 - probability), 1e-12) / trials)
    return abs(successes / trials - probability) <= ERRORS * error


@pytest.mark.parametrize("chain", [CHAIN, RESTLESS])
def test_transitions_from_slot_to_slot_are_as_frequent_as_the_chain_says(
    chain: MarkovChain,
) -> None:
    counts = {state: dict.fromkeys(STATES, 0) for state in STATES}
    for state, slots, following in sojourns(chain, 30_000):
        counts[state][state] += slots - 1
        counts[state][following] += 1
    for state, row in zip(STATES, chain.rows, strict=True):
        trials = sum(counts[state].values())
        assert trials > 1000
        for following, probability in zip(STATES, row, strict=True):
            assert near(counts[state][following], trials, probability), (state, following)


def test_sojourns_are_geometric() -> None:
    """P(k slots) = stay^(k-1) (1 - stay), cells of few expected sojourns pooled."""
    stay = CHAIN.rows[0][0]
    lengths = [slots for state, slots, _ in sojourns(CHAIN, 30_000) if state is UP]
    last = 40
    expected = [len(lengths) * stay ** (k - 1) * (1 - stay) for k in range(1, last)]
    observed = [lengths.count(k) for k in range(1, last)]
    expected.append(len(lengths) * stay ** (last - 1))
    observed.append(sum(length >= last for length in lengths))
    assert chisquare(observed, expected).pvalue > 1e-4


def test_a_state_that_is_never_left_ends_the_realisation() -> None:
    for_ever = MarkovChain(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    for state in STATES:
        assert list(markov_changes(for_ever, stream(1, "P1"), state)) == [(0, state)]
    doomed = MarkovChain(((0.5, 0.0, 0.5), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    assert [state for _, state in changes(doomed)] == [UP, DOWN]


@given(
    stays=st.tuples(*[st.floats(0, 1 - 1e-9)] * 3),
    shares=st.tuples(*[st.floats(0, 1)] * 3),
    seed=st.integers(0, 2**32),
)
def test_changes_come_in_whole_slots_in_order_and_along_the_chain(
    stays: tuple[float, float, float], shares: tuple[float, float, float], seed: int
) -> None:
    rows = []
    for k, (stay, share) in enumerate(zip(stays, shares, strict=True)):
        others = [share * (1 - stay), (1 - share) * (1 - stay)]
        rows.append((*others[:k], stay, *others[k:]))
    chain = MarkovChain((rows[0], rows[1], rows[2]))
    found = list(islice(changes(chain, seed), 200))
    assert found[0] == (0, UP)
    for (before, state), (after, following) in pairwise(found):
        assert int(after) == after > before
        assert chain.rows[STATES.index(state)][STATES.index(following)] > 0
        assert state is not following
