"""Partitions of a queue, and cells of workers (rules.md, G1 to G5): which jobs start, on which
workers, and the laws that hold under every strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.events import (
    JobCompleted,
    JobsLeftOut,
    MemberReplaced,
    PartitionAssigned,
    ReservationMade,
    RunStarted,
    StandbyJoined,
    StandbysHeld,
)
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.log import LogFile
from sims.session import run
from sims.trace.instant import read_instant

PLANNING = ("FCFS", "EASY", "conservative", "R-LIST-1", "R-LIST-2", "R-LIST-Q")
POLICIES = (*PLANNING, "greedy")
Table = dict[str, Any]


def table(jobs: list[Any], partitions: list[Table], policy: str = "EASY", **more: Any) -> Table:
    """Jobs of (processors, time, queue) or tables, on 8 workers or `workers`."""
    keys = "processors", "time", "queue"
    listed = [it if isinstance(it, dict) else dict(zip(keys, it, strict=False)) for it in jobs]
    platform = {"workers": more.pop("workers", 8), "partitions": partitions}
    platform |= more.pop("platform", {})
    rules = {"name": policy, "order": "FCFS"} | more.pop("rules", {})
    job = {"kind": "rigid", "jobs": listed}
    return {"name": "p", "unit": "s", "platform": platform, "job": job, "policy": rules} | more


def records(said: Table) -> list[Record]:
    """The log of a scenario; the audit finds nothing wrong in it."""
    found = list(run(said).records())
    assert list(audit(iter(found))) == []
    return found


def starts(told: list[Record]) -> list[tuple[str, float, str]]:
    return [
        (it.event.job, it.t, it.event.processors) for it in told if isinstance(it.event, RunStarted)
    ]


def times(told: list[Record]) -> dict[str, tuple[float, ...]]:
    """When each job started each time, and ended."""
    found: dict[str, tuple[float, ...]] = {}
    for it in told:
        if isinstance(it.event, RunStarted | JobCompleted):
            found[it.event.job] = (*found.get(it.event.job, ()), it.t)
    return found


DEBUG = {"name": "debug", "units": "0-1", "tier": 2}
BATCH = {"name": "batch", "units": "0-5", "default": True}


# --- by hand -------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_run_on_workers_of_their_partition_only(policy: str) -> None:
    told = records(table([(6, 5), (2, 5, "debug")], [DEBUG, BATCH], policy))
    assert {job: n for job, _, n in starts(told)} == {"J1": "0-5", "J2": "0-1"}


@pytest.mark.parametrize("policy", [it for it in POLICIES if it != "conservative"])
def test_a_higher_tier_comes_first(policy: str) -> None:
    """Both want workers 0 and 1 at 5; J3, of the debug partition, came later. Under conservative
    backfilling J2 keeps the place that it got as it came."""
    jobs = [(6, 5), {"processors": 6, "time": 4, "release": 1}]
    jobs.append({"processors": 2, "time": 3, "queue": "debug", "release": 2})
    assert times(records(table(jobs, [DEBUG, BATCH], policy))) == {
        "J1": (0, 5),
        "J3": (5, 8),
        "J2": (8, 12),
    }


@pytest.mark.parametrize("policy", PLANNING)
def test_a_start_takes_what_the_fewest_partitions_contain(policy: str) -> None:
    """Workers 2 to 5 are of one partition only: 0 and 1 stay for who needs them."""
    told = records(table([(3, 10), (1, 10), (2, 5, "debug")], [DEBUG, BATCH], policy))
    assert starts(told) == [("J3", 0, "0-1"), ("J1", 0, "2-4"), ("J2", 0, "5")]


def test_a_blocked_job_blocks_partitions_that_share_its_workers_under_fcfs() -> None:
    """J2 waits for six workers. J3's partition shares two of them; J4's shares none."""
    other = {"name": "other", "units": "6-7"}
    jobs = [(3, 10), (6, 5), (1, 2, "debug"), (2, 7, "other")]
    told = records(table(jobs, [DEBUG | {"tier": 1}, BATCH, other], "FCFS"))
    assert times(told) == {"J1": (0, 10), "J2": (10, 15), "J3": (15, 17), "J4": (0, 7)}


@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_a_member_that_is_away_is_replaced_by_a_worker_of_its_partition_only() -> None:
    """Workers 0 and 2 go DOWN at 2. No other worker of the first partition is free, but 3 and 4 are
    of the second, and 5 is in none."""
    partitions = [{"name": "a", "units": "0-1"}, {"name": "b", "units": "2-4"}]
    more: Table = {
        "protection": {"kind": "buddies", "period": 9, "cost": 1, "replace_after": 0},
        "faults": {"kind": "list", "strikes": [[2, 0], [2, 2]], "downtime": 20},
        "workers": 6,
    }
    told = records(table([(2, 10, "a"), (1, 10, "b")], partitions, **more))
    replaced = [(it.t, it.event) for it in told if isinstance(it.event, MemberReplaced)]
    assert replaced == [(2, MemberReplaced("J2", 0, 2, 3))]


def test_a_spare_replaces_a_member_whatever_its_partition() -> None:
    """The spare, worker 6, is in no partition. Worker 1 waits until worker 0 is back at 22: those
    that are free before are in another partition."""
    partitions = [{"name": "a", "units": "0-1"}, {"name": "b", "units": "2-5"}]
    more: Table = {
        "protection": {"kind": "buddies", "period": 9, "cost": 1, "replace_after": 0},
        "faults": {"kind": "list", "strikes": [[2, 0], [3, 1]], "downtime": 20},
        "platform": {"workers": 7, "spares": 1},
    }
    told = records(table([(2, 10, "a")], partitions, **more))
    replaced = [(it.t, it.event) for it in told if isinstance(it.event, MemberReplaced)]
    assert replaced == [
        (2, MemberReplaced("J1", 0, 0, 6)),
        (22, MemberReplaced("J1", 1, 1, 0)),
    ]


@pytest.mark.parametrize("policy", ["EASY", "conservative"])
@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_a_reservation_counts_on_the_worker_that_has_replaced_a_member(policy: str) -> None:
    """J3 wants workers 2 and 3, of which J2 has one until 6. The other replaces worker 0 of J1 at
    2, and J1 is believed to end at 10."""
    partitions = [{"name": "a", "units": "0-3"}, {"name": "b", "units": "2-3"}]
    more: Table = {
        "protection": {"kind": "buddies", "period": 9, "cost": 1, "replace_after": 0},
        "faults": {"kind": "list", "strikes": [[2, 0]], "downtime": 50},
        "workers": 4,
    }
    wide = {"processors": 2, "time": 5, "queue": "b", "release": 1}
    told = records(table([(2, 10, "a"), (1, 6, "b"), wide], partitions, policy, **more))
    made = [(it.t, it.event) for it in told if isinstance(it.event, ReservationMade)]
    assert made[:2] == [(1, ReservationMade("J3", 6, 2)), (2, ReservationMade("J3", 10, 2))]


def test_a_repaired_worker_becomes_a_standby_of_a_job_of_its_partition_only() -> None:
    """The standby, worker 2, goes DOWN at 1. Worker 3, of the other partition, is back at 5, and
    worker 2 at 6."""
    partitions = [{"name": "a", "units": "0-2"}, {"name": "b", "units": "3-4"}]
    job = {"processors": 2, "time": 10, "queue": "a", "standbys": 1}
    faults = {"kind": "list", "strikes": [[0, 3], [1, 2]], "downtime": 5}
    told = records(table([job], partitions, workers=5, faults=faults))
    joined = [(it.t, it.event) for it in told if isinstance(it.event, StandbyJoined)]
    assert joined == [(6, StandbyJoined("J1", 0, 2))]


@pytest.mark.parametrize("policy", [it for it in POLICIES if it != "conservative"])
@pytest.mark.parametrize("partitions", [[], ["0-4"], ["0-4", "0-4"], ["0-4", "5-6"]])
def test_members_and_standbys_are_one_choice_of_the_placement(
    partitions: list[str], policy: str
) -> None:
    """J1 has worker 3 of the nodes 0 to 2 and 3 to 5. J2 takes two of the first node, and not a
    member of the second one and then a standby of the first."""
    named = [{"name": name, "units": units} for name, units in zip("ab", partitions, strict=False)]
    queue = {"queue": "a"} if partitions else {}
    jobs = [{"processors": 1, "time": 10, "release": k} | queue for k in (0, 1)]
    jobs[1]["standbys"] = 1
    more: Table = {"node": 3, "workers": 7 if "5-6" in partitions else 5}
    told = records(table(jobs, named, policy, platform=more, rules={"placement": "nodes"}))
    assert starts(told) == [("J1", 0, "3"), ("J2", 1, "0")]
    held = [it.event.processors for it in told if isinstance(it.event, StandbysHeld)]
    assert held == ["1"]


def test_disjoint_partitions_have_a_reservation_each_under_easy() -> None:
    """Each of the two has a job that waits, and one more that shares workers gets none."""
    halves = [{"name": "a", "units": "0-3"}, {"name": "b", "units": "4-7"}]
    jobs = [(3, 10, "a"), (3, 20, "b"), (4, 5, "a"), (4, 5, "b"), (4, 5, "a"), (4, 5, "b")]
    told = records(table(jobs, halves))
    at_0 = [it.event for it in told if isinstance(it.event, ReservationMade) and it.t == 0]
    assert at_0 == [ReservationMade("J3", 10, 4), ReservationMade("J4", 20, 4)]


def test_backfilling_delays_no_reservation_of_a_partition_that_shares_workers() -> None:
    """J2 is to have all of batch at 10. J3 would hold worker 0 or 1 until 12; J4 ends at 10."""
    jobs = [(4, 10), (6, 5), (1, 12, "debug"), (1, 10, "debug")]
    told = records(table(jobs, [DEBUG | {"tier": 1}, BATCH]))
    assert times(told) == {"J1": (0, 10), "J4": (0, 10), "J2": (10, 15), "J3": (15, 27)}


def test_a_window_costs_the_same_whoever_is_in_it() -> None:
    """The first case of the rule: 35 whichever two of four workers."""
    for units in ("0-1", "2-3", "0, 2", "1, 3"):
        window = {"from": 10, "to": 20, "units": units}
        said = table([(3, 15), (1, 30)], [], workers=4, platform={"maintenance": [window]})
        assert times(records(said)) == {"J1": (20, 35), "J2": (0, 30)}


def test_a_reservation_takes_first_what_opens_as_it_begins() -> None:
    """J2, four for 20, waits for 10, when 0 and 1 open: it has these and 2 and 3. J3 fits beside it
    on 4 and 5 for good."""
    window = {"from": 0, "to": 10, "units": "0-1"}
    jobs = [(2, 4), (5, 20), (1, 40)]
    said = table(jobs, [], workers=6, platform={"maintenance": [window]})
    assert times(records(said))["J3"] == (0, 40)


def test_limits_of_a_partition_refuse_a_listed_job() -> None:
    short = DEBUG | {"longest": 30, "widest": 1}
    for job, key in (
        ((2, 5, "debug"), "job.jobs.0.processors"),
        ((1, 31, "debug"), "job.jobs.0.time"),
        ({"processors": 1, "time": 5, "estimate": 31, "queue": "debug"}, "job.jobs.0.estimate"),
        ((1, 5, "gpu"), "job.jobs.0.queue"),
        ((1, 5), "job.jobs.0.queue"),
    ):
        with pytest.raises(InputError) as refused:
            run(table([job], [short]))
        assert key in str(refused.value)


@pytest.mark.parametrize(
    ("partitions", "rules", "key"),
    [
        ([BATCH, BATCH | {"name": "other"}], {}, "default"),
        ([BATCH, {"name": "batch", "units": "6"}], {}, "called 'batch'"),
        ([BATCH | {"units": "0-8"}], {}, "platform.partitions.batch.units"),
        ([BATCH | {"units": "3-1"}], {}, "platform.partitions.0.units.*3-1 falls"),
        ([BATCH | {"units": "0-3, 2"}], {}, "2 is in it twice"),
        ([BATCH], {"name": "R-SHELF-B"}, "platform.partitions"),
        ([BATCH | {"name": "a.b"}], {}, "name"),
    ],
)
def test_what_cannot_be_is_refused(partitions: list[Table], rules: Table, key: str) -> None:
    with pytest.raises(InputError, match=key):
        run(table([(1, 5)], partitions, rules=rules))


SWF = """\
; MaxProcs: 8
1 0 -1 10 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1
2 0 -1 10 2 -1 -1 2 -1 -1 1 1 1 1 1 2 -1 -1
3 0 -1 10 2 -1 -1 2 -1 -1 1 1 1 1 1 3 -1 -1
4 0 -1 10 2 -1 -1 2 -1 -1 1 1 1 1 1 -1 -1 -1
"""


def swf(text: str, tmp_path: Path) -> list[Record]:
    (tmp_path / "log.swf").write_text(text)
    partitions = [{"name": "1", "units": "0-1"}, {"name": "2", "units": "2-7", "default": True}]
    said = table([], partitions) | {"job": {"kind": "rigid", "swf": {"file": "log.swf"}}}
    found = list(run(said, folder=tmp_path).records())
    assert list(audit(iter(found))) == []
    return found


def test_the_partition_number_of_swf_counts(tmp_path: Path) -> None:
    """Field 16; job 3 names none that there is, job 4 none at all."""
    told = swf(SWF, tmp_path)
    assert {job: n for job, _, n in starts(told)} == {"J1": "0-1", "J2": "2-3", "J4": "4-5"}
    left = [it.event for it in told if isinstance(it.event, JobsLeftOut)]
    assert left == [JobsLeftOut("there is no partition '3'", 1)]
    assert PartitionAssigned("J2", "2") in [it.event for it in told]


def test_the_queue_number_of_swf_counts_where_no_job_has_a_partition(tmp_path: Path) -> None:
    lines = [line.split() for line in SWF.splitlines()[1:]]
    rows = (" ".join([*it[:14], it[15].replace("-1", "2"), "-1", *it[16:]]) for it in lines)
    told = swf("\n".join(("; MaxProcs: 8", *rows)) + "\n", tmp_path)
    assert {job: n for job, _, n in starts(told)} == {"J1": "0-1", "J2": "2-3", "J4": "4-5"}


def test_trace_names_the_job_in_the_way_and_the_workers_that_are_shared(tmp_path: Path) -> None:
    jobs = [(3, 10), (6, 5), (1, 2, "debug")]
    log = tmp_path / "log.jsonl"
    result = run(table(jobs, [DEBUG | {"tier": 1}, BATCH], "FCFS"), log=log)
    told = str(result.trace("J3"))
    assert "blocked by J2, whose partition batch shares workers 0-1" in told
    assert "of 2 processors of partition debug" in told
    assert "batch" in "\n".join(read_instant(LogFile(log), 1).lines())


def test_trace_names_nothing_of_a_partition_without_workers_of_the_jobs_own() -> None:
    """J3 waits for J1 until 10. J2 and J4 hold workers 6-7, of which a fault takes 7 at 4."""
    mine = {"processors": 6, "time": 5, "release": 1}
    theirs = {"processors": 1, "time": 8, "release": 2, "queue": "other"}
    jobs = [(6, 10), (1, 9, "other"), mine, theirs, theirs | {"release": 3}]
    faults = {"kind": "list", "downtime": 6, "strikes": [(4, 7)]}
    result = run(table(jobs, [BATCH, {"name": "other", "units": "6-7"}], faults=faults))
    told = str(result.trace("J3")).partition("where its")[0]
    assert "0 of 6 processors of partition batch are free\n" in told
    assert "possible now: J1 (6 processors, 6 of them now its own) ends; 6 are free" in told
    for foreign in ("J2", "J4", "J5", "worker 7", "DOWN", "came later"):
        assert foreign not in told


def test_traces_and_the_queue_know_the_partition_that_no_queue_of_a_job_names(
    tmp_path: Path,
) -> None:
    """Field 16 says partition 1 of J1 and J2, whose queue (field 15) is 2, partition 2 of J3, whose
    queue is no partition. J2 waits for J1, which holds both workers of their partition."""
    (tmp_path / "log.swf").write_text(
        "; MaxProcs: 4\n"
        "1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 -1 2 1 -1 -1\n"
        "2 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 2 1 -1 -1\n"
        "3 4 -1 5 1 -1 -1 1 5 -1 1 1 1 -1 7 2 -1 -1\n"
    )
    partitions = [{"name": "1", "units": "0-1"}, {"name": "2", "units": "2-3"}]
    said = table([], partitions, workers=4)
    said["job"] = {"kind": "rigid", "swf": {"file": "log.swf"}}
    log = tmp_path / "log.jsonl"
    result = run(said, folder=tmp_path, log=log)
    assert "2 of 2 processors of partition 1 are free; J1 (2) starts" in str(result.trace("J2"))
    assert "run 0 on 1 worker: 2" in str(result.trace("J3"))
    instant = read_instant(LogFile(log), 5)
    assert [(it["job"], it["partition"]) for it in instant.waiting] == [("J2", "1")]


# --- laws ----------------------------------------------------------------------------------------

SIZES = st.integers(1, 4)
JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "processors": SIZES,
            "time": st.integers(1, 12),
            "release": st.integers(0, 20),
        },
        optional={"estimate": st.integers(1, 15)},
    ),
    min_size=1,
    max_size=9,
)
FAULTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), max_size=3)
WINDOWS = st.lists(
    st.tuples(st.integers(0, 25), st.integers(1, 10), st.sets(st.integers(0, 3), min_size=1)),
    max_size=2,
)


def windows(spans: list[Any], shift: int = 0) -> list[Table]:
    return [
        {"from": a, "to": a + n, "units": " ".join(str(q + shift) for q in sorted(who))}
        for a, n, who in spans
    ]


def struck(faults: list[Any], shift: int = 0) -> list[list[int]]:
    return sorted({(t, q + shift) for t, q in faults})  # type: ignore[misc]


def with_standbys(jobs: list[Table], standbys: int, policy: str) -> list[Table]:
    """Every second job has so many, where the policy takes them."""
    if policy == "conservative":
        return jobs
    return [it | {"standbys": standbys * (k % 2)} for k, it in enumerate(jobs)]


@given(
    *(JOBS, JOBS, FAULTS, WINDOWS, st.sampled_from(POLICIES)),
    *(st.integers(0, 2), st.sampled_from(["lowest", "nodes", "compact"])),
)
@example(
    [{"processors": 1, "time": 1}, {"processors": 1, "time": 2, "estimate": 1}],
    [{"processors": n, "time": 1, "estimate": it} for n, it in [(1, 1), (1, 2), (4, 1)]],
    *([], [(0, 1, {0})], "conservative", 0, "lowest"),
)
@example(
    [{"processors": 1, "time": 6, "release": 11, "estimate": 9}],
    [
        {"processors": 3, "time": 12, "release": 1, "estimate": 5},
        {"processors": 3, "time": 6, "release": 7},
        {"processors": 4, "time": 5, "release": 2, "estimate": 7},
        {"processors": 3, "time": 11, "release": 3, "estimate": 4},
    ],
    *([], [(17, 5, {2})], "conservative", 0, "lowest"),
)
def test_jobs_of_disjoint_partitions_run_as_in_scenarios_of_their_own(
    here: list[Table],
    there: list[Table],
    faults: list[Any],
    spans: list[Any],
    policy: str,
    standbys: int,
    placement: str,
) -> None:
    here, there = (with_standbys(it, standbys, policy) for it in (here, there))
    rules = {"placement": placement}
    halves = [{"name": "a", "units": "0-3"}, {"name": "b", "units": "4-7"}]
    jobs = [it | {"name": f"A{k}", "queue": "a"} for k, it in enumerate(here)]
    jobs += [it | {"name": f"B{k}", "queue": "b"} for k, it in enumerate(there)]
    hazard = {"faults": {"kind": "list", "strikes": struck(faults, 4), "downtime": 3}}
    hazard = hazard if faults else {}
    closed = {"node": 2, "maintenance": windows(spans, 4)}
    both = table(jobs, halves, policy, platform=closed, rules=rules, **hazard)
    own = {"platform": {"node": 2}, "rules": rules}
    alone = table(jobs[: len(here)], [], policy, workers=4, **own)
    hazard = {"faults": hazard["faults"] | {"strikes": struck(faults)}} if faults else {}
    own["platform"] |= {"maintenance": windows(spans)}
    rest = [it | {"queue": ""} for it in jobs[len(here) :]]
    other = table(rest, [], policy, workers=4, **own, **hazard)
    assert times(records(both)) == times(records(alone)) | times(records(other))


@given(
    *(JOBS, FAULTS, WINDOWS, st.sampled_from((*POLICIES, "R-LIST-3"))),
    *(st.integers(0, 2), st.sampled_from(["lowest", "nodes", "compact", "random"])),
)
def test_one_partition_of_all_workers_changes_nothing_but_the_head(
    jobs: list[Table],
    faults: list[Any],
    spans: list[Any],
    policy: str,
    standbys: int,
    placement: str,
) -> None:
    hazard = {"faults": {"kind": "list", "strikes": struck(faults), "downtime": 3}}
    jobs = with_standbys(jobs, standbys, policy)
    said = [table(jobs, [], policy, workers=4), table(jobs, [], policy, workers=4)]
    for it in said:
        it |= hazard if faults else {}
        it["platform"] |= {"maintenance": windows(spans), "node": 3}
        it["policy"]["placement"] = placement
    said[1]["platform"]["partitions"] = [{"name": "all", "units": "0-3", "default": True}]
    apart, one = ([(it.t, it.event) for it in records(its) if it.seq] for its in said)
    assert apart == one


@given(JOBS, WINDOWS, st.sampled_from(PLANNING), st.permutations(range(4)), st.booleans())
def test_numbers_of_workers_do_not_matter(
    jobs: list[Table], spans: list[Any], policy: str, numbers: list[int], divided: bool
) -> None:
    """Windows and partitions are of the same sets of workers, renumbered."""
    found = []
    for order in (list(range(4)), numbers):
        its = windows([(a, n, {order[q] for q in who}) for a, n, who in spans])
        partitions = []
        said = [dict(it) for it in jobs]
        if divided:
            units = [" ".join(str(order[q]) for q in own) for own in ((0, 1, 2), (2, 3))]
            partitions = [
                {"name": "a", "units": units[0], "default": True},
                {"name": "b", "units": units[1]},
            ]
            for k, job in enumerate(said):
                job["queue"] = "ab"[k % 2]
                job["processors"] = min(job["processors"], 3 - k % 2)
        told = records(table(said, partitions, policy, workers=4, platform={"maintenance": its}))
        found.append(times(told))
    assert found[0] == found[1]


@given(JOBS, WINDOWS, st.lists(st.sampled_from("abc"), min_size=9, max_size=9))
def test_conservative_postpones_no_promise_unless_an_estimate_is_outlived(
    jobs: list[Table], spans: list[Any], queues: list[str]
) -> None:
    own = {"a": (0, 1, 2), "b": (2, 3), "c": (0, 3)}
    partitions = [{"name": name, "units": " ".join(map(str, it))} for name, it in own.items()]
    for job, queue in zip(jobs, queues, strict=False):
        job["queue"], job["processors"] = queue, min(job["processors"], len(own[queue]))
        job["estimate"] = max(job["time"], job.get("estimate", 0))
    said = table(jobs, partitions, "conservative", workers=4)
    said["platform"]["maintenance"] = windows(spans)
    promised: dict[str, float] = {}
    for it in records(said):
        if isinstance(it.event, ReservationMade):
            assert it.event.start <= promised.get(it.event.job, it.event.start)
            promised[it.event.job] = it.event.start
        if isinstance(it.event, RunStarted):
            assert it.t <= promised.get(it.event.job, it.t) * (1 + 1e-9)
