"""Images that cost nothing and are always there (`protection.period = "continuous"`)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import CheckpointTaken, JobCompleted, RestartedFromScratch, RunEnded, RunStarted
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.session import check, run

IMAGES = {"kind": "images", "period": "continuous"}


def scenario(strikes: list[list[float]], **more: Any) -> dict[str, Any]:
    """A job of 10 s on two of three workers; a fault takes 5 s."""
    faults = {"kind": "list", "downtime": 5, "strikes": strikes} | more.pop("faults", {})
    job = {"kind": "rigid", "jobs": [{"processors": 2, "time": 10} | more.pop("one", {})]}
    return {
        "name": "always",
        "unit": "s",
        "platform": {"workers": 3},
        "faults": faults,
        "job": job | more.pop("job", {}),
        "protection": IMAGES | more.pop("protection", {}),
    } | more


def told(table: dict[str, Any]) -> list[Record]:
    """What a run tells; the audit finds nothing wrong in it, and no line tells of a checkpoint."""
    found = list(run(table).records())
    assert [str(it) for it in audit(iter(found))] == []
    assert not any(isinstance(it.event, CheckpointTaken) for it in found)
    return found


def runs(records: list[Record]) -> list[tuple[float, float]]:
    """Work with which each run began, and work at its end."""
    begun = [it.event.begun for it in records if isinstance(it.event, RunStarted)]
    done = [it.event.done for it in records if isinstance(it.event, RunEnded)]
    return list(zip(begun, done, strict=True))


def end(records: list[Record]) -> float:
    return max(it.t for it in records if isinstance(it.event, JobCompleted))


def test_a_fault_loses_no_work() -> None:
    """Run 0 starts up for 2 s and computes 2; run 1 recovers for 1 s after its own 2 s, and has 8
    left: 4 + 2 + 1 + 8."""
    found = told(scenario([[4, 0]], job={"startup": 2}, protection={"recovery": 1}))
    assert (runs(found), end(found)) == ([(0, 2), (2, 10)], 15)


def test_a_fault_before_anything_is_computed_leaves_nothing_to_recover() -> None:
    found = told(scenario([[1, 0]], job={"startup": 2}, protection={"recovery": 1}))
    assert (runs(found), end(found)) == ([(0, 0), (0, 10)], 1 + 2 + 10)


def test_all_work_is_saved_before_the_last_verification() -> None:
    """A fault at 11 strikes as the run verifies, which it does again: 11 + 2."""
    found = told(scenario([[11, 0]], job={"verification": 2}))
    assert (runs(found), end(found)) == ([(0, 10), (10, 10)], 13)


def test_a_silent_error_is_in_what_was_saved() -> None:
    found = told(scenario([[4, 0]], one={"failures": 1}, job={"verification": 1}))
    assert runs(found) == [(0, 4), (4, 10), (0, 10)]
    [given_up] = [it.event for it in found if isinstance(it.event, RestartedFromScratch)]
    assert given_up.lost == 10


def test_what_a_run_that_hangs_has_computed_is_kept() -> None:
    """It hangs at 3, which is found at 8: 7 are left."""
    table = scenario([[3, 0]], faults={"effect": "hang", "detection": 5})
    del table["faults"]["downtime"]  # it would have no meaning
    found = told(table)
    assert (runs(found), end(found)) == ([(0, 3), (3, 10)], 15)


def test_standbys_go_on_where_the_run_was() -> None:
    found = told(scenario([[4, 0], [6, 1]], one={"standbys": 1}))
    assert runs(found)[:2] == [(0, 4), (4, 6)]
    assert runs(found)[-1][0] == 6


def test_it_is_the_limit_of_short_periods() -> None:
    strikes = [[1.5 + 1.7 * k, k % 3] for k in range(4)]
    always, often = (
        end(list(run(scenario(strikes, protection=it)).records())) for it in ({}, {"period": 1e-3})
    )
    assert always - 1e-9 <= often < always + 5e-3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"kind": "buddies"}, "of images"),
        ({"cost": 1}, "protection.cost"),
        ({"verified": True}, "protection.verified"),
        ({"copies": 2}, "protection.copies"),
        ({"on_notice": "save"}, "protection.on_notice"),
    ],
)
def test_what_it_cannot_stand_beside_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check(scenario([], protection=more))


def test_images_on_the_masters_channels_take_time() -> None:
    table = scenario([], one={"image": 2, "program": 1}, master={"channels": 1})
    with pytest.raises(InputError, match="channels"):
        run(table)


def test_they_take_nothing_of_a_shared_storage() -> None:
    """Another job saves its 4 bytes to the storage; the one that is always saved has no size. Its 6
    units of work that are left go on at 7, when two workers are free."""
    other = {"processors": 1, "time": 3, "protection": {"kind": "images", "bytes": 4, "period": 2}}
    job = {"kind": "rigid", "jobs": [{"processors": 2, "time": 10}, other]}
    found = list(run(scenario([[4, 0]], storage={"bandwidth": 1}) | {"job": job}).records())
    assert [str(it) for it in audit(iter(found))] == []
    assert [it.t for it in found if isinstance(it.event, JobCompleted)] == [3 + 4, 7 + 6]
