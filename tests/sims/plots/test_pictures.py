from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sims.cli.main import main
from sims.ledger import Use
from sims.plots.boxes import BoxTable
from sims.plots.chart import draw_boxes, raster_of
from sims.plots.figure import new_figure, save
from sims.plots.palette import KIND, USE_PAINTS
from tests.sims.cli.commands import without
from tests.sims.kinds import KINDS, written

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("what", ["gantt", "jobs", "ledger", "queue"])
def test_every_kind_of_log_can_be_drawn(name: str, what: str, tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    log = written(name, tmp_path)
    assert main(["plot", str(log), "--what", what, "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(SIGNATURES[".svg"])


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_the_suffix_says_which_kind_of_picture(suffix: str, tmp_path: Path) -> None:
    picture = tmp_path / f"new folder/picture{suffix}"
    log = written("iterative", tmp_path)
    assert main(["plot", str(log), "--what", "bandwidth", "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(SIGNATURES[suffix])


def test_another_suffix_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written("iterative", tmp_path)
    assert main(["plot", str(log), "-o", str(tmp_path / "picture.gif")]) == 2
    assert "'.gif' is no picture; accepted: .png, .svg, .pdf" in capsys.readouterr().err


def test_bandwidth_of_a_log_without_transfers_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, picture = written("batch-easy", tmp_path), tmp_path / "p.png"
    assert main(["plot", str(log), "--what", "bandwidth", "-o", str(picture)]) == 2
    assert "nothing is transferred" in capsys.readouterr().err
    assert not picture.exists()


def test_the_same_log_gives_the_same_svg_byte_for_byte(tmp_path: Path) -> None:
    log = written("malleable-fatal", tmp_path)
    pictures = [tmp_path / f"{k}.svg" for k in range(2)]
    for picture in pictures:
        assert main(["plot", str(log), "-o", str(picture)]) == 0
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_fifty_thousand_processors_and_many_attempts_are_drawn_as_one_image(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(1)
    table, processors, end = BoxTable(), 50_000, 1000.0
    for k in range(100_000):
        low, start = int(rng.integers(processors - 50)), rng.uniform(0, end - 1)
        table.add((low, low + 50, start, start + 1), KIND[Use.USEFUL], (k, 0, k))
    figure, axes = new_figure()
    draw_boxes(axes, table.boxes(), USE_PAINTS, raster_of(processors, (0, end)))
    assert len(axes.images) == 1
    assert not axes.collections
    assert save(figure, tmp_path / "large.pdf").stat().st_size < 5_000_000


def test_without_matplotlib_the_pip_command_is_named(tmp_path: Path) -> None:
    log = written("iterative", tmp_path)
    done = without("matplotlib", "plot", log, "-o", tmp_path / "p.png")
    assert done.returncode == 2
    assert "pip install 'holdfast[plot]'" in done.stderr
