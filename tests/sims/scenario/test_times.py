"""Times with units of their own: `90 s`, `7d`, `2 h 30 min`, where the file's unit is seconds."""

from __future__ import annotations

from typing import Any

import pytest

from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.loader import load, read
from tests.case_files import listed
from tests.sims.kinds import SCENARIOS


def rigid(time: object, **more: Any) -> Scenario:
    """A scenario whose one job takes `time`."""
    job = {"kind": "rigid", "jobs": [{"processors": 1, "time": time}]}
    return read({"name": "x", "platform": {"workers": 2}, "job": job, **more}, "file.toml")


@pytest.mark.parametrize(("text", "seconds"), listed(__file__, "units"))
def test_a_time_may_say_its_units(text: str, seconds: float) -> None:
    assert rigid(text).job == rigid(seconds).job


def test_whole_seconds_stay_whole_so_that_logs_are_the_same() -> None:
    [job] = rigid("2 min").job.jobs
    assert repr(job.time) == "120"  # type: ignore[union-attr]


def test_times_in_lists_tables_and_laws_of_speed_may_say_theirs() -> None:
    found = rigid(
        1,
        reclaims=[["1 min", "2 min", 0]],
        faults={"kind": "list", "strikes": [["1 h", 1]], "downtime": "5 min"},
        platform={"workers": 2, "speed": {"kind": "two-point", "interval": "1 d"}},
        protection={"kind": "buddies", "period": "3 h"},
    )
    assert found.reclaims == ((60, 120, 0),)
    assert found.faults.downtime == 300
    assert found.faults.strikes == ((3600, 1),)  # type: ignore[union-attr]
    assert found.platform is not None
    assert found.platform.speed.interval == 86_400  # type: ignore[union-attr]
    assert found.protection.period == 10_800


@pytest.mark.parametrize(("section", "table", "key"), listed(__file__, "misspelt"))
def test_a_text_that_is_no_time_is_refused_with_the_texts_that_are(
    section: str, table: Any, key: str
) -> None:
    """Words and lists beside a time leave them out no more than a number does."""
    with pytest.raises(InputError, match=rf"{key}: .*; accepted: .* text such as `90 s`, `7d`"):
        rigid(1, **{section: table})


def test_a_time_with_units_is_set_from_the_command_line() -> None:
    found = load(SCENARIOS / "batch-faults.toml", ["faults.downtime=2 min"])
    assert found.faults.downtime == 120


@pytest.mark.parametrize("text", ["", "5", "5 parsecs", "s", "-5 s", "1 h and 5 s"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(
        InputError, match=r"job\.jobs\.0\.time: .*; accepted: a finite number above 0"
    ):
        rigid(text)


def test_a_text_that_is_no_time_is_refused_with_texts_that_are() -> None:
    told = (
        r"'3 weeks' is not accepted; accepted: .*, where the unit is s, a text .*units: y, w, d, h"
    )
    with pytest.raises(InputError, match=rf"job\.jobs\.0\.time: {told}"):
        rigid("3 weeks")
    with pytest.raises(InputError, match=rf"faults\.mtbf: {told}"):
        rigid(1, faults={"kind": "exponential", "mtbf": "3 weeks"})


def test_no_time_at_all_is_refused_as_0_is() -> None:
    with pytest.raises(InputError, match=r"job\.jobs\.0\.time: '0 s' is not accepted"):
        rigid("0 s")


@pytest.mark.parametrize(("key", "value"), listed(__file__, "slots"))
def test_seconds_say_no_number_of_slots(key: str, value: object) -> None:
    with pytest.raises(InputError, match=r"'90 s' is not accepted: the unit is a slot.*of slots"):
        rigid(1, unit="slot", **{key: value})


def test_an_enrolment_policy_counts_in_slots_where_nothing_else_is_said() -> None:
    with pytest.raises(InputError, match=r"workers\.1\.task_time: '90 s'.*the unit is a slot"):
        load(SCENARIOS / "figure1.toml", ["workers.1.task_time=90 s"])
