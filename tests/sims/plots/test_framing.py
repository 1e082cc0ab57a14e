"""What a user may ask of any picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from sims.errors import InputError
from sims.plots import gantt
from sims.plots.framing import Framing
from sims.plots.gantt import draw_jobs, draw_processors
from sims.plots.ledger import draw_ledger
from sims.plots.palette import RUN_PAINTS, WENT_ON
from sims.plots.scene import Scene
from tests.sims.kinds import records_of


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Figure, int]]:
    """Figures and resolutions instead of files."""
    found: list[tuple[Figure, int]] = []
    monkeypatch.setattr(gantt, "save", lambda figure, path, dpi: found.append((figure, dpi)))
    return found


def test_a_picture_has_the_window_size_and_resolution_that_are_asked_for(
    drawn: list[tuple[Figure, int]],
) -> None:
    scene = Scene.of(records_of("figure1"))
    framing = Framing("mine", since=2, until=7, size=(6, 3), dpi=80)
    draw_processors(scene, Path("p.png"), framing)
    ((figure, dpi),) = drawn
    axes = figure.axes[0]
    assert dpi == 80
    assert tuple(figure.get_size_inches()) == (6, 3)
    assert axes.get_xlim() == (2, 7)
    assert axes.get_title() == "mine"
    corners = np.concatenate(
        [path.vertices for it in axes.collections for path in it.get_paths() if len(path) > 3]
    )
    assert corners[:, 0].min() >= 2 and corners[:, 0].max() <= 7


def test_seconds_are_counted_in_days_at_round_numbers(drawn: list[tuple[Figure, int]]) -> None:
    draw_jobs(Scene.of(records_of("malleable10")), Path("p.png"), Framing(unit="d"))
    axis = drawn[0][0].axes[0].xaxis
    assert axis.get_label_text() == "time, d"
    days = [
        float(tick.replace(",", ""))
        for tick in axis.get_major_formatter().format_ticks(axis.get_major_locator()())
    ]
    assert len(days) > 3
    assert all(day == int(day) for day in days)
    assert np.allclose(axis.get_major_locator()(), np.array(days) * 86400)


@pytest.mark.parametrize(
    ("name", "framing", "told"),
    [
        ("figure1", Framing(since=5, until=5), "nothing to be drawn"),
        ("figure1", Framing(since=1e9), "nothing to be drawn"),
        ("figure1", Framing(unit="h"), "counts slots"),
    ],
)
def test_a_window_without_time_and_a_unit_that_is_not_the_logs_are_refused(
    name: str, framing: Framing, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        draw_processors(Scene.of(records_of(name)), Path("p.png"), framing)


def test_a_ledger_has_no_window() -> None:
    with pytest.raises(InputError, match="whole run"):
        draw_ledger(Scene.of(records_of("figure1"), ledger=True), Path("p.png"), Framing(since=2))


def test_work_that_went_on_in_another_run_is_not_painted_as_cancelled() -> None:
    records = records_of("malleable10")
    boxes = Scene.of(records).rows_of_jobs()
    went_on = boxes.where(boxes.kind == RUN_PAINTS.index(WENT_ON))
    sources = {
        (record.event.job, record.event.source)
        for record in records
        if getattr(record.event, "source", None) is not None
    }
    assert 0 < len(went_on) <= len(sources)
