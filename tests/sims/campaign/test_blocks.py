"""A log without randomness: intervals over blocks of its time, paired job by job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sims.campaign.cells import RunStatus
from sims.campaign.comparing import Compared, over_blocks
from sims.campaign.intervals import LEVEL, mean_of, ratio_of
from sims.metrics.arrivals import Blocks, by_block
from sims.report import Report
from sims.scenario.loader import load
from sims.world import run
from tests.sims.cli.commands import Shell

SCENARIO = """
name = "weeks"
[platform]
workers = 8
[job]
kind = "rigid"
jobs = [JOBS_HERE]
[policy]
name = "R-LIST-0"
[measures]
block = 50
warm_up = 20
"""
RNG = np.random.default_rng(7)
JOBS = ", ".join(
    f"{{processors = {RNG.integers(1, 9)}, time = {RNG.integers(1, 40)}, release = {5 * k}}}"
    for k in range(60)
)
ORDERS = ("FCFS", "SPT")
COMPARE = ("compare", "weeks.toml", "--vary", "policy.order=FCFS,SPT")


def reported(path: Path, order: str) -> Report:
    report = Report()
    run(load(path, [f"policy.order={order}"]), [report])
    report.close()
    return report


@pytest.fixture
def weeks(shell: Shell) -> Shell:
    """The command line beside such a log."""
    shell.write(SCENARIO.replace("JOBS_HERE", JOBS), "weeks.toml")
    return shell


@pytest.mark.parametrize("measure", ["wait", "flowtime", "bounded-slowdown-p90"])
@pytest.mark.parametrize("runs", ["1", "2"])
def test_a_log_is_compared_by_blocks_of_its_time(weeks: Shell, measure: str, runs: str) -> None:
    told = weeks.told(*COMPARE, "--measure", measure, "--runs", runs)
    rows = []
    for order in ORDERS:
        jobs = reported(Path("weeks.toml"), order).jobs
        values = {"wait": jobs.wait, "flowtime": jobs.flowtime}.get(measure, jobs.bounded_slowdown)
        blocks = Blocks(length=50, warm_up=20).of(jobs.submitted)
        summed = np.mean if measure in ("wait", "flowtime") else (lambda it: np.percentile(it, 90))
        rows.append(by_block(lambda it, summed=summed: float(summed(it)), values, blocks).tolist())
    assert told["blocks"] == len(rows[0]) == 5
    assert "over 5 blocks of 50 s, of 50 of 60 jobs" in told["speaks_for"]
    for line, row in zip(told["variants"], rows, strict=True):
        assert line["mean"]["mean"] == pytest.approx(np.mean(row))
        assert line["mean"]["half"] == pytest.approx(mean_of(row, LEVEL).half)
    ratio = ratio_of(rows[1], rows[0], LEVEL)
    assert ratio is not None and told["variants"][1]["ratio"]["low"] == pytest.approx(ratio.low)


def test_the_table_says_what_intervals_speak_for(weeks: Shell) -> None:
    told = weeks(*COMPARE, "--measure", "wait")
    assert "They speak for other such blocks of this log" in told.out
    assert "the seed does not change it" in told.out


def test_measures_of_the_whole_run_have_no_blocks(weeks: Shell) -> None:
    told = weeks(*COMPARE, "--runs", "1")
    assert "One run each: no intervals, no verdict." in told.out
    assert "±" not in told.out


def test_what_was_stored_is_compared_alike(weeks: Shell) -> None:
    words = (*COMPARE, "--measure", "wait", "--store", "kept")
    assert weeks.told(*words) == weeks.told(*words)


def of(seed: int, value: float | None, blocks: tuple[float, ...] = (1, 2)) -> Compared:
    return Compared(seed, RunStatus.COMPLETED, value, "", blocks)


def test_where_a_seed_makes_a_difference_runs_are_compared() -> None:
    assert over_blocks({"a": [of(0, 1), of(1, 2)], "b": [of(0, 1), of(1, 1)]}) is None
    assert over_blocks({"a": [of(0, None)], "b": [of(0, 1)]}) is None
    assert over_blocks({"a": [of(0, 1, ())], "b": [of(0, 1, ())]}) is None
    found = over_blocks({"a": [of(0, 1), of(1, 1)], "b": [of(0, 3, (3, 4))]})
    assert found is not None and [run.value for run in found["b"]] == [3, 4]
