"""Jobs of logs: which take part, what is changed, and that all of it is said."""

from __future__ import annotations

import tomllib
from collections import Counter
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import JobsChanged, JobsLeftOut, RunStarted
from actors.runtime import System, stream
from sims.errors import InputError
from sims.history.summary import Summary
from sims.readers import JobLog, LoggedJob
from sims.readers.sacct import read_sacct
from sims.scenario.jobs.logs import Flurry, Replay, Resample, Rule, Scale, ScaledBy, Selection
from sims.scenario.loader import load, read
from sims.scenario.workload import workload
from sims.summary import summary_lines
from sims.world import run
from tests.sims.kinds import DATA, SCENARIOS, recorded

WORKERS = 16
STATUSES = ("completed", "failed", "cancelled", "unknown")
NAN = float("nan")


def replay(rows: list[tuple[Any, ...]]) -> Replay:
    """(submitted, time, processors, estimate, status, user) of each job, or less of it."""
    rows = sorted(rows, key=lambda row: row[0])
    return Replay.of(JobLog.of(LoggedJob(f"J{k}", *row) for k, row in enumerate(rows, 1)))


ROWS = st.tuples(
    st.integers(0, 2000).map(float),
    st.integers(1, 500).map(float),
    st.integers(1, 20),
    st.one_of(st.just(NAN), st.integers(1, 500).map(float)),
    st.sampled_from(STATUSES),
    st.sampled_from(("", "1", "2", "ann")),
)
JOBS = st.lists(ROWS, min_size=1, max_size=60).map(replay)
SPANS = st.just((0, inf)) | st.tuples(st.integers(0, 1500), st.integers(1, 1500)).map(
    lambda it: (it[0], sum(it))
)
SELECTIONS = st.builds(
    Selection,
    window=SPANS,
    users=st.sampled_from(((), (1,), ("ann", 2))),
    statuses=st.sampled_from(((), ("completed",), ("failed", "unknown"))),
    processors=st.sampled_from((None, (2, 8))),
    time=st.sampled_from((None, (10, 100))),
    first=st.sampled_from((None, 3)),
)


def rows_of(jobs: Replay) -> list[tuple[Any, ...]]:
    """Each job, what is not a number as None."""
    return [tuple(None if it != it else it for it in row) for row in jobs.rows.tolist()]


# --- selecting ----------------------------------------------------------------------------------


@given(JOBS, SELECTIONS)
def test_what_is_selected_is_what_each_job_says_by_itself(jobs: Replay, chosen: Selection) -> None:
    start, end = chosen.window
    kept = []
    for name, submitted, time, processors, estimate, status, user, *rest in rows_of(jobs):
        wanted = start <= submitted < end
        wanted &= not chosen.users or user in [str(it) for it in chosen.users]
        wanted &= not chosen.statuses or status in chosen.statuses
        wanted &= chosen.processors is None or 2 <= processors <= 8
        wanted &= chosen.time is None or 10 <= time <= 100
        if wanted and len(kept) < (chosen.first or inf):
            told = estimate, status, user, *rest
            kept.append((name, submitted - start, time, processors, *told))
    found = chosen.apply(jobs)
    assert rows_of(found) == kept
    assert sum(count for _, count in found.left_out) == len(jobs) - len(kept)
    assert not found.changed


@given(JOBS, st.integers(2, 5), st.integers(1, 200))
def test_a_flurry_is_a_long_row_of_one_users_jobs_each_soon_after_the_one_before(
    jobs: Replay, least: int, gap: int
) -> None:
    flurries = set()
    for user in {"1", "2", "ann"}:
        row: list[str] = []
        last = -inf
        for name, submitted, *_ in [it for it in rows_of(jobs) if it[6] == user]:
            row = [*row, name] if submitted - last <= gap else [name]
            last = submitted
            if len(row) >= least:
                flurries.update(row)
    chosen = Selection(clean=(Rule.FLURRIES,), flurry=Flurry(jobs=least, gap=gap))
    found = chosen.apply(jobs)
    assert set(jobs["names"]) - set(found["names"]) == flurries
    assert found.left_out == ((("part of a flurry", len(flurries)),) if flurries else ())
    assert rows_of(chosen.apply(found)) == rows_of(found)


@given(JOBS, st.sampled_from((Rule.CUT_RUNS, Rule.RAISE_ESTIMATES)))
def test_runs_and_estimates_are_reconciled_and_the_others_left_alone(
    jobs: Replay, rule: Rule
) -> None:
    found = Selection(clean=(rule,)).apply(jobs)
    over = 0
    for before, after in zip(rows_of(jobs), rows_of(found), strict=True):
        time, estimate = before[2], before[4]
        if estimate is None or time <= estimate:
            assert before == after
            continue
        over += 1
        both = estimate if rule is Rule.CUT_RUNS else time
        assert (after[2], after[4]) == (both, both)
    assert sum(count for _, count in found.changed) == over


