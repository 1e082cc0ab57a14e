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

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from math import inf, log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from scipy.special import stdtrit

import sims
from actors.runtime import stream
from policies.interface.queue import BatchView, Decision, Queued
from policies.queue.site_orders import LEARNT, ByScore, wfp3
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.values import Place, Value, drawn, estimated, grouped, runs
from sims.readers.swf import read_swf
from sims.readers.swf_record import SwfJob

PUBLISHED = {
    ("FCFS", False): 7274,
    ("WFP3", False): 19754,
    ("UNICEP", False): 22275,
    ("SJF", False): 277,
    ("F1", False): 258,
    ("FCFS", True): 236,
    ("WFP3", True): 134,
    ("UNICEP", True): 307,
    ("SJF", True): 73,
    ("F1", True): 75,
}
"""(order, with EASY) -> mean bounded slowdown."""
PUBLISHED_SEQUENCES = 10
"""Behind each of these means."""
SMALL = Path(str(sims.__file__)).parent / "scenarios" / "batch-small.swf"
"""What is there where no log is given."""
OURS, THEIRS = "ours", "as RLScheduler"


def given(path: Path) -> dict[str, Any]:
    """Another log, for the campaign, and what was published of lublin-256."""
    whole = {"log": str(path.absolute()), "processors": 256, "length": 1024}
    return {"set": whole, "axes": {}}


@cache
def _read(log: str) -> tuple[SwfJob, ...]:
    return read_swf(Path(log or SMALL)).jobs


@cache
def _fitting(log: str, processors: int) -> tuple[SwfJob, ...]:
    return tuple(it for it in _read(log) if it.processors <= processors)


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
    jobs = _fitting(log, processors)
    if len(jobs) < length:
        raise InputError(log or SMALL.name, "", f"{len(jobs)} jobs", f"{length}, or --set length=N")
    starts = stream(draws, "sequences").integers(0, len(jobs) - length, seed + 1, endpoint=True)
    chosen = jobs[starts[-1] : starts[-1] + length]
    score = _score(order, whose, jobs[0].submit)
    return {
        "name": "backfilling",
        "seed": seed,
        "platform": {"workers": processors},
        "job": {
            "kind": "rigid",
            "jobs": [_listed(it, score) for it in chosen],
        },
        "policy": _policy(order, easy, whose),
    }


def _listed(job: SwfJob, score: Callable[[SwfJob], float] | None) -> dict[str, Any]:
    listed = {"name": f"J{job.number}", "processors": job.processors, "time": job.run}
    estimate = {"estimate": job.requested_time} if job.requested_time else {}
    return {**listed, **estimate, "release": job.submit, "priority": score(job) if score else 0}


def _policy(order: str, easy: bool, whose: str) -> dict[str, Any]:
    if whose == THEIRS:
        name, parameters = f"{__name__}:{Committed.__name__}", {"backfilling": easy}
    else:
        name, parameters = "EASY" if easy else "FCFS", {}
    named = order if _score(order, whose, 0) is None else "PRIORITY"
    return {"name": name, "parameters": parameters, "order": named}


def _score(order: str, whose: str, began: float) -> Callable[[SwfJob], float] | None:
    """What the order is by where it depends on the job and the log alone, `began` by its first
    submission: larger is first. None: it has a name of its own."""
    if order == "F1":
        return partial(_by_f1, began)
    return (
        {"WFP3": unstarted_wfp3, "UNICEP": unstarted_unicep}.get(order) if whose == THEIRS else None
    )


def _by_f1(began: float, job: SwfJob) -> float:
    size, weight = LEARNT["F1"]
    return ByScore(size, weight).of(asked(job), job.processors, job.submit - began)


def asked(job: SwfJob) -> float:
    """The time that is believed of it, s."""
    return job.requested_time or job.run


def unstarted_wfp3(job: SwfJob) -> float:
    """WFP3 of a wait of -1 - s."""
    return wfp3(-1 - job.submit, asked(job), job.processors)


def unstarted_unicep(job: SwfJob) -> float:
    """UNICEP of a wait of -1 - s; RLScheduler's log2 of one processor is 1e-15, not 1."""
    return (-1 - job.submit) / (asked(job) * log2(job.processors + 1e-15))


@frozen
class Committed:
    """RLScheduler's: who is chosen stays chosen until he starts."""

    backfilling: bool = True

    def __call__(self, view: BatchView) -> Decision:
        """See Strategy."""
        queue, free, starts = list(view.queue), view.free, list[Queued]()
        chosen = next((it for it in queue if it.job.index == view.memory), None)
        while queue:
            head = chosen or queue[0]
            chosen = None
            if head.processors > free:
                if self.backfilling:
                    starts += self._backfill(view, starts, head, free)
                return Decision(starts, memory=head.job.index)
            queue.remove(head)
            starts.append(head)
            free -= head.processors
        return Decision(starts)

    @staticmethod
    def _backfill(
        view: BatchView, started: Sequence[Queued], head: Queued, free: int
    ) -> list[Queued]:
        now = view.now
        ends = [(run[0], run[2]) for run in view.running]
        ends += [(now + it.held, it.processors) for it in started]
        shadow, there = inf, free
        for end, processors in sorted(ends):
            there += processors
            if there >= head.processors:
                shadow = end
                break
        starts = []
        taken = {head.job.index, *(it.job.index for it in started)}
        for it in sorted(view.queue, key=lambda it: it.job.index):
            fits = it.processors <= free and now + it.held < shadow
            if fits and it.job.index not in taken:
                starts.append(it)
                free -= it.processors
        return starts


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> list[Value]:
    """Means and medians of the mean bounded slowdown, over sequences, beside what was published;
    and half of what the interval of ten of its own would be."""
    found = grouped(
        (it.place, it.variant, it.value) for it in runs(results) if it.value is not None
    )
    own = "log" in results.campaign.set  # without one there is nothing to set beside it
    return [it for (place, who), made in found.items() for it in _values(place, who, made, own)]


def _values(place: Place, who: str, values: Sequence[float], own: bool) -> Iterator[Value]:
    at = dict(place)
    printed = str(PUBLISHED[at["order"], at["easy"]]) if who == THEIRS and own else None
    yield Value(place, who, "bounded slowdown", estimated(values), printed)
    yield Value(place, who, "median", drawn(float(np.median(values))))
    if who == THEIRS and len(values) > 1:
        yield Value(place, who, "± of ten", drawn(half_of_ten(values)))


def half_of_ten(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean of PUBLISHED_SEQUENCES such values, by Student's law."""
    spread = float(np.std(values, ddof=1))
    return float(stdtrit(PUBLISHED_SEQUENCES - 1, 0.975)) * spread / sqrt(PUBLISHED_SEQUENCES)
