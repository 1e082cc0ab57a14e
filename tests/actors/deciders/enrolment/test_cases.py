"""The volatile world against expected schedules, computed independently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from actors.events import IterationCompleted
from policies.enrolment import named
from policies.maths.markov import Expectation, MarkovChain
from tests.actors.deciders.enrolment.worlds import (
    Costs,
    Machine,
    Members,
    World,
    play,
    world,
)

FORMS = {"eform1": Expectation.EXACT, "eform0": Expectation.PRINTED}


def read(config: pytest.Config) -> list[dict[str, Any]]:
    """The schedules of the case file; none where there is no such file."""
    path: Path = config.getoption("--cases") / "volatile.json"
    found: list[dict[str, Any]] = json.loads(path.read_text())["schedules"] if path.exists() else []
    return found


def schedules(config: pytest.Config) -> Iterator[tuple[dict[str, Any], str, str]]:
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


def scenario(case: dict[str, Any], key: str) -> World:
    name, form = key.split("|")
    rows = zip(case["states"], case["w"], case["mu"], case["chains"], strict=True)
    platform = tuple(Machine(states, w, mu, believed(chain)) for states, w, mu, chain in rows)
    costs = Costs(channels=case["ncom"], program=case["Tprog"], data=case["Tdata"])
    return evolve(
        world(
            platform,
            case["m"],
            costs,
            case["iterations"],
            len(case["states"][0]) + 1,
            named(name),
        ),
        expectation=FORMS[form],
    )


def test_iterations_end_and_configurations_change_when_expected(
    case: dict[str, Any], key: str
) -> None:
    played = play(scenario(case, key))
    chosen = [[t, tasks_by_worker(members, case["p"]), why] for t, members, why in played.choices()]
    expected = case["expected"][key]
    assert played.times(IterationCompleted) == expected["done"]
    assert chosen == expected["configs"]


def test_every_slot_of_ie_is_as_expected(drawn: dict[str, Any]) -> None:
    """Activity letters, with the exact E(S)(W); a column per worker."""
    letters = play(scenario(drawn, "IE|eform1")).rows()
    expected = drawn["activity_IE_eform1"]
    rows = ["".join(column) for column in zip(*expected, strict=True)]
    assert [row[: len(expected)] for row in letters] == rows


def tasks_by_worker(members: Members, workers: int) -> list[int]:
    tasks = dict(members)
    return [tasks.get(q, 0) for q in range(workers)]


def believed(rows: list[list[float]]) -> MarkovChain:
    u, r, d = (tuple(row) for row in rows)
    return MarkovChain((u, r, d))
