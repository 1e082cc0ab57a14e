"""A run makes way only for a job that starts in its place."""

from __future__ import annotations

import pytest
from attrs import define, field
from numpy.random import Generator, default_rng

from actors.events import JobCompleted, Outcome, RunEnded, RunStarted, WorkerChanged
from actors.intervals import numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from policies.queue.names import FIELD, ORDERS, SHELVES
from sims.audit.audit import audit
from sims.scenario.loader import read
from sims.world import run
from tests.sims.drawn import one, owned
from tests.sims.oneworld import Table
from tests.sims.schedules import Schedule

pytestmark = pytest.mark.usefixtures("unchecked")

STRATEGIES = (*FIELD, *SHELVES, "R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q")
TAKEN = {"kind": "letters", "states": "u" * 8 + "r" * 12 + "u"}
"""By its owner from 8 to 20."""


@define
class Workers:
    """Fold: who is UP and free, and at each instant how many that preempted runs gave back are."""

    size: int
    away: set[int] = field(factory=set)
    held: dict[tuple[str, int], tuple[int, ...]] = field(factory=dict)
    cancelled: dict[str, tuple[int, ...]] = field(factory=dict)
    """By job: at this instant."""
    t: float = 0
    preempted: list[tuple[float, int, int]] = field(factory=list)
    """(time, how many of them are UP, how many at all are free afterwards)."""

    def __call__(self, record: Record) -> None:
        if record.t != self.t:
            self._pass()
            self.t = record.t
        match record.event:
            case WorkerChanged(worker=worker, state=WorkerState.UP):
                self.away.discard(worker)
            case WorkerChanged(worker=worker):
                self.away.add(worker)
            case RunStarted(job=job, run=number, processors=workers):
                self.held[job, number] = numbers_in(workers)
            case RunEnded(job=job, run=number, outcome=outcome):
                freed = self.held.pop((job, number))
                if outcome is Outcome.CANCELLED:
                    self.cancelled[job] = self.cancelled.get(job, ()) + freed
            case JobCompleted(job=job):
                self.cancelled.pop(job, None)  # its other copies'

    def _pass(self) -> None:
        if self.cancelled:
            busy = self.away.union(*self.held.values())
            freed = [n for workers in self.cancelled.values() for n in workers]
            here = len(set(freed) - self.away)
            self.preempted.append((self.t, here, self.size - len(busy)))
            self.cancelled.clear()


@pytest.mark.parametrize(
    ("workers", "name", "ends"),
    [
        # Within its shelf, until 20, nobody starts.
        ([{}, {}], "R-SHELF-NB", [20, 15, 21]),
        # J2 goes on at 9.8 from its image of 6.
        ([{}, {}], "EASY", [20, 18.8, 9.8]),
        # What J2 would give back at 8.8, its owner has until 20.
        ([{}, {"availability": TAKEN}], "EASY", [20, 27, 21]),
    ],
)
def test_a_run_goes_on_where_nobody_would_start_in_its_place(
    workers: list[Table], name: str, ends: list[float]
) -> None:
    """J3 comes at 8.8, and is more urgent than J2."""
    jobs = [
        {"processors": 1, "time": 20, "priority": 2},
        {"processors": 1, "time": 15},
        {"processors": 1, "time": 1, "priority": 1, "release": 8.8},
    ]
    found = Schedule()
    run(read(_preemptive(workers, jobs, {"name": name, "order": "PRIORITY"}), "queue"), [found])
    assert [found.ends[job] for job in ("J1", "J2", "J3")] == pytest.approx(ends)


@pytest.mark.parametrize("first", range(0, 240, 20))
def test_who_preempts_starts_at_once_on_what_was_not_free_before(first: int) -> None:
    preempted = 0
    for seed in range(first, first + 20):
        table, records = _drawn(seed), list[Record]()
        found = Workers(len(table["workers"]))
        run(read(table, "queue"), [found, records.append])
        found._pass()
        preempted += len(found.preempted)
        assert all(free < here for _, here, free in found.preempted), seed
        assert list(audit(records)) == [], seed
    assert preempted > 5


def _preemptive(workers: list[Table], jobs: list[Table], policy: Table) -> Table:
    return {
        "name": "queue",
        "workers": workers,
        "job": {"kind": "rigid", "jobs": jobs},
        "protection": {"kind": "images", "period": 3, "cost": 0},
        "policy": {"preemption": True, **policy},
    }


def _drawn(seed: int) -> Table:
    rng = default_rng(seed)
    count = int(rng.integers(2, 6))
    policy = {
        "name": one(rng, *STRATEGIES),
        "order": one(rng, *ORDERS),
        "reading": one(rng, "fresh", "easy", "kept"),
    }
    jobs = [_job(rng, count) for _ in range(rng.integers(3, 8))]
    workers: list[Table] = [owned(rng) if rng.random() < 0.3 else {} for _ in range(count)]
    table = _preemptive(workers, jobs, policy) | {"seed": seed}
    table["protection"] |= {"period": float(rng.integers(1, 6)), "copies": one(rng, 1, 1, 2)}
    return table


def _job(rng: Generator, most: int) -> Table:
    job: Table = {"processors": int(rng.integers(1, most + 1)), "time": float(rng.integers(1, 20))}
    job |= {"release": float(rng.integers(12)), "user": one(rng, "a", "b")}
    job["priority"] = float(rng.integers(3))
    return job | ({"estimate": float(rng.integers(1, 40))} if rng.random() < 0.4 else {})
