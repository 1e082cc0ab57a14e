"""Logs of jobs: Standard Workload Format, and Batsim's workloads, of which delays are read."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from sims.errors import InputError
from sims.readers import JobLog, LoggedJob
from sims.readers.job_logs import STATUSES, SkipReason, machine_of, read_batsim, read_swf
from tests.case_files import listed
from tests.sims.kinds import DATA

# --- Standard Workload Format ---------------------------------------------------------------------

WORD = st.just("") | st.integers(0, 10**9).map(str)
AMOUNT = st.none() | st.floats(0.01, 1e9)
JOBS = st.builds(
    LoggedJob,
    name=st.integers(0, 10**6).map("J{}".format),
    submitted=st.floats(0, 1e9),
    run=st.floats(0.01, 1e9),
    processors=st.integers(1, 10**6),
    estimate=AMOUNT,
    status=st.sampled_from(sorted(STATUSES.values())),
    user=WORD,
    group=WORD,
    queue=WORD,
    partition=WORD,
    priority=st.just(0.0),
    wait=AMOUNT,
)


def line_of(job: LoggedJob, asked: bool) -> str:
    """The job's line; `asked`: its processors stand where they were requested only."""
    codes = {status: code for code, status in STATUSES.items()}
    sizes = (-1, -1, -1, job.processors) if asked else (job.processors, -1, -1, -1)
    fields = (
        *(job.name[1:], job.submitted, job.wait, job.run, *sizes, job.estimate, -1),
        *(codes[job.status], job.user, job.group, -1, job.queue, job.partition, -1, -1),
    )
    return " ".join("-1" if it in (None, "") else str(it) for it in fields)


@given(st.lists(JOBS, min_size=1, max_size=5, unique_by=lambda job: job.name), st.booleans())
def test_a_log_reads_back_as_written_by_submit_time(
    tmp_path: Path, jobs: list[LoggedJob], asked: bool
) -> None:
    path = tmp_path / "log.swf"
    path.write_text("\n".join(line_of(job, asked) for job in jobs))
    log = read_swf(path)
    assert log.jobs == tuple(sorted(jobs, key=lambda job: job.submitted))
    assert log.left_out == {}


def test_every_line_is_a_job_or_counted_with_its_reason_packed_or_not(tmp_path: Path) -> None:
    log = read_swf(DATA / "small.swf")
    assert [job.name for job in log.jobs] == ["J1", "J2", "J3", "J9"]
    assert {job.status for job in log.jobs} == {"completed", "failed", "cancelled"}
    counts = zip(SkipReason, (2, 1, 1, 2, 1), strict=True)
    assert log.left_out == {reason.value: count for reason, count in counts}
    assert (log.machine, log.begins) == (8, 1400000000)
    path = tmp_path / "small.swf.xz"
    path.write_bytes(lzma.compress((DATA / "small.swf").read_bytes()))
    assert read_swf(path) == log


