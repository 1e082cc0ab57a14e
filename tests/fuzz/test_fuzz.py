"""A sample of the fuzzer's cases; `python -m tests.fuzz.fuzz FIRST LAST` asks more."""

from __future__ import annotations

import pytest

from tests.fuzz.cases import STRANGERS, case
from tests.fuzz.fuzz import ask

CASES, PART = 300, 50


@pytest.mark.parametrize("first", [*range(0, CASES, PART), STRANGERS, STRANGERS + PART])
def test_spoilt_input_is_refused_in_one_line_or_does_what_it_says(first: int) -> None:
    troubles = {seed: ask(case(seed)).trouble for seed in range(first, first + PART)}
    assert not {seed: trouble for seed, trouble in troubles.items() if trouble}


def test_the_cases_are_the_same_each_time() -> None:
    assert [case(seed) for seed in range(40)] == [case(seed) for seed in range(40)]


def test_a_number_grows_beyond_what_there_is() -> None:
    assert case(15140).files


def test_the_cost_is_reported_workers_whose_trace_no_chain_fits() -> None:
    answer = ask(case(24069))
    assert (answer.code, answer.trouble) == (0, "")


@pytest.mark.parametrize(
    "found",
    [
        *(13914, 14755, 15105, 15917, 20280, 27893, 29820, 31849, 33443, 47434, 49175, 72152),
        *(701542, 710748, 1711898),
    ],
)
def test_what_the_fuzzer_found_is_refused_in_one_line(found: int) -> None:
    answer = ask(case(found))
    assert (answer.code, answer.trouble) == (2, "")


def test_one_bad_line_of_a_log_of_jobs_is_left_out_and_refuses_nothing() -> None:
    answer = ask(case(16733))
    assert (answer.code, answer.trouble) == (0, "")
