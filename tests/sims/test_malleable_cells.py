"""Malleable applications in other cells of the one world: a master, owners, other protections."""

from __future__ import annotations

import tomllib

import pytest

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
from sims import session
from sims.examples import example
from sims.scenario.loader import read
from sims.world import run
from tests.sims.cli.commands import Shell

TWO = """
name = "two"
link = { unit = 1 }
policy = { name = "EndLocal" }
[platform]
workers = 4
[job]
kind = "malleable"
jobs = [
    { name = "T1", footprint = 10, speedup = { kind = "table", times = [400, 200, 140, 100] } },
    { name = "T2", footprint = 10, speedup = { kind = "table", times = [80, 40, 30, 20] } },
]
"""


def play(table: str) -> list[Record]:
    records: list[Record] = []
    run(read(tomllib.loads(table), "cell"), [records.append], until=10_000)
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
    faults = "faults = { kind = 'list', strikes = [[10, 0]], downtime = 7 }"
    assert runs(play(faults + TWO))[2] == ("T1", 1, "0-1", 17, 0)


def test_a_reclaimed_member_suspends_its_application_and_keeps_it_from_being_resized() -> None:
    states = "u" * 30 + "r" * 20
    workers = f"workers = [{{ availability = '{states}' }}, {{ count = 3 }}]"
    records = play(workers + TWO.replace("[platform]\nworkers = 4\n", ""))
    assert [run[:3] for run in runs(records)] == [("T1", 0, "0-1"), ("T2", 0, "2-3")]
    assert records[-1].t == 220


def test_who_joins_fetches_program_and_data_before_the_run_computes() -> None:
    records = session.run(example("malleable-master")).records()
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


COPIED = """
name = "copied"
seed = 102074
platform = { workers = 4 }
link = { unit = 0.05 }
errors = { rate = 0.01 }
[protection]
kind = "images"
period = 6
cost = 1
recovery = 1
copies = 2
cloning = true
delay = 1
fatal = "possible"
[job]
kind = "malleable"
verification = 1
jobs = [
    { footprint = 12, speedup = { kind = "table", times = [36.5, 19, 13.5, 11] } },
    { footprint = 9, speedup = { kind = "table", times = [18.5, 10, 7.5, 6.5] } },
]
"""


def test_no_end_is_expected_of_an_application_whose_other_copy_completes_as_the_oldest_fails() -> (
    None
):
    """The second copy starts at 12 with the first one's 11 of 19 units of work; both verify at 23,
    where errors strike the first alone."""
    records = play(COPIED)
    ends = [it.event.outcome.value for it in records if isinstance(it.event, RunEnded)]
    assert ends[-2:] == ["failed", "completed"]
    [done] = [
        it.seq for it in records if isinstance(it.event, JobCompleted) and it.event.job == "J1"
    ]
    assert not [it for it in records[done:] if isinstance(it.event, EndExpected)]


def test_the_ettr_of_a_job_that_grows_counts_each_part_on_the_workers_that_computed_it(
    shell: Shell,
) -> None:
    """T1 computes for 40 on 2 workers, redistributes for 2.5, and computes for 80 on 4; T2 computes
    for 40 only."""
    shell("run", shell.write(TWO), "--log", "two.jsonl")
    said = shell.told("summary", "two.jsonl")
    assert said["ettr"] == pytest.approx((120 / 122.5 + 1) / 2)
