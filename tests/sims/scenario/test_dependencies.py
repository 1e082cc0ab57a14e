"""Jobs that follow others: when they are submitted, what a log's chains become, what is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import (
    DependenciesDescribed,
    JobCompleted,
    JobKilled,
    JobsChanged,
    JobSubmitted,
    ReservationMade,
)
from actors.runtime import Record
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.cli import main
from sims.errors import InputError
from sims.readers import JobLog, LoggedJob, Preceding
from sims.scenario.advice import idle
from sims.scenario.jobs.logs import Replay, Resample, Scale, Selection
from sims.scenario.loader import load, read
from sims.world import run
from tests.sims.kinds import DATA
from tests.sims.oneworld import Table, records_of
from tests.sims.worlds import write

REPORTS = DATA / "reports"
JOBS: list[Table] = [
    {"name": "a", "processors": 2, "time": 10},
    {"name": "b", "processors": 2, "time": 20},
    {"name": "c", "processors": 4, "time": 7, "after": ["a", "b"], "think": 5},
    {"name": "d", "processors": 1, "time": 3, "after": ["a"], "release": 30},
]
"""c is submitted 5 s after b, at 25; d at its release, 30, and waits for c until 32."""


def table(jobs: Sequence[Table] = JOBS, **more: Any) -> Table:
    """A scenario of four workers with these jobs."""
    job = {"kind": "rigid", "jobs": list(jobs), **more.pop("job", {})}
    usual: Table = {"name": "chains", "unit": "s", "platform": {"workers": 4}}
    return usual | {"policy": {"name": "EASY"}, "job": job} | more


def test_think_of_a_job_that_follows_none_is_named_as_without_effect() -> None:
    alone = {"name": "a", "processors": 2, "time": 10, "think": 5}
    [(key, reason)] = idle(read(table([alone]), "chains"))
    assert (key, reason) == ("job.jobs.0.think", "the job follows no other: it has no `after`")


def submissions(records: Sequence[Record]) -> dict[str, float]:
    """When each job was submitted."""
    return {it.event.job: it.t for it in records if isinstance(it.event, JobSubmitted)}


def ends(records: Sequence[Record]) -> dict[str, float]:
    """When each job was over."""
    over = JobCompleted | JobKilled
    return {it.event.job: it.t for it in records if isinstance(it.event, over)}


def test_a_job_that_follows_others_is_submitted_after_the_last_of_them_and_the_time_to_think() -> (
    None
):
    records = records_of(table())
    assert submissions(records) == {"a": 0, "b": 0, "c": 25, "d": 30}
    assert ends(records) == {"a": 10, "b": 20, "c": 32, "d": 35}


def test_a_submission_is_caused_by_the_end_that_it_waited_for_or_else_by_the_passing_of_time() -> (
    None
):
    records = records_of(table())
    causes = {it.event.job: it.cause for it in records if isinstance(it.event, JobSubmitted)}
    assert [records[causes[name] or 0].event for name in "cd"] == [
        JobCompleted("b"),
        records[0].event,
    ]


def test_a_job_that_was_killed_has_ended_for_those_that_follow_it() -> None:
    jobs = [JOBS[0] | {"estimate": 6}, {"processors": 1, "time": 1, "after": ["a"], "think": 2}]
    records = records_of(table(jobs, job={"overrun": "kill"}))
    assert submissions(records) == {"a": 0, "J2": 8}


def test_jobs_may_be_listed_before_those_that_they_follow() -> None:
    records = records_of(table([JOBS[2], *JOBS[:2]]))
    assert ends(records) == {"a": 10, "b": 20, "c": 32}


MANY: dict[str, Table] = {
    "copies": {"policy": {"name": "SRPT+R"}},
    "images": {
        "policy": {"name": "R-SHELF-NB"},
        "protection": {"kind": "images", "period": 3, "cost": 1},
        "faults": {"kind": "list", "strikes": [[5, 0]], "downtime": 2},
    },
    "pack": {"policy": {"name": "EndLocal"}},
    "deadlines": {
        "workers": [{"name": "spot"}, {"name": "on-demand"}],
        "platform": {},
        "policy": {"name": "spot"},
    },
    "enrolment": {"workers": [{"task_time": 2}] * 3, "platform": {}, "policy": {"name": "IE"}},
}


@pytest.mark.parametrize("kind", MANY)
def test_jobs_follow_others_under_every_kind_of_decider_as_the_audit_derives(kind: str) -> None:
    names: list[Table] = [
        {"name": "a"},
        {"name": "b", "after": ["a"], "think": 2},
        {"name": "c", "after": ["b", "a"]},
    ]
    own: Table = {"processors": 1, "time": 4}
    if kind == "deadlines":
        own |= {"deadline": 60}
    if kind == "pack":
        own = {"footprint": 100}
    if kind == "enrolment":
        own = {"tasks": 3, "iterations": 2}
    job = {"pack": "malleable", "enrolment": "iterative"}.get(kind, "rigid")
    more = MANY[kind] | ({} if kind != "enrolment" else {"unit": "slot"})
    records = records_of(table([it | own for it in names], job={"kind": job}, **more))
    at, over = submissions(records), ends(records)
    assert (at["b"], at["c"]) == (over["a"] + 2, over["b"])
    assert list(audit(records)) == []


@pytest.mark.parametrize(
    ("after", "problem"),
    [
        (["x"], "no job is called 'x'"),
        (["c"], "c follows c: none of them could ever begin"),
        (["e"], "c follows e follows d follows c: none of them could ever begin"),
    ],
)
def test_a_circle_and_an_unknown_name_are_refused(after: list[str], problem: str) -> None:
    others = [
        {"name": "d", "processors": 1, "time": 1, "after": ["a", "c"]},
        {"name": "e", "processors": 1, "time": 1, "after": ["d"]},
    ]
    with pytest.raises(InputError, match=problem) as refused:
        records_of(table([*JOBS[:2], JOBS[2] | {"after": after}, *others]))
    assert refused.value.key == "job.jobs.2.after"


def test_a_job_that_is_left_out_holds_nobody_back_and_that_is_counted() -> None:
    wide = {"name": "b", "processors": 5, "time": 20}
    records = records_of(table([JOBS[0], wide, JOBS[2]]))
    assert submissions(records) == {"a": 0, "c": 15}
    changed = [it.event for it in records if isinstance(it.event, JobsChanged)]
    assert changed == [
        JobsChanged("follows a job that is left out: submitted without waiting for it", 1)
    ]


# --- logs -----------------------------------------------------------------------------------------


def of_log(name: str) -> list[Record]:
    """The run of a report's scenario."""
    records: list[Record] = []
    run(load(REPORTS / f"{name}.toml"), [records.append], REPORTS)
    return records


