"""What a page says, without a browser."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from base64 import b64decode
from itertools import accumulate
from pathlib import Path

import numpy as np
import orjson
import pytest

from actors.events import JobCompleted, ScenarioStarted
from actors.runtime import Record
from sims.cli import main
from sims.log_writer import LogWriter
from sims.plots.scene import Scene
from sims.session import load
from sims.view import Page, charts
from sims.view.story import Story
from sims.world import run
from tests.sims.cli.commands import environment, without
from tests.sims.kinds import SCENARIOS, records_of, written

pytest.importorskip("bokeh", reason="the extra `view` is not installed")


def data_of(page: Path) -> dict[str, object]:
    """The data that a page carries."""
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page.read_text())
    assert found is not None
    data: dict[str, object] = orjson.loads(gzip.decompress(b64decode(found[1])))
    return data


@pytest.mark.parametrize("name", ["attempts", "images", "copies", "malleable10"])
def test_every_kind_of_log_has_a_page_that_needs_no_network_and_shows_all_chains(
    name: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert main(["view", str(written(name, tmp_path)), "-o", str(page)]) == 0
    text, records = page.read_text(), records_of(name)
    assert not re.search(r'<(?:script|link|img|iframe)[^>]+(?:src|href)\s*=\s*["\']', text)
    assert "@import" not in text
    events = data_of(page)["events"]
    assert isinstance(events, dict)
    back = dict(zip(accumulate(events["seq"]), events["back"], strict=True))
    for record in records:
        if isinstance(record.event, JobCompleted):
            now = record.seq
            while back[now]:
                assert now - back[now] == records[now].cause
                now -= back[now]
            assert records[now].cause is None


def test_a_page_keeps_only_what_is_shown_and_its_causes() -> None:
    story = Story({}.__getitem__)
    for record in records_of("redundant"):
        story.hear(record)
    seqs = orjson.loads(b"".join(story.pieces((), [np.array([200])])))["events"]["seq"]
    assert sum(seqs) == 200 >= len(seqs)


def test_a_job_whose_times_have_17_digits_takes_little_of_a_page(tmp_path: Path) -> None:
    sizes = []
    for count in (500, 1500):
        records: list[Record] = []
        run(load(SCENARIOS / "batch-rigid.toml", {"job.synthetic.count": count}), [records.append])
        Page().write(records, page := tmp_path / "page.html")
        sizes.append(page.stat().st_size)
    assert sizes[1] - sizes[0] < 270 * 1000


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    first, *rest = records_of("iterative")
    assert isinstance(first.event, ScenarioStarted)
    started = ScenarioStarted(
        *(first.event.schema, "</script><script>alert(1)</script>", 0, ("iterative",), "<b>"),
        *(first.event.processors, first.event.workers, first.event.unit),
    )
    Page().write([Record(0, 0, None, started), *rest], page)
    assert "<script>alert(1)" not in page.read_text()


def test_more_boxes_than_a_browser_can_take_become_an_image_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "MOST", 10)
    page = tmp_path / "page.html"
    Page().write(records_of("volatile20"), page)
    assert "More than 10 boxes" in page.read_text()
    assert "ImageRGBA" in page.read_text()


def test_a_page_of_images_has_the_events_of_lives_but_not_those_of_boxes_that_none_can_pick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, kept = tmp_path / "page.html", []
    for most in (charts.MOST, 10):
        monkeypatch.setattr(charts, "MOST", most)
        Page().write(records_of("images"), page)
        events, lives = data_of(page)["events"], data_of(page)["lives"]
        assert isinstance(events, dict) and isinstance(lives, list)
        kept.append(set(accumulate(events["seq"])))
        firsts = accumulate(first for first, *_ in lives)
        assert all(
            kept[-1].issuperset(accumulate((first, *steps)))
            for first, (_, *steps) in zip(firsts, lives, strict=True)
        )
    assert kept[1] < kept[0]


def test_another_suffix_than_html_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written("iterative", tmp_path)
    assert main(["view", str(log), "-o", str(tmp_path / "page.pdf")]) == 2
    assert "'.pdf' is no page; accepted: .html" in capsys.readouterr().err


def test_without_bokeh_the_pip_command_is_named(tmp_path: Path) -> None:
    log = written("iterative", tmp_path)
    assert "pip install 'holdfast[view]'" in without(
        "bokeh", "view", log, "-o", tmp_path / "p.html"
    )


@pytest.mark.parametrize(
    ("name", "time", "row"),
    [("figure1", "time, slots", "worker"), ("batch-easy", "time, s", "processor")],
)
def test_axes_of_charts_tell_their_units(name: str, time: str, row: str) -> None:
    scene = Scene.of(records_of(name))
    rows = charts.processors(scene)
    jobs, ledger = charts.jobs(scene, rows), charts.ledger(scene)
    assert [it.xaxis[0].axis_label for it in (rows, jobs)] == [time, time]
    labels = [it.yaxis[0].axis_label for it in (rows, jobs, ledger)]
    assert labels == [row, "job, by submission", "use"]


def test_the_ledgers_axis_shows_what_its_parts_are_of() -> None:
    figure1, easy = (Scene.of(records_of(it)) for it in ("figure1", "batch-easy"))
    assert charts.ledger(figure1).xaxis[0].axis_label == "% of 5 processors x 16 slots"
    assert charts.ledger(easy).xaxis[0].axis_label == "% of 64 processors x 1 h 46 min 55 s"


def test_slots_are_marked_by_whole_numbers_however_far_a_page_zooms_in() -> None:
    ticker = charts.processors(Scene.of(records_of("figure1"))).xaxis[0].ticker
    assert (ticker.min_interval, ticker.num_minor_ticks) == (1, 0)


SCATTERED = {
    "name": "scattered",
    "platform": {"workers": 512},
    "job": {"kind": "rigid", "lublin": {"jobs": 20, "machine": 256}},
    "protection": {"kind": "images", "period": 600, "cost": 5},
    "faults": {"kind": "exponential", "mtbf": 1728000, "downtime": 600},
    "policy": {"name": "EASY"},
}
"""Jobs of a cluster whose processors fail; they save their state every ten minutes."""
SEEN = """
import sys
from sims.cli import main
from sims.view import charts
charts.MOST = 0  # images, as pages of many events have them
for log in sys.argv[2:]:
    assert main(["view", log, "-o", sys.argv[1]]) == 0
    status = open("/proc/self/status").read()
    print(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's peak like this")
@pytest.mark.usefixtures("unchecked")
@pytest.mark.slow
def test_a_page_takes_at_most_so_many_bytes_of_memory_for_each_event(tmp_path: Path) -> None:
    """Jobs on scattered processors have a box for each of their intervals. A page of a million such
    events took 429 MB, and one of this log 521 bytes for each, while boxes were in memory twice."""
    few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
    for log, jobs in ((few, 20), (many, 2000)):
        with LogWriter(log) as writer:
            run(load(SCATTERED, {"job.lublin.jobs": jobs}), [writer])
    command = [sys.executable, "-c", SEEN, str(tmp_path / "page.html"), str(few), str(many)]
    said = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    first, last = (1024 * int(it) for it in said.stdout.split() if it.isdigit())
    events = many.read_bytes().count(b"\n")
    assert events > 50_000
    assert (last - first) / events < 470
