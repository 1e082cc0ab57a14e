"""The runnable questions: demo and Figure 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims import demo, figure1


def test_the_demo_prints_two_summaries_and_leaves_log_trace_and_picture_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for name in ("figure1", "volatile20"):
        assert f"{name}, seed" in told
        for suffix in (".jsonl", ".trace.txt", ".png"):
            assert (tmp_path / f"{name}{suffix}").stat().st_size > 1000
            assert f"{name}{suffix}" in told
    assert "iteration 0" in (tmp_path / "figure1.trace.txt").read_text()


def test_figure_1_is_the_papers_slot_by_slot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure1.compare(tmp_path)
    told = capsys.readouterr().out
    assert told.count("as in the paper") == len(figure1.PAPER)
    assert (tmp_path / "figure1.png").stat().st_size > 3000


def test_a_row_that_is_not_the_papers_is_shown_beside_it() -> None:
    assert figure1.verdict("P2", ".PPDD").endswith(figure1.PAPER["P2"])
    assert figure1.verdict("P1", "....") == ""
