"""Batsim workloads: delay jobs are read, all others refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.readers.batsim import read_batsim
from sims.readers.job_log import JobLog, LoggedJob


def with_job(**fields: object) -> str:
    """A workload of one good job with some fields replaced."""
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "short"} | fields
    profiles = {"short": {"type": "delay", "delay": 1}, "smpi": {"type": "smpi"}, "bare": {}}
    profiles["still"] = {"type": "delay", "delay": 0}
    return json.dumps({"nb_res": 4, "jobs": [job], "profiles": profiles})


def test_jobs_come_by_submission_time_with_their_delay(data: Path) -> None:
    jobs = (
        LoggedJob("1", 0.0, 120.0, 4, 100.0),
        LoggedJob("w0!2", 0.5, 12.5, 1, priority=-2.5),
        LoggedJob("late", 30.0, 12.5, 8, user="kept for others"),
    )
    assert read_batsim(data / "batsim.json") == JobLog(jobs, machine=8)


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
        (with_job(priority="high"), "jobs[0].priority", "accepted: a finite number"),
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
        read_batsim(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)


def test_two_jobs_of_one_id_are_refused_naming_both(tmp_path: Path) -> None:
    workload = json.loads(with_job(id=1))
    workload["jobs"].append(workload["jobs"][0] | {"id": "1"})
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(workload))
    with pytest.raises(InputError, match=r"jobs\[1\]\.id: '1' is also the id of jobs\[0\]"):
        read_batsim(path)
