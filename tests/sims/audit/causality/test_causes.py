"""The law of causes: its table, and the causes of runs in which several things coincide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from numpy.random import Generator

from actors.events import (
    VOCABULARY,
    CheckpointLost,
    DeciderKind,
    IterationStarted,
    JobSubmitted,
    Outcome,
    ReservationMade,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
    ShelfOpened,
    WorkerChanged,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from policies.interface import Configuration, EnrolmentView, Reason, Wake
from sims.audit.causality.causes import CAUSES, CauseLaw
from sims.scenario.loader import load, read
from sims.world import run
from tests.actors.deciders.copies.worlds import columns
from tests.actors.deciders.copies.worlds import run as run_columns
from tests.actors.deciders.enrolment.worlds import Application, choice, workers
from tests.actors.deciders.enrolment.worlds import World as Enrolling
from tests.actors.deciders.enrolment.worlds import play as play_enrolled

LOG_CASES = Path(__file__).parents[3] / "cases" / "log"
SCENARIOS = Path(__file__).parents[4] / "sims" / "scenarios"


def play(path: Path, *overrides: str) -> list[Record]:
    records: list[Record] = []
    run(load(path, overrides), [records.append], path.parent)
    return records


def playing(table: dict[str, Any]) -> list[Record]:
    records: list[Record] = []
    run(read(table, "test"), [records.append])
    return records


def told(records: Sequence[Record], kind: type[Event]) -> Iterator[tuple[Record, Any, Record]]:
    """Records of a kind, their events, and what caused them."""
    for record in records:
        if isinstance(record.event, kind):
            assert record.cause is not None
            yield record, record.event, records[record.cause]


def chain(records: Sequence[Record], record: Record) -> Iterator[Event]:
    while record.cause is not None:
        record = records[record.cause]
        yield record.event


def test_every_kind_of_event_has_its_row() -> None:
    assert set(CAUSES) == set(VOCABULARY)


def test_whatever_a_row_names_is_a_kind_of_event() -> None:
    named = {kind for rows in CAUSES.values() for row in rows for kind in row.kinds}
    assert named - {Event} <= set(VOCABULARY)


def test_a_cause_that_has_nothing_to_do_with_its_effect_is_none() -> None:
    records = play(LOG_CASES / "g.toml")
    lost = [(it, event, by) for it, event, by in told(records, RunEnded) if event.job == "C"]
    record, _, _ = lost[0]
    other = next(by.seq for it, event, by in told(records, RunEnded) if event.job == "A")
    law = CauseLaw()
    for before in records[: record.seq]:
        assert law.check(before) is None
    altered = Record(record.seq, record.t, other, record.event)
    assert law.check(altered) == "RunEnded cannot be caused by this WorkerChanged"


def test_a_cause_of_an_earlier_instant_is_none_where_effects_follow_at_once() -> None:
    records = play(SCENARIOS / "figure1.toml")
    record, _, _ = next(told(records, RunEnded))
    law = CauseLaw()
    for before in records[: record.seq]:
        assert law.check(before) is None
    altered = Record(record.seq, record.t, 2, record.event)
    assert "too late" in str(law.check(altered))


# --- where several things coincide ----------------------------------------------------------------


def test_each_of_two_runs_is_lost_by_the_fault_of_its_own_worker() -> None:
    ends = {
        event.job: by.event
        for _, event, by in told(play(LOG_CASES / "g.toml"), RunEnded)
        if event.outcome is Outcome.LOST
    }
    assert [(job, ends[job].worker) for job in "AC"] == [("A", 0), ("C", 2)]  # type: ignore[attr-defined]


def test_two_applications_that_are_struck_together_start_again_each_by_its_own_worker() -> None:
    records = play(LOG_CASES / "d4.toml")
    again = [(event, by.event) for _, event, by in told(records, RunStarted) if event.keeps == 0]
    assert [(event.job, by.worker, by.state) for event, by in again] == [
        ("T1", 0, WorkerState.UP),
        ("T2", 6, WorkerState.UP),
    ]


def test_first_runs_of_malleable_applications_name_their_own_submission() -> None:
    firsts = [
        (event.job, by.event)
        for it, event, by in told(play(SCENARIOS / "malleable10.toml"), RunStarted)
        if event.run == 0 and it.t == 0
    ]
    assert firsts
    assert all(by == JobSubmitted(job) for job, by in firsts)


def test_an_iteration_that_has_just_begun_is_why_its_run_starts() -> None:
    records = play(SCENARIOS / "volatile20.toml", "job.iterations=20")
    began = {it.t: it.seq for it, _, _ in told(records, IterationStarted)}
    starts = [(it, by.seq) for it, _, by in told(records, RunStarted) if it.t in began]
    assert len(starts) >= 10
    first = {it.t: cause for it, cause in reversed(starts)}
    assert all(cause == began[t] for t, cause in first.items())


def test_what_a_crash_does_to_a_message_is_not_why_the_worker_changes_again() -> None:
    table = {
        "name": "dropped",
        "workers": [{"availability": "uuuuu"}],
        "faults": {"kind": "list", "strikes": [[1, 0]], "downtime": 0},
        "master": {"channels": 1, "program": 3},
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 2}]},
    }
    changes = [(it.seq, event.state, by) for it, event, by in told(playing(table), WorkerChanged)]
    (down, went, _), (_, came, why) = changes
    assert (went, came, why.seq) == (WorkerState.DOWN, WorkerState.UP, down)


def test_a_run_after_the_loss_of_both_copies_names_the_member_that_it_waited_for() -> None:
    records = play(LOG_CASES / "bothcopies.toml")
    losses = [event for _, event, _ in told(records, CheckpointLost)]
    after = {(event.job, event.run) for event in losses}
    starts = told(records, RunStarted)
    from_scratch = [(it, by) for it, event, by in starts if (event.job, event.keeps) in after]
    assert len(from_scratch) == len(losses) > 1
    for it, by in from_scratch:
        assert isinstance(by.event, WorkerChanged)
        assert (by.event.state, by.t) == (WorkerState.UP, it.t)
    for _, _, by in told(records, CheckpointLost):
        assert isinstance(by.event, WorkerChanged)


def test_a_run_that_begins_anew_and_waits_for_no_member_names_the_loss() -> None:
    """A verification finds an error: what was saved may be as corrupt, and all members are UP."""
    table = jobs((2, 10, 0)) | {
        "platform": {"workers": 2},
        "policy": {"name": "R-LIST-0"},
        "protection": {"kind": "buddies", "period": 4, "cost": 1, "verified": False},
    }
    table["job"]["jobs"][0] |= {"verification": 1, "failures": [1, 0]}
    starts = told(playing(table), RunStarted)
    (by,) = (by.event for _, event, by in starts if event.keeps is not None)
    assert by == RestartedFromScratch("J1", 0, 8)


def test_who_begins_anew_goes_on_from_nothing_that_was_saved() -> None:
    records = play(LOG_CASES / "bothcopies.toml")
    lost = {(loss.job, loss.run) for _, loss, _ in told(records, CheckpointLost)}
    spoilt = 0
    for it, event, _ in told(records, RunStarted):
        if (event.job, event.keeps) in lost:
            law = CauseLaw()
            assert [law.check(each) for each in records[: it.seq]].count(None) == it.seq
            other = evolve(event, source=event.keeps)
            assert law.check(Record(it.seq, it.t, it.cause, other)) is not None
            spoilt += 1
    assert spoilt


# --- starts of jobs that waited -------------------------------------------------------------------


def jobs(*rows: tuple[int, float, float]) -> dict[str, Any]:
    """Rigid ones: processors, time, release."""
    listed = [
        {"processors": processors, "time": time, "release": release}
        for processors, time, release in rows
    ]
    return {"name": "queue", "job": {"kind": "rigid", "jobs": listed}}


EASY = {"name": "R-LIST-1", "order": "FCFS", "reading": "easy"}


def starts_of(table: dict[str, Any]) -> dict[str, Event]:
    """By job, what caused its first start."""
    return {event.job: by.event for _, event, by in told(playing(table), RunStarted)}


def test_of_two_ends_a_start_names_the_one_that_freed_its_workers() -> None:
    table = jobs((2, 10, 0), (2, 10, 0), (2, 5, 1), (2, 5, 2)) | {
        "platform": {"workers": 4},
        "policy": EASY,
    }
    causes = starts_of(table)
    assert [causes[job].job for job in ("J3", "J4")] == ["J1", "J2"]  # type: ignore[attr-defined]


def test_who_starts_on_workers_that_were_free_names_the_start_that_made_it_first() -> None:
    # J3 waits for two workers, by 50 as is believed, and J4 would be on one of them; but J1 ends.
    table = jobs((2, 10, 0), (1, 60, 0), (2, 5, 1), (1, 70, 2)) | {
        "platform": {"workers": 4},
        "policy": EASY,
    }
    first, second = table["job"]["jobs"][:2]
    first["estimate"], second["estimate"] = 100, 50
    causes = starts_of(table)
    assert isinstance(causes["J3"], RunEnded)
    assert isinstance(causes["J4"], RunStarted)
    assert (causes["J3"].job, causes["J4"].job) == ("J1", "J3")


def test_all_that_start_in_a_shelf_name_its_opening() -> None:
    table = jobs((1, 10, 0), (2, 10, 0), (1, 5, 1)) | {
        "platform": {"workers": 2},
        "policy": {"name": "R-SHELF-B", "order": "FCFS"},
    }
    causes = starts_of(table)
    assert all(isinstance(cause, ShelfOpened) for cause in causes.values())


@pytest.mark.parametrize("name", ["shelf", "g", "d4", "bothcopies"])
def test_causes_of_the_log_cases_are_lawful(name: str) -> None:
    law = CauseLaw()
    assert [law.check(it) for it in play(LOG_CASES / f"{name}.toml")].count(None) > 10


# --- who waits although it could start ------------------------------------------------------------


@frozen
class Patient:
    """J0 runs on P1 and is looked at in every slot; J1 has P2 at 3, though that is free before."""

    wake = Wake.EVERY_SLOT

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        if view.reason is Reason.PROACTIVE:
            return None
        if view.name == "J0":  # type: ignore[attr-defined]
            return choice((0, 1))
        return choice((1, 1)) if view.elapsed == 3 else None


def test_who_is_enrolled_later_than_it_could_names_what_it_wants_workers_since() -> None:
    what = Enrolling(
        platform=workers(["u", "u"], speeds=[9, 9]),
        jobs=(Application(tasks=1), Application(tasks=1)),
        policy=Patient(),
    )
    records = play_enrolled(what).records
    start, event, by = list(told(records, RunStarted))[1]
    assert (start.t, event.job, by.t, by.event) == (3, "J1", 0, IterationStarted("J1", 0))
    law = CauseLaw()
    assert [law.check(it) for it in records[: start.seq + 1]] == [None] * (start.seq + 1)
    queue, first = CauseLaw(), records[0]
    queue.check(evolve(first, event=evolve(first.event, decider=DeciderKind.QUEUE)))
    for it in records[1 : start.seq]:
        queue.check(it)
    assert queue.check(start) is not None


def test_who_starts_beside_a_promise_that_needs_others_now_names_that_promise() -> None:
    """J4 is on the last worker until 31, as is believed, so that at 11 the three that J5 is
    promised are all that is free; J4 ends at 5, and J6 may have worker 0, free since 1."""
    table = jobs((1, 1, 0), (1, 11, 0), (1, 11, 0), (1, 5, 0), (3, 4, 2), (1, 25, 3)) | {
        "platform": {"workers": 4},
        "policy": EASY,
    }
    table["job"]["jobs"][3]["estimate"] = 31
    records = playing(table)
    start, event, by = next(row for row in told(records, RunStarted) if row[1].job == "J6")
    assert (start.t, event.processors, by.t) == (5, "0", 5)
    assert by.event == ReservationMade("J5", 11, 3)


def test_of_what_is_over_the_law_remembers_nothing() -> None:
    """Copies of a hundred jobs are placed, on servers whose speeds change: all that is still known
    at the end is how the log began and, by server, its last speed."""
    rng, law, kept = np.random.default_rng(4), CauseLaw(), list[int]()
    times = rng.exponential(1.0, 100).cumsum().tolist()
    speeds = [
        [(0.0, 1.0), *((t + 0.25 * k, 1.0 + j % 2) for j, t in enumerate(times))] for k in (0, 1)
    ]
    records: list[Record] = []
    run_columns(columns(), [(t, 0.5) for t in times], speeds, records)
    for record in records:
        law.check(record)
        kept.append(len(law.known.lasting))
    assert max(kept[len(kept) // 2 :]) <= max(kept[: len(kept) // 2]) + 2
    assert kept[-1] <= 4
