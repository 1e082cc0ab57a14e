"""The one fold from records to state: on golden logs, and on small ones made by hand."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest
from attrs import define, field

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    JobCompleted,
    JobSubmitted,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    Outcome,
    ReservationMade,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TransferEnded,
    TransferKind,
    TransferStarted,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Event, Record
from policies.availability import WorkerState
from sims.history import HOLDING, History, Job, Key, Listener, Run, Worker
from sims.log import LogFile
from tests.golden.regenerate import GOLDEN, path_of

UP, RECLAIMED, DOWN = WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN
COMPLETED, LOST, CANCELLED = Outcome.COMPLETED, Outcome.LOST, Outcome.CANCELLED


@define
class Heard(Listener):
    """Notes what it is notified of."""

    times: list[float] = field(factory=list)
    spans: defaultdict[Key, list[tuple[float, float]]] = field(factory=lambda: defaultdict(list))
    own: defaultdict[int, list[tuple[float, float]]] = field(factory=lambda: defaultdict(list))
    whose: list[tuple[int | str, ...]] = field(factory=list)
    said: list[str] = field(factory=list)
    did: list[tuple[object, ...]] = field(factory=list)

    def time_passed(self, until: float) -> None:
        self.times.append(until)

    def run_started(self, run: Run, record: Record) -> None:
        self.said.append(f"{run.job.name}.{run.number} starts")

    def run_span(self, run: Run, record: Record, done: float) -> None:
        self.spans[run.key].append((run.since, record.t))
        self.did.append((run.stage, run.rate, run.done, done))

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        assert run.end == record.t and run.outcome is not None
        self.spans[run.key].append((run.since, record.t))
        self.said.append(f"{run.job.name}.{run.number} ends")

    def run_released(self, run: Run, record: Record) -> None:
        self.said.append(f"{run.job.name}.{run.number} released")

    def worker_span(self, worker: Worker, until: float) -> None:
        self.own[worker.number].append((worker.since, until))
        holders = [run.job.name for run in self.history.holders(worker.number)]
        self.whose.append((worker.number, *holders))

    def job_ended(self, job: Job, record: Record) -> None:
        self.said.append(f"{job.name} over")


def history(processors: int, *told: tuple[float, Event]) -> tuple[History, Heard]:
    """Of a log of these events, and what was heard of it."""
    it, heard = History(processors), Heard()
    it.listen(heard)
    for seq, (t, event) in enumerate(told):
        it.apply(Record(seq, t, None, event))
    return it, heard


BEGUN = ((0, JobSubmitted("a")), (0, RunStarted("a", 0, "0-1", 9)))


def names(it: History) -> list[str]:
    return [job.name for job in it.queue]


# --- golden logs ----------------------------------------------------------------------------------


@pytest.fixture(params=GOLDEN)
def records(request: pytest.FixtureRequest) -> list[Record]:
    return list(LogFile(path_of(request.param)))


def test_at_every_record_jobs_wait_or_hold_workers_and_workers_are_free_held_or_away(
    records: list[Record],
) -> None:
    it, part = History(), History()
    for record in records:
        it.apply(record)
        held: dict[int, list[Run]] = {}
        for run in it.runs.values():
            for worker in numbers_in(run.processors):
                held.setdefault(worker, []).append(run)
        away = {n for n, worker in it.workers.items() if worker.state is not UP}
        assert it.free == it.processors - len(held.keys() | away)
        assert all(set(it.holders(n)) == set(held.get(n, ())) for n in range(it.processors))
        assert (len(it.queue), it.waiting + it.running) == (it.waiting, len(it.jobs))
        assert set(names(it)) == it.jobs.keys() - {job for job, _ in it.runs}
        # Of a part of the events the queue and the runs are the same.
        if type(record.event) in HOLDING:
            part.apply(record)
        assert (names(part), part.runs.keys()) == (names(it), it.runs.keys())
    assert (it.jobs, it.runs, it.waiting, it.running) == ({}, {}, 0, 0)


def test_spans_of_a_run_and_of_a_worker_follow_each_other(records: list[Record]) -> None:
    heard = Heard()
    History.of(records, heard)
    assert heard.spans
    for spans in (*heard.spans.values(), *heard.own.values()):
        assert all(start <= end <= after for (start, end), (after, _) in pairwise(spans))
    for spans in heard.spans.values():
        assert all(end == after for (_, end), (after, _) in pairwise(spans))


# --- jobs and runs --------------------------------------------------------------------------------


def test_a_job_waits_until_a_run_starts_and_again_when_it_is_lost() -> None:
    told = (
        (0, JobSubmitted("a")),
        (0, JobSubmitted("b")),
        (2, ReservationMade("b", 5.0, 1)),
        (2, RunStarted("a", 0, "0", 5)),
        (4, RunEnded("a", 0, LOST, 2)),
        (5, RunStarted("b", 0, "0", 5)),
    )
    assert names(history(2, *told[:2])[0]) == ["a", "b"]
    it, _ = history(2, *told[:4])
    assert (names(it), it.jobs["b"].promised, it.free) == (["b"], 5.0, 1)
    it, heard = history(2, *told)
    assert (names(it), it.jobs["a"].since, it.jobs["b"].promised) == (["a"], 4, None)
    assert heard.times == [2, 4, 5]


def test_members_that_a_job_keeps_are_held_until_its_next_run_has_them() -> None:
    told = (
        *BEGUN,
        (3, WorkerChanged(1, DOWN, UP, 5)),
        (3, RunEnded("a", 0, LOST, 3, True)),
        (5, WorkerChanged(1, UP, DOWN, None)),
        (5, RunStarted("a", 1, "0-1", 9, keeps=0)),
    )
    it, _ = history(3, *told[:4])
    assert it.runs["a", 0].kept and it.running == 1
    assert (it.free, it.workers[1].until) == (1, 5)
    it, heard = history(3, *told)
    assert heard.spans["a", 0] == [(0, 3), (3, 5)]
    assert heard.said == ["a.0 starts", "a.0 ends", "a.1 starts", "a.0 released"]
    assert [run.number for run in it.holders(1)] == [1]


def test_kept_members_can_be_joined_exchanged_and_released() -> None:
    told = (
        *BEGUN,
        (1, MembersJoined("a", 0, "3")),
        (2, RunEnded("a", 0, LOST, 2, True)),
        (3, MembersChanged("a", 0, "1-2")),
        (4, MembersReleased("a", 0)),
    )
    assert history(5, *told[:3])[0].runs["a", 0].processors == "0-1 3"
    it, _ = history(5, *told[:5])
    assert [bool(it.holders(n)) for n in range(5)] == [False, True, True, False, False]
    it, heard = history(5, *told)
    assert (it.runs, it.free, names(it)) == ({}, 5, ["a"])
    assert heard.spans["a", 0] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_a_span_is_told_with_what_the_run_did_over_it() -> None:
    it, heard = history(
        2,
        *BEGUN,
        (0, StageStarted("a", 0, Stage.COMPUTING, 2, 0)),
        (3, StageStarted("a", 0, Stage.SAVING, 0, 6)),
        (4, StageStarted("a", 0, Stage.COMPUTING, 1, 6)),
    )
    assert heard.did == [(None, 1, 0, 0), (Stage.COMPUTING, 2, 0, 6), (Stage.SAVING, 0, 6, 6)]
    assert it.runs["a", 0].seq == 4


def test_copies_are_made_runs_when_they_are_asked_for() -> None:
    placed = CopiesPlaced(
        ("a", "b"), (0, 0), (2, 1), (9, 9), (0, 1, 2), 1, 1, (0,) * 3, (None,) * 3
    )
    settled = CopiesSettled(("a", "b"), (0, 0), (2, 1), (9, 9, 4), (0, None))
    told = ((0, JobSubmitted("a")), (0, JobSubmitted("b")), (0, placed), (9, settled))
    told += ((9, JobCompleted("a")),)
    for asked in (False, True):
        it = History(3)
        for seq, (t, event) in enumerate(told):
            it.apply(Record(seq, t, None, event))
            if event is placed:
                assert (it.waiting, it.running) == (0, 2)
                assert not asked or (len(it.runs), it.free) == (3, 0)
        assert (names(it), it.runs, it.free) == (["b"], {}, 3)
    _, heard = history(3, *told)
    assert heard.said[3:] == [
        *("a.0 ends", "a.0 released", "a.1 ends", "a.1 released"),
        *("b.0 ends", "b.0 released", "a over"),
    ]


def test_what_contradicts_the_lines_before_is_refused() -> None:
    for event in (RunStarted("a", 0, "0", 1), RunEnded("a", 0, COMPLETED, 1), JobCompleted("a")):
        with pytest.raises(LookupError):
            history(1, (0, event))


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_is_known_while_it_is_away_or_has_a_message() -> None:
    start = TransferStarted(0, "a", 0, TransferKind.DATA, 2)
    told = (
        *BEGUN,
        (1, start),
        (3, WorkerChanged(0, RECLAIMED, UP, None)),
        (4, TransferEnded(0, TransferKind.DATA)),
        (5, RunEnded("a", 0, CANCELLED, 0)),
        (7, WorkerChanged(0, UP, RECLAIMED, None)),
    )
    it, _ = history(2, *told[:4])
    worker = it.workers[0]
    assert (worker.transfer, worker.state, worker.since) == (start, RECLAIMED, 3)
    assert list(it.runs["a", 0].apart) == [0]
    it, heard = history(2, *told)
    assert it.workers == {}
    assert heard.own[0] == [(1, 3), (3, 4), (4, 5), (5, 7)]
    assert heard.whose == [(0, "a"), (0, "a"), (0, "a"), (0,)]


def test_a_run_knows_its_members_that_are_apart_from_its_start_on() -> None:
    told = (
        (0, WorkerSpeedChanged(2, 0)),
        (0, WorkerChanged(1, RECLAIMED, None, None)),
        (0, JobSubmitted("a")),
        (0, RunStarted("a", 0, "0-2", 9)),
        (1, WorkerSpeedChanged(2, 0.5)),
    )
    assert list(history(3, *told[:4])[0].runs["a", 0].apart) == [1, 2]
    it, _ = history(3, *told)
    assert (list(it.runs["a", 0].apart), it.speeds) == ([1], {2: 0.5})


def test_a_worker_that_is_shared_has_several_holders() -> None:
    told = ((0, JobSubmitted("a")),)
    told += tuple((0, RunStarted("a", k, "0-1", 9, share=0.5)) for k in range(2))
    it, _ = history(3, *told)
    assert (len(it.holders(1)), it.holders(2), it.free) == (2, [], 1)
