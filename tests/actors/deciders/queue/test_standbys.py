"""Standbys: a copy holds workers ready to take the places of members that go DOWN (rules.md, P12).

Workers are numbered from 0; `strikes` lists (time, worker) of faults.
"""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import (
    JobCompleted,
    MemberReplaced,
    RunEnded,
    RunStarted,
    StandbyJoined,
    StandbyLost,
    StandbysHeld,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.rows import Use
from sims.ledger import account
from sims.session import run

SHOWN = RunStarted, RunEnded, StandbysHeld, StandbyJoined, StandbyLost, MemberReplaced, JobCompleted


def records_of(
    job: dict[str, Any] | list[dict[str, Any]],
    strikes: list[list[float]] | None = None,
    workers: int = 4,
    downtime: float = 100.0,
    owned: list[dict[str, Any]] | None = None,
    **more: Any,
) -> list[Record]:
    """The log of rigid jobs with standbys under listed faults; the audit finds nothing wrong."""
    table = {
        "name": "standbys",
        "unit": "s",
        "platform": {"workers": workers},
        "job": {"kind": "rigid", "jobs": job if isinstance(job, list) else [job]},
        "policy": {"name": "FCFS"},
    } | more
    if owned:
        del table["platform"]
        table["workers"] = owned
    if strikes:
        table["faults"] = {"kind": "list", "strikes": strikes, "downtime": downtime}
    records = list(run(table).records())
    assert list(audit(iter(records))) == []
    return records


def story(records: list[Record]) -> list[tuple[float, str, Any]]:
    """What happens to copies: (time, event, what it says of workers)."""
    told = []
    for it in records:
        event = it.event
        if isinstance(event, MemberReplaced):
            told.append((it.t, "replaced", (event.worker, event.replacement)))
        elif isinstance(event, (StandbyLost, StandbyJoined)):
            told.append((it.t, type(event).__name__, event.worker))
        elif isinstance(event, RunEnded):
            told.append((it.t, event.outcome.value, None))
        elif isinstance(event, (RunStarted, StandbysHeld)):
            told.append((it.t, type(event).__name__, event.processors))
        elif isinstance(event, JobCompleted):
            told.append((it.t, "done", None))
    return told


TWO = {"processors": 2, "time": 10, "standbys": 1}


def test_a_standby_takes_the_place_of_a_member_that_goes_down_at_once() -> None:
    """Re-execution: the run of 10 is lost at 4 and begins again then on workers 0 and 2."""
    assert story(records_of(TWO, [[4, 1]])) == [
        (0, "RunStarted", "0-1"),
        (0, "StandbysHeld", "2"),
        (4, "lost", None),
        (4, "replaced", (1, 2)),
        (4, "RunStarted", "0 2"),
        (14, "completed", None),
        (14, "done", None),
    ]


def test_a_standby_that_goes_down_is_given_up_and_the_run_goes_on() -> None:
    assert story(records_of(TWO, [[4, 2]])) == [
        (0, "RunStarted", "0-1"),
        (0, "StandbysHeld", "2"),
        (4, "StandbyLost", 2),
        (10, "completed", None),
        (10, "done", None),
    ]


def test_a_standby_that_hangs_as_a_fault_strikes_it_stops_no_run() -> None:
    """Both laws strike at 4: the hang is that of a worker that its job gives up at that instant."""
    hang = {"kind": "list", "strikes": [[4, 2]], "effect": "hang", "detection": 1}
    fault = {"kind": "list", "strikes": [[4, 2]], "downtime": 100}
    assert story(records_of(TWO, faults=[hang, fault]))[-1] == (10, "done", None)


def test_images_go_on_from_the_last_image() -> None:
    """Work 3, image until 4, work 3, image until 8, and 1 of work is lost at 9. Then 4 of work is
    left, after a recovery of 2, and an image of cost 1 after 3 of it: 9 + 2 + 3 + 1 + 1."""
    protection = {"kind": "images", "period": 3, "cost": 1, "recovery": 2}
    told = story(records_of(TWO, [[9, 0]], protection=protection))
    assert told[2:5] == [(9, "lost", None), (9, "replaced", (0, 2)), (9, "RunStarted", "1-2")]
    assert told[-1] == (9 + 2 + 3 + 1 + 1, "done", None)


def test_a_job_gives_all_workers_back_where_a_member_is_left_without_a_standby() -> None:
    """Both members go DOWN at 4, with one standby: nobody is replaced, and the job starts anew from
    the queue on the workers that are free then, 2 and 3."""
    assert story(records_of(TWO, [[4, 0], [4, 1]]))[2:] == [
        (4, "lost", None),
        (4, "RunStarted", "2-3"),
        (14, "completed", None),
        (14, "done", None),
    ]


def test_a_start_takes_only_the_standbys_that_are_free() -> None:
    """Of five workers the first job holds 2 + 2; the second finds one free, and no standby."""
    jobs = [{**TWO, "standbys": 2}, {"processors": 1, "time": 3, "standbys": 2}]
    assert story(records_of(jobs, workers=5))[:3] == [
        (0, "RunStarted", "0-1"),
        (0, "StandbysHeld", "2-3"),
        (0, "RunStarted", "4"),
    ]


def test_a_repaired_worker_becomes_a_standby_of_the_first_job_that_lacks_one() -> None:
    """Worker 1 is replaced at 4 and is back at 7; both jobs lack a standby then."""
    jobs = [TWO, {"processors": 1, "time": 20, "standbys": 1}]
    told = story(records_of(jobs, [[4, 1]], workers=4, downtime=3))
    assert told[:3] == [(0, "RunStarted", "0-1"), (0, "StandbysHeld", "2"), (0, "RunStarted", "3")]
    assert (7, "StandbyJoined", 1) in told


def test_other_workers_that_become_free_are_no_standbys() -> None:
    """The second job ends at 3, while the first has no standby: its worker stays free."""
    jobs = [{**TWO, "standbys": 1}, {"processors": 2, "time": 3}]
    told = story(records_of(jobs, workers=4))
    assert told[0] == (0, "RunStarted", "0-1")
    assert not any(name == "StandbyJoined" for _, name, _ in told)


def test_owners_who_reclaim_members_are_waited_for_and_a_reclaimed_standby_suspends_nothing() -> (
    None
):
    """Worker 1, a member, is away over [2, 5), and worker 2, the standby, over [1, 9): the run of
    10 ends at 13, and nobody is replaced."""
    workers = [{}, {"availability": "uurrr" + "u" * 20}, {"availability": "u" + "r" * 8 + "u" * 20}]
    told = story(records_of(TWO, owned=workers))
    assert told == [
        (0, "RunStarted", "0-1"),
        (0, "StandbysHeld", "2"),
        (13, "completed", None),
        (13, "done", None),
    ]


def test_a_standby_that_an_owner_has_reclaimed_replaces_nobody() -> None:
    """The only standby is away as member 0 goes DOWN: all workers are given back, and the job waits
    until two are UP, at 9."""
    workers = [{}, {}, {"availability": "u" + "r" * 8 + "u" * 20}]
    told = story(records_of(TWO, [[4, 0]], owned=workers))
    assert told[2:4] == [(4, "lost", None), (9, "RunStarted", "1-2")]


def test_a_worker_of_buddies_without_a_standby_is_waited_for() -> None:
    """Buddies keep their members: worker 1 is back at 4 + 3, and the run goes on from its
    checkpoint of 3 of work with a recovery of 2: 7 + 2 + 7."""
    protection = {"kind": "buddies", "period": 3, "cost": 0, "recovery": 2}
    told = story(
        records_of({**TWO, "standbys": 0}, [[4, 1]], 2, downtime=3.0, protection=protection)
    )
    assert told[-1] == (16, "done", None)


def test_a_standby_takes_the_place_of_a_buddy_at_once() -> None:
    """As above, but worker 2 takes the place at 4: 4 + 2 + 7."""
    protection = {"kind": "buddies", "period": 3, "cost": 0, "recovery": 2}
    told = story(records_of(TWO, [[4, 1]], 3, downtime=3.0, protection=protection))
    assert (4, "replaced", (1, 2)) in told
    assert told[-1] == (13, "done", None)


def test_standbys_wait_in_the_ledger() -> None:
    """One standby over [0, 4); from then on it is a member: 4 of waiting, 2 x 4 lost, 2 x 10
    useful."""
    spent = account(iter(records_of(TWO, [[4, 1]])), 4).total
    assert (spent[Use.WAITING], spent[Use.LOST], spent[Use.USEFUL]) == (4, 8, 20)


def messages(records: list[Record], worker: int) -> list[tuple[float, str]]:
    """What happens to a worker's messages: (time, what), with what is left of one that begins."""
    told = []
    for it in records:
        event = it.event
        if not isinstance(
            event, (TransferStarted, TransferSuspended, TransferEnded, TransferDropped)
        ):
            continue
        if event.worker == worker:
            left = f", {event.left:g} left" if hasattr(event, "left") else ""
            told.append((it.t, type(event).__name__.removeprefix("Transfer") + left))
    return told


ONE_CHANNEL = {"channels": 1, "program": 2}


def test_a_standby_fetches_its_program_after_all_members_and_the_run_does_not_wait_for_it() -> None:
    """Members 0 and 1 have theirs at 2 and 4; the run of 10 ends at 14."""
    records = records_of(TWO, workers=3, master=ONE_CHANNEL)
    assert messages(records, 2) == [(4, "Started, 2 left"), (6, "Ended")]
    assert story(records)[-1] == (14, "done", None)


def test_a_member_takes_the_channel_from_a_standby() -> None:
    """The second job starts at 5, while half of the standby's program has come."""
    jobs = [TWO, {"processors": 1, "time": 3, "release": 5}]
    records = records_of(jobs, workers=4, master=ONE_CHANNEL)
    kept = [(4, "Started, 2 left"), (5, "Suspended, 1 left"), (7, "Started, 1 left"), (8, "Ended")]
    assert messages(records, 2) == kept
    assert messages(records, 3) == [(5, "Started, 2 left"), (7, "Ended")]


def test_the_order_of_service_applies_to_members_then_to_standbys() -> None:
    """Longest first, in slots of 1: standbys 1 and 2 lack as much and wait for member 0, then take
    turns."""
    job = {"processors": 1, "time": 10, "standbys": 2}
    master = ONE_CHANNEL | {"order": "longest-first"}
    records = records_of(job, workers=3, master=master)
    assert messages(records, 0) == [(0, "Started, 2 left"), (2, "Ended")]
    assert messages(records, 1)[:2] == [(2, "Started, 2 left"), (3, "Suspended, 1 left")]
    assert messages(records, 2)[:2] == [(3, "Started, 2 left"), (4, "Suspended, 1 left")]


def test_a_standby_that_goes_down_loses_its_message_at_once_though_faults_are_heard_late() -> None:
    """Its fault ends no run that could wait for it: worker 3, the other standby, is served at 5."""
    faults = {"kind": "list", "strikes": [[5, 2]], "downtime": 100, "detection": 3}
    records = records_of(TWO | {"standbys": 2}, master=ONE_CHANNEL, faults=faults)
    assert messages(records, 2) == [(4, "Started, 2 left"), (5, "Dropped")]
    assert messages(records, 3) == [(5, "Started, 2 left"), (7, "Ended")]


def test_the_message_of_a_standby_goes_on_across_its_jobs_runs() -> None:
    """Worker 0 goes DOWN at 5: standby 2, which has half of its program, is its successor. Member 1
    has everything, so that standby 3 waits for worker 2 only."""
    records = records_of(TWO | {"standbys": 2}, [[5, 0]], master=ONE_CHANNEL)
    assert messages(records, 2) == [(4, "Started, 2 left"), (6, "Ended")]
    assert messages(records, 3) == [(6, "Started, 2 left"), (8, "Ended")]
    assert story(records)[-1] == (16, "done", None)


def test_a_standby_keeps_a_complete_program_as_its_job_ends() -> None:
    """Both jobs share one program: worker 2, a standby of the first one, receives it over [4, 6),
    and lacks nothing as a member of the second one, which starts at 8."""
    jobs = [{**TWO, "time": 4}, {"processors": 3, "time": 5, "release": 1}]
    records = records_of(jobs, workers=3, master=ONE_CHANNEL | {"shared_program": True})
    assert messages(records, 2) == [(4, "Started, 2 left"), (6, "Ended")]
    assert story(records)[-1] == (13, "done", None)


def test_a_standby_loses_an_incomplete_program_as_its_job_ends() -> None:
    """The first job ends at 5, when worker 2 has received half of the program."""
    jobs = [{**TWO, "time": 1}, {"processors": 3, "time": 5, "release": 1}]
    records = records_of(jobs, workers=3, master=ONE_CHANNEL | {"shared_program": True})
    assert messages(records, 2) == [
        *((4, "Started, 2 left"), (5, "Dropped")),
        *((5, "Started, 2 left"), (7, "Ended")),
    ]


def test_a_standby_that_takes_a_place_receives_nothing_while_its_run_starts_up() -> None:
    """The standby receives 3 of 5 while the first run starts up, and 1 over [8, 9), after its
    member. Then it takes the place; the next run starts up over [9, 12)."""
    job = {"processors": 1, "time": 10, "standbys": 1, "startup": 3}
    records = records_of(job, [[9, 0]], workers=2, master={"channels": 1, "program": 5})
    assert messages(records, 1) == [
        *((0, "Started, 5 left"), (3, "Suspended, 2 left")),
        *((8, "Started, 2 left"), (9, "Suspended, 1 left")),
        *((12, "Started, 1 left"), (13, "Ended")),
    ]
    assert story(records)[-1] == (23, "done", None)


def test_a_standby_that_takes_a_place_receives_nothing_while_its_run_waits_for_a_member() -> None:
    """Standby 2 has half of its program as it takes the place of worker 0 at 10. Worker 1 is away
    over [9, 14)."""
    workers = [{}, {"availability": "u" * 9 + "r" * 5 + "u"}, {}]
    records = records_of(TWO, [[10, 0]], owned=workers, master={"channels": 1, "program": 4})
    assert messages(records, 2) == [
        *((8, "Started, 4 left"), (10, "Suspended, 2 left")),
        *((14, "Started, 2 left"), (16, "Ended")),
    ]
    assert story(records)[-1] == (26, "done", None)


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({"policy": {"name": "R-SHELF-B"}}, "FCFS"),
        ({"policy": {"name": "conservative"}}, "FCFS"),
    ],
)
def test_standbys_that_cannot_be_had_are_refused(changes: dict[str, Any], accepted: str) -> None:
    with pytest.raises(InputError) as refused:
        records_of(TWO, **changes)
    assert refused.value.key == "job.jobs.0.standbys"
    assert accepted in refused.value.accepted


