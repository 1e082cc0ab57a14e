"""Whole nodes for each job of an exclusive partition (rules.md, G6)."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from actors.events import JobCompleted, NodesHeld, RunStarted
from actors.intervals import numbers_in
from actors.runtime import Event, Record
from sims import ledger
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.rows import Use
from sims.log import LogFile
from sims.metrics.report import Report
from sims.session import run
from sims.trace.instant import read_instant
from tests.sims.audit.altered import told_of
from tests.sims.scenario.test_partitions import (
    FAULTS,
    JOBS,
    POLICIES,
    WINDOWS,
    Table,
    records,
    starts,
    struck,
    table,
    times,
    windows,
)

GPU = {"name": "gpu", "units": "0-7", "exclusive": True, "default": True}
NODES: Table = {"platform": {"node": 4}}


def nodes_held(told: list[Record]) -> list[tuple[str, float, str]]:
    return [
        (it.event.job, it.t, it.event.processors) for it in told if isinstance(it.event, NodesHeld)
    ]


# --- by hand -------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [it for it in POLICIES if it != "FCFS"])
def test_a_job_holds_as_many_whole_nodes_as_its_processors_need(policy: str) -> None:
    """J2 needs both nodes, and J3 is over by the time that J1 releases its node."""
    told = records(table([(1, 10), (5, 10), (1, 5)], [GPU], policy, **NODES))
    assert times(told) == {"J1": (0, 10), "J2": (10, 20), "J3": (0, 5)}
    assert starts(told) == [("J1", 0, "0"), ("J3", 0, "4"), ("J2", 10, "0-4")]
    assert nodes_held(told) == [("J1", 0, "1-3"), ("J3", 0, "5-7"), ("J2", 10, "5-7")]


def test_the_rest_of_a_node_is_idle_and_counts_as_held() -> None:
    """65 worker-seconds of work on 140 that jobs hold, of 160."""
    told = records(table([(1, 10), (5, 10), (1, 5)], [GPU], **NODES))
    account = ledger.account(told, 8)
    assert account.total[Use.IDLE] == 160 - 65
    assert account.held_idle == 75
    assert account.held("J2") == account.by_job["J2"] | {Use.DOWN: 0}
    assert account.by_job["J2"][Use.IDLE] == 30
    report = Report.of(told)
    assert report.goodput == pytest.approx(Fraction(65, 140))
    assert report.utilisation == pytest.approx(Fraction(65, 160))
    said = "\n".join(report.lines())
    assert "46.9% more held idle, as the rest of whole nodes" in said
    assert "53.6% idle" in said


def test_nodes_that_others_share_are_free_when_nobody_holds_a_part_of_them() -> None:
    """Workers 0 to 3 are of a partition too whose jobs hold single workers."""
    debug = {"name": "debug", "units": "0-3"}
    jobs = [(1, 10, "debug"), (4, 5, "gpu"), (1, 5, "gpu"), (1, 2, "debug")]
    told = records(table(jobs, [GPU, debug], **NODES))
    assert starts(told) == [
        ("J1", 0, "0"),
        ("J2", 0, "4-7"),
        ("J4", 0, "1"),
        ("J3", 5, "4"),
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_of_single_workers_stays_off_a_node_that_is_held(policy: str) -> None:
    """Of the node that J1 holds it computes on one worker."""
    both = [GPU | {"units": "0-3"}, {"name": "other", "units": "0-3"}]
    told = records(table([(1, 10, "gpu"), (1, 5, "other")], both, policy, workers=4, **NODES))
    assert times(told) == {"J1": (0, 10), "J2": (10, 15)}


def faulty(strikes: list[list[int]], downtime: float, jobs: list[Any]) -> list[Record]:
    node = GPU | {"units": "0-3"}
    faults = {"kind": "list", "strikes": strikes, "downtime": downtime}
    return records(table(jobs, [node], workers=4, faults=faults, **NODES))


def test_a_node_with_a_worker_that_is_down_is_not_free() -> None:
    assert times(faulty([[0, 1]], 6, [(1, 10)])) == {"J1": (6, 16)}


def test_a_fault_of_the_rest_of_a_node_loses_nothing() -> None:
    told = faulty([[3, 2]], 2, [(1, 10)])
    assert times(told) == {"J1": (0, 10)}
    account = ledger.account(told, 4)
    assert (account.held_idle, account.down["J1"]) == (28, 2)


def test_a_worker_of_the_rest_is_waited_for_by_the_next_job() -> None:
    """It is DOWN from 9 to 13, and the first job ends at 10."""
    assert times(faulty([[9, 2]], 4, [(1, 10), (4, 5)])) == {"J1": (0, 10), "J2": (13, 18)}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_window_of_one_worker_closes_its_node(policy: str) -> None:
    """Node 0 loses worker 1 at 5; J1 takes 10, and is for node 1."""
    window = {"from": 5, "to": 8, "units": "1"}
    platform = {"node": 4, "maintenance": [window]}
    told = records(table([(1, 10), (1, 10)], [GPU], policy, platform=platform))
    assert times(told) == {"J1": (0, 10), "J2": (8, 18)}
    assert starts(told)[0] == ("J1", 0, "4")


def test_limits_count_whole_nodes() -> None:
    """One processor each, and four that they hold."""
    jobs = [{"processors": 1, "time": 5, "user": "ann"} for _ in range(2)]
    limits = [{"per": "user", "processors": 7}]
    told = records(table(jobs, [GPU], rules={"limits": limits}, **NODES))
    assert times(told) == {"J1": (0, 5), "J2": (5, 10)}
    limits[0]["processors"] = 3
    with pytest.raises(InputError, match="above the limit of user ann, 3"):
        run(table(jobs, [GPU], rules={"limits": limits}, **NODES))


def test_kept_processors_keep_their_nodes() -> None:
    """Buddies keep node 0 while worker 0 is DOWN; J2 has to wait for it."""
    faults = {"kind": "list", "strikes": [[3, 0]], "downtime": 2}
    said = table([(2, 10), (4, 5)], [GPU | {"units": "0-3"}], workers=4, faults=faults, **NODES)
    said["protection"] = {"kind": "buddies", "period": inf, "recovery": 1}
    told = records(said)
    assert times(told) == {"J1": (0, 5, 16), "J2": (16, 21)}
    assert nodes_held(told) == [("J1", 0, "2-3")]
    account = ledger.account(told, 4)
    assert account.by_job["J1"][Use.IDLE] == 32


def test_preemption_frees_whole_nodes() -> None:
    """The urgent job needs two nodes: the one that J1 holds is freed for it."""
    jobs = [
        {"processors": 1, "time": 20, "priority": 0, "protection": {"kind": "images", "period": 5}},
        {"processors": 5, "time": 4, "priority": 1, "release": 7},
    ]
    said = table(jobs, [GPU], rules={"order": "PRIORITY", "preemption": True}, **NODES)
    told = records(said)
    assert times(told)["J2"] == (7, 11)
    assert times(told)["J1"] == (0, 11, 26)


@pytest.mark.parametrize(
    ("partition", "more", "problem"),
    [
        (GPU, {}, "platform.node"),
        (GPU | {"units": "0-5"}, NODES, "platform.partitions.gpu.units"),
        (GPU, NODES | {"job": {"standbys": 1}}, "standbys"),
        (
            GPU,
            NODES | {"protection": {"kind": "buddies", "period": 5, "replace_after": 0}},
            "protection.replace_after",
        ),
    ],
)
def test_what_deals_in_single_workers_is_refused(
    partition: Table, more: Table, problem: str
) -> None:
    job = {"processors": 2, "time": 5} | more.get("job", {})
    others = {key: it for key, it in more.items() if key != "job"}
    with pytest.raises(InputError) as refused:
        run(table([job], [partition], **others))
    assert problem in str(refused.value)


# --- laws ----------------------------------------------------------------------------------------


@given(JOBS, FAULTS, WINDOWS, st.sampled_from(POLICIES), st.integers(2, 3))
def test_whole_nodes_run_jobs_as_single_workers_do(
    jobs: list[Table], faults: list[Any], spans: list[Any], policy: str, size: int
) -> None:
    """Each node is a worker of a platform whose jobs ask for as many workers as they need nodes;
    the last processor of each job is the first of its last node."""
    hazard: Table = {"kind": "list", "strikes": struck(faults), "downtime": 3}
    alike = [{**it, "processors": size * (it["processors"] - 1) + 1} for it in jobs]
    partition = {"name": "all", "units": f"0-{4 * size - 1}", "exclusive": True, "default": True}
    closed = [(a, n, {q * size + k for q in who for k in range(size)}) for a, n, who in spans]
    platform = {"node": size, "maintenance": windows(closed)}
    single = table(jobs, [], policy, workers=4, platform={"maintenance": windows(spans)})
    whole = table(alike, [partition], policy, workers=4 * size, platform=platform)
    if faults:
        single["faults"], whole["faults"] = hazard, hazard | {"of": "nodes"}
    told = records(whole)
    assert times(told) == times(records(single))
    for job, _, members in starts(told):
        last = max(numbers_in(members))
        assert last % size == 0 or any(job == it[0] for it in nodes_held(told))


# --- what reads the log --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (NodesHeld("J1", 0, "1-3"), NodesHeld("J1", 0, "1-2")),
        (NodesHeld("J1", 0, "1-3"), NodesHeld("J1", 0, "5-7")),
        (RunStarted("J3", 0, "4", 5), RunStarted("J3", 0, "1", 5)),
    ],
)
def test_the_audit_notices_other_nodes(true: Event, false: Event) -> None:
    told = records(table([(1, 10), (5, 10), (1, 5)], [GPU], **NODES))
    spoilt = [evolve(it, event=false) if it.event == true else it for it in told]
    assert spoilt != told
    assert list(audit(iter(spoilt)))


def test_the_audit_notices_that_a_partition_is_exclusive_or_is_not() -> None:
    told = records(table([(1, 10), (5, 10), (1, 5)], [GPU], **NODES))
    assert list(audit(told_of(told, "exclusive = true", "exclusive = false")))
    assert list(audit(told_of(told, "node = 4", "node = 3")))


def test_the_audit_notices_a_rest_that_is_not_held() -> None:
    told = records(table([(1, 10), (5, 10), (1, 5)], [GPU], **NODES))
    assert list(audit(it for it in told if not isinstance(it.event, NodesHeld)))


def test_trace_and_queue_tell_of_whole_nodes(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    result = run(table([(1, 10), (5, 10), (1, 5)], [GPU], **NODES), log=log)
    told = str(result.trace("J2"))
    assert "8 of 8 processors of partition gpu in whole nodes are free; J1 (1) and J3 (1)" in told
    assert "holds whole nodes: workers 5-7 of them are idle" in told
    at = "\n".join(read_instant(LogFile(log), 1).lines())
    assert "rest     6: 1-3 5-7" in at
    assert "J1   0    4 " in at


def test_a_smaller_last_node_counts_with_what_it_has_under_a_limit() -> None:
    """Two processors of ann's beside the one of her other job's node are three: both start at
    once, although nodes have three workers as a rule."""
    partitions = [
        {"name": "gpu", "units": "3", "exclusive": True, "tier": 2},
        {"name": "cpu", "units": "1-3"},
    ]
    jobs = [
        {"name": "J1", "processors": 1, "time": 10, "queue": "gpu", "user": "ann"},
        {"name": "J2", "processors": 2, "time": 10, "queue": "cpu", "user": "ann"},
    ]
    scenario = {
        "name": "smaller",
        "platform": {"workers": 4, "node": 3, "partitions": partitions},
        "policy": {"name": "greedy", "limits": [{"per": "user", "processors": 3}]},
        "job": {"kind": "rigid", "jobs": jobs},
    }
    assert times(records(scenario)) == {"J1": (0, 10), "J2": (0, 10)}


def test_whole_nodes_of_a_logs_jobs_are_held_whichever_partition_its_first_job_is_in(
    tmp_path: Path,
) -> None:
    """J1's partition is not exclusive; J2 holds workers 2-3 for one processor."""
    (tmp_path / "log.swf").write_text(
        "; MaxProcs: 6\n"
        "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 1 -1 -1\n"
        "2 1 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 2 2 -1 -1\n"
    )
    partitions = [{"name": "1", "units": "0-1"}, {"name": "2", "units": "2-3", "exclusive": True}]
    scenario = {
        "name": "nodes",
        "platform": {"workers": 6, "node": 2, "partitions": partitions},
        "job": {"kind": "rigid", "swf": {"file": "log.swf"}},
        "policy": {"name": "EASY"},
    }
    found = list(run(scenario, folder=tmp_path).records())
    assert nodes_held(found) == [("J2", 1, "3")]
    assert list(audit(found)) == []


