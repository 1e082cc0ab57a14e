"""rigid21, Table 1: the jobs that a log saw submitted on each day, scheduled as one set."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import stdev
from typing import Any

import sims
from policies.maths.speedup import Rigid
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.rigid import SEEDS, ratios
from sims.papers.values import Value, drawn, estimated, grouped, over_sets, without
from sims.readers.swf import read_swf

DAY = 86_400
MIRA = {
    0.0: (
        "0",
        ("1.067", "1.051", "1.051", "1.407", "1.441"),
        ("8.78e-2", "8.19e-2", "8.17e-2", "1.27e-1", "1.42e-1"),
        ("1.425", "1.425", "1.425", "1.633", "1.760"),
    ),
    0.05: (
        "15.2913",
        ("1.031", "1.049", "1.061", "1.105", "1.117"),
        ("6.79e-2", "6.87e-2", "7.78e-2", "1.20e-1", "1.32e-1"),
        ("1.278", "1.292", "1.292", "1.475", "1.495"),
    ),
    0.1: (
        "254.453",
        ("1.016", "1.025", "1.028", "1.052", "1.054"),
        ("4.66e-2", "4.54e-2", "4.97e-2", "8.97e-2", "9.28e-2"),
        ("1.249", "1.224", "1.245", "1.391", "1.407"),
    ),
}
"""rigid21, Table 1: by q-bar the mean number of failures, and per heuristic the mean ratio, its
standard deviation and the maximum, on Mira's June 2019 (30 days, 4,699 jobs, P = 49,152)."""


SMALL = Path(str(sims.__file__)).parent / "scenarios" / "batch-small.swf"
"""What is there where no log is given."""


@cache
def _days(log: str) -> tuple[tuple[tuple[Rigid, ...], ...], int]:
    """The log cut into a set for each day with a submission, counted from its first, and how many
    processors it is of. Raises InputError."""
    path = Path(log or SMALL)
    found = read_swf(path)
    processors = found.header.max_procs
    if not processors:
        raise InputError(str(path), "MaxProcs", "missing", "a log that says how many there are")
    by_day: dict[int, list[Rigid]] = {}
    for job in found.jobs:
        if job.processors <= processors:
            by_day.setdefault(int(job.submit // DAY), []).append(Rigid(job.processors, job.run))
    return tuple(tuple(by_day[day]) for day in sorted(by_day)), processors


def given(path: Path) -> dict[str, Any]:
    """What another log changes in the campaign. Raises InputError."""
    days, _ = _days(str(path.absolute()))
    return {"set": {"log": str(path.absolute())}, "axes": {"number": list(range(len(days)))}}


def day(number: int, log: str = "") -> dict[str, Any]:
    """The jobs of one day, each time with failures of its own."""
    days, processors = _days(log)
    jobs = [{"processors": job.processors, "time": job.length} for job in days[number]]
    return {
        "name": "rigid21-table1",
        "seed": SEEDS * number,
        "platform": {"workers": processors},
        "job": {"kind": "rigid", "jobs": jobs},
        "policy": {"name": "R-LIST-0", "order": "LPT", "reading": "kept"},
    }


def table1(results: Results) -> list[Value]:
    """Mean, standard deviation and maximum of the ratios to L(f), beside Mira's."""
    found = list(ratios(results))
    pooled = grouped((without(place, "number"), who, ratio) for place, who, ratio in found)
    names = list(results.campaign.variants)
    values = []
    for (place, who), means in over_sets(found, "number").items():
        own = pooled[place, who]
        spread = stdev(own) if len(own) > 1 else 0.0
        ours = (estimated(means), drawn(spread), drawn(max(own)))
        printed = MIRA[dict(place)["errors.average"]][1:]
        for what, value, row in zip(WHATS, ours, printed, strict=True):
            values.append(Value(place, who, what, value, row[names.index(who)]))
    return values


WHATS = ("mean (Mira's)", "standard deviation", "maximum")
