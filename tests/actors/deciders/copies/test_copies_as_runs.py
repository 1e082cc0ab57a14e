"""redundancy17's copies on workers that are reclaimed, fail, and fetch clones, one rule at a
time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from actors.deciders.copies import CopyRuns
from actors.events import JobCompleted, Outcome
from actors.protection import Rules
from actors.runtime import ActorFailed, Record, System
from actors.worker_messages import Needs
from policies.availability import WorkerState
from policies.copies import Laps, SrptR
from tests.actors.deciders.copies.worlds import Trace, described, runs_of, spawn_runs

UP, RECLAIMED, DOWN = WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN
CANCELLED, COMPLETED, LOST = Outcome.CANCELLED, Outcome.COMPLETED, Outcome.LOST
Life = Sequence[tuple[float, WorkerState]]
ALWAYS: Life = ((0, UP),)


def away(state: WorkerState, start: float, end: float) -> Life:
    return ((0, UP), (start, state), (end, UP))


def lived(
    jobs: Sequence[tuple[float, float]],
    lives: Sequence[Life],
    decider: CopyRuns | None = None,
    traces: Sequence[Trace] = (),
    **world: Any,
) -> list[Record]:
    """What a world records, one worker a life; copies are placed on the lowest."""
    records = list[Record]()
    system = System(0, [records.append])
    decides = decider or CopyRuns(SrptR())
    spawn_runs(system, decides, len(lives), described(jobs), traces, lives=lives, **world)
    system.run()
    return records


def ends(records: Sequence[Record]) -> dict[str, float]:
    return {it.event.job: it.t for it in records if isinstance(it.event, JobCompleted)}


def test_a_copy_whose_worker_is_reclaimed_goes_on_elsewhere_and_has_a_twin_on_its_return() -> None:
    records = lived([(0, 10)], [away(RECLAIMED, 4, 6), ALWAYS])
    assert runs_of(records) == {
        ("0", 0): ("0", 0, 0, None, 4, CANCELLED, 4),
        ("0", 1): ("1", 0, 0, None, 4, CANCELLED, 4),
        ("0", 2): ("1", 4, 4, 0, 6, CANCELLED, 6),
        ("0", 3): ("0", 6, 6, 2, 10, COMPLETED, 10),
        ("0", 4): ("1", 6, 6, 2, 10, CANCELLED, 10),
    }


def test_a_copy_on_a_reclaimed_worker_lends_its_state_if_it_is_the_furthest() -> None:
    faster = [((0, 3),), ((0, 1),)]
    records = lived([(0, 10)], [away(RECLAIMED, 2, 50), ALWAYS], traces=faster)
    assert runs_of(records)["0", 2] == ("1", 2, 6, 0, 6, COMPLETED, 10)


def test_a_clone_passes_the_master_and_the_furthest_copy_goes_on_meanwhile() -> None:
    needs = Needs("program", program=1, image=1)
    rules = Rules(copies=2, cloning=True, image=1)
    jobs, decider = [(0, 10), (4, 1)], CopyRuns(SrptR(), afresh=False)
    records = lived(jobs, [ALWAYS] * 2, decider, rules=rules, channels=1, needs=needs)
    assert runs_of(records) == {
        # It had the program first, and never leaves its worker.
        ("0", 0): ("0", 0, 0, None, 11, COMPLETED, 10),
        ("0", 1): ("1", 0, 0, None, 4, CANCELLED, 2),
        ("1", 0): ("1", 4, 0, None, 5, COMPLETED, 1),
        # Its image passes from 5 to 6, when the other copy is at 5.
        ("0", 2): ("1", 5, 4, 0, 11, CANCELLED, 9),
    }


def test_a_copy_that_is_behind_is_cloned_where_it_is_but_not_while_it_fetches_a_state() -> None:
    rules = Rules(copies=2, cloning=True, delay=2)
    slower, jobs = [((0, 2),), ((0, 1),)], [(0, 20), (4, 100), (5, 100)]
    decider = CopyRuns(SrptR(), afresh=False)
    records = lived(jobs, [ALWAYS] * 3, decider, [*slower, ((0, 1),)], rules=rules)
    found = runs_of(records)
    assert found["0", 0] == ("0", 0, 0, None, 10, COMPLETED, 20)
    # With two jobs on three workers the first has two: the second of its copies is cloned at 4,
    # and at 5 leaves the worker to the third job before it has the clone.
    assert found["0", 1][4:] == (4, CANCELLED, 4)
    assert found["0", 3] == ("1", 4, 8, 0, 5, CANCELLED, 8)


def test_copies_that_fetch_nothing_more_are_not_placed_anew_at_every_change() -> None:
    rules, decider = Rules(copies=2, cloning=True, delay=2), CopyRuns(SrptR(), afresh=False)
    lives = [ALWAYS, ALWAYS, away(RECLAIMED, 1, 2), away(RECLAIMED, 3, 4)]
    records = lived([(0, 10)], lives, decider, rules=rules)
    found = runs_of(records)
    assert [found["0", run][4:] for run in (0, 1)] == [(10, COMPLETED, 10), (10, CANCELLED, 10)]
    assert found["0", 4][:4] == ("2", 2, 2, 0)


def test_a_policy_that_shares_workers_is_refused_with_the_reason() -> None:
    jobs = [(0.1 * k, 1.0) for k in range(8)]
    with pytest.raises(ActorFailed, match="each holds one run"):
        lived(jobs, [ALWAYS] * 2, CopyRuns(Laps()))


def test_a_policy_that_clones_where_copies_are_on_their_own_is_refused() -> None:
    with pytest.raises(ActorFailed, match="`cloning` is False"):
        lived([(0, 1)], [ALWAYS], CopyRuns(SrptR(), cloning=False))
