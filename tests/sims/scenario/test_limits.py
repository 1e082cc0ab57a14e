"""Limits by user, group or queue: who is held back, by which strategy, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import (
    JobsLeftOut,
    ReservationDropped,
    ReservationMade,
    RunEnded,
    RunStarted,
    ScenarioStarted,
)
from actors.intervals import count_in
from actors.runtime import Record
from sims.audit.audit import audit
from sims.cli import main
from sims.errors import InputError
from sims.scenario.loader import as_set, read
from tests.sims.oneworld import Table, records_of
from tests.sims.worlds import write

POLICIES = (
    *("EASY", "conservative", "greedy", "FCFS", "R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q"),
    *("R-SHELF-B", "R-SHELFFILL-B"),
)


def job(user: str, processors: int, time: float, **more: Any) -> Table:
    return {"user": user, "processors": processors, "time": time} | more


def table(jobs: Sequence[Table], limits: Sequence[Table], name: str = "EASY", **more: Any) -> Table:
    """A scenario of these jobs, J0, J1 and so on, on four workers."""
    policy = {"name": name, "limits": list(limits)} | more.pop("policy", {})
    named = [{"name": f"J{k}"} | it for k, it in enumerate(jobs)]
    usual: Table = {"name": "limits", "unit": "s", "platform": {"workers": 4}, "policy": policy}
    return usual | {"job": {"kind": "rigid", "jobs": named}} | more


def starts(records: Sequence[Record]) -> dict[str, float]:
    """When each job started first."""
    found: dict[str, float] = {}
    for it in records:
        if isinstance(it.event, RunStarted):
            found.setdefault(it.event.job, it.t)
    return found


ONE: Table = {"per": "user", "jobs": 1}


@pytest.mark.parametrize("name", ["EASY", "conservative", "greedy", "FCFS", "R-LIST-Q"])
def test_a_job_above_a_limit_waits_for_a_run_of_its_user_and_blocks_nobody(name: str) -> None:
    jobs = [job("u", 1, 10), job("u", 1, 5), job("v", 1, 7), job("", 1, 3), job("", 1, 4)]
    found = starts(records_of(table(jobs, [ONE], name)))
    assert found == {"J0": 0, "J1": 10, "J2": 0, "J3": 0, "J4": 0}


def test_processors_of_a_users_jobs_count_together() -> None:
    limit = {"per": "user", "processors": 3}
    jobs = [job("u", 2, 10), job("u", 2, 5), job("u", 1, 5)]
    assert starts(records_of(table(jobs, [limit]))) == {"J0": 0, "J1": 10, "J2": 0}


def test_a_limit_may_concern_some_names_only_and_counts_by_group_or_queue_too() -> None:
    jobs = [job(user, 1, 5, group="g", queue=queue) for user, queue in ("uq", "uq", "vq", "vr")]
    only = {"per": "user", "jobs": 1, "only": ["u"]}
    assert starts(records_of(table(jobs, [only])))["J1"] == 5
    by_group = starts(records_of(table(jobs, [{"per": "group", "jobs": 3}])))
    assert by_group == {"J0": 0, "J1": 0, "J2": 0, "J3": 5}
    by_queue = starts(records_of(table(jobs, [{"per": "queue", "processors": 2}])))
    assert by_queue == {"J0": 0, "J1": 0, "J2": 5, "J3": 0}


WIDE = [job("v", 3, 10), job("u", 4, 5), job("u", 1, 20), job("w", 1, 3)]
"""J1 waits for all workers, promised for 10; J2, of the same user, fits beside J0."""


def test_under_easy_what_runs_counts_and_not_a_reservation() -> None:
    """J2 would end after J1's promised start; it starts where it ends by then."""
    assert starts(records_of(table(WIDE, [ONE]))) == {"J0": 0, "J1": 10, "J2": 15, "J3": 0}
    short = [*WIDE[:2], job("u", 1, 8), *WIDE[3:]]
    found = records_of(table(short, [ONE]))
    assert starts(found) == {"J0": 0, "J1": 10, "J2": 0, "J3": 15}
    dropped = [it.t for it in found if isinstance(it.event, ReservationDropped)]
    assert dropped == []  # at 10 J2 is over


@pytest.mark.parametrize(
    "policy", [{"name": "conservative"}, {"name": "R-LIST-Q", "reading": "kept", "order": "FCFS"}]
)
def test_a_promise_that_is_kept_counts_as_a_run(policy: Table) -> None:
    """Else J2 would break what J1 was promised."""
    short = [*WIDE[:2], job("u", 1, 8), *WIDE[3:]]
    assert starts(records_of(table(short, [ONE], policy=policy)))["J2"] == 15


