"""What pictures say and bring to the front, and what a user may ask of any of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from matplotlib.collections import PolyCollection
from matplotlib.dates import num2date
from matplotlib.figure import Figure
from matplotlib.text import Text

from actors.events import JobSubmitted
from actors.runtime import RecordOfActor
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.cli import main
from sims.errors import InputError
from sims.examples import example
from sims.log import LogFile
from sims.plots import RUN_KIND, RUN_PAINTS, gantt, pictures
from sims.plots.boxes import areas_of, rgb
from sims.plots.figure import Framing, blank_figure, title_within
from sims.plots.pictures import WHOLE, What, draw, processors_busy
from sims.plots.scene import Scene
from sims.session import run
from tests.sims.cli.commands import Shell, without
from tests.sims.kinds import records_of, written

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}

VARIED = ("attempts", "images", "copies", "batch-easy", "malleable10", "redundant", "volatile20")
"""Kinds of logs of which no two have the same events."""


def drawn(what: str, name: str, framing: Framing = WHOLE) -> Figure:
    """A picture of a scenario's run, as it would be saved."""
    return draw(records_of(name), What(what), framing)


def legend(figure: Figure) -> list[str]:
    """The words of a picture's legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize(
    ("name", "label", "ends"),
    [("volatile20", "time, slots", (1, 2, 7, 99, 5000)), ("batch-moldable", "time, s", (1,))],
)
def test_slots_are_marked_by_whole_numbers_and_seconds_by_parts_of_one(
    name: str, label: str, ends: tuple[int, ...]
) -> None:
    for end in ends:
        axes = blank_figure(13, 4).add_subplot()
        Framing(until=end).label(axes, Scene.of(records_of(name)))
        ticks = axes.get_xticks()
        assert axes.get_xlabel() == label
        assert all(tick == int(tick) for tick in ticks) is (label == "time, slots")
        assert len(ticks) > 1


@pytest.mark.parametrize("name", VARIED)
@pytest.mark.parametrize("what", ["gantt", "jobs", "ledger", "queue"])
def test_every_axis_of_every_kind_of_log_has_a_label_that_shows_its_unit(
    what: str, name: str
) -> None:
    figure = drawn(what, name)
    figure.draw_without_rendering()
    unit = "slots" if name in ("figure1", "volatile20", "iterative") else "s"
    every = [axes for it in figure.axes for axes in (it, *it.child_axes)]
    labels = [text for axes in every for text in (axes.get_xlabel(), axes.get_ylabel())]
    if what == "ledger":
        assert f" {unit}" in figure.axes[0].get_xlabel()
        assert all(axes.get_xlabel() for axes in figure.axes)
    else:
        assert f"time, {'d' if name == 'malleable10' else unit}" in labels
        assert all(axes.get_ylabel() for axes in figure.axes)


def test_a_run_that_hangs_is_not_told_as_lost_to_a_worker_that_went_down(shell: Shell) -> None:
    """The worker stays UP."""
    faults = 'kind = "list"\nstrikes = [[5, 0]]\neffect = "hang"\ndetection = 2\n'
    job = 'kind = "rigid"\njobs = [{ processors = 1, time = 9 }]\n'
    text = f'name = "hung"\n[platform]\nworkers = 1\n[faults]\n{faults}[job]\n{job}'
    shell("run", shell.write(text), "--log", "hung.jsonl")
    shell("plot", "hung.jsonl", "--what", "jobs", "-o", "hung.svg")
    drawn = Path("hung.svg").read_text()
    assert "<!-- lost: a worker went DOWN or hung -->" in drawn
    assert "<!-- lost: a worker went DOWN -->" not in drawn


@pytest.mark.parametrize(
    ("name", "row"),
    [("figure1", "worker"), ("batch-easy", "processor"), ("redundant", "processor")],
)
def test_rows_are_workers_where_they_have_names_and_processors_where_they_have_none(
    name: str, row: str
) -> None:
    assert drawn("gantt", name).axes[0].get_ylabel() == row
    assert drawn("ledger", name).axes[1].get_xlabel() == row


def test_jobs_of_one_colour_are_told_apart_and_dated_as_their_log_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = list(run(example("slurm")).records())
    figure = draw(records, What.GANTT)
    words = legend(figure)
    assert len(words) == 8 and words[0].startswith("user ") and words[-1].endswith("other users")
    dates = [it for axes in figure.axes for it in axes.child_axes]
    assert [it.get_xlabel() for it in dates] == ["date, UTC"]
    figure.draw_without_rendering()
    low, high = sorted(dates[0].get_xlim())
    ticks = [it for it in dates[0].xaxis.get_major_ticks() if low <= it.get_loc() <= high]
    month = num2date(ticks[0].get_loc()).strftime("%b %Y")
    assert month in ticks[0].label1.get_text()
    above, below = draw(records, What.QUEUE).axes
    assert [it.get_xlabel() for it in below.child_axes] == ["date, UTC"]
    assert not any(it.tick1line.get_visible() for it in above.xaxis.get_major_ticks())
    nobodys = [
        evolve(it, event=evolve(it.event, user="", queue=""))
        if isinstance(it.event, JobSubmitted)
        else it
        for it in records
    ]
    assert legend(draw(nobodys, What.GANTT))[0] == "did not wait"
    monkeypatch.setattr(gantt, "FEW", 10)
    counted = draw(records, What.JOBS).axes
    assert counted[0].get_ylabel() == "time in the system"
    assert counted[1].get_ylabel() == f"jobs ({len(Scene.of(records).jobs)} in all)"


def test_few_processors_are_numbered_below_the_middles_of_their_bars() -> None:
    axes = drawn("ledger", "batch-moldable").axes[1]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "2", "3"]
    assert axes.get_xticks().tolist() == [0.5, 1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("what", "name", "word", "there"),
    [
        ("bandwidth", "figure1", "2 channels of the master (n_com)", True),
        ("ledger", "batch-easy", "idle", True),  # what its bars leave blank
        ("gantt", "buddies", "fault", True),
        ("jobs", "buddies", "fault", False),  # one that costs no run is nobody's: not drawn there
    ],
)
def test_a_legend_names_what_is_drawn(what: str, name: str, word: str, there: bool) -> None:
    assert (word in legend(drawn(what, name))) is there


def test_workers_wait_for_a_crew_are_repaired_and_retire() -> None:
    """Faults of workers 0 and 1 at 1 and 2, one crew, 4 each: worker 1 waits from 2 to 5. Both
    retire."""
    table = {
        "name": "repairs",
        "unit": "s",
        "platform": {"workers": 4},
        "faults": {"kind": "list", "strikes": [[1, 0], [2, 1]]},
        "repair": {
            "stages": [{"time": 4, "law": "fixed", "crews": 1}],
            "retirement": {"kind": "faults-within", "faults": 1, "window": 90},
        },
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 20}]},
        "policy": {"name": "FCFS"},
    }
    records = list(run(table).records())
    rows = Scene.of(records).fleet.table.columns()
    last = {row.t: (row["waits for repair"], row["in repair"], row.retired) for row in rows}
    assert last == {1: (0, 1, 0), 2: (1, 1, 0), 5: (0, 1, 1), 9: (0, 0, 2)}
    assert legend(draw(records, What.REPAIRS)) == ["waits for repair", "in repair", "retired"]


def test_many_failures_are_counted_below_and_named_with_the_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gantt, "MANY_MARKS", 1)
    figure = drawn("gantt", "batch-moldable")
    assert len(figure.axes) == 2
    assert "silent error found (below)" in legend(figure)
    assert figure.axes[1].get_legend() is None


def test_a_long_title_takes_more_lines_and_loses_no_word() -> None:
    title = ", ".join(f"setting-{k}=value" for k in range(20))
    wrapped = title_within(title, 13)
    assert max(map(len, wrapped.splitlines())) <= 130
    assert " ".join(wrapped.split()) == title


def test_titles_tell_scenario_seed_and_policy() -> None:
    assert drawn("queue", "figure1").axes[0].get_title() == "figure1, seed 0, IE"


def test_the_copy_that_completed_a_job_is_drawn_over_the_others() -> None:
    runs = drawn("jobs", "redundant").axes[0].collections[-1]
    assert isinstance(runs, PolyCollection)
    green = rgb(RUN_PAINTS[RUN_KIND["completed"]].colour)
    small = (np.asarray(runs.get_edgecolor())[:, :3] < 1).any(axis=1)
    completed = (np.asarray(runs.get_facecolor())[small, :3] == green).all(axis=1)
    assert 0 < completed.sum() < len(completed)
    assert (np.diff(completed.astype(int)) >= 0).all()


def test_a_picture_has_the_window_size_and_title_that_are_asked_for() -> None:
    figure = drawn("gantt", "figure1", Framing("mine", since=2, until=7, size=(6, 3)))
    axes = figure.axes[0]
    assert tuple(figure.get_size_inches()) == (6, 3)
    assert axes.get_xlim() == (2, 7)
    assert axes.get_title() == "mine"
    corners = np.concatenate(
        [path.vertices for it in axes.collections for path in it.get_paths() if len(path) > 3]
    )
    assert corners[:, 0].min() >= 2 and corners[:, 0].max() <= 7


def test_seconds_are_counted_in_days_at_round_numbers() -> None:
    axes = drawn("jobs", "malleable10", Framing(unit="d")).axes[0]
    [days] = axes.child_axes
    assert days.get_xlabel() == "time, d"
    assert np.allclose(np.array(days.get_xlim()) * 86400, axes.get_xlim())
    ticks = days.xaxis.get_major_formatter().format_ticks(days.get_xticks())
    assert len(ticks) > 3
    assert all(float(tick.replace(",", "")).is_integer() for tick in ticks)


@pytest.mark.parametrize(
    ("what", "framing", "told"),
    [
        ("gantt", Framing(since=5, until=5), "nothing to be drawn"),
        ("gantt", Framing(since=1e9), "nothing to be drawn"),
        ("gantt", Framing(unit="h"), "counts slots"),
        ("ledger", Framing(since=2), "whole run"),
    ],
)
def test_a_window_without_time_and_a_unit_that_is_not_the_logs_are_refused(
    what: str, framing: Framing, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        drawn(what, "figure1", framing)


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_the_suffix_says_which_kind_of_picture_and_the_same_log_gives_the_same(
    suffix: str, tmp_path: Path
) -> None:
    log, pictures = written("iterative", tmp_path), [tmp_path / f"new/{k}{suffix}" for k in (1, 2)]
    for picture in pictures:
        assert main(["plot", str(log), "--what", "bandwidth", "-o", str(picture)]) == 0
    first, second = (picture.read_bytes() for picture in pictures)
    assert first.startswith(SIGNATURES[suffix])
    assert first == second


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("iterative", ["-o", "p.gif"], "'.gif' is no picture; accepted: .png, .svg, .pdf"),
        (
            "batch-easy",
            ["--what", "bandwidth", "-o", "p.png"],
            "batch-easy.jsonl: bandwidth: nothing is transferred",
        ),
        (
            "batch-easy",
            ["--what", "repairs", "-o", "p.png"],
            "batch-easy.jsonl: repairs: nothing is repaired",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(
    name: str,
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = written(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["plot", str(log), *words]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [log]


def test_without_matplotlib_the_pip_command_is_named(tmp_path: Path) -> None:
    log = written("iterative", tmp_path)
    assert "pip install 'holdfast[plot]'" in without(
        "matplotlib", "plot", log, "-o", tmp_path / "p.png"
    )


def test_the_queue_picture_shows_busy_processors_which_are_those_that_jobs_hold() -> None:
    figure = drawn("queue", "batch-easy")
    assert [it.get_ylabel() for it in figure.axes] == ["jobs in the system", "busy processors"]
    assert {"busy processors", "64 processors of the platform"} <= {*legend(figure)}
    scene = Scene.of(records_of("batch-easy"))
    times, busy = processors_busy(scene)
    assert busy.max() <= 64
    assert busy[-1] == 0
    held = float(areas_of(scene.uses[scene.uses.job >= 0]).sum())
    assert busy[:-1] @ np.diff(times) == pytest.approx(held)


def test_a_picture_of_more_steps_than_it_can_show_says_that_it_shows_means(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not drawn("queue", "batch-easy").legends[0].get_title().get_text()
    monkeypatch.setattr(pictures, "FINEST", 10)
    assert "mean over" in drawn("queue", "batch-easy").legends[0].get_title().get_text()


ODD = "\u202eodd\x1b[2J\n$x^2$"
"""A name that would turn its letters round, move to another line and become a formula."""
SEEN = r"\u202eodd\x1b[2J\n$x^2$"


def texts(figure: Figure) -> list[str]:
    """All texts of a picture that are shown as they are, and not as a formula."""
    figure.draw_without_rendering()
    found: list[Text] = figure.findobj(Text)  # type: ignore[assignment]
    return [it.get_text() for it in found if not it.get_parse_math()]


def test_names_of_actors_and_of_messages_are_escaped_in_the_picture_of_messages() -> None:
    started, received = ActorStarted("A"), MessageReceived(ODD, "", ODD, 0.0)
    records = [RecordOfActor(0, 0, None, started, ODD), RecordOfActor(1, 1, 0, received, "b")]
    figure = draw(records, What.MESSAGES)
    assert all(it.isprintable() for it in texts(figure))
    assert SEEN in legend(figure)
    assert SEEN in [it.get_text() for it in figure.axes[0].get_yticklabels()]


@pytest.mark.parametrize("what", ["gantt", "jobs"])
def test_names_of_jobs_in_a_log_of_others_are_escaped_in_pictures(
    what: str, tmp_path: Path
) -> None:
    jobs = [{"name": it, "processors": 2, "time": 9} for it in ("oddest", "J")]
    job = {"kind": "rigid", "jobs": jobs}
    log = tmp_path / "odd.jsonl"
    run({"name": "it", "platform": {"workers": 2}, "job": job}, log=log)
    log.write_text(log.read_text().replace('"oddest"', json.dumps(ODD)))
    found = texts(draw(LogFile(log), What(what)))
    assert SEEN in found
    assert all(it.isprintable() for it in found if "odd" in it)
