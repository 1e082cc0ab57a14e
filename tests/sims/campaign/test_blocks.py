"""A log without randomness: intervals over blocks of its time, paired job by job."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from sims.blocks import Blocks, by_block
from sims.campaign.batches import RunStatus
from sims.campaign.observations import Compared, over_blocks
from sims.intervals import LEVEL, Known, mean_of, ratio_of
from sims.metrics.report import Report
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
    """Six blocks of 45 s are enough for a verdict, and for intervals; five of 50 s are not, in the
    table as in JSON and CSV."""
    words = (*COMPARE, "--measure", measure, "--runs", runs)
    told = weeks.told(*words, "--set", "measures.block=45")
    rows = []
    for order in ORDERS:
        jobs = reported(Path("weeks.toml"), order).jobs
        values = {"wait": jobs.wait, "flowtime": jobs.flowtime}.get(measure, jobs.bounded_slowdown)
        blocks = Blocks(length=45, warm_up=20).of(jobs.submitted)
        summed = np.mean if measure in ("wait", "flowtime") else (lambda it: np.percentile(it, 90))
        rows.append(by_block(lambda it, summed=summed: float(summed(it)), values, blocks).tolist())
    assert told["blocks"] == len(rows[0]) == 6
    assert "over 6 blocks of 45 s, of 54 of 60 jobs" in told["speaks_for"]
    for line, row in zip(told["variants"], rows, strict=True):
        assert line["mean"]["mean"] == pytest.approx(np.mean(row))
        assert line["mean"]["half"] == pytest.approx(
            mean_of(row, LEVEL, Known(0.0, serial=True, side=1)).half
        )
    ratio = ratio_of(rows[1], rows[0], LEVEL, known=Known(0.0, serial=True))
    assert ratio is not None and told["variants"][1]["ratio"]["low"] == pytest.approx(ratio.low)
    few = weeks.told(*words)["variants"]
    assert [it[key]["low"] for it in few for key in ("mean", "ratio")] == [None, None, None, None]
    assert "no interval" in weeks(*words, "-o", "few.csv").out
    with Path("few.csv").open() as file:
        written = list(csv.DictReader(file))
    assert all(row[key] == "" for row in written for key in ("mean_low", "ratio_low", "ratio_high"))


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


# --- blocks with and without information --------------------------------------------------------

LENGTH = 100


def job(release: int, time: int, user: str, processors: int = 8) -> str:
    return f"{{processors = {processors}, time = {time}, release = {release}, user = '{user}'}}"


def block(start: int, first: int = 30) -> list[str]:
    """Three jobs that take all processors in turn: short ones gain from SPT, long ones lose by it;
    and one of `rare`, which does not wait."""
    queued = [(start, first, "first"), (start + 1, 20, "long"), (start + 2, 5, "short")]
    return [*(job(*it) for it in queued), job(start + 95, 1, "rare", processors=1)]


def by_user(shell: Shell, blocks: int, *words: str, varied: int = 2) -> str:
    """What `--by user` prints of a run with so many blocks after the warm-up. During the warm-up
    `rare` loses 15 s by SPT, in the first block it gains 5 s."""
    jobs = [job(0, 30, "first"), job(1, 25, "rare"), *(job(2 + k, 5, "short") for k in range(3))]
    for k in range(1, blocks + 2):
        jobs += block(k * LENGTH, 30 + varied * (k % 4))
    queued = [(165, 10, "first"), (166, 5, "once"), (167, 2, "rare")]
    jobs += [job(*it) for it in queued]
    text = SCENARIO.replace("JOBS_HERE", ", ".join(jobs))
    text = text.replace("block = 50\nwarm_up = 20", f"block = {LENGTH}\nwarm_up = {LENGTH}")
    shell.write(text, "weeks.toml")
    return shell(*COMPARE, "--runs", "1", "--measure", "wait", "--by", "user", *words).out


def row_of(printed: str, user: str) -> str:
    """The row of SPT for a user, its columns two blanks apart."""
    [row] = [line for line in printed.splitlines() if line.split()[:2] == [user, "SPT"]]
    return row


def short_log(shell: Shell, measures: str = "") -> str:
    """What `--by user` prints of a log of 24 times 100 s, much shorter than six weeks."""
    jobs = [it for k in range(24) for it in block(k * LENGTH, 30 + 2 * (k * k % 5))]
    text = SCENARIO.replace("JOBS_HERE", ", ".join(jobs)).partition("[measures]")[0]
    shell.write(text + measures, "weeks.toml")
    return shell(*COMPARE, "--runs", "1", "--measure", "wait", "--by", "user").out


def test_classes_of_jobs_in_a_short_log_get_the_longest_blocks_that_a_verdict_needs(
    shell: Shell,
) -> None:
    """The last job comes at 2,395 s: with a block of warm-up and six more, a block has 342 s. SPT
    starts the short job 20 s earlier, and the long one 5 s later, in each of 24 rounds."""
    printed = short_log(shell)
    assert "over 6 blocks of 342 s, the longest that give as many as a verdict needs," in printed
    assert "the first 342 s, in which the machine fills" in printed
    assert " better " in row_of(printed, "short")
    assert " worse " in row_of(printed, "long")
    assert "Under policy.order=SPT these lose by their wait, the most first: long (5 s" in printed


def test_blocks_and_a_warm_up_that_the_file_gives_stay(shell: Shell) -> None:
    """After a warm-up of 1,000 s, 1,395 s are six blocks of 232 s."""
    printed = short_log(shell, "[measures]\nwarm_up = 1000\n")
    assert "over 6 blocks of 232 s, the longest" in printed
    assert "the first 1,000 s, in which the machine fills" in printed
    printed = short_log(shell, "[measures]\nblock = 800\nwarm_up = 0\n")
    assert "longest" not in printed and "over 2 blocks of 800 s, of" in printed


def test_blocks_are_no_shorter_where_some_would_have_no_job() -> None:
    weekly, jobs = Blocks(), np.array([0.0, 1.0, 700.0])
    assert weekly.enough(jobs, 6, None) is weekly
    assert weekly.enough(np.array([]), 6, None) is weekly


def test_there_is_no_verdict_on_fewer_blocks_than_an_interval_needs(shell: Shell) -> None:
    """All of them agree: the ratio is the same in each."""
    printed = by_user(shell, 3)
    assert "±" not in printed
    assert "better" not in row_of(printed, "short")
    assert "no verdict: 3 blocks worth 2, needs 6" in row_of(printed, "short")
    assert "A verdict needs 6 blocks with information" in printed


def test_blocks_that_are_all_alike_show_nothing_of_others(shell: Shell) -> None:
    """The ratio is the same in each, and so are the waits."""
    for blocks in (6, 12):
        row = row_of(by_user(shell, blocks, varied=0), "short")
        assert "no interval" in row and "no verdict" in row


def test_blocks_in_which_no_variant_waits_are_no_information(shell: Shell) -> None:
    """`rare` waits in one of twelve blocks."""
    row = row_of(by_user(shell, 12), "rare")
    assert "no interval" in row
    assert "no verdict: 1 block, needs 6" in row


@pytest.mark.parametrize("measure", ["stretch", "bounded-slowdown-median"])
def test_blocks_in_which_no_job_is_slowed_down_are_no_information(
    shell: Shell, measure: str
) -> None:
    """Two of six blocks have one job, which starts at once: its slowdown of 1 tells nothing."""
    jobs = [job(0, 30, "first")]
    for k in range(1, 8):
        jobs += [job(k * LENGTH, 30, "first")] if k in (2, 5) else block(k * LENGTH)
    text = SCENARIO.replace("JOBS_HERE", ", ".join(jobs)).replace("block = 50", f"block = {LENGTH}")
    shell.write(text.replace("warm_up = 20", f"warm_up = {LENGTH}"), "weeks.toml")
    printed = shell(*COMPARE, "--runs", "1", "--measure", measure).out
    assert "no verdict: 4 blocks, needs 6" in printed
    assert f"some job has a {measure} above 1 in either variant" in printed


def test_a_table_of_blocks_says_what_is_paired_and_where_there_is_no_verdict(shell: Shell) -> None:
    printed = by_user(shell, 12)
    assert "paired by block, hold all together at 95 % (2 comparisons" in printed
    assert "better than policy.order=FCFS in 1 and worse in 1 of 5 cells (3 without a" in printed


def test_a_mean_over_all_jobs_that_contradicts_the_blocks_is_named(shell: Shell) -> None:
    printed = by_user(shell, 12)
    assert row_of(printed, "rare").endswith("; all jobs: worse  ")
    assert "all jobs:" not in row_of(printed, "short")
    assert "`all jobs: better` or `worse`: over all jobs, those of the warm-up" in printed
    cells = shell.told(*COMPARE, "--runs", "1", "--measure", "wait", "--by", "user")["cells"]
    [rare] = [cell["variants"][1] for cell in cells if cell["at"] == {"user": "rare"}]
    assert (rare["informed"], rare["all_jobs"], rare["verdict"]) == (1, "worse", "no verdict")


def test_the_foot_says_which_blocks_are_used_and_by_which_keys(weeks: Shell) -> None:
    printed = weeks(*COMPARE, "--measure", "wait").out
    assert "the first 20 s, in which the machine fills" in printed
    assert "`measures.warm_up`" in printed and "`measures.block`" in printed


def test_a_run_that_is_shorter_than_two_blocks_says_so(shell: Shell) -> None:
    printed = by_user(shell, 1, "--set", "measures.block=1000")
    assert "the run has fewer than 2 whole blocks (`measures.block`)" in printed
    assert "One run each" not in printed


def of(seed: int, value: float | None, blocks: tuple[float, ...] = (1, 2)) -> Compared:
    return Compared(seed, RunStatus.COMPLETED, value, "", blocks)


def test_where_a_seed_makes_a_difference_runs_are_compared() -> None:
    assert over_blocks({"a": [of(0, 1), of(1, 2)], "b": [of(0, 1), of(1, 1)]}) is None
    assert over_blocks({"a": [of(0, None)], "b": [of(0, 1)]}) is None
    assert over_blocks({"a": [of(0, 1, ())], "b": [of(0, 1, ())]}) is None
    found = over_blocks({"a": [of(0, 1), of(1, 1)], "b": [of(0, 3, (3, 4))]})
    assert found is not None and [run.value for run in found["b"]] == [3, 4]


def test_a_picture_over_blocks_says_that_its_values_may_be_negative(weeks: Shell) -> None:
    assert weeks(*COMPARE, "--measure", "wait", "-o", "it.svg").code == 0
    drawn = Path("it.svg").read_text()
    assert "<!-- mean wait, s, by block of time (may be below 0) -->" in drawn


def test_classes_of_jobs_are_compared_by_a_measure_that_has_another_name(weeks: Shell) -> None:
    for name in ("stretch", "slowdown"):
        axes = """axes.policy.order = ["FCFS", "SPT"]"""
        words = f'name = "{name}"', 'scenario = "weeks.toml"', f'measures = ["{name}"]'
        weeks.write("\n".join([*words, "replications = 1", 'by = "size"', axes]), f"{name}.toml")
    ours, other = (weeks("campaign", "run", f"{name}.toml").out for name in ("stretch", "slowdown"))
    assert "as it is" in ours
    assert other.splitlines()[2:-1] == ours.splitlines()[2:-1]