def test_copies_of_a_job_hold_processors_and_are_one_job() -> None:
    protection = {"kind": "none", "copies": 3}
    for limit, runs in ((ONE, 3), ({"per": "user", "processors": 2}, 2)):
        records = records_of(table([job("u", 1, 5)], [limit], protection=protection))
        assert sum(isinstance(it.event, RunStarted) for it in records) == runs


# --- beside a list scheduler that knows nothing of the simulator ----------------------------------


def scheduled(jobs: Sequence[Table], limits: Sequence[Table], workers: int, name: str) -> list[Any]:
    """The starts of jobs that end as believed, by greedy list scheduling or EASY, first come, first
    served."""
    order = sorted(range(len(jobs)), key=lambda k: (jobs[k]["release"], k))
    ends: dict[int, float] = {}
    begun: dict[int, float] = {}
    now = 0.0
    while len(begun) < len(jobs):
        running = {k for k in begun if ends[k] > now}
        free, reserved, shadow, spare = workers, False, inf, 0
        free -= sum(jobs[k]["processors"] for k in running)
        for k in order:
            size, over = jobs[k]["processors"], now + jobs[k]["time"]
            if k in begun or jobs[k]["release"] > now or exceeds(jobs, k, running, limits):
                continue
            fits = size <= free
            if fits and (not reserved or over <= shadow or size <= spare):
                begun[k], ends[k], free = now, over, free - size
                running.add(k)
                spare -= size if over > shadow else 0
            elif name == "EASY" and not reserved:
                reserved = True
                for shadow in sorted(ends[it] for it in running):
                    over_by_then = (it for it in running if ends[it] <= shadow)
                    spare = free + sum(jobs[it]["processors"] for it in over_by_then) - size
                    if spare >= 0:
                        break
        times = [t for t in (*ends.values(), *(it["release"] for it in jobs)) if t > now]
        now = min(times, default=inf)
    return [begun[k] for k in range(len(jobs))]


def exceeds(jobs: Sequence[Table], k: int, running: set[int], limits: Sequence[Table]) -> bool:
    for limit in limits:
        name = jobs[k][limit["per"]]
        its = [it for it in running if jobs[it][limit["per"]] == name]
        held = sum(jobs[it]["processors"] for it in its) + jobs[k]["processors"]
        if name and (len(its) + 1 > limit.get("jobs", inf) or held > limit.get("processors", inf)):
            return True
    return False


LIMITS = st.lists(
    st.one_of(
        st.builds(dict, per=st.sampled_from(["user", "group"]), jobs=st.integers(1, 2)),
        st.builds(dict, per=st.sampled_from(["user", "group"]), processors=st.integers(4, 5)),
    ),
    min_size=1,
    max_size=2,
)
JOBS = st.lists(
    st.builds(
        dict,
        user=st.sampled_from(["u", "v", ""]),
        group=st.sampled_from(["g", "h"]),
        processors=st.integers(1, 4),
        time=st.integers(1, 9),
        release=st.integers(0, 6),
    ),
    min_size=2,
    max_size=9,
)


@given(jobs=JOBS, limits=LIMITS, name=st.sampled_from(["greedy", "EASY"]))
@settings(max_examples=150, deadline=None)
def test_jobs_start_as_a_list_scheduler_starts_them_that_knows_nothing_of_the_simulator(
    jobs: list[Table], limits: list[Table], name: str
) -> None:
    found = starts(records_of(table(jobs, limits, name)))
    assert [found[f"J{k}"] for k in range(len(jobs))] == scheduled(jobs, limits, 4, name)


# --- laws -----------------------------------------------------------------------------------------


def held_by_name(records: Sequence[Record], jobs: Sequence[Table], per: str) -> Iterator[Table]:
    """After each change, what each name's jobs hold: sizes by (job, run)."""
    whose = {f"J{k}": it.get(per, "") for k, it in enumerate(jobs)}
    held: dict[tuple[str, int], int] = {}
    for it in records:
        match it.event:
            case RunStarted(job=name, run=run, processors=processors):
                held[name, run] = count_in(processors)
            case RunEnded(job=name, run=run):
                held.pop((name, run), None)
            case _:
                continue
        found: Table = {}
        for key, size in held.items():
            found.setdefault(whose[key[0]], {})[key] = size
        yield found


