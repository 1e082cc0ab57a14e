"""Every scenario of the repository runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.events import DeciderKind, End
from sims.errors import InputError
from sims.scenario.jobs.section import KINDS
from sims.scenario.loader import load
from sims.summary import Summary
from sims.world import run

SCENARIOS = Path(__file__).parents[3] / "sims" / "scenarios"
FILES = sorted(SCENARIOS.glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_of_the_repository_runs_to_its_end(path: Path) -> None:
    scenario, summary = load(path), Summary()
    ending = run(scenario, [summary], path.parent)
    assert ending.end is End.COMPLETED
    assert summary.end is End.COMPLETED
    assert summary.submitted
    assert summary.started is not None
    assert summary.started.scenario == path.stem


def test_every_kind_of_job_has_a_scenario() -> None:
    assert {load(path).job.kind for path in FILES} == set(KINDS)


def test_tasks_take_fractions_of_seconds_but_whole_slots() -> None:
    def makespan(unit: str, time: float) -> float:
        changes = [f"unit={unit}", *(f"workers.{k}.task_time={time}" for k in range(5))]
        summary = Summary()
        run(load(SCENARIOS / "coupled.toml", changes), [summary])
        assert summary.makespan is not None
        return summary.makespan

    assert makespan("s", 2) == makespan("slot", 2)
    assert makespan("s", 1.5) % 1
    with pytest.raises(InputError, match=r"task_time = 1\.5 is no whole number of slots"):
        makespan("slot", 1.5)


def test_a_changed_copy_has_nothing_that_was_worked_out_of_the_former() -> None:
    scenario = load(SCENARIOS / "batch-easy.toml")
    assert (scenario.full_platform.size, scenario.decider) == (64, DeciderKind.QUEUE)
    assert scenario.platform is not None
    wider = scenario.platform.model_copy(update={"workers": 100})
    changed = scenario.model_copy(update={"platform": wider})
    assert changed.full_platform.size == 100
    assert scenario.full_platform.size == 64
