"""Expected values of malleable co-scheduling (malleable17), computed independently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.runtime import System
from policies.interface.pack import LookAhead
from policies.maths.cosched import Checkpointing, Link, costs, synthetic_times
from sims.scenario.builders.pack import application_costs, pack_of
from sims.scenario.workload import workload
from tests.sims.cosched_cases import Case, load, play, scenario_of
from tests.sims.malleable_story import Story

YEAR = 365 * 86400.0
EXACT = 1e-9


def _moves(story: Story) -> list[dict[str, Any]]:
    index = {job: k for k, job in enumerate(story.jobs)}
    return [
        {
            "cause": r.why.value,
            "app": index[r.job],
            "moves": [[index[job], before, after] for job, before, after in r.moves],
        }
        for r in story.redistributions
    ]


def _faults(story: Story) -> list[list[float]]:
    index = {job: k for k, job in enumerate(story.jobs)}
    code = {True: -2, False: -1}
    return [
        [f.time, f.processor, index[f.job] if f.job else code[f.held is not None]]
        for f in story.faults
    ]


def _check_redistributions(story: Story, expected: Case) -> None:
    wanted = expected["redistributions"]
    assert _moves(story) == [{k: r[k] for k in ("cause", "app", "moves")} for r in wanted]
    assert [r.time for r in story.redistributions] == pytest.approx(
        [r["t"] for r in wanted], rel=EXACT
    )
    assert story.makespan == pytest.approx(expected["makespan"], rel=EXACT)


def test_costs_periods_and_expected_times_match_the_values(cases_dir: Path) -> None:
    for value in load(cases_dir)["values"]:
        m, j, k, alpha = value["m"], value["j"], value["k"], value["alpha"]
        sizes = np.arange(1, max(j, k) + 1, dtype=np.float64)
        link = Link(value["S"], value["beta"], value["inv_bw"])
        protection = Checkpointing(
            value["mtbf_years"] * YEAR, value["c"], value["beta"], value["D"]
        )
        table = costs(synthetic_times(m, value["f"], sizes), m, 1, link, protection)
        got = {
            "t": table.times[j - 1],
            "C": table.checkpoint[j - 1],
            "tau": table.period[j - 1],
            "Nff": table.checkpoints(j, alpha),
            "tR": table.expected(j, alpha),
            "duration_no_fault": table.duration(j, alpha),
            "RC_j_to_k": table.redistribution(j, k),
            "RC_k_to_j": table.redistribution(k, j),
        }
        assert got == pytest.approx({name: value[name] for name in got}, rel=EXACT), value


def test_largest_useful_sizes_and_first_allocations_match(cases_dir: Path) -> None:
    for case in load(cases_dir)["instances"]:
        scenario = scenario_of(case, "none", LookAhead.ANY)
        jobs = workload(scenario, System(0))
        tables = application_costs(scenario, jobs, pack_of(scenario))
        assert [table.largest for table in tables] == case["jmax"], case["name"]
        expected = [t.expected(k, 1.0) for t, k in zip(tables, case["init"], strict=True)]
        assert expected == pytest.approx(case["tU_init"], rel=EXACT), case["name"]


def test_runs_match_under_the_default_reading(cases_dir: Path) -> None:
    for case in load(cases_dir)["instances"]:
        for key, expected in case["runs"].items():
            story = play(scenario_of(case, key, LookAhead.ANY))
            _check_redistributions(story, expected)
            ends = [story.ends[job] for job in story.jobs]
            assert ends == pytest.approx(expected["ends"], rel=EXACT), (case["name"], key)
            if "faults" in expected:
                assert _faults(story) == expected["faults"], (case["name"], key)


def test_runs_match_under_the_next_pair_reading(cases_dir: Path) -> None:
    for case in load(cases_dir)["instances"]:
        for key, expected in case["runs"].items():
            if "reading_M" in expected:
                story = play(scenario_of(case, key, LookAhead.NEXT_PAIR))
                _check_redistributions(story, expected["reading_M"])


@pytest.mark.parametrize(
    ("times", "allocation", "makespan"),
    [
        (((10, 9, 6), (6, 3)), "Opt-NoRedistrib", 8),
        (((10, 9, 6), (6, 3)), "GreedySpeedupProfile", 7.2),
        (((10, 6, 5), (6, 3)), "GreedySpeedupProfile", 6.5),
        (((10, 6, 5), (6, 3)), "Opt-NoRedistrib", 6),
    ],
)
def test_the_examples_of_section_4_come_out(
    times: tuple[tuple[float, ...], ...], allocation: str, makespan: float
) -> None:
    model = {"mtbf_years": None, "c": 0.0, "beta": 0.0, "S": 0.0, "D": 0.0, "faults": []}
    case: Case = {"name": "section 4", "p": 3, "ps": 1, "m": [0, 0], "table": times} | model
    story = play(scenario_of(case, f"{allocation}+EndLocal", LookAhead.ANY))
    assert story.makespan == pytest.approx(makespan, rel=EXACT)