def test_the_preceding_job_of_a_log_and_the_time_to_think_hold_jobs_back() -> None:
    records = of_log("swf-think")
    assert submissions(records) == {"J1": 0, "J2": 150}
    assert ends(records) == {"J1": 100, "J2": 250}


def test_a_log_in_which_jobs_precede_each_other_in_a_circle_is_submitted_as_recorded() -> None:
    """Its column names job 1 everywhere, for job 1 too."""
    records = of_log("swf-epoch")
    changed = [it.event for it in records if isinstance(it.event, JobsChanged)]
    assert changed[1:] == [
        JobsChanged(
            "the jobs that precede it go round in a circle: submitted at the time of the log", 3
        )
    ]


def test_a_preceding_job_that_takes_no_part_is_counted_and_the_recorded_submission_holds(
    tmp_path: Path,
) -> None:
    lines = [
        "1 0 0 100 1 -1 -1 1 100 -1 5 1 1 1 1 1 -1 -1",
        "2 7 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 1 50",
        "3 9 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 99 50",
        "4 9 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 2 -1",
    ]
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n" + "\n".join(lines))
    swf, select = {"file": str(tmp_path / "log.swf")}, {"statuses": ["completed"]}
    records = records_of(table([], job={"swf": swf, "select": select}))
    assert submissions(records) == {"J2": 7, "J3": 9, "J4": 107}
    changed = [it.event for it in records if isinstance(it.event, JobsChanged)]
    assert changed == [
        JobsChanged("its preceding job takes no part: submitted at the time of the log", 2)
    ]


def replay() -> Replay:
    """Three blocks of 100 s: J2 follows J1 within the first, J3 follows J2 in the next."""
    times = enumerate((10.0, 60.0, 110.0, 210.0), 1)
    jobs = tuple(LoggedJob(f"J{k}", at, 5.0, 1) for k, at in times)
    chains = {"J2": Preceding("J1", 8.0), "J3": Preceding("J2", 4.0)}
    return Replay.of(evolve(JobLog.of(jobs), preceding=chains))


def test_jobs_drawn_anew_keep_the_chains_that_lie_within_their_block() -> None:
    found = Resample(blocks=40, length=100).apply(replay(), np.random.default_rng(1))
    names = set(found["names"].tolist())
    assert {name.partition(".")[0] for name in found.preceding} == {"J2"}
    assert found.preceding.keys() == {it for it in names if it.partition(".")[0] == "J2"}
    for name, before in found.preceding.items():
        assert before == Preceding(name.replace("J2", "J1"), 8.0)


def on_four(jobs: Replay) -> float:
    """The load of these jobs on four workers."""
    return jobs.load(4)


def test_a_higher_rate_of_arrivals_shortens_the_time_to_think() -> None:
    found = Scale(factor=2).apply(replay(), on_four)
    assert found.preceding == {"J2": Preceding("J1", 4.0), "J3": Preceding("J2", 2.0)}
    assert Scale(by="times", factor=2).apply(replay(), on_four).preceding == replay().preceding


