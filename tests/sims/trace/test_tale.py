"""One job's life, as told from its log: worlds checked by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    JobCompleted,
    JobSubmitted,
    MessagesDescribed,
    Outcome,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TasksDealt,
    TransferEnded,
    TransferKind,
    TransferStarted,
    WorkerSpeedChanged,
)
from actors.events.pack import EndExpected, RedistributionDecided, RedistributionPlanned
from actors.runtime import Event, Record
from policies.interface.pack import Cause
from sims.history import HOLDING
from sims.log import LogFile
from sims.trace.account import Part
from sims.trace.read import find_life
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.trace.waits import Waits
from tests.sims.kinds import EVERY, records_of, written
from tests.sims.worlds import Table, logged, play, write

Told = tuple[float, float | None, str]
SLOTS = {"unit": "slot", "channels": 2}


def life(records: Sequence[Record], job: str = "a") -> Tale:
    tale = Tale(job)
    for record in records:
        tale(record)
    tale.stop(records[-1].t)
    return tale


def root(records: Sequence[Record], job: str = "a") -> Span:
    found = life(records, job).root
    assert found is not None
    return found


def iterative(owner: list[str], times: list[int] | None = None, **job: int) -> list[Record]:
    """One iteration of one task a worker, on all of them."""
    names, count = [f"P{k + 1}" for k in range(len(owner))], len(owner)
    task: Table = {"kind": "iterative", "p": count, "tasks": count, "iterations": 1}
    task |= {"w": times or [1] * count}
    return play(SLOTS | {"workers": count, "names": names, "owner": owner, "jobs": [task | job]})


def happening(*events: tuple[float, Event], names: Sequence[str] = ("P1", "P2")) -> list[Record]:
    """A log of events by hand, each caused by the one before."""
    records = [Record(k, t, k - 1 if k else None, event) for k, (t, event) in enumerate(events)]
    return logged(records, len(names), tuple(names), "slot")


def told(spans: list[Span]) -> list[Told]:
    return [(span.start, span.end, span.title) for span in spans]


def runs(records: Sequence[Record]) -> list[list[Told]]:
    """What is told of each run of the first iteration, but for how it ended, by time."""
    iteration = root(records).children[0]
    found = [span.children[:-1] for span in iteration.children if span.title.startswith("run")]
    flat = [[it for span in spans for it in (span.children or [span])] for spans in found]
    return [sorted(told(spans), key=lambda it: it[0]) for spans in flat]


def everything(span: Span) -> Iterator[tuple[Span, Span]]:
    """(parent, child), the whole tree."""
    for child in span.children:
        yield span, child
        yield from everything(child)


# --- messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (  # suspended
            "uurruuuu",
            [
                (0, 2, "P1 receives program, 1 slot of it left"),
                (2, 4, "P1 is RECLAIMED"),
                (4, 5, "P1 receives the last 1 slot of program"),
                (5, 6, "computes"),
            ],
        ),
        ("uuduuuuuu", [(0, 2, "P1 receives program, lost"), (2, 2, "P1 goes DOWN")]),
        (  # suspended, and then lost
            "uurduuuuuu",
            [
                (0, 2, "P1 receives program, 1 slot of it left, lost"),
                (2, 3, "P1 is RECLAIMED"),
                (3, 3, "P1 goes DOWN"),
            ],
        ),
    ],
)
def test_a_transfer_is_told_in_parts_each_with_what_became_of_it(
    owner: str, expected: list[Told]
) -> None:
    assert runs(iterative([owner], program=3))[0] == expected


def test_a_part_that_is_dropped_with_its_run_is_told_as_lost() -> None:
    """P2 crashes at 1: nobody can take its place, and P1's part goes with its run."""
    told = runs(iterative(["uuuuuuuuu", "uduuuuuuu"], program=2))
    assert (0, 1, "P1 receives program, lost") in told[0]


