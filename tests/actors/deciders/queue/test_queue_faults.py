"""Processors that fail under batches, shelves and limits; and how long a job takes then."""

from __future__ import annotations

from itertools import pairwise
from math import exp, sqrt

import numpy as np
import pytest

from actors.events import BatchOpened, JobCompleted, Outcome, RunEnded, ShelfOpened
from actors.hazards import exponential_faults
from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid, Table
from policies.queue.batches import Exact
from policies.queue.lists import RList, Shelves
from tests.actors.deciders.queue.test_queue import job, of, starts, world

LOST, FAILED, CANCELLED = Outcome.LOST, Outcome.FAILED, Outcome.CANCELLED


def test_the_limit_of_a_lost_attempt_means_nothing_any_more() -> None:
    records = world([job(0, 1, 5, estimate=4)], RList(0), kill={0}, faults=[(2, 0)])
    ends = [(it.t, it.event.outcome) for it in of(records, RunEnded)]
    assert ends == [(2, LOST), (6, CANCELLED)]


def test_in_a_batch_a_lost_attempt_is_made_again_before_the_next_batch() -> None:
    jobs = [BatchJob(index, name, Table((5, 3, 3, 3))) for index, name in enumerate("ab")]
    records = world(jobs, RList(0), failures={0: 1, 1: 1}, rule=Exact(), faults=[(1, 0)])
    second = of(records, BatchOpened)[1].t
    first = [it.event.outcome for it in of(records, RunEnded) if it.t <= second]
    assert first == [LOST, FAILED, FAILED]


def test_what_is_lost_waits_for_the_next_shelf_which_opens_on_what_is_up() -> None:
    jobs = [job(0, 2, 5), job(1, 2, 3), job(2, 3, 4)]
    records = world(jobs, Shelves(filling=False), faults=[(1, 0)], downtime=100)
    assert starts(records)[2:] == [("a", 3, "1-2"), ("c", 8, "1-3")]
    assert [it.t for it in of(records, ShelfOpened)] == [0, 3, 8]


def test_what_is_lost_fills_its_shelf_where_other_processors_are_free() -> None:
    for processors, again in ((5, ("a", 1, "1 4")), (4, ("a", 9, "1-2"))):
        jobs, filling = [job(0, 2, 5), job(1, 2, 9)], Shelves(filling=True)
        records = world(jobs, filling, processors, faults=[(1, 0)], downtime=100)
        assert starts(records)[2] == again


@pytest.mark.usefixtures("unchecked")
def test_the_mean_time_of_a_job_is_that_of_theory() -> None:
    """One processor, exponential faults: (1/lambda + D) (exp(lambda t) - 1) a job (Daly 2006)."""
    rate, downtime, time, jobs = 0.3, 0.7, 4.0, 4000
    many = [BatchJob(index, f"J{index}", Rigid(1, time)) for index in range(jobs)]
    faults = exponential_faults(np.random.default_rng(1), 1, 1 / rate)
    records = world(many, RList(0), 1, faults=faults, downtime=downtime)
    ended = [0.0, *(it.t for it in of(records, JobCompleted))]
    lasted = np.array([after - before for before, after in pairwise(ended)])
    expected = (1 / rate + downtime) * (exp(rate * time) - 1)
    assert abs(lasted.mean() - expected) < 3 * lasted.std() / sqrt(jobs)
    assert lasted.std() / sqrt(jobs) < 0.03 * expected