def test_a_window_of_a_log_keeps_its_chains() -> None:
    assert Selection(window=(50, 300)).apply(replay()).preceding == replay().preceding


# --- laws -----------------------------------------------------------------------------------------


@st.composite
def chained_jobs(draw: st.DrawFn) -> list[Table]:
    """Up to eight jobs, most of which follow some before them."""
    jobs: list[Table] = []
    for k in range(draw(st.integers(1, 8))):
        before = draw(st.sets(st.sampled_from(range(k)), max_size=2)) if k else set()
        jobs.append(
            {
                "name": f"J{k}",
                "processors": draw(st.integers(1, 4)),
                "time": draw(st.integers(1, 9)),
                "release": draw(st.integers(0, 12)),
                "after": [f"J{it}" for it in sorted(before)],
                "think": draw(st.integers(0, 3)),
            }
        )
    return jobs


STRATEGIES = ("FCFS", "EASY", "conservative", "greedy", "R-LIST-Q", "R-SHELF-NB")


@given(chained_jobs(), st.sampled_from(STRATEGIES))
@settings(max_examples=60, deadline=None)
def test_every_submission_is_where_the_ends_before_it_put_it(
    jobs: list[Table], policy: str
) -> None:
    records = records_of(table(jobs, policy={"name": policy}))
    at, over = submissions(records), ends(records)
    for job in jobs:
        due = [job["release"], *(over[name] + job["think"] for name in job["after"])]
        assert at[job["name"]] == max(due)
    assert list(audit(records)) == []


@given(chained_jobs())
@settings(max_examples=60, deadline=None)
def test_conservative_promises_no_later_start_because_jobs_follow_others(jobs: list[Table]) -> None:
    promised: dict[str, float] = {}
    for it in records_of(table(jobs, policy={"name": "conservative"})):
        if isinstance(it.event, ReservationMade):
            assert it.event.start <= promised.get(it.event.job, it.event.start)
            promised[it.event.job] = it.event.start


# --- what is told ---------------------------------------------------------------------------------


def test_a_job_that_follows_others_waits_from_its_submission_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(records_of(table()), tmp_path / "log.jsonl")
    assert main(["summary", str(log), "--by", "job", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    # a, b and c start as they are submitted; d waits from 30 to 32.
    assert told["wait"]["mean"] == 0.5


def test_the_trace_says_which_ends_led_to_a_submission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"name": "e", "processors": 1, "time": 1, "after": ["a"]}
    log = write(records_of(table([*JOBS, one, one | {"name": "f", "think": 1}])), tmp_path / "log")
    told = {}
    for name in "cdef":
        assert main(["trace", str(log), "--job", name]) == 0
        told[name] = capsys.readouterr().out.splitlines()[0].partition(") ")[2].strip()
    assert [it.partition(": ")[0] for it in told.values()] == [
        "c submitted 5 s after the last of a and b ends",
        "d submitted at its release, after a has ended",
        "e submitted when a ends",
        "f submitted 1 s after a ends",
    ]


def test_the_trace_says_why_a_job_was_never_submitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(records_of(table(), until=15), tmp_path / "log.jsonl")
    assert main(["trace", str(log), "--job", "a"]) == 0
    assert main(["trace", str(log), "--job", "c"]) == 2
    assert "c is not submitted in this log: it follows a and b" in capsys.readouterr().err


def test_the_queue_shows_which_jobs_are_held_back_and_until_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(records_of(table()), tmp_path / "log.jsonl")
    assert main(["queue", str(log), "--at", "12"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["c", "b", "5", "s"] in lines
    assert ["d", "30", "s"] in lines
    assert main(["queue", str(log), "--at", "30", "--json"]) == 0
    assert "held_back" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("moved", "law"),
    [
        (lambda it: evolve(it, event=evolve(it.event, think=4.0)), Law.MISSING),
        (lambda it: evolve(it, event=evolve(it.event, think=6.0)), Law.FOLLOWS),
        (lambda it: evolve(it, event=evolve(it.event, after=("a",))), Law.MISSING),
        (lambda it: evolve(it, event=evolve(it.event, release=28.0)), Law.FOLLOWS),
        (lambda it: evolve(it, event=evolve(it.event, after=("a", "c"))), Law.INPUT),
    ],
)
def test_the_audit_notices_a_submission_that_does_not_follow(moved: Any, law: Law) -> None:
    """c is due at 25; with other words for what it waits for, it is not."""
    records = records_of(table())
    changed = [
        moved(it) if isinstance(it.event, DependenciesDescribed) and it.event.job == "c" else it
        for it in records
    ]
    assert [it.law for it in audit(changed)] == [law]


def test_the_audit_notices_another_cause_of_a_submission() -> None:
    records = records_of(table())
    changed = [
        evolve(it, cause=0) if isinstance(it.event, JobSubmitted) and it.event.job == "c" else it
        for it in records
    ]
    assert [it.law for it in audit(changed)] == [Law.CAUSE]