@given(JOBS)
def test_wide_jobs_get_the_whole_machine_where_a_rule_says_so(jobs: Replay) -> None:
    found, sizes = Selection(clean=(Rule.CUT_WIDE,)).cut(jobs, WORKERS), jobs["processors"]
    assert found["processors"].tolist() == [min(WORKERS, it) for it in sizes.tolist()]
    assert sum(count for _, count in found.changed) == (sizes > WORKERS).sum()
    assert rows_of(Selection().cut(jobs, WORKERS)) == rows_of(jobs)


# --- load ---------------------------------------------------------------------------------------


def test_load_is_area_over_what_the_platform_could_do_meanwhile() -> None:
    jobs = replay([(0, 30, 4), (100, 10, 8), (200, 20, 2)])
    assert jobs.load(8) == pytest.approx((30 * 4 + 10 * 8 + 20 * 2) / (8 * 200))


SWF = """\
1 0 -1 30 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1
2 100 -1 10 8 -1 -1 8 -1 -1 1 1 1 1 1 1 -1 -1
3 200 -1 20 2 -1 -1 2 -1 -1 1 2 1 1 1 2 -1 -1
4 300 -1 50 3 -1 -1 3 -1 -1 1 2 1 1 1 2 -1 -1
"""
ALL_BUT_J2 = (30 * 4 + 20 * 2 + 50 * 3) / (4 * 300)


@pytest.mark.parametrize(
    ("sections", "load"),
    [
        ({}, ALL_BUT_J2),
        ({"job": {"select": {"clean": ["cut-wide"]}}}, ALL_BUT_J2 + 10 * 4 / (4 * 300)),
        (
            {"policy": {"limits": [{"per": "user", "processors": 2, "only": [2]}]}},
            (30 * 4 + 20 * 2) / (4 * 200),
        ),
        (
            {
                "platform": {
                    "partitions": [{"name": "1", "units": "0-3"}, {"name": "2", "units": "2-3"}]
                }
            },
            (30 * 4 + 20 * 2) / (4 * 200),
        ),
    ],
    ids=["platform", "cut", "limit", "partition"],
)
def test_the_load_that_is_scaled_is_that_of_the_jobs_that_take_part(
    sections: dict[str, dict[str, Any]], load: float, tmp_path: Path
) -> None:
    """J2 is too large for the platform, J4 for its user's limit and for its partition."""
    (tmp_path / "log.swf").write_text(SWF)
    scaled = {"kind": "rigid", "swf": {"file": "log.swf"}, "scale": {"load": 0.5}}
    table: dict[str, Any] = {"name": "scaled", "platform": {"workers": 4}, "job": scaled}
    table["policy"] = {"name": "EASY"}
    table |= {key: table[key] | more for key, more in sections.items()}
    found = recorded(read(table, "scaled"), tmp_path)
    told = [it.event.how for it in found if isinstance(it.event, JobsChanged)]
    assert f"arrivals scaled by {0.5 / load:.6g}: load {load:.4g} is now 0.5" in told


def load_of(jobs: Replay) -> float:
    """The load of all these jobs."""
    return jobs.load(WORKERS)


@given(JOBS, st.floats(0.1, 3), st.sampled_from((ScaledBy.ARRIVALS, ScaledBy.TIMES)))
def test_the_load_asked_for_is_reached(jobs: Replay, load: float, by: ScaledBy) -> None:
    scale = Scale(by=by, load=load)
    submitted = jobs["submitted"]
    if not len(jobs) or submitted[0] == submitted[-1]:
        with pytest.raises(InputError, match="no load"):
            scale.apply(jobs, load_of)
        return
    found = scale.apply(jobs, load_of)
    assert found.load(WORKERS) == pytest.approx(load)
    assert found.changed[0][1] == len(jobs)


@given(JOBS, st.floats(0.2, 5))
def test_scaled_sizes_are_whole_and_at_least_one(jobs: Replay, factor: float) -> None:
    found = Scale(by=ScaledBy.PROCESSORS, factor=factor).apply(jobs, load_of)
    sizes = found["processors"]
    assert sizes.min() >= 1
    assert (np.abs(sizes - np.maximum(1, jobs["processors"] * factor)) <= 0.5).all()
    assert all((found[key] == jobs[key]).all() for key in ("times", "submitted"))


def test_a_scale_says_one_of_factor_and_load() -> None:
    for said in ({}, {"factor": 2.0, "load": 0.5}):
        with pytest.raises(ValueError, match="either `factor` or `load`"):
            Scale(**said)


# --- resampling ---------------------------------------------------------------------------------


