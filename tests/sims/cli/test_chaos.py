"""`holdfast chaos` and `holdfast matrix`."""

from __future__ import annotations

import pytest

from actors.protection import Images
from actors.run import Run
from actors.runtime import system
from actors.runtime.journal import Journal
from sims.cli import chaos
from sims.examples import AXES
from tests.sims.cli.commands import Shell
from tests.sims.kinds import SCENARIOS


def test_what_cost_most_is_told(shell: Shell) -> None:
    said = shell("chaos", SCENARIOS / "batch-moldable.toml", "--most", "20")
    assert said.code == 0
    assert "20 of" in said.out
    assert "what cost most" in said.out
    assert "every run ends, obeys every law, and keeps what was saved" in said.out


def test_a_cells_example_is_a_scenario_file_that_runs(shell: Shell) -> None:
    said = shell("matrix", "moldable/faults/images/master")
    assert said.out.splitlines()[2] == "# images: Checkpoints lie at the master."
    path = shell.write(said.out, "cell.toml")
    assert shell("run", path, "--log", "none").code == 0


def test_a_cell_that_there_is_not_is_refused_with_those_that_there_are(shell: Shell) -> None:
    assert "(free | master)" in shell.refused("matrix", "rigid/faults")


def test_a_run_that_forgets_what_it_saved_is_told_with_the_command_that_makes_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(self: object, run: Run, *_: object) -> None:
        """Save nothing."""

    monkeypatch.setattr(Images, "save", forget)
    monkeypatch.setattr(system, "Journal", Journal)  # which does not notice as it is written
    monkeypatch.setattr(chaos, "run_many", lambda task, all_: ((it, task(it)) for it in all_))
    path = shell.write(shell("matrix", "rigid/faults/images/free").out, "cell.toml")
    said = shell("chaos", path, "--most", "30")
    assert said.code == 1
    assert "baseline: " in said.out
    assert f"  holdfast run {path} --seed 0 --set " in said.out
    assert "keeps what was saved" not in said.out


def test_a_kind_of_failure_that_was_not_drawn_has_no_row(shell: Shell) -> None:
    said = shell("chaos", SCENARIOS / "batch-moldable.toml", "--most", "1")
    rows = [line.split()[0] for line in said.out.splitlines() if " x " in line]
    assert rows in (["kill"], ["reclaim"])


def test_every_part_of_a_cells_name_is_told_with_its_meaning(shell: Shell) -> None:
    said = shell("matrix")
    assert said.code == 0
    for axis in AXES.values():
        for part in axis["parts"]:
            [row] = [it for it in said.out.splitlines() if it.split()[:1] == [part]] or [""]
            assert len(row.split()) > 1, part