LOGGED = st.lists(
    st.fixed_dictionaries(
        {
            "release": st.integers(0, 9),
            "processors": st.integers(1, 4),
            "time": st.integers(1, 9),
            "estimate": st.integers(1, 12),
            "queue": st.sampled_from("12"),
            "user": st.sampled_from("78"),
        }
    ),
    min_size=1,
    max_size=8,
)


@given(
    LOGGED,
    st.tuples(st.booleans(), st.booleans()),
    st.integers(1, 2),
    st.sampled_from(POLICIES),
    st.booleans(),
)
def test_jobs_of_a_log_run_as_the_same_jobs_listed(
    tmp_path_factory: pytest.TempPathFactory,
    jobs: list[Table],
    exclusive: tuple[bool, bool],
    tier: int,
    policy: str,
    limited: bool,
) -> None:
    """Partition 1 has workers 0-3, partition 2 has 2-7; nodes have two workers."""
    folder = tmp_path_factory.mktemp("logged")
    jobs = [{"name": f"J{k}"} | it for k, it in enumerate(sorted(jobs, key=released), 1)]
    units = ("0-3", "2-7")
    partitions = [
        {"name": name, "units": where, "exclusive": whole}
        for name, where, whole in zip("12", units, exclusive, strict=True)
    ]
    partitions[0]["tier"] = tier
    limits = [{"per": "user", "processors": 4}] if limited else []
    listed = table(jobs, partitions, policy, platform={"node": 2}, rules={"limits": limits})
    (folder / "log.swf").write_text("".join(map(in_the_standard_format, jobs)))
    swf = {"file": "log.swf", "origin": "log"}
    logged = listed | {"job": {"kind": "rigid", "swf": swf}}
    found = [[*run(it, folder=folder).records()] for it in (listed, logged)]
    assert list(audit(found[1])) == []
    first, second = (
        [(it.t, it.event) for it in told if isinstance(it.event, RUNS)] for told in found
    )
    assert first == second


RUNS = RunStarted, NodesHeld, JobCompleted
"""Events that say which workers jobs held, and until when."""


def released(job: Table) -> int:
    time: int = job["release"]
    return time


def in_the_standard_format(job: Table) -> str:
    """The line of a job in the Standard Workload Format."""
    size, times = job["processors"], f"{job['release']} -1 {job['time']}"
    asked = f"{size} {job['estimate']} -1 1 {job['user']} 1 1 {job['queue']} -1"
    return f"{job['name'][1:]} {times} {size} -1 -1 {asked} -1 -1\n"
