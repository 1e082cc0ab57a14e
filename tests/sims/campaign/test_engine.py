"""Campaigns under way: the same numbers on any executor, nothing lost or done twice."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from sims.campaign.batches import RunStatus
from sims.campaign.engine import execute
from sims.campaign.executors import cluster, local
from sims.campaign.results import Results, Store
from sims.errors import InputError
from tests.sims.campaign.campaigns import (
    HELPER,
    MINE,
    alone,
    campaign,
    dask,
    run,
    store,
    table,
    write,
)
from tests.sims.cli.commands import PATIENCE, ended, spawn, until

CELLS = 2 * 3 * 3
RUNS = 2 * CELLS
ONE_PLACE = {"platform": {"workers": [16]}, "errors": {"average": [0.3]}}


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Dask cluster on loopback."""
    with dask(tmp_path_factory.mktemp("cluster")) as file:
        yield file


def keys(folder: Path) -> list[str]:
    """Of all rows in all files."""
    frames = [pl.read_parquet(path, columns=["key"]) for path in Store(folder).files()]
    return [key for frame in frames for key in frame["key"]]


def begun(file: Path, *words: str | Path) -> subprocess.Popen[str]:
    """The campaign in a process group of its own, once it has kept something."""
    folder = file.parent / "results"
    words = ("campaign", "run", file, "--results", folder, *words)
    process = spawn(*words, start_new_session=True)
    until(lambda: list(folder.glob("*.parquet")), process)
    return process


# --- the same numbers -----------------------------------------------------------------------------


def test_a_pool_one_process_and_a_cluster_give_the_same_table(
    tmp_path: Path, scheduler: str
) -> None:
    """The workers of the cluster know nothing of the user's modules but what they are sent."""
    tables = []
    for place in ("one", "pool", "cluster"):
        folder = tmp_path / place
        folder.mkdir()
        file = write(folder)
        with (
            local(1) if place == "one" else local() if place == "pool" else cluster(scheduler) as w
        ):
            results = run(file, w, replications=1)
        assert not list(results.raised())
        assert len(keys(folder / "results")) == len(set(keys(folder / "results"))) == CELLS
        tables.append(table(results))
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0]) == 2 * 3 * 3 * 3


# --- stopped and killed ---------------------------------------------------------------------------

SLOW = MINE.replace("return max", "import time; time.sleep(0.05)\n    return max")


@pytest.mark.parametrize("place", ["pool", "cluster"])
def test_a_campaign_that_is_killed_goes_on_and_loses_and_repeats_nothing(
    tmp_path: Path, scheduler: str, place: str
) -> None:
    """Killed on one executor, it goes on on the other."""
    file = write(tmp_path, mine=SLOW)
    process = begun(file, *(("--scheduler", scheduler) if place == "cluster" else ()))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)
    folder = tmp_path / "results"
    before = {path: path.read_bytes() for path in store(file).files()}
    finished = keys(folder)
    assert 0 < len(finished) < RUNS
    with cluster(scheduler) if place == "pool" else local() as workers:
        results = run(file, workers)
    assert len(keys(folder)) == len(set(keys(folder))) == RUNS
    assert set(finished) < set(keys(folder))
    assert all(path.read_bytes() == content for path, content in before.items())
    assert table(results) == table(execute(campaign(write(tmp_path))))


def test_workers_end_with_a_campaign_that_is_killed(tmp_path: Path) -> None:
    process = begun(write(tmp_path, mine=SLOW))
    os.kill(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)

    def gone() -> bool:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    until(gone)


DEADLY = """
import os, signal


def first(mark):
    try:
        return not os.mkdir(mark)
    except FileExistsError:
        return False


def longest(report):
    if {where}:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0
"""


@pytest.mark.parametrize("place", ["pool", "cluster"])
def test_a_worker_that_dies_once_costs_no_cell(tmp_path: Path, scheduler: str, place: str) -> None:
    """Its batch, and those that went down with the pool, are run again."""
    where = f"first({str(tmp_path / 'mark')!r})"
    order = MINE[: MINE.index("def longest")]
    file = write(tmp_path, mine=order + DEADLY.format(where=where))
    with cluster(scheduler) if place == "cluster" else local() as workers:
        results = run(file, workers, replications=1)
    assert (tmp_path / "mark").exists()
    assert not list(results.raised())
    assert len(results.found) == CELLS