@given(
    jobs=JOBS,
    limits=LIMITS,
    name=st.sampled_from(POLICIES),
    reading=st.sampled_from(["fresh", "easy", "kept"]),
    order=st.sampled_from(["FCFS", "SPT", "FAIR-SHARE"]),
    late=st.integers(-2, 4),
    fault=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_no_limit_is_ever_exceeded_all_jobs_end_and_the_audit_finds_nothing(
    jobs: list[Table],
    limits: list[Table],
    name: str,
    reading: str,
    order: str,
    late: int,
    fault: bool,
) -> None:
    estimated = [it | {"estimate": max(1, it["time"] + late)} for it in jobs]
    policy = {"order": order} | ({"reading": reading} if name[:7] in ("R-LIST-",) else {})
    faults = {"kind": "list", "strikes": [[3, 0], [5, 1]], "downtime": 2}
    scenario = table(estimated, limits, name, policy=policy)
    records = records_of(scenario | ({"faults": faults} if fault else {}))
    assert list(audit(records)) == []
    assert len(starts(records)) == len(jobs)
    for limit in limits:
        for held in held_by_name(records, jobs, limit["per"]):
            for its in (its for whose, its in held.items() if whose):
                assert len({job for job, _ in its}) <= limit.get("jobs", inf)
                assert sum(its.values()) <= limit.get("processors", inf)


@given(jobs=JOBS, name=st.sampled_from(POLICIES))
@settings(max_examples=80, deadline=None)
def test_limits_that_nobody_reaches_leave_the_log_as_it_is_but_for_its_head(
    jobs: list[Table], name: str
) -> None:
    high = [{"per": "user", "jobs": 10}, {"per": "group", "processors": 40}]
    limited, free = (records_of(table(jobs, limits, name)) for limits in (high, []))
    assert limited[1:] == free[1:]
    assert limited[0] != free[0]


@given(jobs=JOBS, limits=LIMITS, late=st.integers(0, 4))
@settings(max_examples=150, deadline=None)
def test_conservative_promises_no_start_later_than_it_has_promised_it(
    jobs: list[Table], limits: list[Table], late: int
) -> None:
    """Where runs end as believed, or earlier."""
    estimated = [it | {"estimate": it["time"] + late} for it in jobs]
    records = records_of(table(estimated, limits, "conservative"))
    promised: dict[str, float] = {}
    for it in records:
        if isinstance(it.event, ReservationMade):
            assert it.event.start <= promised.get(it.event.job, inf)
            promised[it.event.job] = it.event.start
    assert all(time <= promised.get(name, inf) for name, time in starts(records).items())


# --- the audit ------------------------------------------------------------------------------------


def altered(records: Sequence[Record], limits: str) -> list[str]:
    """What the audit says of the log if its head had these limits."""
    first = records[0].event
    assert isinstance(first, ScenarioStarted)
    head = evolve(records[0], event=evolve(first, settings=(f"limits={limits}",)))
    return [it.why for it in audit([head, *records[1:]])]


def test_the_audit_derives_who_is_above_a_limit() -> None:
    jobs = [job("u", 1, 10), job("u", 1, 5), job("v", 2, 7)]
    records = records_of(table(jobs, [{"per": "user", "jobs": 2}], "greedy"))
    said = altered(records, "[{'per': 'user', 'jobs': 1}]")
    assert "above the limit of user u: 1 of 1 jobs" in said[0]
    said = altered(records, "[{'per': 'user', 'processors': 1}]")
    assert "above the limit of user u: 1 of 1 processors" in said[0]
    records = records_of(table(jobs, [ONE], "greedy"))
    assert "it fits" in altered(records, "[{'per': 'user', 'jobs': 2}]")[0]
    assert altered(records, "[{'per': 'moon'}]") != []
    assert altered(records, "[{'per'") != []


def test_the_audit_derives_which_reservations_a_limit_forbids_and_which_must_be() -> None:
    limits = [{"per": "user", "jobs": 2}]
    records = records_of(table([job("u", 3, 9), job("u", 4, 5, release=1)], limits))
    assert "gets a reservation above" in altered(records, "[{'per': 'user', 'jobs': 1}]")[0]
    held = records_of(table([job("u", 3, 9), job("u", 4, 5, release=1)], [ONE]))
    assert altered(held, "[{'per': 'user', 'jobs': 2}]") != []


# --- what is refused, left out and told ----------------------------------------------------------


def test_a_listed_job_that_alone_exceeds_a_limit_is_refused_by_its_key() -> None:
    with pytest.raises(InputError) as refused:
        records_of(table([job("u", 1, 1), job("u", 3, 1)], [{"per": "user", "processors": 2}]))
    assert refused.value.key == "job.jobs.1.processors"
    assert "J1 could never start: it is above the limit of user u, 2" in str(refused.value)


def test_a_job_of_a_log_that_alone_exceeds_a_limit_is_left_out_and_counted(tmp_path: Path) -> None:
    line = "{} {} -1 10 {} -1 -1 {} 20 -1 1 {} 1 -1 1 1 -1 -1\n"
    rows = [(1, 0, 2, 2, 7), (2, 5, 4, 4, 7), (3, 6, 4, 4, 8)]
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n" + "".join(line.format(*it) for it in rows))
    scenario = table([], [{"per": "user", "processors": 3, "only": [7]}])
    scenario["job"] = {"kind": "rigid", "swf": {"file": str(tmp_path / "log.swf")}}
    records = records_of(scenario)
    reason = "needs more than the 3 processors of a user's limit"
    assert [it.event for it in records if isinstance(it.event, JobsLeftOut)] == [
        JobsLeftOut(reason, 1)
    ]
    assert list(starts(records)) == ["J1", "J3"]


def test_a_moldable_job_gets_no_more_processors_than_its_limits_give() -> None:
    fast = {"kind": "moldable", "speedup": {"kind": "table", "times": [8, 4, 3, 2]}, "user": "u"}
    scenario = table([], [{"per": "user", "processors": 2}])
    scenario["job"] = {"kind": "moldable", "jobs": [fast, fast]}
    scenario["policy"]["allocation"] = "MINTIME"
    records = records_of(scenario)
    assert [it.t for it in records if isinstance(it.event, RunStarted)] == [0, 4]
    with pytest.raises(InputError, match=r"policy\.limits"):
        records_of(scenario | {"policy": scenario["policy"] | {"allocation": "BATCH"}})


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (ONE | {"only": ["zoe"]}, r"0\.only has no effect for 'zoe': no job has this user$"),
        (ONE | {"only": ["u", 7]}, r"0\.only has no effect for '7': no job has this user$"),
        (ONE | {"only": list("abcde")}, "for 'a', 'b', 'c' and 2 more: no job has this user$"),
        (ONE | {"per": "group"}, r"policy\.limits\.0 has no effect: no job names a group$"),
    ],
)
def test_a_limit_that_concerns_no_job_or_names_that_no_job_has_says_so(
    limit: Table, told: str
) -> None:
    with pytest.warns(UserWarning, match=told):
        records_of(table([job("u", 1, 5)], [limit]))


