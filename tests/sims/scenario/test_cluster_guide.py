"""The guide's answers on a cluster, found once more by list scheduling that knows nothing of the
simulator."""

from __future__ import annotations

from collections import Counter
from math import inf
from pathlib import Path
from typing import Any

import holdfast
import pytest
from attrs import frozen

import sims
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.telling import in_units

SWF = Path(sims.__file__).parent / "scenarios" / "cluster.swf"
PAGE = Path(sims.__file__).parent / "docs" / "pages" / "cluster.md"


@frozen
class Job:
    submit: int
    run: int
    size: int
    request: int
    user: str
    queue: str


def jobs() -> list[Job]:
    """Of the guide: without the flurry of user 25, and without what is wider than the machine."""
    lines = [it.split() for it in SWF.read_text().splitlines() if not it.startswith(";")]
    found = [Job(int(it[1]), int(it[3]), int(it[7]), int(it[8]), it[11], it[14]) for it in lines]
    kept = [it for it in found if it.user != "25" and it.size <= 64]
    return sorted(kept, key=lambda it: it.submit)


def mean_wait(
    found: list[Job], window: tuple[float, float] = (inf, inf), most: float = inf
) -> float:
    """Under EASY, first come, first served, on 64 processors, none of which is there in the window,
    where each user runs at most so many jobs at once."""
    start, ends = dict[int, float](), dict[int, float]()
    times = sorted({it.submit for it in found} | {it for it in window if it < inf}, reverse=True)
    while times:
        now = times.pop()
        running = {k for k in start if ends[k] > now}
        users, shadow, spare = Counter(found[k].user for k in running), inf, 64
        for k, job in enumerate(found):
            if job.submit > now:
                break
            if k in start or users[job.user] >= most:
                continue
            free = believed(found, start, running, now)
            free.setdefault(max(window[1], now), 64)
            clear = (t for t in free if t + job.request <= window[0] or t >= window[1])
            place = min(t for t in clear if free[t] >= job.size)
            past = now + job.request > shadow
            if place == now and (not past or job.size <= spare):
                start[k], ends[k] = now, now + job.run
                running.add(k)
                users[job.user] += 1
                spare -= job.size * past
            elif shadow == inf:
                shadow = place
                spare = max(it for t, it in free.items() if t <= place) - job.size
        times = sorted({*times, *(ends[k] for k in running)}, reverse=True)
    return sum(start[k] - it.submit for k, it in enumerate(found)) / len(found)


def believed(
    found: list[Job], start: dict[int, float], running: set[int], now: float
) -> dict[float, int]:
    """How many processors are free now and from each time on at which a running job is believed to
    end; no job runs longer than its user requested."""
    ends = {k: start[k] + found[k].request for k in running}
    return {
        t: 64 - sum(found[k].size for k, end in ends.items() if end > t)
        for t in sorted({now, *ends.values()})
    }


BEGIN = 28 * 86_400 + 8 * 3600
"""The window's begin, 1970-01-29 08:00, in the log's own seconds."""


@pytest.mark.parametrize(
    ("what", "changes", "told"),
    [
        ({}, {}, "8 h 4 min 15.64 s"),
        ({"most": 4}, {"policy.limits": [{"per": "user", "jobs": 4}]}, "8 h 1 min 45.44 s"),
        ({"most": 2}, {"policy.limits": [{"per": "user", "jobs": 2}]}, "12 h 45 min 43.51 s"),
        (
            {"window": (BEGIN, BEGIN + 8 * 3600)},
            {
                "platform.maintenance": [
                    {"from": "1970-01-29 08:00", "to": "1970-01-29 16:00", "units": "0-63"}
                ]
            },
            "10 h 49 min 51.76 s",
        ),
    ],
)
def test_the_guide_on_clusters_says_what_limits_and_windows_cost(
    what: dict[str, Any], changes: dict[str, Any], told: str
) -> None:
    mean = mean_wait(jobs(), **what)
    report = holdfast.run(SWF.with_suffix(".toml"), changes).report
    assert Measure.WAIT.found_in(report) == pytest.approx(mean)
    assert in_units(mean, "s") == told
    assert told in PAGE.read_text()


# --- a debug partition ---------------------------------------------------------------------------

Parts = dict[str, int]
CELLS = {"1": ("apart", "shared"), "2": ("shared",)}
"""Sets of processors that the jobs of each queue may have, in the order in which they take them."""


def fit(job: Job, free: Parts) -> Parts:
    """How many processors of each set a job gets; none where they are too few."""
    left, found = job.size, Parts()
    for cell in CELLS[job.queue]:
        found[cell] = max(0, min(left, free[cell]))
        left -= found[cell]
    return {} if left else found


def waits(found: list[Job], debug: int, tier: int) -> dict[str, float]:
    """Mean wait by queue under EASY, first come, first served by tier, where the jobs of queue 2
    may have the last `debug` of 64 processors only, and those of queue 1 all."""
    start, parts, running = dict[int, int](), dict[int, Parts](), set[int]()
    order = sorted(range(len(found)), key=lambda k: (found[k].queue == "1" and tier > 1, k))
    times = sorted({it.submit for it in found}, reverse=True)

    def free(t: int) -> Parts:
        busy = [parts[k] for k in running if start[k] + found[k].request > t]
        whole = {"apart": 64 - debug, "shared": debug}
        return {cell: size - sum(it[cell] for it in busy) for cell, size in whole.items()}

    while times:
        now = times.pop()
        running = {k for k in running if start[k] + found[k].run > now}
        kept: tuple[int, Parts] | None = None
        for k in [it for it in order if found[it].submit <= now and it not in start]:
            room = free(now)
            if kept is not None and now + found[k].request > kept[0]:
                room = {c: min(n, free(kept[0])[c] - kept[1].get(c, 0)) for c, n in room.items()}
            if got := fit(found[k], room):
                start[k], parts[k] = now, {"apart": 0, **got}
                running.add(k)
                times.append(now + found[k].run)
            elif kept is None:
                ends = sorted(start[it] + found[it].request for it in running)
                due = next(t for t in ends if fit(found[k], free(t)))
                kept = due, fit(found[k], free(due))
        times = sorted(set(times), reverse=True)
    waited = {
        q: [start[k] - it.submit for k, it in enumerate(found) if it.queue == q] for q in "12"
    }
    return {q: sum(its) / len(its) for q, its in waited.items()}


@pytest.mark.parametrize(
    ("debug", "tier", "told"),
    [
        (64, 1, ("10 h 16 min 41.79 s", "2 h 13 min 22.67 s")),
        (64, 2, ("10 h 52 min 40.83 s", "1 h 26 min 0.96 s")),
        (4, 1, ("10 h 28 min 52.2 s", "10 h 3 min 21.98 s")),
        (4, 2, ("10 h 54 min 23.22 s", "5 h 41 min 8.51 s")),
    ],
)
def test_the_guide_on_clusters_says_what_a_debug_partition_costs(
    debug: int, tier: int, told: tuple[str, str]
) -> None:
    means = waits(jobs(), debug, tier)
    partitions = [
        {"name": "1", "units": "0-63"},
        {"name": "2", "units": f"{64 - debug}-63", "tier": tier},
    ]
    report = holdfast.run(SWF.with_suffix(".toml"), {"platform.partitions": partitions}).report
    for queue, text in zip("12", told, strict=True):
        of = report.jobs.whose[By.QUEUE] == queue
        assert report.jobs.wait[of].mean() == pytest.approx(means[queue])
        assert in_units(means[queue], "s") == text
        assert text in PAGE.read_text()
