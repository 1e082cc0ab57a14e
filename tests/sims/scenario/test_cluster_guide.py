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


def jobs() -> list[Job]:
    """Of the guide: without the flurry of user 25, and without what is wider than the machine."""
    lines = [it.split() for it in SWF.read_text().splitlines() if not it.startswith(";")]
    found = [Job(int(it[1]), int(it[3]), int(it[7]), int(it[8]), it[11]) for it in lines]
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
