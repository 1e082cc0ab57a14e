"""The volatile world against expected schedules, computed independently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.runtime import Record
from actors.volatile.events import ConfigurationChosen, IterationCompleted
from policies.maths.markov import Expectation
from sims.activity import Activity
from sims.scenario.availability import Letters, Markov
from sims.scenario.volatile import (
    IterativeSection,
    MasterSection,
    VolatilePolicy,
    VolatileScenario,
    WorkerSection,
)
from sims.world import run

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


def scenario(case: dict[str, Any], key: str) -> VolatileScenario:
    name, form = key.split("|")
    workers = tuple(
        WorkerSection(
            speed=w, memory=mu, availability=Letters(states=states), belief=believed(rows)
        )
        for w, mu, states, rows in zip(
            case["w"], case["mu"], case["states"], case["chains"], strict=True
        )
    )
    return VolatileScenario(
        name=key,
        master=MasterSection(channels=case["ncom"], program=case["Tprog"], data=case["Tdata"]),
        workers=workers,
        job=IterativeSection(
            kind="iterative",
            tasks=case["m"],
            iterations=case["iterations"],
            cap=len(case["states"][0]) + 1,
        ),
        policy=VolatilePolicy(name=name, expectation=FORMS[form]),
    )


def test_iterations_end_and_configurations_change_when_expected(
    case: dict[str, Any], key: str
) -> None:
    records: list[Record] = []
    run(scenario(case, key), [records.append])
    done = [r.t for r in records if isinstance(r.event, IterationCompleted)]
    chosen = [
        [r.t, tasks_by_worker(r.event, case["p"]), r.event.reason.value]
        for r in records
        if isinstance(r.event, ConfigurationChosen)
    ]
    expected = case["expected"][key]
    assert done == expected["done"]
    assert chosen == expected["configs"]


def test_every_slot_of_ie_is_as_expected(drawn: dict[str, Any]) -> None:
    """Activity letters, with the exact E(S)(W); a column per worker."""
    activity = Activity()
    run(scenario(drawn, "IE|eform1"), [activity])
    expected = drawn["activity_IE_eform1"]
    rows = ["".join(column) for column in zip(*expected, strict=True)]
    assert [row[: len(expected)] for row in activity.rows.values()] == rows


def tasks_by_worker(event: ConfigurationChosen, workers: int) -> list[int]:
    tasks = dict(event.members)
    return [tasks.get(f"P{q + 1}", 0) for q in range(workers)]


def believed(rows: list[list[float]]) -> Markov:
    u, r, d = (tuple(row) for row in rows)
    return Markov(rows=(u, r, d))