@pytest.mark.parametrize("policy", [{"name": "IE"}, {"name": "none"}])
def test_limits_are_refused_where_no_queue_decides(policy: Table) -> None:
    kind = "iterative" if policy["name"] == "IE" else "malleable"
    own = {"processors": 1, "tasks": 2, "iterations": 1, "task_times": 1}
    many = {"count": 2, "workload": {"low": 5, "high": 9}}
    scenario = table([], [ONE], policy=policy)
    scenario["job"] = {"kind": kind} | ({"jobs": [own]} if kind == "iterative" else many)
    with pytest.raises(InputError):
        records_of(scenario)


def test_a_limit_without_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="`jobs` or `processors`"):
        records_of(table([job("u", 1, 1)], [{"per": "user"}]))


def test_trace_and_queue_name_the_limit_and_what_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [job("u3", 2, 10), job("u3", 1, 5), job("v", 1, 7)]
    found = records_of(table(jobs, [{"per": "user", "processors": 2}]))
    log = str(write(found, tmp_path / "log.jsonl"))
    assert main(["trace", log, "J1"]) == 0
    told = capsys.readouterr().out
    words = "above the limit of user u3: 2 of 2 processors"
    assert f"1 processor was free from 0 s on, but {words}" in told
    assert "1 job that came later started first by a limit: J2 on 1" in told
    assert main(["queue", log, "--at", "3"]) == 0
    assert words in capsys.readouterr().out
    assert main(["queue", log, "--at", "3", "--json"]) == 0
    (waiting,) = json.loads(capsys.readouterr().out)["waiting"]
    assert waiting["above"] == words
    assert main(["audit", log]) == 0


def test_limits_are_varied_as_any_key_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(as_set(read(table([job("u", 1, 10), job("u", 1, 5)], [ONE]), "any", tmp_path)))
    assert main(["compare", str(path), "--vary", "policy.limits.0.jobs=1,2"]) == 0
    assert "15" in capsys.readouterr().out
