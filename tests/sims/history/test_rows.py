"""Rows against the ledger, the runs that a history holds, and the lines of logs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from actors.events import (
    CheckpointLost,
    CheckpointStored,
    CheckpointTaken,
    IterationCompleted,
    IterationStarted,
    RepairOutcome,
    RunEnded,
    RunStarted,
    Stage,
    TransferKind,
    TransferStarted,
    WorkerChanged,
)
from actors.intervals import count_in, numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history.iterations import IterationRow
from sims.history.measured import MeasuredRow
from sims.history.promises import PromiseEnd, PromiseRow
from sims.history.reader import WRITERS, History
from sims.history.repair import RepairRow, RepairStep
from sims.history.rows import JobRow, RunRow, StateRow
from sims.history.saving import CheckpointRow, CheckpointStep
from sims.history.transfers import TransferRow
from sims.log import decode
from sims.metrics.report import Report
from tests.parts import parted
from tests.sims.kinds import EVERY, records_of


class Rows:
    """Keeps the row of each job that a history tells of."""

    def __init__(self, history: History) -> None:
        self.of: dict[str, JobRow] = {}
        history.take(JobRow, self._keep)

    def _keep(self, row: JobRow) -> None:
        assert row.name not in self.of
        self.of[row.name] = row


def rows_of(records: Iterable[Record]) -> dict[str, JobRow]:
    """The row of each job."""
    history = History()
    rows = Rows(history)
    history.read(records)
    return rows.of


def test_a_job_is_reported_with_all_runs_that_end_at_the_instant_of_its_end() -> None:
    rows = rows_of(records_of("redundant"))
    assert any(sum(row.outcomes.values()) > 1 for row in rows.values())
    assert all(sum(row.outcomes.values()) == row.runs for row in rows.values())


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"shared"}))  # runs that hold half a worker
def test_the_processor_time_of_a_job_is_what_the_ledger_says_that_the_job_held(name: str) -> None:
    records = records_of(name)
    ledger = Report.of(records, jobs=True).ledger
    for job, row in rows_of(records).items():
        held = float(sum(ledger.held(job).values()))
        assert row.processor_time == pytest.approx(held)


@pytest.mark.parametrize("name", EVERY)
def test_the_processors_of_a_job_are_the_most_that_its_runs_hold_at_one_time(name: str) -> None:
    history = History()
    rows = Rows(history)
    most: defaultdict[str, int] = defaultdict(int)
    for record in parted(records_of(name)):
        history.apply(record)
        held: defaultdict[str, int] = defaultdict(int)
        for run in history.runs.values():
            held[run.job.name] += count_in(run.processors)
        for job, number in held.items():
            most[job] = max(most[job], number)
    history.close()
    assert {job: row.processors for job, row in rows.of.items() if row.runs} == most


# --- other rows than those of jobs ----------------------------------------------------------------


def taken(kind: type, records: Iterable[Record]) -> tuple[list[Any], list[Any]]:
    """The rows of a class that are complete, and those that have begun, of some records."""
    history, over, begun = History(), list[Any](), list[Any]()
    history.take(kind, over.append, begun.append)
    history.read(records)
    return over, begun


@pytest.mark.parametrize("name", EVERY)
def test_there_is_a_row_for_each_run_that_the_log_starts(name: str) -> None:
    parts = list(parted(records_of(name)))
    ends = {(it.event.job, it.event.run): it for it in parts if isinstance(it.event, RunEnded)}
    over, begun = taken(RunRow, records_of(name))
    started = [it for it in parts if isinstance(it.event, RunStarted)]
    assert [(it.job, it.run, it.start) for it in begun] == [
        (it.event.job, it.event.run, it.t) for it in started
    ]
    assert {it.key for it in over} == {it.key for it in begun}
    for row in over:
        end = ends.get(row.key)
        found = row.end, row.ended_by, row.outcome, row.done
        if end is None:
            assert found == (None, None, None, None)
        else:
            assert found == (end.t, end.seq, end.event.outcome, end.event.done)


@pytest.mark.parametrize("name", EVERY)
def test_rows_of_states_and_lines_of_changes_tell_the_same(name: str) -> None:
    changes = [it for it in records_of(name) if isinstance(it.event, WorkerChanged)]
    over, begun = taken(StateRow, records_of(name))
    away = [it for it in changes if it.event.state is not WorkerState.UP]
    assert [(it.seq, it.worker, it.state, it.start) for it in begun] == [
        (it.seq, it.event.worker, it.event.state, it.t) for it in away
    ]
    seen: set[int] = set()  # a worker that begins away has a row from its first change on
    back = []
    for it in changes:
        if it.event.was is not WorkerState.UP and it.event.worker in seen:
            back.append((it.event.worker, it.t))
        seen.add(it.event.worker)
    assert [(it.worker, it.end) for it in over if it.end is not None] == back
    assert len(over) == len(begun)


@pytest.mark.parametrize("name", EVERY)
def test_there_is_a_row_for_each_transfer_that_starts(name: str) -> None:
    starts = [it for it in records_of(name) if isinstance(it.event, TransferStarted)]
    over, begun = taken(TransferRow, records_of(name))
    assert [(it.seq, it.worker, it.start, it.left) for it in begun] == [
        (it.seq, it.event.worker, it.t, it.event.left) for it in starts
    ]
    assert sorted(it.seq for it in over) == [it.seq for it in begun]
    assert all((it.end is None) is (it.how is None) for it in over)


def log(told: str) -> list[Record]:
    """Lines of a log: time, event, and what else it holds."""
    found = []
    for seq, line in enumerate(filter(str.strip, told.splitlines())):
        t, event, keys = line.split(maxsplit=2)
        frame = {"seq": seq, "t": json.loads(t), "event": event}
        found.append(decode(frame | json.loads(f"{{{keys}}}")))
    return found


def test_a_promise_ends_with_the_next_one_with_its_drop_or_with_the_start() -> None:
    over, begun = taken(
        PromiseRow,
        log("""
        0 JobSubmitted "job": "a"
        0 JobSubmitted "job": "b"
        1 ReservationMade "job": "a", "start": 9, "processors": 2
        2 ReservationMade "job": "a", "start": 7, "processors": 2
        3 ReservationMade "job": "b", "start": 8, "processors": 1
        4 ReservationDropped "job": "b"
        6 RunStarted "job": "a", "run": 0, "processors": "0-1", "work": 3
        8 ReservationMade "job": "b", "start": 9, "processors": 1
        """),
    )
    assert [(it.job, it.made, it.start) for it in begun] == [
        *(("a", 1, 9), ("a", 2, 7), ("b", 3, 8), ("b", 8, 9)),
    ]
    assert [(it.job, it.made, it.end, it.how) for it in over] == [
        ("a", 1, 2, PromiseEnd.REPLACED),
        ("b", 3, 4, PromiseEnd.DROPPED),
        ("a", 2, 6, PromiseEnd.STARTED),
        ("b", 8, None, None),
    ]


def test_a_unit_waits_is_repaired_in_stages_and_retires() -> None:
    node = '"of": "nodes", "workers": "2-3"'
    over, _ = taken(
        RepairRow,
        log(f"""
        1 UnitFailed "law": 0, {node}
        2 RepairStarted {node}, "stage": 0
        5 RepairEnded {node}, "stage": 0, "outcome": "passed-on"
        6 RepairStarted {node}, "stage": 1
        7 RepairEnded {node}, "stage": 1, "outcome": "not-fixed"
        9 UnitFailed "law": 0, {node}
        9 UnitRetired {node}
        """),
    )
    assert [(it.step, it.start, it.end, it.stage, it.outcome) for it in over] == [
        (RepairStep.WAITS, 1, 2, None, None),
        (RepairStep.IN_REPAIR, 2, 5, 0, RepairOutcome.PASSED_ON),
        (RepairStep.WAITS, 5, 6, None, None),
        (RepairStep.IN_REPAIR, 6, 7, 1, RepairOutcome.NOT_FIXED),
        (RepairStep.WAITS, 9, 9, None, None),
        (RepairStep.RETIRED, 9, None, None, None),
    ]


def test_a_fault_that_is_blamed_on_another_unit_has_that_one_wait_for_repair() -> None:
    over, _ = taken(
        RepairRow,
        log("""
        1 UnitFailed "law": 0, "of": "workers", "workers": "1"
        3 FaultBlamed "of": "workers", "workers": "1", "blamed": "2"
        4 RepairStarted "of": "workers", "workers": "2", "stage": 0
        """),
    )
    assert [(it.workers, it.step, it.start, it.end) for it in over] == [
        ("1", RepairStep.WAITS, 1, 3),
        ("2", RepairStep.WAITS, 3, 4),
        ("2", RepairStep.IN_REPAIR, 4, None),
    ]


STEPS = {
    CheckpointTaken: CheckpointStep.TAKEN,
    CheckpointStored: CheckpointStep.STORED,
    CheckpointLost: CheckpointStep.LOST,
}


@pytest.mark.parametrize("name", EVERY)
def test_there_is_a_row_for_each_checkpoint_that_is_complete_or_lost(name: str) -> None:
    lines = [it for it in records_of(name) if type(it.event) in STEPS]
    over, _ = taken(CheckpointRow, records_of(name))
    assert [(it.seq, it.t, it.job, it.run, it.step) for it in over] == [
        (it.seq, it.t, it.event.job, it.event.run, STEPS[type(it.event)]) for it in lines
    ]
    for row, line in zip(over, lines, strict=True):
        if row.step is CheckpointStep.LOST:
            assert list(numbers_in(row.workers)) == list(line.event.workers)
        else:
            assert row.done == line.event.done


@pytest.mark.parametrize("name", EVERY)
def test_there_is_a_row_for_each_iteration_that_starts(name: str) -> None:
    lines = records_of(name)
    over, begun = taken(IterationRow, lines)
    starts = [it for it in lines if isinstance(it.event, IterationStarted)]
    ends = [it for it in lines if isinstance(it.event, IterationCompleted)]
    assert [(it.job, it.iteration, it.start) for it in begun] == [
        (it.event.job, it.event.iteration, it.t) for it in starts
    ]
    assert [(it.job, it.iteration, it.end) for it in over if it.end is not None] == [
        (it.event.job, it.event.iteration, it.t) for it in ends
    ]
    assert len(over) == len(begun)


def test_what_real_processes_took_is_told_with_what_they_did() -> None:
    part, rate = '"job": "a", "run": 0', '"rate": 1'
    history, over = History(1), list[MeasuredRow]()
    history.take(MeasuredRow, over.append)
    history.read(
        log(f"""
        0 JobSubmitted "job": "a"
        0 RunStarted {part}, "processors": "0", "work": 9
        0 StageStarted {part}, "stage": "staging_in", "rate": 0, "done": 0
        0 TransferStarted {part}, "worker": 0, "kind": "data", "left": 2
        3 PartMeasured {part}, "worker": 0, "length": 3, "busy": 1
        3 TransferEnded {part}, "worker": 0, "kind": "data"
        3 StageStarted {part}, "stage": "computing", {rate}, "done": 0
        8 PartMeasured {part}, "worker": null, "length": 5, "busy": 4
        8 StageStarted {part}, "stage": "checkpointing", {rate}, "done": 4
        9 PartMeasured {part}, "worker": null, "length": 1, "busy": 1
        """)
    )
    found = [(it.kind or it.stage, it.length, it.busy, it.work) for it in over]
    assert found == [
        (TransferKind.DATA, 3, 1, None),
        (Stage.COMPUTING, 5, 4, 4),
        (Stage.CHECKPOINTING, 1, 1, None),
    ]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_writer_keeps_nothing_of_what_is_over(kind: type) -> None:
    for name in ("volatile20", "batch-faults", "batch-easy"):
        history = History()
        history.take(kind, lambda _: None)
        history.read(records_of(name))
        for slot in ("_open", "_spans", "_lineages"):
            kept = getattr(history._writers[kind], slot, {})
            assert len(kept) <= history.processors
