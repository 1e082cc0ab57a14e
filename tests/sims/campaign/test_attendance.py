"""A cluster whose workers have all left: it is told, and waited for as long as was asked."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sims.campaign import executors
from sims.campaign.executors import Attendance
from sims.errors import InputError
from tests.sims.campaign.campaigns import (
    MINE,
    PATIENCE,
    dask,
    dask_worker,
    environment,
    store,
    write,
)

WAITING = "no worker is connected; waiting for at most"
CELLS = 2 * 3 * 3 * 4


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A scheduler without workers."""
    with dask(tmp_path, workers=0):
        yield tmp_path


def until(happens: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not happens():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)


def test_an_absence_is_told_once_after_a_while_and_ends_patience_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, workers = [0.0], [1]
    monkeypatch.setattr(executors.time, "monotonic", lambda: clock[0])
    attendance = Attendance(lambda: workers[0], patience=20)

    def looks(*times: float) -> str:
        for clock[0] in times:
            attendance.look()
        return capsys.readouterr().err

    assert looks(0, 100) == ""
    workers[0] = 0
    assert looks(101, 103) == ""
    assert looks(107, 110, 120) == f"{WAITING} 20 s\n"
    workers[0] = 1
    assert looks(121) == ""
    workers[0] = 0
    assert looks(122, 130, 141) == f"{WAITING} 20 s\n"
    with pytest.raises(InputError, match="no worker was connected for 20 s; what is finished"):
        looks(142)


def test_a_campaign_says_that_all_workers_have_left_goes_on_with_others_and_ends_without(
    folder: Path,
) -> None:
    """Its first worker is gone once something is finished, another comes, and leaves too."""
    slow = MINE.replace("return max", "import time; time.sleep(0.3)\n    return max")
    file = write(folder, mine=slow)
    words = ("--scheduler", str(folder / "cluster.json"), "--patience", "8")
    command = (sys.executable, "-m", "sims.cli", "campaign")
    with dask_worker(folder):
        process = subprocess.Popen(
            [*command, "run", str(file), "--results", str(folder / "results"), *words],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        until(lambda: len(store(file).files()) > 0)
    assert process.stderr.readline() == f"{WAITING} 8 s\n"
    finished = len(store(file).files())
    with dask_worker(folder):
        until(lambda: len(store(file).files()) > finished)
    out = process.communicate(timeout=PATIENCE)[1].splitlines()
    assert process.returncode == 2
    assert out[0] == f"{WAITING} 8 s"
    assert "cluster: no worker was connected for 8 s; what is finished is kept" in out[-1]
    assert 0 < len(store(file).results()) < CELLS
