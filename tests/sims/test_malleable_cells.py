"""Malleable applications in other cells of the one world: a master, owners, other protections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.events import (
    EndExpected,
    JobCompleted,
    RedistributionPlanned,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TransferEnded,
    TransferKind,
)
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.scenario.loader import load, read
from sims.world import run

Table = dict[str, Any]


def table(times: list[float]) -> Table:
    return {"kind": "table", "times": times}


TWO: Table = {
    "name": "two",
    "platform": {"workers": 4},
    "job": {
        "kind": "malleable",
        "jobs": [
            {"name": "T1", "footprint": 10, "speedup": table([400, 200, 140, 100])},
            {"name": "T2", "footprint": 10, "speedup": table([80, 40, 30, 20])},
        ],
    },
    "link": {"unit": 1},
    "policy": {"name": "EndLocal"},
}


def play(table: Table) -> list[Record]:
    records: list[Record] = []
    run(read(table, "cell"), [records.append], until=10_000)
    return records


def runs(records: list[Record]) -> list[tuple[str, int, str, float, float]]:
    """(job, run, workers, start, work begun)."""
    started = [(record.t, record.event) for record in records]
    return [
        (it.job, it.run, it.processors, t, it.begun)
        for t, it in started
        if isinstance(it, RunStarted)
    ]


def test_a_resize_ends_the_run_and_goes_on_with_all_its_work_on_more_workers() -> None:
    """RC from 2 to 4 workers: max(2, 2) rounds of 10 / (2 x 4)."""
    records = play(TWO)
    assert runs(records) == [
        ("T1", 0, "0-1", 0, 0),
        ("T2", 0, "2-3", 0, 0),
        ("T1", 1, "0-3", 40, 20),
    ]
    assert records[-1].t == 40 + 2 * 10 / 8 + 80


def test_without_protection_a_struck_application_gets_workers_again_once_a_group_is_up() -> None:
    faults = {"kind": "list", "strikes": [[10, 0]], "downtime": 7}
    assert runs(play(TWO | {"faults": faults}))[2] == ("T1", 1, "0-1", 17, 0)


def test_a_reclaimed_member_suspends_its_application_and_keeps_it_from_being_resized() -> None:
    workers = [{"availability": "u" * 30 + "r" * 20}, {"count": 3}]
    table = {key: value for key, value in TWO.items() if key != "platform"}
    records = play(table | {"workers": workers})
    assert [run[:3] for run in runs(records)] == [("T1", 0, "0-1"), ("T2", 0, "2-3")]
    assert records[-1].t == 220


def test_who_joins_fetches_program_and_data_before_the_run_computes() -> None:
    records: list[Record] = []
    run(load(Path("sims/scenarios/malleable-master.toml")), [records.append])
    assert any(isinstance(record.event, RedistributionPlanned) for record in records)
    lacking: dict[str, set[int]] = {}
    members: dict[str, set[int]] = {}
    for record in records:
        match record.event:
            case RunStarted(job=job, processors=text):
                lacking[job] = set(numbers_in(text)) - members.get(job, set())
                members[job] = set(numbers_in(text))
            case TransferEnded(worker=worker, kind=TransferKind.DATA):
                for missing in lacking.values():
                    missing.discard(worker)
            case StageStarted(job=job, stage=Stage.COMPUTING | Stage.REDISTRIBUTING):
                assert not lacking[job], record


def test_nothing_is_expected_of_whom_another_copy_completes_as_the_oldest_fails() -> None:
    """The second copy starts at 12 with the first one's 11 of 19 units of work; both verify at 23,
    where errors strike the first alone."""
    copied = {"kind": "images", "period": 6, "cost": 1, "recovery": 1, "copies": 2}
    records = play(
        {
            **TWO,
            "seed": 102074,
            "job": {
                "kind": "malleable",
                "verification": 1,
                "jobs": [
                    {"footprint": 12, "speedup": table([36.5, 19, 13.5, 11])},
                    {"footprint": 9, "speedup": table([18.5, 10, 7.5, 6.5])},
                ],
            },
            "link": {"unit": 0.05},
            "errors": {"rate": 0.01},
            "protection": {**copied, "cloning": True, "delay": 1, "fatal": "possible"},
            "policy": {},
        }
    )
    ends = [it.event.outcome.value for it in records if isinstance(it.event, RunEnded)]
    assert ends[-2:] == ["failed", "completed"]
    [done] = [
        it.seq for it in records if isinstance(it.event, JobCompleted) and it.event.job == "J1"
    ]
    assert not [it for it in records[done:] if isinstance(it.event, EndExpected)]
