"""Whole runs whose true logs were once accused, and what `audit` answers to them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sims.audit import stages
from tests.sims.cli.commands import Shell, change

HERE = Path(__file__)
SCENARIOS: dict[str, str] = tomllib.loads(HERE.with_suffix(".toml").read_text())
Lines = list[dict[str, Any]]


def logged(shell: Shell, scenario: str) -> Lines:
    """The log of a scenario's run, which breaks no law."""
    ran = shell("run", shell.write(SCENARIOS[scenario], "a.toml"), "--log", "a.jsonl")
    assert ran.code == 0, ran
    audited = shell("audit", "a.jsonl")
    assert "every law holds" in audited.out, audited
    return [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_true_log_is_not_accused(shell: Shell, scenario: str) -> None:
    assert logged(shell, scenario)[-1]["end"] == "completed"


def of(lines: Lines, *kinds: str) -> list[tuple[float, str, int]]:
    """When events of these kinds come, and of which worker they are."""
    return [(it["t"], it["event"], it["worker"]) for it in lines if it["event"] in kinds]


def test_a_message_that_is_lost_keeps_its_channel_until_that_is_known(shell: Shell) -> None:
    """Worker 1 lacks 5 and is served first; struck at 1, it would be served last from 3 on; that is
    detected at 4."""
    lines = logged(shell, "a lost message is not preempted")
    messages = of(lines, "TransferStarted", "TransferSuspended", "TransferDropped", "TransferEnded")
    assert messages == [
        (0, "TransferStarted", 1),
        (4, "TransferDropped", 1),
        (4, "TransferStarted", 0),
        (6, "TransferEnded", 0),
        (9, "TransferStarted", 0),
        (14, "TransferEnded", 0),
    ]
    assert lines[-1]["t"] == 15


def test_a_copy_of_a_stream_is_lost_when_its_fault_is_detected(shell: Shell) -> None:
    """Both copies compute from 0 on; one is struck at 0.25, which is detected at 0.75. All copies
    are placed again then: the other goes on from what it has done, and has done all, 1, at 1."""
    lines = logged(shell, "a copy of a stream is lost late")
    ends = [(it["t"], it["outcome"], it["done"]) for it in lines if it["event"] == "RunEnded"]
    assert ends == [(0.75, "lost", 0.25), (0.75, "cancelled", 0.75), (1, "completed", 1)]


def test_a_spare_runs_no_copy_of_a_stream(shell: Shell) -> None:
    lines = logged(shell, "a copy of a stream is lost late")
    started = {it["processors"] for it in lines if it["event"] == "RunStarted"}
    assert started == {"0", "1"}


def test_each_fault_is_detected_as_its_kind_is(shell: Shell) -> None:
    """Worker 0 is struck at 1, which is detected at 4; worker 1 at 2, which is known at once."""
    lines = logged(shell, "kinds of faults differ in their detection")
    lost = [(it["t"], it["done"]) for it in lines if it.get("outcome") == "lost"]
    assert lost == [(2, 2), (4, 1)]
    struck = [(it["t"], it["detection"]) for it in lines if "detection" in it]
    assert struck == [(1, 3), (2, 0)]


def test_a_rigid_job_waits_for_the_next_batch_though_workers_are_free(shell: Shell) -> None:
    lines = logged(shell, "a rigid job comes while a batch runs")
    assert [it["t"] for it in lines if it["event"] == "RunStarted"] == [0, 5]


def test_a_job_of_a_batch_that_waits_while_enough_workers_are_free_is_accused(
    shell: Shell,
) -> None:
    """Of two workers it needs both, and waits for the other job of its batch: of three, as a log
    says that lies, two would be free."""
    text = SCENARIOS["a rigid job comes while a batch runs"].replace("release = 1\n", "")
    text = text.replace("workers = 3", "workers = 2")
    shell("run", shell.write(text, "a.toml"), "--log", "a.jsonl")
    said = json.loads(Path("a.jsonl").read_text().splitlines()[0])["text"]
    change(Path("a.jsonl"), 1, processors=3, text=said.replace("workers = 2", "workers = 3"))
    audited = shell("audit", "a.jsonl")
    assert audited.code == 1
    assert "it fits 2 workers, and waited while so many were free" in audited.out


@pytest.mark.parametrize(("estimate", "killed"), [(2, True), (4, True), (5, False)])
def test_what_ends_at_a_jobs_limit_is_complete_before_it_is_killed(
    shell: Shell, estimate: int, killed: bool
) -> None:
    """Its message takes 2, and its work 3."""
    text = SCENARIOS["a job is killed as its message ends"]
    text = text.replace("estimate = 2", f"estimate = {estimate}")
    shell("run", shell.write(text, "a.toml"), "--log", "a.jsonl")
    assert "every law holds" in shell("audit", "a.jsonl").out
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [it["t"] for it in lines if it["event"] == "TransferEnded"] == [2]
    last = [(it["t"], it["event"]) for it in lines if it["event"] in ("JobKilled", "JobCompleted")]
    assert last == [(estimate, "JobKilled" if killed else "JobCompleted")]


def test_who_makes_way_together_does_so_because_of_one_promise(shell: Shell) -> None:
    """J3 is promised its start at 24, when the others are believed to be over, and needs all."""
    lines = logged(shell, "two make way as a promise comes due")
    cancelled = [it for it in lines if it.get("outcome") == "cancelled" and it["t"] == 24]
    assert [(it["t"], it["job"]) for it in cancelled] == [(24, "J4"), (24, "J2")]
    [promise] = {it["cause"] for it in cancelled}
    assert lines[promise]["event"] == "ReservationMade"
    assert (lines[promise]["job"], lines[promise]["start"]) == ("J3", 24)


def test_of_equally_far_copies_that_on_the_lowest_worker_is_cloned(shell: Shell) -> None:
    """Run 0 starts on worker 1; at 2 run 1 clones it on worker 0; at 4 both have done 4 (P5)."""
    lines = logged(shell, "a copy is cloned from the lowest of equals")
    started = [it for it in lines if it["event"] == "RunStarted"]
    assert [(it["t"], it["processors"], it["source"], it["begun"]) for it in started] == [
        (0, "1", None, 0),
        (2, "0", 0, 2),
        (4, "2", 1, 4),
    ]


def test_a_fault_that_is_not_detected_yet_does_not_put_off_a_replacement(shell: Shell) -> None:
    """Worker 1 goes DOWN at 2, which is detected at 5, and is RECLAIMED from 3 on: it is replaced
    at 2 + 5. A second fault at 6, of which nobody hears before 9, changes nothing (P10). The run
    that starts then takes 4 and a checkpoint of 1, the same again, and 2 more."""
    lines = logged(shell, "a later fault does not put off a replacement")
    heard = [it["t"] for it in lines if it["event"] == "FaultDetected"]
    replaced = [
        (it["t"], it["worker"], it["replacement"])
        for it in lines
        if it["event"] == "MemberReplaced"
    ]
    assert heard == [5]
    assert replaced == [(7, 1, 2)]
    assert lines[-1]["t"] == 7 + 4 + 1 + 4 + 1 + 2


def lacking(log: Path, at: int) -> None:
    """Leave this line out of the log, and number the others afresh."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    del lines[at]
    for seq, line in enumerate(lines):
        line["seq"] = seq
        if seq and line["cause"] >= at:
            line["cause"] -= 1
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({}, "1 of the waiting jobs (2) must get a reservation, not 0"),
        ({"start": 9}, "J2 can get 2 workers at 10 at the earliest, not at 9"),
        ({"start": 12}, "J2 can get 2 workers at 10 at the latest, not at 12"),
        ({"processors": 1}, "J2 gets 2 workers, not as many as promised"),
        ({"job": "J3"}, "J2 has no reservation, and is ahead of J3"),
    ],
)
def test_a_reservation_that_is_left_out_or_altered_is_noticed(
    shell: Shell, lie: dict[str, Any], why: str
) -> None:
    """J1 holds both workers until 10; EASY reserves them for J2, of 4, and J3 waits behind it."""
    lines = logged(shell, "a reservation behind a run")
    made = [it["seq"] for it in lines if it["event"] == "ReservationMade" and it["job"] == "J2"]
    if lie:
        change(Path("a.jsonl"), made[-1] + 1, **lie)
    else:
        lacking(Path("a.jsonl"), made[-1])
    audited = shell("audit", "a.jsonl")
    assert audited.code == 1
    assert why in audited.out


@pytest.mark.parametrize(
    ("world", "lie", "why"),
    [
        ("two reservations behind a run", {"start": 10}, "no order of the queue gives its jobs"),
        ("a reservation in a batch", {"start": 12}, "J2 can get 2 workers at 10 at the latest"),
        ("a reservation in a batch", {"processors": 1}, "not as many as promised"),
        ("a reservation in a batch", {}, "1 of the waiting jobs (1) must get a reservation"),
    ],
)
def test_a_reservation_follows_from_those_before_it_and_in_batches(
    shell: Shell, world: str, lie: dict[str, Any], why: str
) -> None:
    """J1 holds both workers until 10. J2, of 4, has them from then on, and J3 from 14 on."""
    lines = logged(shell, world)
    *_, last = (it for it in lines if it["event"] == "ReservationMade")
    assert last["start"] == (14 if last["job"] == "J3" else 10)
    assert shell("audit", "a.jsonl").code == 0
    if lie:
        change(Path("a.jsonl"), last["seq"] + 1, **lie)
    else:
        lacking(Path("a.jsonl"), last["seq"])
    audited = shell("audit", "a.jsonl")
    assert audited.code == 1
    assert why in audited.out


@pytest.mark.parametrize(
    ("time", "why"),
    [
        (2, "a notice that it goes DOWN at 2 must have come too"),
        (14, "a notice must come before"),
    ],
)
def test_a_notice_that_is_left_out_is_noticed(shell: Shell, time: int, why: str) -> None:
    """The owner takes the worker at 2, 6, 8, 12 and 14, for 1 each, and says so 4 before, or at 0;
    not of 6 and 12, as the worker is DOWN then."""
    lines = logged(shell, "an owner tells of each time it takes a worker")
    told = {it["time"]: it["seq"] for it in lines if it["event"] == "NoticeGiven"}
    assert list(told) == [2, 8, 14]
    lacking(Path("a.jsonl"), told[time])
    audited = shell("audit", "a.jsonl")
    assert audited.code == 1
    assert why in audited.out


@pytest.mark.parametrize(
    ("kind", "lie", "why"),
    [
        ("ScenarioStarted", {"unit": "slot"}, "its scenario's times are in s"),
        ("WorkerChanged", {"until": 10.5}, "a fault keeps a worker DOWN for 10"),
    ],
)
def test_a_unit_and_a_downtime_that_the_scenario_does_not_have_are_noticed(
    shell: Shell, kind: str, lie: dict[str, Any], why: str
) -> None:
    lines = logged(shell, "a lost message is not preempted")
    first = next(it["seq"] for it in lines if it["event"] == kind)
    change(Path("a.jsonl"), first + 1, **lie)
    audited = shell("audit", "a.jsonl")
    assert audited.code == 1
    assert why in audited.out


def test_a_job_of_copies_that_is_told_as_a_plain_one_is_noticed(shell: Shell) -> None:
    lines = logged(shell, "a copy of a stream is lost late")
    (described,) = (it["seq"] for it in lines if it["event"] == "JobDescribed")
    (guarded,) = (it["seq"] for it in lines if it["event"] == "ProtectionDescribed")
    change(Path("a.jsonl"), described + 1, failures=0)
    lacking(Path("a.jsonl"), guarded)
    audited = shell("audit", "a.jsonl")
    assert audited.code == 1
    assert "there may be one on each" in audited.out


def test_lines_of_the_head_in_another_order_are_noticed(shell: Shell) -> None:
    lines = logged(shell, "prices by the hour")
    kinds = [it["event"] for it in lines[:3]]
    assert kinds[1:] == ["MaintenancePlanned", "FaultsDescribed"]
    lines[1], lines[2] = {**lines[2], "seq": 1}, {**lines[1], "seq": 2}
    Path("a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert "it comes too late" in shell("audit", "a.jsonl").out


def test_a_failure_of_the_audit_is_not_reported_as_one_of_the_log(
    shell: Shell, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has words and an exit code of its own: a violation is 1, an input error 2."""

    def fails(*_: object) -> None:
        raise AttributeError("no such thing")

    monkeypatch.setattr(stages, "complete", fails)
    failed = shell("audit", log)
    assert failed.code == 3
    line = failed.complaint()
    assert line.startswith("holdfast: the audit itself failed at #")
    assert "AttributeError: no such thing" in line
    assert line.endswith("whether the log breaks a law is not known")
    assert shell("audit", log, "--json").code == 3
