"""What pictures say, and what they bring to the front."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from actors.events import Outcome
from sims.plots import gantt, ledger, steps
from sims.plots.axes import label_time, title_within
from sims.plots.density import rgb
from sims.plots.figure import new_figure
from sims.plots.palette import OUTCOMES
from sims.plots.scene import Scene
from tests.sims.kinds import KINDS, records_of

Draw = Callable[[Scene, Path, str | None], Path]

PICTURES: dict[str, Draw] = {
    "gantt": gantt.draw_processors,
    "jobs": gantt.draw_jobs,
    "ledger": ledger.draw_ledger,
    "bandwidth": steps.draw_bandwidth,
    "queue": steps.draw_queue,
}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Figure]:
    """The figure of a picture of a scenario, as it would be saved."""
    figures: list[Figure] = []

    def keep(figure: Figure, path: Path, dpi: int) -> Path:
        figures.append(figure)
        return path

    for module in (gantt, ledger, steps):
        monkeypatch.setattr(module, "save", keep)

    def draw(what: str, name: str) -> Figure:
        PICTURES[what](Scene.of(records_of(name), ledger=True), Path("p.png"))
        return figures[-1]

    return draw


def legend(figure: Figure) -> list[str]:
    """The words of a picture's legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5000))
def test_slots_are_marked_by_whole_numbers(end: int) -> None:
    _, axes = new_figure(13, 4)
    axes.set_xlim(0, end)
    label_time(axes, Scene.of(records_of("figure1")).header)
    assert axes.get_xlabel() == "time, slots"
    assert all(tick == int(tick) for tick in axes.get_xticks())
    assert len(axes.get_xticks()) > 1


def test_seconds_may_be_marked_by_parts_of_one() -> None:
    _, axes = new_figure(13, 4)
    axes.set_xlim(0, 1)
    label_time(axes, Scene.of(records_of("batch-moldable")).header)
    assert axes.get_xlabel() == "time, s"
    assert any(tick != int(tick) for tick in axes.get_xticks())


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("what", ["gantt", "jobs", "ledger", "queue"])
def test_every_axis_has_a_label_that_tells_its_unit(
    what: str, name: str, drawn: Callable[[str, str], Figure]
) -> None:
    figure = drawn(what, name)
    unit = "slots" if name in ("figure1", "volatile20", "iterative") else "s"
    labels = [text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())]
    if what == "ledger":
        assert f" {unit}" in figure.axes[0].get_xlabel()
        assert all(axes.get_xlabel() for axes in figure.axes)
    else:
        assert f"time, {unit}" in labels
        assert all(axes.get_ylabel() for axes in figure.axes)


@pytest.mark.parametrize(
    ("name", "row"),
    [("figure1", "worker"), ("batch-easy", "processor"), ("redundant", "processor")],
)
def test_rows_are_workers_where_they_have_names_and_processors_where_they_have_none(
    name: str, row: str, drawn: Callable[[str, str], Figure]
) -> None:
    assert drawn("gantt", name).axes[0].get_ylabel() == row
    assert drawn("ledger", name).axes[1].get_xlabel() == row


def test_few_processors_are_numbered_below_the_middles_of_their_bars(
    drawn: Callable[[str, str], Figure],
) -> None:
    axes = drawn("ledger", "batch-moldable").axes[1]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "2", "3"]
    assert axes.get_xticks().tolist() == [0.5, 1.5, 2.5, 3.5]


def test_the_bandwidths_limit_is_told_in_words(drawn: Callable[[str, str], Figure]) -> None:
    figure = drawn("bandwidth", "figure1")
    assert figure.axes[0].get_ylabel() == "transfers at once"
    assert "2 channels of the master (n_com)" in legend(figure)


def test_what_a_ledgers_bars_leave_blank_is_named(drawn: Callable[[str, str], Figure]) -> None:
    assert "idle" in legend(drawn("ledger", "batch-easy"))


def test_a_legend_names_no_mark_that_is_not_drawn(drawn: Callable[[str, str], Figure]) -> None:
    """A fault that costs no run is nobody's, so that a chart of jobs cannot show them."""
    assert "fault" in legend(drawn("gantt", "buddies"))
    assert "fault" not in legend(drawn("jobs", "buddies"))


def test_many_failures_are_counted_below_and_named_with_the_colours(
    drawn: Callable[[str, str], Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gantt, "MANY_MARKS", 1)
    figure = drawn("gantt", "batch-moldable")
    assert len(figure.axes) == 2
    assert "silent error found (below)" in legend(figure)
    assert figure.axes[1].get_legend() is None


def test_a_long_title_takes_more_lines_and_loses_no_word() -> None:
    settings_told = ", ".join(f"setting-{k}=value" for k in range(20))
    wrapped = title_within(f"name, seed 1, policy ({settings_told})", 13)
    assert max(map(len, wrapped.splitlines())) <= 130
    assert " ".join(wrapped.split()) == f"name, seed 1, policy ({settings_told})"


@pytest.mark.parametrize("what", ["gantt", "jobs", "queue", "bandwidth"])
def test_titles_tell_scenario_seed_and_policy(
    what: str, drawn: Callable[[str, str], Figure]
) -> None:
    assert drawn(what, "figure1").axes[0].get_title() == "figure1, seed 0, IE"


def test_the_copy_that_completed_a_job_is_drawn_over_the_others(
    drawn: Callable[[str, str], Figure],
) -> None:
    runs = drawn("jobs", "redundant").axes[0].collections[-1]
    assert isinstance(runs, PolyCollection)
    green = rgb(OUTCOMES[Outcome.COMPLETED].colour)
    small = (np.asarray(runs.get_edgecolor())[:, :3] < 1).any(axis=1)
    completed = (np.asarray(runs.get_facecolor())[small, :3] == green).all(axis=1)
    assert 0 < completed.sum() < len(completed)
    assert (np.diff(completed.astype(int)) >= 0).all()
