"""Workers of a reserve are called when the first job of a queue lacks workers (rules.md, P11)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import JobCompleted, ReservationMade, ReserveCalled, RunStarted, StandbysHeld
from actors.runtime import Event, Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.session import run

Table = dict[str, Any]
STREAM = {
    "count": 2,
    "arrivals": {"kind": "poisson", "load": 0.5},
    "sizes": {"kind": "exponential", "mean": 1},
}


def records(
    strikes: list[list[float]], jobs: list[Table], workers: int = 7, **more: Any
) -> list[Record]:
    """The log of rigid jobs on workers whose last two are a reserve that comes 3 s after a call,
    and of which each fault takes 20 s to repair; the audit finds nothing wrong with it."""
    platform = {"workers": workers, "reserve": 2, "reserve_delay": 3} | more.pop("platform", {})
    table = {
        "name": "reserve",
        "platform": platform,
        "faults": {"kind": "list", "strikes": strikes},
        "repair": {"stages": [{"time": 20, "law": "fixed"}]},
        "job": {"kind": "rigid", "jobs": jobs, "cap": 500},
        "policy": {"name": "FCFS"},
    }
    found = list(run(table | more).records())
    assert list(audit(found)) == []
    return found


def seen(found: list[Record], kind: type[Event]) -> list[tuple[float, Any]]:
    """Time and event of each line of this kind."""
    return [(it.t, it.event) for it in found if isinstance(it.event, kind)]


def test_workers_are_called_one_after_the_other_until_the_job_fits() -> None:
    """At 5 three of five workers go down: 4 members are wanted and 2 workers are left. Worker 5 is
    called at 5 and comes at 8, worker 6 is called then and comes at 11: the job starts at 11."""
    job = {"name": "A", "processors": 4, "time": 12}
    found = records([[5, 0], [5, 1], [5, 2]], [job])
    assert [(t, it.worker, it.job) for t, it in seen(found, ReserveCalled)] == [
        (5, 5, "A"),
        (8, 6, "A"),
    ]
    starts = [(t, it.processors) for t, it in seen(found, RunStarted)]
    assert starts == [(0, "0-3"), (11, "3-6")]
    assert seen(found, JobCompleted)[0][0] == 23


def test_nobody_is_called_while_enough_workers_are_free() -> None:
    job = {"name": "A", "processors": 4, "time": 12}
    found = records([[5, 0]], [job])
    assert seen(found, ReserveCalled) == []
    assert [t for t, _ in seen(found, RunStarted)] == [0, 5]


def test_once_a_worker_is_called_the_job_waits_for_its_standbys_too() -> None:
    """At 5 two of three members go down, and the one standby is not enough for them. The job is
    given workers 2 to 4, so that nobody is called. At 6 worker 2 goes down too, and 2 workers are
    left. Worker 5 comes at 9, which would be enough for 3 members; the job waits for worker 6, its
    standby, until 12."""
    job = {"name": "A", "processors": 3, "time": 12, "standbys": 1}
    found = records([[5, 0], [5, 1], [6, 2]], [job])
    assert [(t, it.worker) for t, it in seen(found, ReserveCalled)] == [(6, 5), (9, 6)]
    assert [(t, it.processors) for t, it in seen(found, RunStarted)] == [
        (0, "0-2"),
        (5, "2-4"),
        (12, "3-5"),
    ]
    assert [(t, it.processors) for t, it in seen(found, StandbysHeld)][-1] == (12, "6")


def test_a_worker_of_the_reserve_that_is_down_is_not_called() -> None:
    """Worker 5 is struck at 4 and in repair until 24: worker 6 is called in its place."""
    job = {"name": "A", "processors": 4, "time": 12}
    found = records([[4, 5], [5, 0], [5, 1]], [job])
    assert [(t, it.worker) for t, it in seen(found, ReserveCalled)] == [(5, 6)]
    assert [t for t, _ in seen(found, RunStarted)] == [0, 8]


def test_a_called_worker_is_one_like_all_others_afterwards() -> None:
    """Worker 5, called at 5 for the first job, is free again after it: the second starts on it."""
    jobs = [
        {"name": "A", "processors": 5, "time": 4},
        {"name": "B", "processors": 6, "time": 2, "release": 1},
    ]
    found = records([], jobs)
    assert [(t, it.worker, it.job) for t, it in seen(found, ReserveCalled)] == [(1, 5, "B")]
    assert [(t, it.processors) for t, it in seen(found, RunStarted)] == [(0, "0-4"), (4, "0-5")]


@pytest.mark.parametrize("behind", [False, True])
def test_nobody_is_called_for_a_job_above_a_limit(behind: bool) -> None:
    """A has worker 0. B lacks a worker, but is above the limit until C, which starts at the same
    decision, behind B or ahead of it, ends at 5. Worker 2 is called then, and comes at 8."""
    jobs: list[Table] = [
        {"name": "A", "processors": 1, "time": 10},
        {"name": "B", "processors": 2, "time": 4, "group": "g"},
        {"name": "C", "processors": 1, "time": 5, "group": "g"},
    ]
    policy = {"name": "greedy", "limits": [{"per": "group", "jobs": 1}]}
    found = records([], jobs if behind else [jobs[0], jobs[2], jobs[1]], 4, policy=policy)
    calls = [(t, it.worker, it.job) for t, it in seen(found, ReserveCalled)]
    assert calls == [(5, 2, "B")]
    starts = {it.job: (t, it.processors) for t, it in seen(found, RunStarted)}
    assert starts == {"A": (0, "0"), "C": (0, "1"), "B": (8, "1-2")}


@pytest.mark.parametrize("partitions", [[], [{"name": "all", "units": "0-6", "default": True}]])
@pytest.mark.parametrize("delay", [0, 3])
def test_conservative_backfilling_promises_a_start_once_the_called_worker_has_come(
    delay: float, partitions: list[Table]
) -> None:
    """B needs worker 5. A runs on worker 0 until 10, whenever worker 5 comes."""
    jobs = [{"name": "A", "processors": 1, "time": 10}, {"name": "B", "processors": 6, "time": 2}]
    jobs.append({"name": "C", "processors": 1, "time": 4, "release": 4})
    platform = {"reserve_delay": delay, "partitions": partitions}
    found = records([], jobs, platform=platform, policy={"name": "conservative"})
    assert seen(found, ReservationMade)[0] == (delay, ReservationMade("B", 10, 6))


@pytest.mark.parametrize(
    "change",
    [
        {"policy": {"name": "SRPT"}, "job": {"kind": "rigid", "stream": STREAM}},
        {
            "job": {
                "kind": "moldable",
                "jobs": [{"speedup": {"kind": "table", "times": [4, 2]}}],
            }
        },
    ],
)
def test_a_reserve_without_jobs_that_could_lack_workers_is_refused(change: Table) -> None:
    with pytest.raises(InputError) as refused:
        records([], [], **change)
    assert refused.value.key == "platform.reserve"


def test_a_reserve_of_all_workers_is_refused() -> None:
    with pytest.raises(InputError, match=r"7 of 7 workers"):
        records([], [{"processors": 1, "time": 1}], platform={"reserve": 7})


# --- beside partitions ---------------------------------------------------------------------------


def divided(jobs: list[Table], *units: str, **more: Any) -> list[Record]:
    """The log of jobs on six workers and a reserve of two, in partitions a, b and so on."""
    partitions = [{"name": name, "units": it} for name, it in zip("abc", units, strict=False)]
    return records([], jobs, workers=8, platform={"partitions": partitions} | more)


def queued(queue: str, processors: int, **more: Any) -> Table:
    return {"name": queue.upper(), "queue": queue, "processors": processors, "time": 12} | more


def test_each_of_two_disjoint_partitions_calls_its_own_workers() -> None:
    found = divided([queued("a", 4), queued("b", 4)], "0-2, 6", "3-5, 7")
    assert [(t, it.worker, it.job) for t, it in seen(found, ReserveCalled)] == [
        (0, 6, "A"),
        (0, 7, "B"),
    ]
    starts = [(t, it.processors) for t, it in seen(found, RunStarted)]
    assert starts == [(3, "0-2 6"), (3, "3-5 7")]


def test_a_job_whose_partition_shares_workers_with_one_ahead_calls_nobody() -> None:
    """A is the first; B has to wait for A's call, and then its workers suffice."""
    jobs = [queued("a", 5), queued("b", 5)]
    found = divided(jobs, "0-3, 6", "2-5, 7")
    calls = [(t, it.worker, it.job) for t, it in seen(found, ReserveCalled)]
    assert calls == [(0, 6, "A"), (3, 7, "B")]
    assert [t for t, _ in seen(found, RunStarted)] == [3, 15]


def test_a_worker_of_no_partition_is_never_called() -> None:
    """B lacks a worker from the start, and A's partition has one that need not be called."""
    found = divided([queued("b", 3), queued("a", 4)], "0-2, 6", "3-5")
    assert [(it.worker, it.job) for _, it in seen(found, ReserveCalled)] == [(6, "A")]


def test_workers_are_called_until_a_node_is_whole() -> None:
    """The one node of `a` that can be free whole is that of the reserve: B has a part of the
    other."""
    nodes = {"name": "a", "units": "4-7", "exclusive": True}
    partitions = [nodes, {"name": "b", "units": "0-5"}]
    platform = {"node": 2, "partitions": partitions}
    jobs = [queued("b", 5), queued("a", 1)]
    found = records([], jobs, workers=8, platform=platform)
    calls = [(t, it.worker, it.job) for t, it in seen(found, ReserveCalled)]
    assert calls == [(0, 6, "A"), (3, 7, "A")]
    assert [(t, it.processors) for t, it in seen(found, RunStarted)] == [(0, "0-4"), (6, "6")]
