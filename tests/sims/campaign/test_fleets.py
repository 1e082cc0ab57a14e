"""What fleets are measured by, and runs that run out of workers."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest
from holdfast import compare, sensitivity, tune

from actors.events import FaultsDescribed, ReserveCalled, RunStarted, UnitFailed, UnitRetired
from actors.intervals import numbers_in
from actors.runtime import WorkersRetired
from sims.campaign.executors import at_once
from sims.errors import InputError
from sims.result import Result
from sims.session import run

RUNS = 8
MEASURES = ("makespan", "depleted", "faults", "lemon-faults", "retired", "selections")
STRICT = {"kind": "faults-within", "faults": 1, "window": "60 d"}
FLEET = """\
name = "fleet"
[platform]
workers = 12
reserve = 2
[[faults.laws]]
mtbf = "90 d"
[[faults.laws]]
mtbf = "8 d"
share = 0.25
[repair]
stages = [{ time = "4 h", fixes = 0.5 }]
[job]
kind = "rigid"
startup = "10 min"
jobs = [{ processors = 7, time = "15 d", standbys = 1 }]
[protection]
kind = "images"
period = "1 h"
cost = "1 min"
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleets") / "fleet.toml"
    path.write_text(FLEET)
    return path


def alone(fleet: Path, seed: int) -> Result | None:
    """One run with the strict rule of retirement; None if it ran out of workers."""
    try:
        return run(fleet, {"repair.retirement": STRICT}, seed=seed)
    except WorkersRetired:
        return None


def counted(result: Result) -> dict[str, int]:
    """Numbers of a run, read off its events."""
    events = [it.event for it in result.records()]
    [lemons] = [numbers_in(it.struck) for it in events if isinstance(it, FaultsDescribed)]
    failed = [it for it in events if isinstance(it, UnitFailed)]
    assert all(int(it.workers) in lemons for it in failed if it.law)
    chosen = sum(isinstance(it, RunStarted) and it.keeps is None for it in events)
    return {
        "depleted": 0,
        "faults": len(failed),
        "lemon-faults": sum(it.law == 1 for it in failed),
        "retired": sum(isinstance(it, UnitRetired) for it in events),
        "selections": chosen - 1,
        "reserve-called": sum(isinstance(it, ReserveCalled) for it in events),
    }


def test_runs_out_of_workers_are_counted_and_in_no_mean(fleet: Path) -> None:
    vary = {"repair.retirement": ["never", STRICT]}
    table = compare(fleet, vary, runs=RUNS, seed=1, measure=[*MEASURES, "reserve-called"])
    found = [alone(fleet, seed) for seed in range(1, RUNS + 1)]
    whole = [it for it in found if it is not None]
    out = len(found) - len(whole)
    assert 0 < out < RUNS
    assert f"{out} ran out of workers" in str(table)
    rows = {row["measure"]: row for row in table.rows() if "faults-within" in str(row)}
    assert rows["depleted"]["mean"] == pytest.approx(out / RUNS)
    spans = [float(it.makespan or 0) for it in whole]
    assert rows["makespan"]["mean"] == pytest.approx(mean(spans))
    for name in (*MEASURES[2:], "reserve-called"):
        assert rows[name]["mean"] == pytest.approx(mean(counted(it)[name] for it in whole)), name


LONG = {"repair.retirement": STRICT, "job.jobs.0.time": "25 d"}


def test_tune_gives_no_point_at_which_runs_run_out_of_workers(fleet: Path) -> None:
    over = {"platform.workers": [12, 48]}
    with at_once() as workers:
        found = tune(
            fleet, over, minimise="makespan", changes=LONG, runs=4, seed=1, workers=workers
        )
    assert dict(found.settings) == {"platform.workers": 48}
    assert "Ran out of workers" in str(found)
    assert "platform.workers=12: 1 of 4 runs." in str(found)


def test_a_search_of_which_all_runs_run_out_of_workers_says_so(fleet: Path) -> None:
    longer = LONG | {"job.jobs.0.time": "300 d"}
    with (
        pytest.raises(InputError, match=r"standbys=0: 4 of 4 runs; .*standbys=1: 4 of 4"),
        at_once() as workers,
    ):
        over = {"job.jobs.0.standbys": [0, 1]}
        how = {"changes": longer, "runs": 4, "seed": 1, "workers": workers}
        tune(fleet, over, minimise="makespan", **how)


def test_sensitivity_tells_how_many_runs_ran_out_of_workers(fleet: Path) -> None:
    with at_once() as workers:
        keys = ["protection.period"]
        found = sensitivity(fleet, keys, changes=LONG, runs=4, seed=1, workers=workers)
    assert "as it is: 1 ran out of workers" in str(found)


def test_faults_without_repair_are_those_that_took_a_worker_down(tmp_path: Path) -> None:
    path = tmp_path / "plain.toml"
    faults = '[faults]\nmtbf = "5 d"\ndowntime = "1 h"\n'
    path.write_text(f"{FLEET.partition('[[faults')[0]}{faults}[job]{FLEET.partition('[job]')[2]}")
    table = compare(path, {"job.startup": [0, 600]}, runs=3, seed=1, measure="faults")
    downs = [run(path, {"job.startup": 0}, seed=seed) for seed in (1, 2, 3)]
    told = [sum(getattr(it.event, "until", None) is not None for it in d.records()) for d in downs]
    assert table.rows()[0]["mean"] == pytest.approx(mean(told))
