"""A cluster whose workers have all left: it is told, and waited for as long as was asked."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from sims.campaign import executors
from sims.campaign.executors import Attendance
from sims.campaign.results import Store
from sims.errors import InputError
from tests.sims.campaign.campaigns import MINE, dask, dask_worker, write
from tests.sims.cli.commands import PATIENCE, ended, spawn, until

WAITING = "no worker is connected; waiting for at most"
RUNS = 2 * 3 * 3 * 2


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A scheduler without workers."""
    with dask(tmp_path, workers=0):
        yield tmp_path


def test_an_absence_is_reported_once_after_a_while_and_ends_patience_later(
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


def begun(folder: Path) -> subprocess.Popen[str]:
    """A campaign on the cluster in `folder`, which has a worker."""
    slow = MINE.replace("return max", "import time; time.sleep(0.1)\n    return max")
    file = write(folder, mine=slow)
    with Client(scheduler_file=str(folder / "cluster.json"), set_as_default=False) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
    words = ("campaign", "run", file, "--scheduler", folder / "cluster.json")
    return spawn(*words, "--results", folder / "results")


def test_a_scheduler_that_is_killed_is_one_line_and_what_is_done_is_kept(tmp_path: Path) -> None:
    with dask(tmp_path, 1) as file:
        process = begun(tmp_path)
        until(lambda: finished(tmp_path) > 0)
        with Client(scheduler_file=file, set_as_default=False) as client:
            scheduler = client.run_on_scheduler(os.getpid)
        os.kill(scheduler, signal.SIGKILL)
    said = ended(process)
    assert said.code == 2
    assert "Traceback" not in said.err, said
    assert "holdfast: cluster: the scheduler is gone; what is finished is kept" in said.err


def finished(folder: Path) -> int:
    return len(Store(folder / "results").results)


def test_a_campaign_whose_workers_have_left_says_so_and_goes_on_with_others(folder: Path) -> None:
    with dask_worker(folder):
        process = begun(folder)
        assert process.stderr is not None
        until(lambda: finished(folder) > 0)
    assert f"{WAITING} 600 s\n" in iter(process.stderr.readline, "")
    assert finished(folder) < RUNS
    with dask_worker(folder):
        assert ended(process).code == 0
    assert finished(folder) == RUNS
