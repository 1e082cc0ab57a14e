"""Spellings of before: each is refused with the one that stands in its place."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from sims.errors import InputError
from sims.scenario.loader import read
from sims.scenario.old import OF_KIND, RENAMED
from tests.sims.kinds import SCENARIOS


def table(name: str = "batch-rigid") -> dict[str, Any]:
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text())


def put(where: dict[str, Any], key: str) -> None:
    *path, last = key.split(".")
    for step in path:
        where = where.setdefault(step, {})
    where[last] = 1


@pytest.mark.parametrize("key", RENAMED)
def test_an_old_key_is_refused_with_the_new_one(key: str) -> None:
    file = table()
    put(file, key)
    with pytest.raises(InputError) as refused:
        read(file, "file.toml")
    assert refused.value.key == key
    assert refused.value.accepted == RENAMED[key]


@pytest.mark.parametrize("key", OF_KIND["malleable"])
def test_old_keys_of_one_kind_of_job_are_refused_there_alone(key: str) -> None:
    file = table("malleable10")
    put(file, key)
    with pytest.raises(InputError) as refused:
        read(file, "file.toml")
    assert (refused.value.key, refused.value.accepted) == (key, OF_KIND["malleable"][key])


def test_a_listed_jobs_profile_is_its_speedup_now() -> None:
    file = table("malleable-fatal")
    file["job"]["jobs"][1]["profile"] = file["job"]["jobs"][1].pop("speedup")
    with pytest.raises(InputError, match=r"job\.jobs\.1\.profile: the old spelling.*speedup"):
        read(file, "file.toml")


def test_redundant_jobs_are_a_stream_of_rigid_ones() -> None:
    file = table("redundant")
    file["job"]["kind"] = "redundant"
    with pytest.raises(InputError, match=r"job\.kind: the old spelling.*\[job\.stream\]"):
        read(file, "file.toml")


@pytest.mark.parametrize("name", ["LPA", "BATCH", "MINTIME", "MINAREA"])
def test_an_allocation_is_no_policys_name_any_more(name: str) -> None:
    file = table("batch-moldable")
    file["policy"]["name"] = name
    with pytest.raises(InputError, match=r"policy\.name: .*policy\.allocation"):
        read(file, "file.toml")


def test_slots_per_task_are_no_speed_any_more() -> None:
    file = table("figure1")
    file["workers"][1]["speed"] = file["workers"][1].pop("task_time")
    with pytest.raises(InputError, match=r"workers\.1\.speed: .*task_time"):
        read(file, "file.toml")


def test_a_speed_beside_the_time_per_task_is_one() -> None:
    file = table("figure1")
    file["workers"][1]["speed"] = 2
    assert read(file, "file.toml").workers[1].speed.process is not None
