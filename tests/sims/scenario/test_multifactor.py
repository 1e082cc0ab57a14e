"""The order MULTIFACTOR: jobs by the weighted sum of age, fair share, size and tier."""

from __future__ import annotations

import json
from itertools import pairwise
from math import log
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sims.audit.audit import audit
from sims.cli import main
from sims.errors import InputError
from tests.sims.oneworld import Table, records_of
from tests.sims.scenario.test_limits import JOBS, job, starts
from tests.sims.worlds import write


def table(jobs: list[Table], parameters: Table, name: str = "greedy", **more: str) -> Table:
    policy = {"name": name, "order": "MULTIFACTOR", "parameters": parameters} | more
    named = [{"name": f"J{k}"} | it for k, it in enumerate(jobs)]
    usual: Table = {"name": "multifactor", "unit": "s", "platform": {"workers": 4}}
    return usual | {"policy": policy, "job": {"kind": "rigid", "jobs": named}}


def in_order(jobs: list[Table], parameters: Table, **more: str) -> list[int]:
    """In which order jobs start that all need the whole machine, behind one that has it."""
    first = job("w", 4, 10)
    whole = [first, *(it | {"processors": 4} if "processors" not in it else it for it in jobs)]
    records = records_of(table(whole, parameters, **more))
    assert list(audit(records)) == []
    found = starts(records)
    return sorted(range(len(jobs)), key=lambda k: found[f"J{k + 1}"])


def test_without_weights_jobs_start_as_they_arrive() -> None:
    jobs = [job("u", 4, 1, release=release) for release in (3, 1, 2, 1)]
    assert in_order(jobs, {}) == [1, 3, 2, 0]


def test_age_puts_first_who_has_waited_longest_up_to_its_maximum() -> None:
    jobs = [job("u", 4, 1, release=release) for release in (6, 4, 2)]
    assert in_order(jobs, {"age": 1}) == [2, 1, 0]
    # At 10 the second has waited 6, the third 8: both are as old as can be, and tie by arrival.
    assert in_order(jobs, {"age": 1, "age_max": 5}) == [2, 1, 0]
    assert in_order([job("u", 3, 1, release=4), job("u", 4, 1, release=2)], {"age": 1}) == [1, 0]


def test_size_favours_large_jobs_or_small_ones() -> None:
    jobs = [job("u", size, 5) for size in (2, 4, 3)]
    assert in_order(jobs, {"size": 1}) == [1, 2, 0]
    assert in_order(jobs, {"size": 1, "favour": "small"}, name="FCFS") == [0, 2, 1]


def test_fair_share_puts_first_the_user_who_has_used_least() -> None:
    jobs = [job("w", 4, 5), job("u", 4, 5, release=1), job("u", 4, 5, release=2)]
    # At 10 w has used 40, u nothing; at 15 u has used 20, decayed less.
    assert in_order(jobs, {"fair_share": 1, "half_life": "1 h"}) == [1, 2, 0]
    # After three half-lives or so what w has used counts little beside what u has just used.
    assert in_order(jobs, {"fair_share": 1, "half_life": "1 s"}) == [1, 0, 2]


def numbers(
    jobs: list[Table], weights: Table, runs: list[tuple[str, int, float, float]], now: float
) -> dict[int, float]:
    """The number of each job that has come by now, given runs: user, processors, begin, end."""
    decay = log(2) / weights["half_life"]
    come = [k for k, it in enumerate(jobs) if it["release"] <= now]
    used = dict.fromkeys((jobs[k]["user"] for k in come), 0.0)
    for user, size, begin, end in runs:
        over = min(end, now)
        used[user] += size / decay * (2 ** (-(now - over) * decay / log(2)))
        used[user] -= size / decay * (2 ** (-(now - begin) * decay / log(2)))
    total, found = sum(used.values()), {}
    for k in come:
        share = used[jobs[k]["user"]] / total * len(used) if total > 1e-9 else 0
        size = jobs[k]["processors"] / 4
        found[k] = (
            weights["age"] * min((now - jobs[k]["release"]) / weights["age_max"], 1)
            + weights["fair_share"] * 2**-share
            + weights["size"] * (size if weights["favour"] == "large" else 1 - size)
        )
    return found


