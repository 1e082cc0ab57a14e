"""The monkey: whatever is struck, whenever, every run ends soundly and keeps what was saved."""

from __future__ import annotations

from math import nextafter
from pathlib import Path

import pytest
from attrs import evolve

from actors.events import JobSubmitted
from actors.plan import State
from actors.protection import Buddies, Images
from actors.runtime import Record
from sims.cli.chaos import Injection, attempt, moments, trials, undisturbed, usual_length
from sims.examples import AXES
from sims.scenario.loader import load
from tests.sims.cli.commands import ROOT
from tests.sims.kinds import of_cell

pytestmark = pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
HERE = Path()
MOST = 60


def problems(cell: str, most: int = MOST) -> list[str]:
    """What the monkey finds in a cell's example."""
    it = of_cell(cell)
    baseline = undisturbed(it, HERE)
    assert not baseline.problems
    asked = trials(it, HERE, baseline, usual_length(it, baseline), most)
    assert len(asked) == most
    assert {trial.injection for trial in asked} == set(Injection)
    return [f"{cell}: {p}" for trial in asked for p in attempt(trial).problems]


@pytest.mark.parametrize("kind", AXES["kind"]["parts"])
@pytest.mark.parametrize("guard", AXES["guard"]["parts"])
@pytest.mark.parametrize("link", AXES["link"]["parts"])
def test_every_run_with_one_injected_failure_ends_soundly(kind: str, guard: str, link: str) -> None:
    for hazard in ("none", "all"):
        assert not problems(f"{kind}/{hazard}/{guard}/{link}", 12)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("cell", "protection"),
    [
        ("rigid/none/images/master", Images),
        ("iterative/none/images/free", Images),
        ("rigid/none/buddies/free", Buddies),
        ("moldable/none/buddies/master", Buddies),
    ],
)
def test_a_protection_that_forgets_what_it_saved_is_found_out(
    cell: str, protection: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(self: object, copy: object, state: State) -> None:
        """Save nothing."""

    monkeypatch.setattr(protection, "save", forget)
    assert problems(cell)


def test_one_moment_lies_between_every_two_and_whole_slots_stay_whole() -> None:
    records = [Record(k, time, None, JobSubmitted("a")) for k, time in enumerate((0, 0, 2, 5))]
    assert moments(records, whole=False) == (0, 1, 2, 3.5)
    assert moments(records, whole=True) == (0, 1, 2)


@pytest.mark.parametrize("name", ["malleable-fatal", "batch-mixed"])
def test_an_injected_failure_is_spelt_as_options_of_run_beside_what_the_scenario_has(
    name: str,
) -> None:
    path = ROOT / "sims" / "scenarios" / f"{name}.toml"
    it = load(path)
    baseline = undisturbed(it, path.parent)
    for trial in trials(it, path.parent, baseline, 60.0, 8):
        words = trial.spelt().replace("'", "").split("--set ")[1:]
        assert load(path, [word.strip() for word in words]) == trial.injected()


def test_all_are_tried_where_few_are_possible_and_one_that_is_not_over_in_time_is_found() -> None:
    it = of_cell("rigid/none/re-execution/free")
    baseline = undisturbed(it, HERE)
    every = trials(it, HERE, baseline, 1.0, 10**6)
    assert len(every) == len(Injection) * it.full_platform.size * len(baseline.instants)

    [trial] = trials(it, HERE, baseline, 1.0, 1)
    cut = attempt(evolve(trial, limit=baseline.makespan / 2))
    assert cut.problems[0] == f"it has not ended at {baseline.makespan / 2:g}"


def test_between_two_times_that_no_number_lies_between_there_is_no_moment() -> None:
    times = (1.0, nextafter(1.0, 2), 3.0)
    records = [Record(k, time, None, JobSubmitted("a")) for k, time in enumerate(times)]
    assert moments(records, whole=False) == (*times[:2], 2.0)
