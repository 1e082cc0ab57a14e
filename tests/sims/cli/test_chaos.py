"""`holdfast chaos` and `holdfast matrix`."""

from __future__ import annotations

from tests.sims.cli.commands import ROOT, Shell

SCENARIOS = ROOT / "sims" / "scenarios"


def test_what_cost_most_is_told(shell: Shell) -> None:
    said = shell("chaos", SCENARIOS / "batch-moldable.toml", "--most", "20")
    assert said.code == 0
    assert "20 of" in said.out
    assert "what cost most" in said.out
    assert "every run ends, obeys every law, and keeps what was saved" in said.out


def test_a_cells_example_is_a_scenario_file_that_runs(shell: Shell) -> None:
    said = shell("matrix", "moldable/faults/images/master")
    path = shell.write(said.out, "cell.toml")
    assert shell("run", path, "--log", "none").code == 0


def test_a_cell_that_there_is_not_is_refused_with_those_that_there_are(shell: Shell) -> None:
    said = shell("matrix", "rigid/faults")
    assert said.code == 2
    assert "(free | master)" in said.complaint()
