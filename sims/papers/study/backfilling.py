"""Orders with and without EASY on sequences of a log, beside the field's published means.

Sequences of 1,024 consecutive jobs from random starts of a log (SWF, --input; lublin-256 is the
published one), each sent to an empty machine; the mean bounded slowdown of each order over the
sequences: once as we schedule, and once as RLScheduler's simulator does, as we understand its
published environment (Zhang, Dai, Bao, Yang and Zhang, SC 2020, Table V: means of 10 sequences of
lublin-256, their draws unknown). As we understand it, it commits itself: the job that the order
puts first when nobody is chosen stays first until it starts, whoever comes meanwhile. Its
backfilling goes in the order of arrival, and starts what ends before the chosen job's start; it
never counts processors that are spare beside it. And it seems to take a waiting job's wait from a
start that is not yet known, -1: w = -1 - s, s the submission in the log's time. WFP3 and UNICEP
then put long jobs first instead of those that have waited long, which would make them worse than
FCFS, as they are in its table.

60 sequences of lublin-256 (published, ours, as RLScheduler; ± 95 %). No backfilling: FCFS 7274,
7030 ± 516, 7030 ± 516; WFP3 19754, 106 ± 5, 17414 ± 797; UNICEP 22275, 39 ± 3, 19827 ± 1037; SJF
277, 42 ± 5, 280 ± 22; F1 258, 26 ± 3, 266 ± 23. With EASY: FCFS 236, 287 ± 25, 248 ± 22; WFP3 134,
84 ± 5, 131 ± 10; UNICEP 307, 67 ± 7, 273 ± 24; SJF 73, 43 ± 4, 74 ± 5; F1 75, 28 ± 3, 63 ± 7. A
mean of ten sequences, as published, is less sure; the table's last column is half of the interval
that ten of its own would have, from our spread: rules like these can explain its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2, sqrt
from statistics import median, stdev
from typing import Any

from actors.runtime import stream
from policies.queue.orders import wfp3
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.inputs import SMALL, log_of
from sims.papers.values import Place, Value, drawn, estimated, known, runs
from sims.readers.job_log import LoggedJob

SEQUENCES = 10
"""Behind each mean that was published."""
THEIRS = "as RLScheduler"

Score = Callable[[LoggedJob], float]
"""Larger is first."""


def sequence(
    seed: int,
    order: str,
    easy: bool,
    whose: str,
    processors: int,
    length: int,
    log: str = "",
    draws: int = 1,
) -> dict[str, Any]:
    """Sequence `seed` of so many jobs, from a start that `draws` draws, under one order. Raises
    InputError where the log is too short."""
    jobs = [it for it in log_of(log).jobs if it.processors <= processors]
    if len(jobs) < length:
        raise InputError(log or SMALL.name, "", f"{len(jobs)} jobs", f"{length}, or --set length=N")
    starts = stream(draws, "sequences").integers(0, len(jobs) - length, seed + 1, endpoint=True)
    chosen = jobs[starts[-1] : starts[-1] + length]
    score = UNSTARTED.get(order) if whose == THEIRS else None
    own = {"name": "EASY" if easy else "FCFS"}
    theirs = {"name": "sims.papers.study.committed:Committed", "parameters": {"backfilling": easy}}
    return {
        "name": "backfilling",
        "seed": seed,
        "platform": {"workers": processors},
        "job": {"kind": "rigid", "jobs": [_listed(it, jobs[0].submitted, score) for it in chosen]},
        "policy": {
            **(theirs if whose == THEIRS else own),
            "order": "PRIORITY" if score else order,
        },
    }


def _listed(job: LoggedJob, began: float, score: Score | None) -> dict[str, Any]:
    listed = {"name": job.name, "processors": job.processors, "time": job.run}
    estimate = {"estimate": job.estimate} if job.estimate else {}
    first = {"priority": score(job)} if score else {}
    return {**listed, **estimate, **first, "release": job.submitted - began}


def asked(job: LoggedJob) -> float:
    """The time that is believed of it, s."""
    return job.estimate or job.run


def unstarted_wfp3(job: LoggedJob) -> float:
    """WFP3 of a wait of -1 - s."""
    return wfp3(-1 - job.submitted, asked(job), job.processors)


def unstarted_unicep(job: LoggedJob) -> float:
    """UNICEP of a wait of -1 - s; RLScheduler's log2 of one processor is 1e-15, not 1."""
    return (-1 - job.submitted) / (asked(job) * log2(job.processors + 1e-15))


UNSTARTED: Mapping[str, Score] = {"WFP3": unstarted_wfp3, "UNICEP": unstarted_unicep}
"""Orders that are not as theirs; F1 counts submissions from the log's first."""


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> list[Value]:
    """Means and medians of the mean bounded slowdown, over sequences; and half of what the interval
    of ten of its own would be."""
    return [
        it
        for place, made in runs(results).items()
        for who, values in made.items()
        if (own := known(values))
        for it in _values(place, who, own)
    ]


def _values(place: Place, who: str, values: Sequence[float]) -> Iterator[Value]:
    yield Value(place, who, "bounded slowdown", estimated(values))
    yield Value(place, who, "median", drawn(median(values)))
    if who == THEIRS and len(values) > 1:
        yield Value(place, who, "± of ten", drawn(half_of_ten(values)))


def half_of_ten(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean of SEQUENCES such values, by Student's law."""
    from scipy.special import stdtrit

    return float(stdtrit(SEQUENCES - 1, 0.975)) * stdev(values) / sqrt(SEQUENCES)
