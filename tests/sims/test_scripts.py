"""The runnable questions: demo, Figure 1, the study of the master's bandwidth."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from actors.events import End
from sims import bandwidth, demo, figure1
from sims.bandwidth import QUESTION, Task, sentence, table, worth
from sims.statistics import Interval
from sims.world import run


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Pretend that a script was called with these words."""
    monkeypatch.setattr(sys, "argv", ["script", *words])


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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    called(monkeypatch, "--out", str(tmp_path))
    figure1.main()
    told = capsys.readouterr().out
    assert told.count("as in the paper") == len(figure1.PAPER)
    assert (tmp_path / "figure1.png").stat().st_size > 3000


def test_a_row_that_is_not_the_papers_is_shown_beside_it() -> None:
    assert figure1.verdict("P2", ".PPDD").endswith(figure1.PAPER["P2"])
    assert figure1.verdict("P1", "....") == ""


# --- how many workers are worth enrolling ---------------------------------------------------------

CELLS = {
    (1, 4, 1): Interval(100, 5, 9),
    (1, 4, 2): Interval(62, 5, 9),
    (1, 4, 5): Interval(60, 5, 9),
    (1, 4, 10): Interval(90, 5, 9),
    (5, 4, 1): Interval(100, 5, 9),
    (5, 4, 10): Interval(20, 1, 9),
}


def test_the_fewest_workers_within_5_percent_of_the_best_are_worth_it() -> None:
    assert worth(CELLS, 1, 4) == 2
    assert worth(CELLS, 5, 4) == 10


def test_the_sentence_answers_for_every_bandwidth() -> None:
    assert "With 1, 5 channels (n_com) it is worth enrolling 2, 10 with T_data = 4" in sentence(
        CELLS, (1, 5), (4,)
    )


def test_the_table_stars_what_is_worth_it_and_names_what_was_capped() -> None:
    rows = [list(column.cells) for column in table(CELLS, (1, 5), (4,)).columns]
    flat = [str(cell) for column in rows for cell in column]
    assert "*62±5" in flat
    assert "*20±1" in flat
    assert "capped" in flat


def test_where_every_run_was_capped_nothing_is_worth_it() -> None:
    assert worth({}, 1, 4) is None
    assert "it is worth enrolling ? with T_data = 4" in sentence({}, (1,), (4,))


def test_one_run_of_the_study_enrols_the_number_asked_for() -> None:
    task = Task(channels=5, data=1, enrolled=4, trial=1)
    assert run(bandwidth.scenario(QUESTION, task)).end is End.COMPLETED
    slots = bandwidth.makespan(task)
    assert slots is not None
    assert slots > QUESTION.iterations * QUESTION.speed * QUESTION.tasks / 4


def test_the_study_prints_table_sentence_and_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--trials", "2", "--channels", "5", "--data", "1", "--out", str(tmp_path))
    assert bandwidth.main(words) == 0
    told = capsys.readouterr().out
    assert "slots per iteration" in told
    assert "With 5 channels (n_com) it is worth enrolling" in told
    assert (tmp_path / "bandwidth-data1.png").stat().st_size > 3000
