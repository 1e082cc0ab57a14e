"""002, Figure 1, slot by slot, against expected values computed independently."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from actors.runtime import Record
from actors.volatile.events import ConfigurationChosen, IterationCompleted
from policies.maths.markov import Expectation
from sims.activity import Activity
from sims.scenario.availability import Letters, Markov
from sims.scenario.volatile import (
    IterativeSection,
    MasterSection,
    Service,
    VolatilePolicy,
    VolatileScenario,
    WorkerSection,
)
from sims.world import run
from tests.case_files import case_file

Case = dict[str, Any]

VARIANTS = ("variant_A", "variant_B")
ORDERS = {Service.STARTED_FIRST: "order0_holdr0", Service.LONGEST_FIRST: "order2_holdr0"}
"""The case file numbers its readings of the order of service: 0 is messages in progress, then the
lowest index; 2 is whoever lacks most first."""


@pytest.fixture
def case(cases_dir: Path) -> Case:
    return case_file(cases_dir, "volatile-figure1.json")


def fixed(case: Case) -> VolatilePolicy:
    """The configuration of the figure, whatever happens."""
    members = [[q, tasks] for q, tasks in enumerate(case["config"]) if tasks]
    return VolatilePolicy(
        name="policies.enrolment.fixed:FixedConfiguration", parameters={"members": members}
    )


def states_of(variant: Case) -> list[str]:
    states = variant["states"]
    return list(states.values() if isinstance(states, dict) else states)


def scenario(
    case: Case,
    variant: Case,
    policy: VolatilePolicy,
    order: Service = Service.STARTED_FIRST,
    timetable: tuple[tuple[str, ...], ...] = (),
) -> VolatileScenario:
    platform = tuple(
        WorkerSection(
            speed=w,
            memory=mu,
            availability=Letters(states=letters),
            belief=Markov(rows=cast(Any, tuple(tuple(row) for row in rows))),
        )
        for w, mu, letters, rows in zip(
            case["w"], case["mu"], states_of(variant), case["chains"], strict=True
        )
    )
    return VolatileScenario(
        name="figure1",
        master=MasterSection(
            channels=case["ncom"],
            program=case["Tprog"],
            data=case["Tdata"],
            order=order,
            timetable=timetable,
        ),
        workers=platform,
        job=IterativeSection(kind="iterative", tasks=case["m"], iterations=1, cap=1000),
        policy=policy,
    )


def play(what: VolatileScenario) -> list[Record]:
    records: list[Record] = []
    run(what, [records.append])
    return records


def ends(records: list[Record]) -> list[float]:
    return [record.t for record in records if isinstance(record.event, IterationCompleted)]


def configurations(records: list[Record]) -> list[list[Any]]:
    """[slot, tasks by worker, why] of each."""
    found = []
    for record in records:
        event = record.event
        if isinstance(event, ConfigurationChosen):
            tasks = dict(event.members)
            row = [tasks.get(f"P{q + 1}", 0) for q in range(5)]
            found.append([record.t, row, event.reason.value])
    return found


@pytest.mark.parametrize("name", VARIANTS)
def test_under_the_figures_timetable_every_slot_is_as_drawn(case: Case, name: str) -> None:
    variant = case[name]
    timetable = tuple(tuple(slot) for slot in variant["served_workers_by_slot"])
    records = play(scenario(case, variant, fixed(case), timetable=timetable))
    rows = Activity.of(records).rows
    assert {worker: rows[worker] for worker in variant["activity"]} == variant["activity"]
    assert ends(records) == [variant["end"]]
    assert sum(letter == "C" for letter in rows["P2"]) == case["compute_slots_needed"]


@pytest.mark.parametrize("form", Expectation)
@pytest.mark.parametrize("name", VARIANTS)
def test_ie_selects_the_figures_configuration(case: Case, name: str, form: Expectation) -> None:
    policy = VolatilePolicy(name="IE", expectation=form)
    chosen = configurations(play(scenario(case, case[name], policy)))
    assert chosen[0] == [case["config_selected_at"], case["config"], "start"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", VARIANTS)
def test_simple_orders_of_service_end_when_expected(case: Case, name: str, order: Service) -> None:
    records = play(scenario(case, case[name], fixed(case), order))
    assert ends(records) == case[name]["end_by_transfer_order"][ORDERS[order]]


def test_when_p3_goes_down_ie_replaces_it_and_every_slot_is_as_expected(case: Case) -> None:
    variant = case["variant_B_P3_down_at_14"]
    records = play(scenario(case, variant, VolatilePolicy(name="IE")))
    assert ends(records) == variant["done_order0_IE"]
    assert configurations(records) == variant["configs"]
    slots = ["".join(letters) for letters in zip(*Activity.of(records).rows.values(), strict=True)]
    assert slots == variant["activity"]
