"""`holdfast chaos`, `matrix`: whatever fails, a run ends soundly and keeps what was saved."""

from __future__ import annotations

import re
from math import nextafter
from pathlib import Path

import pytest
from attrs import evolve

from actors.events import JobSubmitted
from actors.protection import Buddies, Images
from actors.protection.plan import State
from actors.run import Run
from actors.runtime import Record, system
from actors.runtime.journal import Journal
from sims.cli import chaos
from sims.cli.chaos import Injection, attempt, moments, trials, undisturbed, usual_length
from sims.examples import AXES
from sims.scenario.loader import load
from tests.sims.cli.commands import ROOT, Shell
from tests.sims.kinds import SCENARIOS, of_cell


def test_what_cost_most_is_reported(shell: Shell) -> None:
    said = shell("chaos", SCENARIOS / "batch-moldable.toml", "--most", "20")
    assert said.code == 0
    assert "20 of" in said.out
    worst = re.compile(
        r"  (kill|reclaim) worker \d+ at [\d.]+ s: makespan [\d.]+ s, lost [\d.]+ processors x s"
    )
    assert "what cost most (baseline: 13 s)" in said.out
    assert "e-1" not in said.out
    assert len(list(filter(worst.fullmatch, said.out.splitlines()))) == 5
    assert "every run ends, obeys every law, and keeps what was saved" in said.out


def test_a_cells_example_is_a_scenario_file_that_runs(shell: Shell) -> None:
    said = shell("matrix", "moldable/faults/images/master")
    assert said.out.splitlines()[2] == "# images: Checkpoints lie at the master."
    path = shell.write(said.out, "cell.toml")
    assert shell("run", path, "--log", "none").code == 0


def test_a_cell_that_there_is_not_is_refused_with_those_that_there_are(shell: Shell) -> None:
    assert "(free | master)" in shell.refused("matrix", "rigid/faults")


def test_a_run_that_forgets_what_it_saved_is_reported_with_the_command_that_makes_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(self: object, run: Run, *_: object) -> None:
        """Save nothing."""

    monkeypatch.setattr(Images, "save", forget)
    monkeypatch.setattr(system, "Journal", Journal)  # which does not notice as it is written
    monkeypatch.setattr(chaos, "run_many", lambda task, all_: ((it, task(it)) for it in all_))
    path = shell.write(shell("matrix", "rigid/faults/images/free").out, "cell.toml")
    said = shell("chaos", path, "--most", "30", "--set", "name=forgetful")
    assert said.code == 1
    assert "baseline: " in said.out
    assert f"  holdfast run {path} --seed 0 --set name=forgetful --set " in said.out
    assert "keeps what was saved" not in said.out


def test_a_kind_of_failure_that_was_not_drawn_has_no_row(shell: Shell) -> None:
    said = shell("chaos", SCENARIOS / "batch-moldable.toml", "--most", "1")
    first = [line.split("  ")[1] for line in said.out.splitlines() if line.startswith("  ")]
    assert [it for it in first if it in ("kill", "reclaim")] in (["kill"], ["reclaim"])


def test_every_part_of_a_cells_name_is_reported_with_its_meaning(shell: Shell) -> None:
    said = shell("matrix")
    assert said.code == 0
    for axis in AXES.values():
        for part in axis["parts"]:
            [row] = [it for it in said.out.splitlines() if it.split()[:1] == [part]] or [""]
            assert len(row.split()) > 1, part


# --- whatever fails, whenever ------------------------------------------------------------------


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


@pytest.mark.usefixtures("unchecked")  # the attempts derive their logs themselves
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
        assert load(path, trial.settings()) == trial.injected()


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
