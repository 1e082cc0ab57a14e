"""Compare orders with and without EASY on sequences of a log with the field's published means.

Sequences of 1,024 consecutive jobs from random starts of a log (SWF, --input; lublin-256 is the
published one) are each sent to an empty machine. The mean bounded slowdown of each order over the
sequences is computed twice: for our scheduling, and for that of RLScheduler's simulator, as we
understand its published environment (Zhang, Dai, Bao, Yang and Zhang, SC 2020, Table V: means of 10
sequences of lublin-256, their draws unknown). As we understand this environment, it commits itself:
the job that the order puts first when no job is chosen stays first until it starts, whichever jobs
arrive meanwhile. Its backfilling goes in the order of arrival, and starts jobs that end before the
chosen job's start; it never counts processors that are spare beside the chosen job. And it seems to
compute a waiting job's wait from a start that is not yet known, -1: w = -1 - s, s the submission in
the log's time. WFP3 and UNICEP then put long jobs first instead of those that have waited long,
which would make them worse than FCFS, as they are in its table.

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

from attrs import frozen

from actors.runtime import stream
from policies.interface.queue import BatchView, Decision, Queued
from policies.queue.free_profile import FreeProfile
from policies.queue.orders import wfp3
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.inputs import SMALL, base, log_of
from sims.papers.values import Value, drawn, estimated, gathered
from sims.readers import LoggedJob

SEQUENCES = 10
"""Number of sequences behind each published mean."""
THEIRS = "as RLScheduler"
"""Name of the variants that schedule as RLScheduler does."""

Score = Callable[[LoggedJob], float]
"""A function that returns a job's score; the job with the largest score is first."""


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
    """Return the scenario of sequence number `seed` of `length` consecutive jobs of a log, those
    that fit on `processors`, on an empty machine under one order of the queue.

    `easy` says whether there is EASY backfilling, and `whose` whether jobs are scheduled as here or
    as in RLScheduler (`THEIRS`). `draws` is the seed by which the sequences' first jobs are drawn.
    Raises InputError where the log is too short.
    """
    jobs = [it for it in log_of(log).jobs if it.processors <= processors]
    if len(jobs) < length:
        raise InputError(log or SMALL.name, "", f"{len(jobs)} jobs", f"{length}, or --set length=N")
    starts = stream(draws, "sequences").integers(0, len(jobs) - length, seed + 1, endpoint=True)
    chosen = jobs[starts[-1] : starts[-1] + length]
    score = UNSTARTED.get(order) if whose == THEIRS else None
    settings = {
        "seed": seed,
        "platform.workers": processors,
        "job.jobs": [_listed(it, jobs[0].submitted, score) for it in chosen],
        "policy.name": "EASY" if easy else "FCFS",
        "policy.order": "PRIORITY" if score else order,
    }
    if whose == THEIRS:
        settings["policy.name"] = f"{__name__}:Committed"
        settings["policy.parameters.backfilling"] = easy
    return base("study/backfilling-base", settings)


def _listed(job: LoggedJob, began: float, score: Score | None) -> dict[str, Any]:
    """Return a job as an entry of a scenario, with its score, if any, as its priority.

    Time 0 of the scenario is second `began` of the log.
    """
    estimate = {"estimate": job.estimate} if job.estimate else {}
    return {
        "name": job.name,
        "processors": job.processors,
        "time": job.run,
        "release": job.submitted - began,
        **estimate,
        **({"priority": score(job)} if score else {}),
    }


def asked(job: LoggedJob) -> float:
    """Return the time, in seconds, for which a scheduler believes a job to run: the requested one
    or, where the log has none, the time that the job takes."""
    return job.estimate or job.run


def unstarted_wfp3(job: LoggedJob) -> float:
    """Return RLScheduler's score of a job by WFP3, (w/r)^3 n with the requested time r and n
    processors; the largest is first.

    Its code computes the wait w of a job submitted at s as -1 - s.
    """
    return wfp3(-1 - job.submitted, asked(job), job.processors)


def unstarted_unicep(job: LoggedJob) -> float:
    """Return RLScheduler's score of a job by UNICEP, w / (r log2(n + 1e-15)) with the requested
    time r and n processors; the largest is first.

    Its code computes the wait w of a job submitted at s as -1 - s, and for one processor it divides
    by nearly 0.
    """
    return (-1 - job.submitted) / (asked(job) * log2(job.processors + 1e-15))


UNSTARTED: Mapping[str, Score] = {"WFP3": unstarted_wfp3, "UNICEP": unstarted_unicep}
"""Maps each order that differs in RLScheduler to its score; F1 is not among them, since it counts
submissions from the log's first."""


# --- their policy -----------------------------------------------------------------------------


@frozen
class Committed:
    """RLScheduler's policy: the first job of the queue that does not fit is chosen, and stays first
    until it starts, whichever jobs arrive meanwhile."""

    backfilling: bool = True

    def __call__(self, view: BatchView) -> Decision:
        """Return the jobs that start now, and keep the first job that does not fit as the chosen
        one.

        The chosen job stands at the head of the queue at the next decision; the decision's memory
        has its index. With `backfilling` jobs behind it start too if they end before it can start.
        """
        queue, free, starts = list(view.queue), view.free, list[Queued]()
        # A stable sort: the chosen job comes first, the others keep the order.
        queue.sort(key=lambda it: it.job.index != view.memory)
        while queue and queue[0].processors <= free:
            free -= queue[0].processors
            starts.append(queue.pop(0))
        if not queue:
            return Decision(starts)
        if self.backfilling:
            starts += list(_backfilled(view, starts, queue, free))
        return Decision(starts, memory=queue[0].job.index)


def _backfilled(
    view: BatchView, started: Sequence[Queued], queue: Sequence[Queued], free: int
) -> Iterator[Queued]:
    """Yield, in order of arrival, the jobs of `queue` that start now beside those in `started`,
    because they fit on the `free` processors and end before the earliest start of the queue's first
    job."""
    profile = FreeProfile.of(view.now, view.free, view.running)
    for it in started:
        profile.take(0, it.processors, it.held)
    step, _ = profile.earliest(queue[0].processors, queue[0].held)
    for it in sorted(queue[1:], key=lambda it: it.job.index):
        if it.processors <= free and view.now + it.held < profile.times[step]:
            free -= it.processors
            yield it


# --- the view ---------------------------------------------------------------------------------


def view(results: Results) -> Iterator[Value]:
    """Yield, for each order, with EASY and without, the mean and the median over sequences of their
    mean bounded slowdowns; for variants as RLScheduler, also half of the interval that a mean of
    ten sequences would have."""
    sequences = gathered(results, lambda run: {"slowdown": run.measured[0]})
    for at, own in sequences.items():
        values = own["slowdown"]
        yield Value(*at, "bounded slowdown", estimated(values))
        yield Value(*at, "median", drawn(median(values)))
        if at[1] == THEIRS and len(values) > 1:
            yield Value(*at, "± of ten", drawn(half_of_ten(values)))


def half_of_ten(values: Sequence[float]) -> float:
    """Return half of the 95 % interval that a mean of SEQUENCES such values has, by Student's
    law."""
    from scipy.special import stdtrit

    return float(stdtrit(SEQUENCES - 1, 0.975)) * stdev(values) / sqrt(SEQUENCES)
