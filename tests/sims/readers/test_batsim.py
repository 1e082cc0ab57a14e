"""Batsim workloads: delay jobs are read, all others refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sims.errors import InputError
from sims.readers.batsim import BatsimJob, BatsimWorkload, read_batsim_workload

SECONDS = st.floats(0.001, 1e9)
JOBS = st.lists(
    st.builds(
        BatsimJob,
        id=st.text("abc0123456789!", min_size=1, max_size=6),
        submission_time=st.floats(0, 1e9),
        walltime=st.none() | SECONDS,
        processors=st.integers(1, 10_000),
        delay=SECONDS,
        profile=st.just(""),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda job: job.id,
)


def written(jobs: list[BatsimJob]) -> str:
    listed = [
        {"id": j.id, "subtime": j.submission_time, "res": j.processors, "profile": j.profile}
        | ({} if j.walltime is None else {"walltime": j.walltime})
        for j in jobs
    ]
    profiles = {job.profile: {"type": "delay", "delay": job.delay} for job in jobs}
    return json.dumps({"nb_res": 64, "jobs": listed, "profiles": profiles})


def with_job(**fields: object) -> str:
    """A workload of one good job with some fields replaced."""
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "short"} | fields
    profiles = {"short": {"type": "delay", "delay": 1}, "smpi": {"type": "smpi"}, "bare": {}}
    profiles["still"] = {"type": "delay", "delay": 0}
    return json.dumps({"nb_res": 4, "jobs": [job], "profiles": profiles})


def test_jobs_come_by_submission_time_with_their_delay(data: Path) -> None:
    assert read_batsim_workload(data / "batsim.json") == BatsimWorkload(
        resources=8,
        jobs=(
            BatsimJob("1", 0.0, 100.0, 4, 120.0, "long"),
            BatsimJob("w0!2", 0.5, None, 1, 12.5, "short"),
            BatsimJob("late", 30.0, None, 8, 12.5, "short", user="kept for others"),
        ),
    )


@given(JOBS)
@settings(deadline=None)
def test_a_workload_reads_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[BatsimJob]
) -> None:
    named = [
        BatsimJob(j.id, j.submission_time, j.walltime, j.processors, j.delay, f"p{k}")
        for k, j in enumerate(jobs)
    ]
    path = tmp_path_factory.getbasetemp() / "workload.json"
    path.write_text(written(named))
    expected = tuple(sorted(named, key=lambda job: job.submission_time))
    assert read_batsim_workload(path).jobs == expected


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        (with_job(profile="smpi"), "profiles.smpi.type", "'smpi' is not accepted; accepted: delay"),
        (with_job(profile="absent"), "jobs[0].profile", "no profile 'absent'"),
        (with_job(profile="bare"), "profiles.bare.type", "missing"),
        (with_job(profile="still"), "profiles.still.delay", "0"),
        (with_job(res=0), "jobs[0].res", "0"),
        (with_job(subtime=-2), "jobs[0].subtime", "-2"),
        (with_job(walltime=0), "jobs[0].walltime", "0"),
        (with_job(id=""), "jobs[0].id", "''"),
        ('{"jobs": [{}], "profiles": {}}', "nb_res", "missing"),
        ('{"nb_res": 4, "jobs": [], "profiles": {}}', "jobs", "accepted: at least one element"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_its_place(
    tmp_path: Path, text: str, key: str, problem: str
) -> None:
    path = tmp_path / "workload.json"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_batsim_workload(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)


def test_two_jobs_of_one_id_are_refused_naming_both(tmp_path: Path) -> None:
    workload = json.loads(with_job(id=1))
    workload["jobs"].append(workload["jobs"][0] | {"id": "1"})
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(workload))
    with pytest.raises(InputError, match=r"jobs\[1\]\.id: '1' is also the id of jobs\[0\]"):
        read_batsim_workload(path)


def test_a_jobs_priority_is_a_finite_number_or_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "jobs.json"
    for told, priority in (({"priority": -2.5}, -2.5), ({}, 0)):
        path.write_text(with_job(**told))
        assert read_batsim_workload(path).jobs[0].priority == priority
    path.write_text(with_job(priority="high"))
    with pytest.raises(InputError, match=r"priority.*accepted: a finite number"):
        read_batsim_workload(path)
