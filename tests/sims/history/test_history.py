"""The one fold from records to state: on golden logs, and on small ones made by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise

import pytest
from attrs import define, field

from actors.events import CheckpointStarted, Stage, StageStarted
from actors.intervals import numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history.reader import HOLDING, History, Job, Key, Listener, Run, Worker
from sims.log import LogFile, decode
from tests.golden.regenerate import GOLDEN, path_of


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


def records_of(told: str) -> list[Record]:
    """Lines of a log: time, event, and what else it holds."""
    found = []
    for seq, line in enumerate(filter(str.strip, told.splitlines())):
        t, event, keys = line.split(maxsplit=2)
        frame = {"seq": seq, "t": json.loads(t), "event": event}
        found.append(decode(frame | json.loads(f"{{{keys}}}")))
    return found


def history(processors: int, told: str, lines: int | None = None) -> tuple[History, Heard]:
    """Of the first lines of a log, or all of them, and what was heard of it."""
    it, heard = History(processors), Heard()
    it.listen(heard)
    for record in records_of(told)[:lines]:
        it.apply(record)
    return it, heard


PLAIN = '"verified": false, "copies": 1, "cloning": false'
BEGUN = """
0 JobSubmitted "job": "a"
0 RunStarted "job": "a", "run": 0, "processors": "0-1", "work": 9
"""


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
        away = {n for n, worker in it.workers.items() if worker.state is not WorkerState.UP}
        gone = held.keys() | away
        assert it.free == it.processors - len(gone.union(it.spares))
        assert it.spare == [n for n in it.spares if n not in gone]
        for run in it.runs.values():
            assert run.away == away.intersection(numbers_in(run.processors))
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
    told = """
        0 JobSubmitted "job": "a"
        0 JobSubmitted "job": "b"
        2 ReservationMade "job": "b", "start": 5.0, "processors": 1
        2 RunStarted "job": "a", "run": 0, "processors": "0", "work": 5
        4 RunEnded "job": "a", "run": 0, "outcome": "lost", "done": 2
        5 RunStarted "job": "b", "run": 0, "processors": "0", "work": 5
    """
    assert names(history(2, told, 2)[0]) == ["a", "b"]
    it, _ = history(2, told, 4)
    assert (names(it), it.jobs["b"].promised, it.free) == (["b"], 5.0, 1)
    it, heard = history(2, told)
    assert (names(it), it.jobs["a"].since, it.jobs["b"].promised) == (["a"], 4, None)
    assert heard.times == [2, 4, 5]


def test_members_that_a_job_keeps_are_held_until_its_next_run_has_them() -> None:
    told = (
        BEGUN
        + """
        3 WorkerChanged "worker": 1, "state": "d", "was": "u", "until": 5
        3 RunEnded "job": "a", "run": 0, "outcome": "lost", "done": 3, "kept": true
        5 WorkerChanged "worker": 1, "state": "u", "was": "d", "until": null
        5 RunStarted "job": "a", "run": 1, "processors": "0-1", "work": 9, "keeps": 0
    """
    )
    it, _ = history(3, told, 4)
    assert it.runs["a", 0].kept and it.running == 1
    assert (it.free, it.workers[1].until) == (1, 5)
    it, heard = history(3, told)
    assert heard.spans["a", 0] == [(0, 3), (3, 5)]
    assert heard.said == ["a.0 starts", "a.0 ends", "a.1 starts", "a.0 released"]
    assert [run.number for run in it.holders(1)] == [1]


def test_kept_members_can_be_joined_exchanged_and_released() -> None:
    told = (
        BEGUN
        + """
        1 MembersJoined "job": "a", "run": 0, "processors": "3"
        2 RunEnded "job": "a", "run": 0, "outcome": "lost", "done": 2, "kept": true
        3 MembersChanged "job": "a", "run": 0, "processors": "1-2"
        4 MembersReleased "job": "a", "run": 0
    """
    )
    assert history(5, told, 3)[0].runs["a", 0].processors == "0-1 3"
    it, _ = history(5, told, 5)
    assert [bool(it.holders(n)) for n in range(5)] == [False, True, True, False, False]
    it, heard = history(5, told)
    assert (it.runs, it.free, names(it)) == ({}, 5, ["a"])
    assert heard.spans["a", 0] == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize(("ends", "clones"), [(False, True), (True, False)])
def test_a_run_is_a_clone_if_its_source_is_under_way_as_it_starts(ends: bool, clones: bool) -> None:
    told = """
        0 JobSubmitted "job": "a"
        0 RunStarted "job": "a", "run": 0, "processors": "0", "work": 9
    """
    if ends:
        told += '3 RunEnded "job": "a", "run": 0, "outcome": "lost", "done": 3\n'
    told += '4 RunStarted "job": "a", "run": 1, "processors": "1", "work": 9, "source": 0\n'
    lost = '5 RunEnded "job": "a", "run": 0, "outcome": "lost", "done": 5\n'
    it, _ = history(2, told + ("" if ends else lost))
    assert it.runs["a", 1].clones is clones


def test_a_checkpoint_of_what_is_saved_already_is_on_its_second_level() -> None:
    """The first level is kept by the members, the second by the shared storage; work done since
    the last checkpoint is saved on the first level again."""
    times = '"period": 2, "cost": 1, "recovery": 1, "delay": 0'
    told = f"""
        0 JobSubmitted "job": "a"
        0 ProtectionDescribed "job": "a", "kind": "buddies", {times}, {PLAIN}
        0 RunStarted "job": "a", "run": 0, "processors": "0-1", "work": 9
        2 StageStarted "job": "a", "run": 0, "stage": "checkpointing", "rate": 1, "done": 2
        3 CheckpointTaken "job": "a", "run": 0, "done": 2
        3 StageStarted "job": "a", "run": 0, "stage": "checkpointing", "rate": 1, "done": 2
        5 CheckpointStored "job": "a", "run": 0, "done": 2
        5 StageStarted "job": "a", "run": 0, "stage": "computing", "rate": 1, "done": 2
        7 CheckpointStarted "job": "a", "run": 0, "done": 4
        8 CheckpointTaken "job": "a", "run": 0, "done": 4
        8 CheckpointStarted "job": "a", "run": 0, "done": 4
    """
    seen = []
    it = History(2)
    for record in records_of(told):
        it.apply(record)
        if isinstance(record.event, StageStarted | CheckpointStarted):
            run = it.runs["a", 0]
            seen.append((record.t, run.second_level, run.saves_in_memory))
    assert seen == [
        *((2, False, True), (3, True, False)),
        *((5, True, False), (7, False, True), (8, True, False)),
    ]


def test_a_span_is_reported_with_what_the_run_did_over_it() -> None:
    told = (
        BEGUN
        + """
        0 StageStarted "job": "a", "run": 0, "stage": "computing", "rate": 2, "done": 0
        3 StageStarted "job": "a", "run": 0, "stage": "saving", "rate": 0, "done": 6
        4 StageStarted "job": "a", "run": 0, "stage": "computing", "rate": 1, "done": 6
    """
    )
    it, heard = history(2, told)
    assert heard.did == [(None, 1, 0, 0), (Stage.COMPUTING, 2, 0, 6), (Stage.SAVING, 0, 6, 6)]
    assert it.runs["a", 0].seq == 4


COPIED = """
0 JobSubmitted "job": "a"
0 JobSubmitted "job": "b"
0 CopiesPlaced "jobs": ["a", "b"], "runs": [0, 0], "copies": [2, 1], "sizes": [9, 9], \
"workers": [0, 1, 2], "width": 1, "share": 1, "begun": [0, 0, 0], "sources": [null, null, null]
9 CopiesSettled "jobs": ["a", "b"], "runs": [0, 0], "copies": [2, 1], "done": [9, 9, 4], \
"completed": [0, null]
9 JobCompleted "job": "a"
"""


def test_copies_are_made_runs_when_they_are_asked_for() -> None:
    for asked in (False, True):
        it = History(3)
        for record in records_of(COPIED):
            it.apply(record)
            if record.seq == 2:
                assert (it.waiting, it.running) == (0, 2)
                assert not asked or (len(it.runs), it.free) == (3, 0)
        assert (names(it), it.runs, it.free) == (["b"], {}, 3)
    _, heard = history(3, COPIED)
    assert heard.said[3:] == [
        *("a.0 ends", "a.0 released", "a.1 ends", "a.1 released"),
        *("b.0 ends", "b.0 released", "a over"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '0 RunStarted "job": "a", "run": 0, "processors": "0", "work": 1',
        '0 RunEnded "job": "a", "run": 0, "outcome": "completed", "done": 1',
        '0 JobCompleted "job": "a"',
    ],
)
def test_what_contradicts_the_lines_before_is_refused(line: str) -> None:
    with pytest.raises(LookupError):
        history(1, line)


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_is_known_while_it_is_away_or_has_a_message() -> None:
    told = (
        BEGUN
        + """
        1 TransferStarted "worker": 0, "job": "a", "run": 0, "kind": "data", "left": 2
        3 WorkerChanged "worker": 0, "state": "r", "was": "u", "until": null
        4 TransferEnded "worker": 0, "kind": "data"
        5 RunEnded "job": "a", "run": 0, "outcome": "cancelled", "done": 0
        7 WorkerChanged "worker": 0, "state": "u", "was": "r", "until": null
    """
    )
    it, _ = history(2, told, 4)
    worker = it.workers[0]
    start = records_of(told)[2].event
    assert (worker.transfer, worker.state, worker.since) == (start, WorkerState.RECLAIMED, 3)
    assert list(it.runs["a", 0].apart) == [0]
    it, heard = history(2, told)
    assert it.workers == {}
    assert heard.own[0] == [(1, 3), (3, 4), (4, 5), (5, 7)]
    assert heard.whose == [(0, "a"), (0, "a"), (0, "a"), (0,)]


def test_only_a_message_that_is_under_way_is_known() -> None:
    told = """
        0 JobSubmitted "job": "a"
        0 RunStarted "job": "a", "run": 0, "processors": "0-1", "work": 9
        1 TransferStarted "worker": 0, "kind": "program", "job": "a", "run": 0, "left": 2
    """
    it, _ = history(2, told)
    assert it.message(0).left == 2
    with pytest.raises(LookupError, match="worker 1"):
        it.message(1)


def test_a_run_knows_its_members_that_are_apart_from_its_start_on() -> None:
    told = """
        0 WorkerSpeedChanged "worker": 2, "speed": 0
        0 WorkerChanged "worker": 1, "state": "r", "was": null, "until": null
        0 JobSubmitted "job": "a"
        0 RunStarted "job": "a", "run": 0, "processors": "0-2", "work": 9
        1 WorkerSpeedChanged "worker": 2, "speed": 0.5
    """
    assert list(history(3, told, 4)[0].runs["a", 0].apart) == [1, 2]
    it, _ = history(3, told)
    assert (list(it.runs["a", 0].apart), it.speeds) == ([1], {2: 0.5})


def test_a_run_knows_which_of_its_members_are_away_whoever_leaves_joins_or_takes_a_place() -> None:
    told = (
        BEGUN
        + """
        1 WorkerChanged "worker": 4, "state": "r", "was": "u", "until": null
        2 WorkerChanged "worker": 1, "state": "d", "was": "u", "until": 9
        2 RunEnded "job": "a", "run": 0, "outcome": "lost", "done": 2, "kept": true
        3 MemberReplaced "job": "a", "run": 0, "worker": 1, "replacement": 2
        4 MembersJoined "job": "a", "run": 0, "processors": "4"
        5 RunStarted "job": "a", "run": 1, "processors": "0 2 4", "work": 9, "keeps": 0
    """
    )
    away = [history(5, told, lines)[0].runs["a", 0].away for lines in (4, 6, 7)]
    assert away == [{1}, set(), {4}]
    assert history(5, told)[0].runs["a", 1].away == {4}


def test_a_worker_that_is_shared_has_several_holders() -> None:
    told = """
        0 JobSubmitted "job": "a"
        0 RunStarted "job": "a", "run": 0, "processors": "0-1", "work": 9, "share": 0.5
        0 RunStarted "job": "a", "run": 1, "processors": "0-1", "work": 9, "share": 0.5
    """
    it, _ = history(3, told)
    assert (len(it.holders(1)), it.holders(2), it.free) == (2, [], 1)