def test_a_number_that_only_python_reads_changes_no_other_line(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    rows = [f"{k} {k} -1 5 2 -1 -1 2 9 -1 1 3 4 -1 0 -1 -1 -1" for k in range(1, 20_000)]
    path.write_text("\n".join(rows))
    plain = read_swf(path)
    path.write_text("\n".join((*rows[:5], rows[5].replace(" 5 2 ", " 0_5 2 "), *rows[6:])))
    assert read_swf(path) == plain


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (" 5 2 ", " 5 2.5 ", "a field is no number"),
        (" 5 2 ", " nan 2 ", "a field is no number"),
        (" 9 -1 1 ", " 9 -1 7 ", "status not known"),
        (" 9 -1 1 ", " 9 -1 1 1 ", "not 18 fields"),
        (" 5 2 ", f" 5 {2**63} ", "a field is no number"),
        ("19000 19000 ", "-1 19000 ", "job number unknown"),
        ("19000 19000 ", "7 19000 ", "number of an earlier job"),
    ],
)
def test_a_line_that_is_wrong_far_down_a_log_is_left_out_and_named(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    path = tmp_path / "log.swf"
    rows = [f"{k} {k} -1 5 2 -1 -1 2 9 -1 1 3 4 -1 0 -1 -1 -1" for k in range(1, 20_000)]
    rows[18_999] = rows[18_999].replace(old, new, 1)
    path.write_text("\n".join(rows))
    log = read_swf(path)
    assert (len(log.jobs), log.left_out) == (19_998, {f"{reason} (first: line 19000)": 1})


def test_more_than_a_tenth_of_lines_that_are_wrong_refuse_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    rows = [f"{k} {k} -1 5 2 -1 -1 2 9 -1 1 3 4 -1 0 -1 -1 -1" for k in range(1, 19)]
    path.write_text("\n".join((*rows, "torn", "torn")))
    assert read_swf(path).left_out == {"not 18 fields (first: line 19)": 2}
    path.write_text("\n".join((*rows, "torn", "torn", "torn")))
    with pytest.raises(InputError, match=r"1 field \(3 of 21 lines left out") as refused:
        read_swf(path)
    assert refused.value.key == "line 19"


def test_whole_numbers_may_be_written_with_a_point(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("1.0 0 -1 5 2.00 -1 -1 2.0 9 -1 1.0 3.0 4.0 -1.0 0.0 -1 -1 -1\n")
    [job] = read_swf(path).jobs
    assert (job.name, job.processors, job.status, job.user) == ("J1", 2, "completed", "3")


def test_what_a_line_says_and_a_replay_does_not_use_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(
        "1 0 -5 5 4 -1 -1 2 9 2048 1 3 4 -1 0 -1 -1 -1\n2 0 3 5 2 -1 -1 2 9 -1 1 3 4 -1 0 -1 -1 -1"
    )
    log = read_swf(path)
    assert [job.wait for job in log.jobs] == [None, 3]
    assert log.changed == {
        "its wait is below 0: not known": 1,
        "has more processors than it requested: those it has count": 1,
        "its memory is left out: only processors are simulated": 1,
    }


def test_the_size_of_the_machine_may_stand_below_the_first_job() -> None:
    path = DATA / "reports" / "swf-mid.swf"
    assert (machine_of(path), read_swf(path).machine) == (8, 8)


def test_a_number_of_the_header_may_have_commas_between_thousands(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 4,096 of them\n1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n")
    assert machine_of(path) == 4096


# --- Batsim ---------------------------------------------------------------------------------------


def with_job(**fields: object) -> str:
    """A workload of one good job with some fields replaced."""
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "short"} | fields
    profiles = {"short": {"type": "delay", "delay": 1}, "smpi": {"type": "smpi"}, "bare": {}}
    profiles["still"] = {"type": "delay", "delay": 0}
    return json.dumps({"nb_res": 4, "jobs": [job], "profiles": profiles})


def test_jobs_come_by_submission_time_with_their_delay(tmp_path: Path) -> None:
    jobs = (
        LoggedJob("1", 0.0, 120.0, 4, 100.0),
        LoggedJob("w0!2", 0.5, 12.5, 1),
        LoggedJob("late", 30.0, 12.5, 8, user="kept for others"),
    )
    assert read_batsim(DATA / "batsim.json") == evolve(JobLog.of(jobs), machine=8)
    path = tmp_path / "workload.json"
    path.write_text(with_job(priority=-2.5))
    assert read_batsim(path).jobs[0].priority == -2.5


@pytest.mark.parametrize(("said", "key", "problem"), listed(__file__, "batsim"))
def test_what_cannot_be_simulated_is_refused_with_its_place(
    tmp_path: Path, said: dict[str, Any], key: str, problem: str
) -> None:
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(said) if "jobs" in said else with_job(**said))
    with pytest.raises(InputError, match=problem) as caught:
        read_batsim(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)


def test_two_jobs_of_one_id_are_refused_naming_both(tmp_path: Path) -> None:
    workload = json.loads(with_job(id=1))
    workload["jobs"].append(workload["jobs"][0] | {"id": "1"})
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(workload))
    with pytest.raises(InputError, match=r"jobs\[1\]\.id: '1' is also the id of jobs\[0\]"):
        read_batsim(path)
