"""volatile13, Figure 1, slot by slot, against expected values computed independently."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve

from actors.events import IterationCompleted
from policies.enrolment import named
from policies.interface import EnrolmentPolicy, ServiceOrder
from policies.maths.markov import Expectation, MarkovChain
from policies.service import LongestFirst, StartedFirst, Timetable
from tests.actors.deciders.enrolment.worlds import (
    Costs,
    Machine,
    Played,
    World,
    play,
    world,
)
from tests.actors.deciders.enrolment.worlds import fixed as always
from tests.case_files import case_file

Case = dict[str, Any]

VARIANTS = ("variant_A", "variant_B")
STARTED_FIRST = StartedFirst()
ORDERS: dict[ServiceOrder, str] = {
    STARTED_FIRST: "order0_holdr0",
    LongestFirst(): "order2_holdr0",
}
"""The case file numbers its readings of the order of service: 0 is messages in progress, then the
lowest index; 2 is whoever lacks most first."""


@pytest.fixture
def case(cases_dir: Path) -> Case:
    return case_file(cases_dir, "volatile-figure1.json")


def fixed(case: Case) -> EnrolmentPolicy:
    """The configuration of the figure, whatever happens."""
    return always(*((q, tasks) for q, tasks in enumerate(case["config"]) if tasks))


def states_of(variant: Case) -> list[str]:
    states = variant["states"]
    return list(states.values() if isinstance(states, dict) else states)


def scenario(
    case: Case, variant: Case, policy: EnrolmentPolicy, order: ServiceOrder = STARTED_FIRST
) -> World:
    rows = zip(states_of(variant), case["w"], case["mu"], case["chains"], strict=True)
    platform = tuple(
        Machine(states, w, mu, MarkovChain(cast(Any, tuple(tuple(row) for row in chain))))
        for states, w, mu, chain in rows
    )
    costs = Costs(channels=case["ncom"], program=case["Tprog"], data=case["Tdata"], order=order)
    return world(platform, case["m"], costs, policy=policy)


def configurations(played: Played) -> list[list[Any]]:
    """[slot, tasks by worker, why] of each."""
    return [
        [t, [dict(members).get(q, 0) for q in range(5)], why]
        for t, members, why in played.choices()
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_under_the_figures_timetable_every_slot_is_as_drawn(case: Case, name: str) -> None:
    variant = case[name]
    slots = variant["served_workers_by_slot"]
    timetable = Timetable(tuple(tuple(int(it[1:]) - 1 for it in slot) for slot in slots))
    played = play(scenario(case, variant, fixed(case), timetable))
    rows = {f"P{q + 1}": row for q, row in enumerate(played.rows())}
    assert {worker: rows[worker] for worker in variant["activity"]} == variant["activity"]
    assert played.times(IterationCompleted) == [variant["end"]]
    assert sum(letter == "C" for letter in rows["P2"]) == case["compute_slots_needed"]


@pytest.mark.parametrize("form", Expectation)
@pytest.mark.parametrize("name", VARIANTS)
def test_ie_selects_the_figures_configuration(case: Case, name: str, form: Expectation) -> None:
    played = play(evolve(scenario(case, case[name], named("IE")), expectation=form))
    assert configurations(played)[0] == [case["config_selected_at"], case["config"], "start"]


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", VARIANTS)
def test_simple_orders_of_service_end_when_expected(
    case: Case, name: str, order: ServiceOrder
) -> None:
    played = play(scenario(case, case[name], fixed(case), order))
    assert played.times(IterationCompleted) == case[name]["end_by_transfer_order"][ORDERS[order]]


def test_when_p3_goes_down_ie_replaces_it_and_every_slot_is_as_expected(case: Case) -> None:
    variant = case["variant_B_P3_down_at_14"]
    played = play(scenario(case, variant, named("IE")))
    assert played.times(IterationCompleted) == variant["done_order0_IE"]
    assert configurations(played) == variant["configs"]
    slots = ["".join(letters) for letters in zip(*played.rows(), strict=True)]
    assert slots == variant["activity"]
