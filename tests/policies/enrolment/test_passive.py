"""IP, IE, IY, IAY, RANDOM and a fixed configuration (volatile13, section VI.A)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from policies.enrolment import Criterion, FixedConfiguration, Incremental, Random, named, tree
from policies.interface import Configuration, Reason, Wake
from policies.maths.markov import Belief, workers_of
from tests.policies.enrolment.views import FLEETING, NAMES, STEADY, View, ask, enrolment, views


def worth(criterion: Criterion, view: View, tasks: dict[int, int]) -> float:
    """The criterion of some tasks, as section VI writes it."""
    needs = [(q, view.missing(q, x)) for q, x in tasks.items()]
    work = max(x * view.enrolment.speeds[q] for q, x in tasks.items())
    log_success, duration = view.enrolment.belief.estimate(needs, work, view.enrolment.channels)
    success = math.exp(log_success)
    return {
        Criterion.P: success,
        Criterion.E: -duration,
        Criterion.Y: success / (view.elapsed + duration),
        Criterion.AY: success / duration,
    }[criterion]


def greedy(criterion: Criterion, view: View) -> dict[int, int]:
    """Section VI.A word by word, nothing remembered."""
    tasks: dict[int, int] = {}
    for _ in range(view.enrolment.tasks):
        room = [q for q in workers_of(view.up) if tasks.get(q, 0) < view.enrolment.bounds[q]]
        values = [worth(criterion, view, tasks | {q: tasks.get(q, 0) + 1}) for q in room]
        least = max(values) - TIE * abs(max(values))
        best = next(q for q, value in zip(room, values, strict=True) if value >= least)
        tasks[best] = tasks.get(best, 0) + 1
    return tasks


TIE = 1e-11
"""Relative: alike workers are worth the same, whatever the order of the sums."""


@given(views(), st.sampled_from(Criterion))
def test_passive_heuristics_assign_task_by_task_what_their_criterion_prefers(
    view: View, criterion: Criterion
) -> None:
    decision = ask(Incremental(criterion), view)
    capacity = sum(view.enrolment.bounds[q] for q in workers_of(view.up))
    if capacity < view.enrolment.tasks:
        assert decision is None
    else:
        assert dict(decision.members) == greedy(criterion, view)


@pytest.mark.parametrize("name", NAMES)
def test_forgetting_what_was_tried_changes_no_answer(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = enrolment([STEADY, FLEETING, STEADY, FLEETING], [3, 1, 2, 4], 4)
    ups = [0b1111, 0b0111, 0b1011, 0b1111, 0b1110]
    kept = [ask(named(name), View(asked, up)) for up in ups]
    monkeypatch.setattr(tree, "SCORES_KEPT", 0)
    again = evolve(asked, belief=Belief(asked.belief.chains))
    assert [ask(named(name), View(again, up)) for up in ups] == kept


@pytest.mark.parametrize("name", NAMES)
def test_of_equal_workers_the_lowest_indices_are_enrolled(name: str) -> None:
    decision = ask(named(name), View(enrolment([STEADY] * 5, [2] * 5, 2, [1] * 5), 0b11110))
    assert decision == Configuration(((1, 1), (2, 1)))


@pytest.mark.parametrize("name", [*NAMES, "RANDOM"])
def test_no_worker_gets_more_tasks_than_its_bound(name: str) -> None:
    asked = enrolment([STEADY, FLEETING, FLEETING], [1, 5, 9], 6, [3, 2, 1])
    assert ask(named(name), View(asked, 0b111)) == Configuration(((0, 3), (1, 2), (2, 1)))
    assert ask(named(name), View(asked, 0b011)) is None


def test_a_program_that_is_held_already_makes_a_worker_more_attractive() -> None:
    asked = enrolment([STEADY] * 2, [2, 2], 1)
    assert ask(named("IE"), View(asked, 0b11, programmed=0b10)) == Configuration(((1, 1),))


def test_data_that_survived_a_failure_counts_in_the_next_choice() -> None:
    asked = evolve(enrolment([STEADY] * 2, [2, 2], 1), data=5)
    after = View(asked, 0b11, programmed=0b11, reason=Reason.FAILURE, held={1: 3})
    assert ask(named("IE"), after) == Configuration(((1, 1),))


def test_the_yield_forgives_slow_safe_workers_late_in_an_iteration() -> None:
    asked = enrolment([FLEETING, STEADY], [2, 9], 1)
    assert ask(named("IY"), View(asked, 0b11, elapsed=0)) == Configuration(((0, 1),))
    assert ask(named("IY"), View(asked, 0b11, elapsed=500)) == Configuration(((1, 1),))
    assert ask(named("IAY"), View(asked, 0b11, elapsed=500)) == Configuration(((0, 1),))


@pytest.mark.parametrize("criterion", ["P", "Y", "AY"])
def test_hopeless_configurations_are_still_told_apart(criterion: str) -> None:
    asked = enrolment([FLEETING, STEADY], [9000, 9000], 1)
    estimates = [asked.belief.estimate([(q, 4)], 9000, 2)[0] for q in (0, 1)]
    assert math.exp(estimates[0]) == 0.0
    assert ask(named(f"I{criterion}"), View(asked, 0b11)) == Configuration(((1, 1),))


def test_random_gives_each_task_to_every_up_worker_equally_often() -> None:
    asked = enrolment([STEADY] * 4, [1] * 4, 1)
    rng, draws = np.random.default_rng(3), 6000
    counts = dict.fromkeys(range(4), 0)
    for _ in range(draws):
        counts[Random()(View(asked, 0b1011), rng).members[0][0]] += 1
    error = math.sqrt(draws * (1 / 3) * (2 / 3))
    assert counts[2] == 0
    assert all(abs(counts[q] - draws / 3) < 4 * error for q in (0, 1, 3))


def test_random_draws_only_from_the_generator_that_it_is_handed() -> None:
    view = View(enrolment([STEADY] * 6, [1] * 6, 6), 0b111111)
    first, again = (Random()(view, np.random.default_rng(9)) for _ in range(2))
    assert first == again


def test_a_fixed_configuration_waits_until_all_its_members_are_up() -> None:
    policy = FixedConfiguration(((2, 1), (1, 2)))
    asked = enrolment([STEADY] * 3, [1] * 3, 3)
    assert ask(policy, View(asked, 0b011)) is None
    assert ask(policy, View(asked, 0b110)) == Configuration(((1, 2), (2, 1)))
    assert policy.wake is Wake.NEVER
