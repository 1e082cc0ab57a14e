"""The paper's names, and what they choose first in the cases (volatile13, section VI)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from policies.enrolment import Criterion, Incremental, Proactive, named
from policies.interface import Configuration, Enrolment
from policies.maths.markov import Belief, Expectation, MarkovChain
from tests.case_files import case_file
from tests.policies.enrolment.views import View, ask


@pytest.mark.parametrize("criterion", Criterion)
@pytest.mark.parametrize("heuristic", Criterion)
def test_every_pair_of_the_paper_has_its_name(criterion: Criterion, heuristic: Criterion) -> None:
    expected = Proactive(criterion, Incremental(heuristic))
    assert named(f"{criterion.value}-I{heuristic.value}") == expected


@pytest.mark.parametrize("name", ["", "ie", "E", "E-", "-IE", "IX", "E-RANDOM", "IE-IE", "E-IE-IE"])
def test_an_unknown_name_is_refused_with_what_is_accepted(name: str) -> None:
    with pytest.raises(ValueError, match=r"accepted: IP, IE, IY, IAY, RANDOM, or C-H"):
        named(name)


def chains_of(case: dict[str, Any]) -> list[MarkovChain]:
    rows = [[(row[0], row[1], row[2]) for row in one] for one in case["chains"]]
    return [MarkovChain((u, r, d)) for u, r, d in rows]


def platform(case: dict[str, Any], expectation: Expectation) -> Enrolment:
    return Enrolment(
        speeds=tuple(case["w"]),
        bounds=tuple(case["mu"]),
        tasks=case["m"],
        channels=case["ncom"],
        program=case["Tprog"],
        data=case["Tdata"],
        belief=Belief(chains_of(case), expectation),
    )


def up_at(states: Sequence[str], slot: int) -> int:
    return sum(1 << q for q, letters in enumerate(states) if letters[slot] == "u")


def test_cases_begin_with_the_expected_configuration(cases_dir: Path) -> None:
    for case in case_file(cases_dir, "volatile.json")["schedules"]:
        for key, expected in case["expected"].items():
            name, form = key.split("|")
            exact = form == "eform1"
            expectation = Expectation.EXACT if exact else Expectation.PRINTED
            slot, tasks, _ = expected["configs"][0]
            view = View(platform(case, expectation), up_at(case["states"], slot), elapsed=slot)
            members = tuple((q, x) for q, x in enumerate(tasks) if x)
            assert ask(named(name), view) == Configuration(members)


def test_figure_1_is_what_expected_completion_time_selects(cases_dir: Path) -> None:
    case = case_file(cases_dir, "volatile-figure1.json")
    slot = case["config_selected_at"]
    states = [case["variant_B"]["states"][f"P{q + 1}"] for q in range(case["p"])]
    members = tuple((q, x) for q, x in enumerate(case["config"]) if x)
    for expectation in Expectation:
        view = View(platform(case, expectation), up_at(states, slot))
        assert ask(named("IE"), view) == Configuration(members)
