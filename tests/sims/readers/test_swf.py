"""Standard Workload Format: jobs, header, and an account of what is left out."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.readers.job_log import LoggedJob
from sims.readers.swf import STATUSES, SkipReason, read_swf

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
    priority=st.just(0.0),
    wait=AMOUNT,
)


def line_of(job: LoggedJob, asked: bool) -> str:
    """The job's line; `asked`: its processors stand where they were requested only."""
    codes = {status: code for code, status in STATUSES.items()}
    sizes = (-1, -1, -1, job.processors) if asked else (job.processors, -1, -1, -1)
    fields = (
        *(job.name[1:], job.submitted, job.wait, job.run, *sizes, job.estimate, -1),
        *(codes[job.status], job.user, job.group, -1, job.queue, -1, -1, -1),
    )
    return " ".join("-1" if it in (None, "") else str(it) for it in fields)


@given(st.lists(JOBS, min_size=1, max_size=5, unique_by=lambda job: job.name), st.booleans())
@settings(deadline=None)
def test_a_log_reads_back_as_written_by_submit_time(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[LoggedJob], asked: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "log.swf"
    path.write_text("\n".join(line_of(job, asked) for job in jobs))
    log = read_swf(path)
    assert log.jobs == tuple(sorted(jobs, key=lambda job: job.submitted))
    assert log.left_out == {}


def test_every_line_is_a_job_or_counted_with_its_reason_packed_or_not(
    data: Path, tmp_path: Path
) -> None:
    log = read_swf(data / "small.swf")
    assert [job.name for job in log.jobs] == ["J1", "J2", "J3", "J9"]
    assert {job.status for job in log.jobs} == {"completed", "failed", "cancelled"}
    counts = zip(SkipReason, (2, 1, 1, 2, 1), strict=True)
    assert log.left_out == {reason.value: count for reason, count in counts}
    assert (log.machine, log.begins) == (8, 1400000000)
    path = tmp_path / "small.swf.xz"
    path.write_bytes(lzma.compress((data / "small.swf").read_bytes()))
    assert read_swf(path) == log