def test_a_transfer_that_outlives_its_run_is_told_in_both() -> None:
    records = happening(
        (0, JobSubmitted("a")),
        (0, MessagesDescribed("a", 2, 0, 0, "a")),
        (0, RunStarted("a", 0, "0", 4)),
        (0, StageStarted("a", 0, Stage.STAGING_IN, 0, 0)),
        (0, TransferStarted(0, "a", 0, TransferKind.PROGRAM, 2)),
        (1, RunEnded("a", 0, Outcome.CANCELLED, 0)),
        (1, RunStarted("a", 1, "0", 4)),
        (1, StageStarted("a", 1, Stage.STAGING_IN, 0, 0)),
        (2, TransferEnded(0, TransferKind.PROGRAM)),
        (2, StageStarted("a", 1, Stage.COMPUTING, 1, 0)),
    )
    first, second, *_ = root(records).children
    assert told(first.children[0].children) == [
        (0, 1, "P1 receives program, goes on in the next run")
    ]
    assert told(second.children[0].children) == [(1, 2, "P1 goes on receiving program")]
    assert life(records).account.spent[Part.TRANSFER] == 2


# --- runs -----------------------------------------------------------------------------------------


def test_a_stop_of_the_computation_says_how_much_was_done_and_who_was_away() -> None:
    first = [(0, 2, "computes, 2 slots done by then"), (2, 4, "P1 is RECLAIMED")]
    went_on, lost = (
        runs(iterative(["uurruuuu", owner], [4, 4])) for owner in ("u" * 8, "uuuduuuu")
    )
    assert went_on == [[*first, (4, 6, "computes")]]
    assert lost[0][1:] == [(2, 3, "P1 is RECLAIMED"), (3, 3, "P2 goes DOWN")]


def test_why_tasks_were_dealt_anew_is_told() -> None:
    first, second = root(
        happening(
            (0, JobSubmitted("a")),
            (0, RunStarted("a", 0, "0", 4)),
            (0, TasksDealt("a", 0, 0, ((0, 1),), "start")),
            (0, StageStarted("a", 0, Stage.COMPUTING, 1, 0)),
            (2, RunEnded("a", 0, Outcome.CANCELLED, 2)),
            (2, RunStarted("a", 1, "1", 4)),
            (2, TasksDealt("a", 0, 1, ((1, 1),), "proactive")),
        )
    ).children
    assert told(first.children)[-1] == (2, 2, "ended: cancelled")
    assert second.title == "run 1 (proactive): P2 x1; 4 slots of work"


def test_a_plain_attempt_is_one_line_with_who_went_down() -> None:
    lost, failed, completed, _ = root(records_of("attempts")).children
    assert lost.title.endswith("computes 3 s, lost with 3 of 5 done")
    assert told(lost.children) == [(3, 3, "worker 1 goes DOWN")]
    start = "run 1 on 2 workers: 0 3; 5 s of work"
    assert told([failed]) == [(3, 9, f"{start}; computes 5 s, verifies 1 s, failed")]
    assert told([completed])[0][:2] == (9, 15)
    assert completed.title.endswith("computes 5 s, verifies 1 s, completed")
    assert failed.children == completed.children == []


def test_what_a_run_begins_from_is_told_with_the_workers_that_its_job_kept() -> None:
    parts = root(records_of("buddies")).children
    assert told(parts)[1:3] == [
        (5, 7, "keeps its workers 0-2"),
        (7, 9, "run 1 on the same 3 workers: 0-2; 20 s of work, from 4 done by run 0"),
    ]
    assert told(parts[2].children)[:2] == [(7, 8, "recovers"), (8, 9, "computes")]
    assert (5, 5, "checkpoint complete: 4 of 20 done") in told(parts[0].children)


def test_both_buddies_gone_are_told_with_what_they_had_saved() -> None:
    task = {"p": 2, "t": 10, "protection": "buddies", "period": 4, "cost": 1, "recovery": 1}
    faults = [[6, 0], [7, 1]]
    records = play({"workers": 2, "faults": faults, "downtime": 2, "jobs": [task]})
    kept = root(records).children[1]
    assert told(kept.children) == [
        (7, 7, "worker 1 goes DOWN"),
        (7, 7, "checkpoint lost with worker 0, worker 1"),
        (7, 7, "starts from scratch: 4 that was saved is lost"),
    ]
    assert life(records).account.spent[Part.LOST] == 5