def test_a_cell_that_kills_its_worker_is_recorded_and_others_go_on(tmp_path: Path) -> None:
    order = MINE[: MINE.index("def longest")]
    file = write(tmp_path, mine=order + DEADLY.format(where="report.summary.started.seed == 5"))
    results = run(file, replications=3, axes=ONE_PLACE)
    assert [it.seed for _, it in results.raised()] == [5] * 3
    assert len(results.found) == 3 * 3


def test_a_cell_that_raises_is_recorded_with_the_command_that_runs_it_alone(tmp_path: Path) -> None:
    broken = MINE.replace("return helper", "if draw and platform == 8: 1 / 0\n    return helper")
    file = write(tmp_path, mine=broken)
    results = run(file, replications=2, axes={"errors": {"average": [0.1]}})
    raised = list(results.raised())
    assert len(raised) == 2
    (case, replication), result = raised[0]
    assert (case.variant, result.end) == ("mine", RunStatus.RAISED)
    told = "policy mine:widest raised ZeroDivisionError: division by zero (mine.py, line 7)"
    assert result.error == told
    words = case.reproducing(replication)
    assert words == (
        f"holdfast run {tmp_path}/base.toml --set platform.workers=8 --set errors.average=0.1 "
        "--set policy.order=mine:widest --seed 3"
    )
    done = ended(spawn(*words.split()[1:], "--log", "none"))
    assert done.code != 0
    assert "division by zero" in done.err


# --- what has changed -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mine.py", "helper.py", "jobs.swf", "base.toml"])
def test_a_changed_file_is_noticed_and_what_follows_from_it_is_run_again(
    tmp_path: Path, name: str
) -> None:
    file = write(tmp_path)
    changes = {"replications": 1, "axes": ONE_PLACE}
    first = alone(campaign(file, **changes), store(file))
    path = tmp_path / name
    text = path.read_text()
    changed = {
        "mine.py": text.replace("max(", "-max("),
        "helper.py": HELPER.replace("return processors", "return -processors"),
        "jobs.swf": "\n".join(text.splitlines()[:-5]) + "\n",
        "base.toml": text.replace('"small"', '"other"'),
    }
    path.write_text(changed[name])
    found = Results.of(campaign(file, **changes), store=store(file))
    told = store(file).changed(found.description())
    assert [Path(it).name for it in told] == ([] if name == "base.toml" else [name])
    again = alone(campaign(file, **changes), store(file))
    assert not found.found
    assert not set(first.found) & set(again.found)
    if name != "base.toml":
        assert table(first) != table(again)


def test_what_no_change_touches_is_not_run_again(tmp_path: Path) -> None:
    """Of the variants only one names the module."""
    file = write(tmp_path)
    changes = {"replications": 1, "measures": ["makespan"], "axes": ONE_PLACE}
    alone(campaign(file, **changes), store(file))
    (tmp_path / "helper.py").write_text(HELPER.replace("return processors", "return 0"))
    changed = campaign(file, **changes)
    assert len(Results.of(changed, store=store(file)).found) == 2


def test_a_worker_without_a_file_says_so(tmp_path: Path) -> None:
    """As one of another machine, which shares no folder."""
    file = write(tmp_path)
    asked = campaign(file, replications=1)

    class Elsewhere(ThreadPoolExecutor):
        def submit(self, function, task, /, **more):  # type: ignore[no-untyped-def, override]
            (tmp_path / "jobs.swf").unlink(missing_ok=True)
            return super().submit(function, task, **more)

    with Elsewhere(1) as executor, pytest.raises(InputError, match=r"jobs\.swf: is not there"):
        execute(asked, executor)


def test_only_worker_processes_are_kept_from_modules_of_the_current_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with local(1) as workers:
        child = workers.submit(os.getenv, "PYTHONSAFEPATH").result()
        assert (child, os.getenv("PYTHONSAFEPATH")) == ("1", None)