@given(JOBS, st.integers(1, 5), st.integers(0, 2**32), st.integers(100, 700))
def test_a_bootstrap_is_made_of_whole_blocks_of_the_log(
    jobs: Replay, blocks: int, seed: int, length: int
) -> None:
    whole = int(jobs["submitted"][-1] // length)
    resample = Resample(blocks=blocks, length=length)
    if not whole:
        with pytest.raises(InputError, match="shorter than a block"):
            resample.apply(jobs, stream(seed, "test"))
        return
    found = resample.apply(jobs, stream(seed, "test"))

    def block(of: Replay, k: int) -> list[tuple[Any, ...]]:
        rows = [row for row in rows_of(of) if k * length <= row[1] < (k + 1) * length]
        return [(row[0].split(".")[0], row[1] - k * length, *row[2:]) for row in rows]

    originals = [block(jobs, k) for k in range(whole)]
    assert all(block(found, k) in originals for k in range(blocks))
    assert sum(len(block(found, k)) for k in range(blocks)) == len(found)
    assert max(Counter(found["names"]).values(), default=1) == 1
    assert found["submitted"].tolist() == sorted(found["submitted"])


def test_each_seed_draws_blocks_of_its_own_and_a_seed_the_same_again() -> None:
    jobs = replay([(k, 1, 1) for k in range(100)])
    resample = Resample(blocks=6, length=10)
    drawn = [rows_of(resample.apply(jobs, stream(k, "test"))) for k in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


# --- as a scenario ------------------------------------------------------------------------------


LOG = """
name = "log"
platform.workers = 32
policy = { name = "R-LIST-0", order = "FCFS" }
[job]
kind = "rigid"
"""
SMALL = LOG + 'swf.file = "small.swf"\n'


def test_what_is_left_out_or_changed_is_reported_by_the_log_and_its_summary() -> None:
    summary, events = Summary(), []
    table = SMALL + 'select.first = 3\nscale = { by = "times", factor = 2 }'
    run(
        read(tomllib.loads(table), "test"),
        [summary, lambda record: events.append(record.event)],
        DATA,
    )
    left_out = [it for it in events if isinstance(it, JobsLeftOut)]
    changed = [it for it in events if isinstance(it, JobsChanged)]
    assert {it.reason: it.jobs for it in left_out} == summary.left_out
    assert {it.how: it.jobs for it in changed} == summary.changed
    assert "after the first 3" in summary.left_out
    assert list(summary.changed.values()) == [3] and len(summary.submitted) == 3
    told = "\n".join(summary_lines(summary))
    assert "after the first 3" in told and "times scaled by 2" in told


@pytest.mark.parametrize("asked", ["select.first=3", "scale.factor=2", "resample.blocks=2"])
def test_only_jobs_of_a_log_can_be_selected_scaled_and_resampled(asked: str) -> None:
    listed = tomllib.loads(f"{LOG}{asked}\njobs = [{{ processors = 1, time = 1 }}]")
    key = asked.partition(".")[0]
    with pytest.raises(InputError, match=rf"job\.{key}: these jobs are of no log"):
        workload(read(listed, "test").within(DATA), System(0))


def test_slurms_accounting_is_replayed_and_all_that_is_not_is_reported() -> None:
    records = recorded(load(SCENARIOS / "slurm.toml"))
    logged = {
        job.name: job.submitted + job.wait
        for job in read_sacct(SCENARIOS / "slurm-sacct.txt", "Europe/Paris").jobs
    }
    starts = {it.event.job: it.t for it in records if isinstance(it.event, RunStarted)}
    assert starts.keys() == logged.keys()
    # The others waited for what no processor count tells: nodes that were down, throttled arrays.
    met = sum(starts[name] == start for name, start in logged.items())
    assert met >= 0.9 * len(logged)
    told = [it.event for it in records if isinstance(it.event, JobsLeftOut | JobsChanged)]
    assert told == [
        JobsLeftOut("never started", 3),
        JobsChanged("its GPUs are left out: only processors are simulated", 15),
        JobsChanged("component of a heterogeneous job: counted with its first", 1),
        JobsChanged("requeued: each attempt is a job of its own", 6),
    ]


def test_a_scenario_that_says_nothing_of_workers_has_those_of_its_logs_machine(
    tmp_path: Path,
) -> None:
    table = {"name": "own", "job": {"kind": "rigid", "swf": {"file": "small.swf"}}}
    for platform, size in (({}, 8), ({"speed": 2}, 8), ({"workers": 5}, 5)):
        assert read(table | {"platform": platform}, "test", DATA).full_platform.size == size
    (tmp_path / "small.swf").write_text("1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(InputError, match=r"platform.workers: missing, and small.swf does not say"):
        read(table, "test", tmp_path)