def scheduled(jobs: list[Table], weights: Table) -> list[float]:
    """The starts of jobs on four processors by greedy list scheduling in this order."""
    begun: dict[int, float] = {}
    now = 0.0
    while len(begun) < len(jobs):
        runs = [
            (jobs[k]["user"], jobs[k]["processors"], t, t + jobs[k]["time"])
            for k, t in begun.items()
        ]
        free = 4 - sum(size for _, size, _, end in runs if end > now)
        number = numbers(jobs, weights, runs, now)
        waiting = [k for k in number if k not in begun]
        values = sorted(number[k] for k in waiting)
        assume(all(one == other or other - one > 1e-9 for one, other in pairwise(values)))
        for k in sorted(waiting, key=lambda k: (-number[k], jobs[k]["release"], k)):
            if jobs[k]["processors"] <= free:
                begun[k], free = now, free - jobs[k]["processors"]
        times = [t + jobs[k]["time"] for k, t in begun.items()]
        later = [t for t in (*times, *(it["release"] for it in jobs)) if t > now]
        now = min(later, default=now)
    return [begun[k] for k in range(len(jobs))]


WEIGHTS = st.builds(
    dict,
    age=st.sampled_from([0, 1, 3]),
    fair_share=st.sampled_from([0, 1, 5]),
    size=st.sampled_from([0, 1, 2]),
    age_max=st.sampled_from([3, 10, 50]),
    half_life=st.sampled_from([2, 10, 100]),
    favour=st.sampled_from(["large", "small"]),
)


@given(jobs=JOBS, weights=WEIGHTS)
@settings(max_examples=150, deadline=None)
def test_jobs_start_as_a_list_scheduler_orders_them_that_knows_nothing_of_the_simulator(
    jobs: list[Table], weights: Table
) -> None:
    expected = scheduled(jobs, weights)
    records = records_of(table(jobs, weights))
    found = starts(records)
    assert [found[f"J{k}"] for k in range(len(jobs))] == expected
    assert list(audit(records)) == []


def test_queue_shows_the_numbers_and_factors_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [job("u", 4, 10), job("u", 4, 5), job("v", 2, 7, release=2)]
    weights = {"age": 10, "age_max": "1 min", "fair_share": 3, "half_life": "1 h", "size": 1}
    log = str(write(records_of(table(jobs, weights)), tmp_path / "log.jsonl"))
    assert main(["queue", log, "--at", "8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["order"] == "MULTIFACTOR"
    about = [
        {"age": 6 / 60, "fair_share": 1, "size": 0.5, "tier": 1},
        {"age": 8 / 60, "fair_share": 0.25, "size": 1, "tier": 1},
    ]
    assert [it["job"] for it in told["waiting"]] == ["J2", "J1"]
    for it, factors in zip(told["waiting"], about, strict=True):
        assert it["factors"] == pytest.approx(factors)
        number = 10 * factors["age"] + 3 * factors["fair_share"] + factors["size"]
        assert it["number"] == pytest.approx(number)
    assert main(["queue", log, "--at", "8"]) == 0
    text = capsys.readouterr().out
    assert "number  age     fair share  size  tier" in text
    # The log ends before J1 starts: for how many processors it waits is not known.
    short = str(write(records_of(table(jobs, weights), until=9), tmp_path / "short.jsonl"))
    assert main(["queue", short, "--at", "8"]) == 0
    assert "?       ?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("parameters", "accepted"),
    [
        ({"ages": 1}, "MULTIFACTOR's: age, fair_share"),
        ({"age": -1}, "a finite number, 0 or above"),
        ({"favour": "huge"}, "large, small"),
        ({"half_life": 0}, "a finite number above 0"),
    ],
)
def test_other_parameters_are_refused(parameters: Table, accepted: str) -> None:
    with pytest.raises(InputError, match=accepted):
        records_of(table([job("u", 1, 1)], parameters))


def test_a_policy_of_ones_own_keeps_its_own_parameters() -> None:
    """Those that the order takes are the order's."""
    with pytest.raises(InputError, match="fair_share"):
        records_of(table([job("u", 1, 1)], {"fair_share": "much"}, "policies.queue.lists:RList"))
    mine = {"reservations": 2, "age": 1}
    records_of(table([job("u", 1, 1)], mine, "policies.queue.lists:RList"))


def test_the_tier_is_that_of_the_jobs_partition_over_the_highest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = job("w", 4, 10, queue="all")
    jobs = [first, *(job("u", 2, 5, queue=queue, release=1) for queue in ("all", "top"))]
    scenario = table(jobs, {"tier": 8, "age": 1}, "EASY")
    scenario["platform"]["partitions"] = [
        {"name": "all", "units": "0-3"},
        {"name": "top", "units": "0-3", "tier": 4},
    ]
    log = str(write(records_of(scenario), tmp_path / "log.jsonl"))
    assert main(["queue", log, "--at", "5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["waiting"]
    assert [(it["job"], it["factors"]["tier"]) for it in told] == [("J2", 1), ("J1", 0.25)]
    assert main(["queue", log, "--at", "5"]) == 0
    assert "partition" in capsys.readouterr().out
