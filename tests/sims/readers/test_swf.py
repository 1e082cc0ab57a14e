"""Standard Workload Format: jobs, header, and an account of what is left out."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.readers.swf import WHOLE_JOBS, read_swf
from sims.readers.swf_record import SkipReason, SwfJob, SwfStatus

COUNT = st.none() | st.integers(0, 10**9)
AMOUNT = st.none() | st.floats(0, 1e9)
JOBS = st.builds(
    SwfJob,
    number=st.integers(0, 10**6),
    submit=st.floats(0, 1e9),
    wait=AMOUNT,
    run=st.floats(0.01, 1e9),
    allocated=st.integers(1, 10**6),
    average_cpu=AMOUNT,
    used_memory=AMOUNT,
    requested_processors=COUNT,
    requested_time=AMOUNT,
    requested_memory=AMOUNT,
    status=st.sampled_from(sorted(WHOLE_JOBS, key=lambda it: it.value)),
    user=COUNT,
    group=COUNT,
    executable=COUNT,
    queue=COUNT,
    partition=COUNT,
    preceding=COUNT,
    think_time=AMOUNT,
)
ORDER = (
    "number submit wait run allocated average_cpu used_memory requested_processors "
    "requested_time requested_memory status user group executable queue partition preceding "
    "think_time"
)
GOOD_LINE = "1 0 5 100 4 98.5 2048 4 120 -1 1 1 1 1 1 -1 -1 -1"


def line_of(job: SwfJob) -> str:
    values = [getattr(job, name) for name in ORDER.split()]
    shown = [v.value if isinstance(v, SwfStatus) else -1 if v is None else v for v in values]
    return " ".join(map(str, shown)) + "\n"


def with_field(field: int, word: str) -> str:
    """The good line with one field (from 1) replaced."""
    words = GOOD_LINE.split()
    words[field - 1] = word
    return " ".join(words)


@given(st.lists(JOBS, min_size=1, max_size=5, unique_by=lambda job: job.number))
@settings(deadline=None)
def test_a_log_reads_back_as_written_by_submit_time(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[SwfJob]
) -> None:
    path = tmp_path_factory.getbasetemp() / "log.swf"
    path.write_text("".join(map(line_of, jobs)))
    log = read_swf(path)
    assert log.jobs == tuple(sorted(jobs, key=lambda job: job.submit))
    assert log.skipped == {}


def test_the_first_job_is_a_job_and_all_whole_jobs_count_by_default(data: Path) -> None:
    log = read_swf(data / "small.swf")
    assert [job.number for job in log.jobs] == [1, 2, 3, 9]
    assert {job.status for job in log.jobs} == {
        SwfStatus.COMPLETED, SwfStatus.FAILED, SwfStatus.CANCELLED,
    }  # fmt: skip
    assert WHOLE_JOBS.isdisjoint({SwfStatus.PART, SwfStatus.LAST_PART_COMPLETED})


def test_every_line_left_out_is_counted_with_its_reason(data: Path) -> None:
    log = read_swf(data / "small.swf")
    assert log.skipped == {
        SkipReason.STATUS: 2,
        SkipReason.NEGATIVE: 1,
        SkipReason.NO_SUBMIT_TIME: 1,
        SkipReason.NO_RUN_TIME: 2,
        SkipReason.NO_PROCESSORS: 1,
    }


def test_fields_are_typed_and_unknown_ones_are_none(data: Path) -> None:
    first, second, third, _ = read_swf(data / "small.swf").jobs
    assert (first.submit, first.wait, first.run, first.processors) == (0.0, 5.0, 100.0, 4)
    assert (first.average_cpu, first.used_memory, first.requested_time) == (98.5, 2048.0, 120.0)
    assert (first.requested_memory, first.preceding, first.think_time) == (None, None, None)
    assert (second.allocated, second.processors) == (None, 2)
    assert (third.requested_time, third.preceding, third.think_time) == (None, 1, 20.5)


def test_the_header_keeps_repeated_entries_and_reads_leading_numbers(data: Path) -> None:
    header = read_swf(data / "small.swf").header
    assert header.values("Queue") == ("0 interactive", "1 batch")
    assert header.values("Note") == (
        "made up for tests: every kind of line that the reader tells apart",
    )
    assert (header.whole("MaxNodes"), header.max_procs) == (4, 8)
    assert header.whole("UnixStartTime") == 1400000000
    assert header.whole("MaxJobs") is header.whole("Computer") is None


def test_a_compressed_log_is_the_same_log(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.swf.xz"
    path.write_bytes(lzma.compress((data / "small.swf").read_bytes()))
    assert read_swf(path) == read_swf(data / "small.swf")