def test_images_are_sent_and_fetched_member_by_member() -> None:
    spans = root(records_of("images")).children
    first, second, third = [it for it in spans if it.title.startswith("run")]
    assert first.title == "run 0 on 2 workers: 0-1; 12 s of work"
    saving = next(it for it in second.children if it.title == "sends its images")
    assert told(saving.children) == [
        (15, 16, "worker 0 sends its image"),
        (16, 17, "worker 1 sends its image"),
    ]
    assert third.title.endswith("from 4 done by run 1")
    assert (22, 23, "worker 0 receives an image") in told(third.children[0].children)


def test_copies_are_told_side_by_side_with_their_source_and_pace() -> None:
    copies = root(records_of("copies")).children
    titles = [it.title for it in copies]
    start = "on 1 worker: {}; 15 s of work"
    assert titles[:3] == [
        f"run 0 {start.format(0)}",
        f"run 1 {start.format(1)}; beside run 0",
        f"run 2 {start.format(2)}; beside runs 0, 1",
    ]
    assert titles[4] == f"run 4 {start.format(0)}, from 14 done by run 1; beside runs 1, 3"
    assert told(copies[1].children)[1:4] == [
        (1, 8, "computes at speed 2, 14 s done by then"),
        (8, 8, "worker 1 has speed 0 now"),
        (12, 12, "worker 1 has speed 1 now"),
    ]


def test_copies_that_one_line_places_are_a_line_each_and_the_furthest_tells_the_time() -> None:
    """Run 0 gets to 3 of 5, and both of the next placement's copies go on from there."""
    records = happening(
        (0, JobSubmitted("a")),
        (0, CopiesPlaced(("a",), (0,), (2,), (5,), (0, 1), 1, 0.5, (0, 0), (None, None))),
        (0, WorkerSpeedChanged(0, 2)),
        (3, CopiesSettled(("a",), (0,), (2,), (3, 1.5), (None,))),
        (3, CopiesPlaced(("a",), (2,), (2,), (5,), (0, 1), 1, 0.5, (3, 3), (0, 0))),
        (5, CopiesSettled(("a",), (2,), (2,), (5, 4), (2,))),
        (5, JobCompleted("a")),
    )
    assert [it.title for it in root(records).children] == [
        "run 0 on 1 worker: 0, share 0.5; 5 slots of work; computes 3 slots, "
        "cancelled with 3 of 5 done",
        "run 1 on 1 worker: 1, share 0.5; 5 slots of work; beside run 0; computes 3 slots, "
        "cancelled with 1.5 of 5 done",
        "run 2 on 1 worker: 0, share 0.5; 5 slots of work, from 3 done by run 0; "
        "computes 2 slots, completed",
        "run 3 on 1 worker: 1, share 0.5; 5 slots of work, from 3 done by run 0; beside run 2; "
        "computes 2 slots, cancelled with 4 of 5 done",
        "completed",
    ]
    assert life(records).account.spent[Part.USEFUL] == 5


def test_what_the_pack_decides_is_told_to_whom_it_concerns() -> None:
    records = happening(
        (0, JobSubmitted("a")),
        (0, RunStarted("a", 0, "0-1", 8)),
        (0, StageStarted("a", 0, Stage.COMPUTING, 1, 0)),
        (0, EndExpected("a", 2, 1, 0, 8)),
        (2, RedistributionDecided(Cause.END, "b", (("a", 2, 4),))),
        (2, RunEnded("a", 0, Outcome.CANCELLED, 2)),
        (2, RunStarted("a", 1, "0-3", 4, 1, 0, 2)),
        (2, RedistributionPlanned("a", 1, 2, 4, 2)),
        (2, StageStarted("a", 1, Stage.REDISTRIBUTING, 1, 1)),
        (3, StageStarted("a", 1, Stage.COMPUTING, 1, 1)),
        (6, RunEnded("a", 1, Outcome.COMPLETED, 4)),
        (6, JobCompleted("a")),
        names=[],
    )
    whole = root(records)
    remarks = [it.title for it in whole.children if not it.title.startswith("run")]
    assert remarks == [
        "expected to end at 8 slots on 2 workers; 100.000% of the work left",
        "goes from 2 to 4 workers: b's end",
        "completed",
    ]
    second = next(it for it in whole.children if it.title.startswith("run 1"))
    assert second.title.endswith("4 slots of work, from 2 done by run 0, 1 here")
    assert told(second.children)[:3] == [
        (2, 2, "moves its data from 2 to 4 workers in 2 rounds"),
        (2, 3, "redistributes its data"),
        (3, 6, "computes"),
    ]
    account = life(records).account
    assert (account.spent[Part.USEFUL], account.spent[Part.REDISTRIBUTION]) == (5, 1)