def test_standbys_under_a_policy_that_chooses_workers_itself_are_refused() -> None:
    with pytest.raises(InputError, match="chooses the workers of each run itself"):
        records_of(TWO, policy={"name": "SRPT+R"})


def test_a_worker_whose_down_a_further_fault_made_longer_becomes_a_standby() -> None:
    """Worker 1 is DOWN from 1 to 3; the fault that strikes it at 3 lasts to 5."""
    job = {"processors": 2, "time": 20, "standbys": 1}
    records = records_of(job, [[1, 1], [3, 1]], workers=3, downtime=2)
    joined = [(it.t, it.event.worker) for it in records if isinstance(it.event, StandbyJoined)]
    assert joined == [(5, 1)]


def test_a_standbys_program_is_logged_under_the_run_in_which_it_began_to_wait_for_it() -> None:
    """Programs of 4 over one channel: member 0 receives its own over [0, 4), and goes DOWN at 7.
    Standby 2 takes its place, and member 1 begins anew. Standby 3, which has waited since run 0, is
    served after both, during run 1: the cases of fleets name run 0 (the one that is called
    detection+racks+standbys+behind)."""
    job = {"processors": 2, "time": 10, "standbys": 2}
    records = records_of(job, [[7, 0]], master={"channels": 1, "program": 4})
    begun = [
        (it.t, it.event.worker, it.event.run)
        for it in records
        if isinstance(it.event, TransferStarted)
    ]
    assert begun == [(0, 0, 0), (4, 1, 0), (7, 1, 1), (11, 2, 1), (15, 3, 0)]
