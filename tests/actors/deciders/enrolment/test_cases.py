"""The volatile world against expected schedules, computed independently; and volatile13, Figure 1,
slot by slot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

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
FORMS = {"eform1": Expectation.EXACT, "eform0": Expectation.PRINTED}
VARIANTS = ("variant_A", "variant_B")
STARTED_FIRST = StartedFirst()
ORDERS: dict[ServiceOrder, str] = {
    STARTED_FIRST: "order0_holdr0",
    LongestFirst(): "order2_holdr0",
}
"""The case file numbers its readings of the order of service: 0 is messages in progress, then the
lowest index; 2 is whoever lacks most first."""


def read(config: pytest.Config) -> list[Case]:
    """The schedules of the case file; none where there is no such file."""
    path: Path = config.getoption("--cases") / "volatile.json"
    found: list[Case] = json.loads(path.read_text())["schedules"] if path.exists() else []
    return found


def schedules(config: pytest.Config) -> Iterator[tuple[Case, str, str]]:
    for k, case in enumerate(read(config)):
        for key in case["expected"]:
            yield case, key, f"{k}-{key}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "key" in metafunc.fixturenames:
        found = list(schedules(metafunc.config))
        metafunc.parametrize(
            ("case", "key"),
            [(case, key) for case, key, _ in found],
            ids=[name for *_, name in found],
        )
    if "drawn" in metafunc.fixturenames:
        drawn = [case for case in read(metafunc.config) if "activity_IE_eform1" in case]
        metafunc.parametrize("drawn", drawn, ids=range(len(drawn)))


def scenario(
    case: Case,
    states: Sequence[str] | dict[str, str],
    policy: EnrolmentPolicy,
    order: ServiceOrder = STARTED_FIRST,
    **more: Any,
) -> World:
    letters = states.values() if isinstance(states, dict) else states
    rows = zip(letters, case["w"], case["mu"], case["chains"], strict=True)
    platform = tuple(
        Machine(word, w, mu, MarkovChain(tuple(map(tuple, chain)))) for word, w, mu, chain in rows
    )
    costs = Costs(channels=case["ncom"], program=case["Tprog"], data=case["Tdata"], order=order)
    return world(platform, case["m"], costs, policy=policy, **more)


def of_schedule(case: Case, key: str) -> World:
    name, form = key.split("|")
    states, iterations = case["states"], case["iterations"]
    ends = {"cap": len(states[0]) + 1, "expectation": FORMS[form]}
    return scenario(case, states, named(name), iterations=iterations, **ends)


def configurations(case: Case, played: Played) -> list[list[Any]]:
    """[slot, tasks by worker, why] of each."""
    return [
        [t, [dict(members).get(q, 0) for q in range(len(case["w"]))], why]
        for t, members, why in played.choices()
    ]


def test_iterations_end_and_configurations_change_when_expected(case: Case, key: str) -> None:
    played = play(of_schedule(case, key))
    expected = case["expected"][key]
    assert played.times(IterationCompleted) == expected["done"]
    assert configurations(case, played) == expected["configs"]


def test_every_slot_of_ie_is_as_expected(drawn: Case) -> None:
    """Activity letters, with the exact E(S)(W); a column per worker."""
    letters = play(of_schedule(drawn, "IE|eform1")).rows()
    expected = drawn["activity_IE_eform1"]
    rows = ["".join(column) for column in zip(*expected, strict=True)]
    assert [row[: len(expected)] for row in letters] == rows


# --- Figure 1 -------------------------------------------------------------------------------------


@pytest.fixture
def figure(cases_dir: Path) -> Case:
    return case_file(cases_dir, "volatile-figure1.json")


def fixed(case: Case) -> EnrolmentPolicy:
    """The configuration of the figure, whatever happens."""
    return always(*((q, tasks) for q, tasks in enumerate(case["config"]) if tasks))


@pytest.mark.parametrize("name", VARIANTS)
def test_under_the_figures_timetable_every_slot_is_as_drawn(figure: Case, name: str) -> None:
    variant = figure[name]
    slots = variant["served_workers_by_slot"]
    timetable = Timetable(tuple(tuple(int(it[1:]) - 1 for it in slot) for slot in slots))
    played = play(scenario(figure, variant["states"], fixed(figure), timetable))
    rows = {f"P{q + 1}": row for q, row in enumerate(played.rows())}
    assert {worker: rows[worker] for worker in variant["activity"]} == variant["activity"]
    assert played.times(IterationCompleted) == [variant["end"]]
    assert sum(letter == "C" for letter in rows["P2"]) == figure["compute_slots_needed"]


@pytest.mark.parametrize("form", Expectation)
@pytest.mark.parametrize("name", VARIANTS)
def test_ie_selects_the_figures_configuration(figure: Case, name: str, form: Expectation) -> None:
    played = play(scenario(figure, figure[name]["states"], named("IE"), expectation=form))
    first = [figure["config_selected_at"], figure["config"], "start"]
    assert configurations(figure, played)[0] == first


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", VARIANTS)
def test_simple_orders_of_service_end_when_expected(
    figure: Case, name: str, order: ServiceOrder
) -> None:
    variant = figure[name]
    played = play(scenario(figure, variant["states"], fixed(figure), order))
    assert played.times(IterationCompleted) == variant["end_by_transfer_order"][ORDERS[order]]


def test_when_p3_goes_down_ie_replaces_it_and_every_slot_is_as_expected(figure: Case) -> None:
    variant = figure["variant_B_P3_down_at_14"]
    played = play(scenario(figure, variant["states"], named("IE")))
    assert played.times(IterationCompleted) == variant["done_order0_IE"]
    assert configurations(figure, played) == variant["configs"]
    slots = ["".join(letters) for letters in zip(*played.rows(), strict=True)]
    assert slots == variant["activity"]