def test_a_wait_is_told_with_the_workers_that_are_away_and_no_wait_is_not(tmp_path: Path) -> None:
    records = iterative(["rrrruuuuuddduuuuuu"], [6])
    iteration = find_life(LogFile(write(records, tmp_path / "a.jsonl")), "a").root.children[0]
    assert told(iteration.children) == [
        (0, 4, "waits for workers"),
        (4, 9, "run 0: P1 x1; 6 slots of work"),
        (9, 12, "waits for workers"),
        (12, 18, "run 1: P1 x1; 6 slots of work"),
    ]
    back = "possible now: P1 is UP again; 1 is free, it takes 1"
    assert [told(wait.children) for wait in iteration.children[::2]] == [
        [(0, 0, "0 of 1 processor are free, 1 is RECLAIMED"), (4, 4, back)],
        [(9, 9, "0 of 1 processor are free, 1 is DOWN"), (12, 12, back)],
    ]


def test_a_run_whose_members_its_job_keeps_holds_them_until_the_next_run(tmp_path: Path) -> None:
    """Nothing is free when b goes on; a cut line more changes nothing."""
    records = happening(
        (0, JobSubmitted("b")),
        (0, RunStarted("b", 0, "0-1", 9)),
        (1, JobSubmitted("a")),
        (2, RunEnded("b", 0, Outcome.LOST, 2, True)),
        (4, RunStarted("b", 1, "0-1", 9, keeps=0)),
        (9, RunEnded("b", 1, Outcome.COMPLETED, 9)),
        (9, JobCompleted("b")),
        (9, RunStarted("a", 0, "0-1", 5)),
    )
    path = write(records, tmp_path / "a.jsonl")
    with path.open("a") as file:
        file.write('{"cause":0,"event":"JobCompleted","job":"a","se')
    found = find_life(LogFile(path), "a").data
    (wait,) = found["waits"]
    assert (wait["held"][0]["until"], wait["missed"]) == (4, [])
    assert wait["freed"] == [{"job": "b", "run": 1, "processors": 2}]
    assert found["account"]["parts"] == {"waiting": 8}


# --- the whole ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_spans_lie_within_their_parents_and_causes_come_first(name: str) -> None:
    for job in jobs_of(name):
        for parent, child in everything(root(records_of(name), job)):
            assert parent.end is not None
            assert child.end is not None
            assert parent.start <= child.start <= child.end <= parent.end
            assert child.cause is None or child.seq is None or child.cause < child.seq


@pytest.mark.parametrize("name", EVERY)
def test_lines_that_are_skipped_put_off_or_dropped_change_nothing(
    name: str, tmp_path: Path
) -> None:
    records, log = records_of(name), LogFile(written(name, tmp_path))
    for job in jobs_of(name):
        whole, waits, found = life(records, job), Waits(job), find_life(log, job)
        for record in records:
            if type(record.event) in HOLDING:
                waits(record)
        waits.close()
        assert found.account == whole.account
        assert found.data["waits"] == [it.as_json() for it in waits.done]
        reasons = {it.since: list(it.spans()) for it in waits.done}
        for span in whole.waits:
            span.children += reasons.get(span.start, [])
        assert found.root == whole.root


def jobs_of(name: str) -> list[str]:
    """Its first jobs."""
    return [r.event.job for r in records_of(name) if isinstance(r.event, JobSubmitted)][:12]
