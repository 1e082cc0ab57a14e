"""Hangs: a worker stays UP and its run stops advancing until that is detected (rules.md, F6)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import (
    CheckpointLost,
    HangDetected,
    JobCompleted,
    Outcome,
    RunEnded,
    RunHung,
    RunStarted,
    WorkerChanged,
)
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.rows import Use
from sims.ledger import account
from sims.session import check, run


def records_of(
    strikes: list[list[float]], detection: float = 3.0, workers: int = 2, **more: Any
) -> list[Record]:
    """The log of a job of 10 on two workers under listed hangs; the audit finds nothing wrong."""
    table = {
        "name": "hangs",
        "unit": "s",
        "platform": {"workers": workers},
        "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 10}]},
        "policy": {"name": "FCFS"},
        "faults": {
            "kind": "list",
            "strikes": strikes,
            "effect": "hang",
            "detection": detection,
        },
    } | more
    records = list(run(table).records())
    assert list(audit(iter(records))) == []
    return records


def times_of(records: list[Record], *kinds: type) -> list[float]:
    return [it.t for it in records if isinstance(it.event, kinds)]


def ended(records: list[Record]) -> float:
    [time] = times_of(records, JobCompleted)
    return time


def test_a_hung_run_is_lost_when_the_hang_is_detected() -> None:
    """It hangs at 4, is lost 3 later, and takes 10 from scratch: 17."""
    records = records_of([[4, 1]])
    assert times_of(records, RunHung) == [4]
    assert times_of(records, HangDetected) == [7]
    assert ended(records) == 17


def test_no_worker_goes_down() -> None:
    assert times_of(records_of([[4, 1]]), WorkerChanged) == []


def test_members_of_a_hung_run_wait() -> None:
    """Two members over [4, 7): 6 of waiting, 8 lost, 20 useful."""
    spent = account(iter(records_of([[4, 1]])), 2).total
    assert (spent[Use.WAITING], spent[Use.LOST], spent[Use.USEFUL]) == (6, 8, 20)


def test_a_further_hang_of_the_run_changes_nothing() -> None:
    """Nor does it delay the detection of the first, or hang the next run."""
    records = records_of([[4, 1], [5, 0], [6, 1]])
    assert times_of(records, RunHung) == [4]
    assert ended(records) == 17


def test_a_hang_that_is_detected_at_once_loses_the_run_at_once() -> None:
    assert ended(records_of([[4, 1]], detection=0)) == 14


def test_a_worker_that_no_run_holds_does_not_hang() -> None:
    assert times_of(records_of([[4, 2]], workers=3), RunHung) == []


def test_no_checkpoint_of_a_hung_run_ends() -> None:
    """Images of cost 2 after 3 of work: the image begun at 3 is not complete at 4, so that the run
    that begins at 7 starts from scratch and takes 10 and three images."""
    protection = {"kind": "images", "period": 3, "cost": 2, "recovery": 1}
    assert ended(records_of([[4, 1]], protection=protection)) == 7 + 10 + 3 * 2


def test_a_run_goes_on_from_its_last_image() -> None:
    """An image of cost 1 after 3 of work is complete at 4; the run hangs at 5 and is lost at 8.
    Recovery 1, the 7 of work that are left, and two images: 8 + 1 + 7 + 2."""
    protection = {"kind": "images", "period": 3, "cost": 1, "recovery": 1}
    assert ended(records_of([[5, 1]], protection=protection)) == 18


def test_buddies_keep_their_members_and_no_pair_is_lost() -> None:
    """Both of a pair hang: as no memory is lost, the next run goes on from the checkpoint of 3 at
    once: hung at 4, detected at 7, recovery 1, 7 of work."""
    protection = {"kind": "buddies", "period": 3, "cost": 0, "recovery": 1}
    records = records_of([[4, 0], [4, 1]], protection=protection)
    assert times_of(records, CheckpointLost) == []
    assert ended(records) == 7 + 1 + 7


def test_a_run_that_ends_otherwise_before_is_not_lost_again() -> None:
    """A fault at 5 takes worker 0 DOWN for 1: the run that begins at 6 is not touched by the hang
    that would have been detected at 7."""
    faults = [
        {"kind": "list", "strikes": [[4, 1]], "effect": "hang", "detection": 3},
        {"kind": "list", "strikes": [[5, 0]], "downtime": 1},
    ]
    records = records_of([], faults=faults)
    assert times_of(records, HangDetected) == []
    assert [it.event.outcome for it in records if isinstance(it.event, RunEnded)] == [
        Outcome.LOST,
        Outcome.COMPLETED,
    ]
    assert ended(records) == 16


def test_of_one_instant_an_earlier_law_comes_first() -> None:
    """A hang at the instant of a fault of the same worker: by the first law it hangs before, by the
    second there is no run left that could hang."""
    hang = {"kind": "list", "strikes": [[4, 1]], "effect": "hang", "detection": 3}
    fault = {"kind": "list", "strikes": [[4, 1]], "downtime": 1}
    assert times_of(records_of([], faults=[fault, hang]), RunHung) == []


def test_messages_of_a_hung_run_go_on() -> None:
    """Program 2 and data 1 for each of two workers over one channel: all is received at 6. The run
    hangs at 1, lost at 9, and the next finds the program there, and needs data: 9 + 2 + 10."""
    records = records_of([[1, 0]], detection=8, master={"channels": 1, "program": 2, "data": 1})
    assert ended(records) == 21


def test_a_hung_run_with_a_standby_begins_again_on_the_same_workers() -> None:
    jobs = {"kind": "rigid", "jobs": [{"processors": 2, "time": 10, "standbys": 1}]}
    records = records_of([[4, 1]], workers=3, job=jobs)
    assert [it.event.processors for it in records if isinstance(it.event, RunStarted)] == [
        "0-1",
        "0-1",
    ]
    assert ended(records) == 17


def test_a_standby_does_not_hang() -> None:
    jobs = {"kind": "rigid", "jobs": [{"processors": 2, "time": 10, "standbys": 1}]}
    assert ended(records_of([[4, 2]], workers=3, job=jobs)) == 10


def test_a_downtime_of_hangs_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        records_of([], faults={"kind": "list", "strikes": [], "effect": "hang", "downtime": 2})
    assert refused.value.key == "faults.downtime"


def test_check_says_how_many_hangs_are_expected() -> None:
    """10 of work on 2 workers, each of which hangs every 100: 0.2."""
    table = {
        "name": "hangs",
        "unit": "s",
        "platform": {"workers": 2},
        "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 10}]},
        "faults": {"kind": "exponential", "mtbf": 100, "effect": "hang", "detection": 1},
    }
    assert "hangs       0.2 expected" in str(check(table))
