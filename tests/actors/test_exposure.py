"""Exposure: workers times computing time since the last verified point (WORLD.md, R3), by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from actors.events import VerificationEnded
from actors.protection import ProtectionKind
from actors.runtime import Record
from tests.actors.worlds import Task, World, of

IMAGES, BUDDIES = ProtectionKind.IMAGES, ProtectionKind.BUDDIES
DRAWN = {"rate": 1.0}  # without a stream: the exposure is logged, and no error is found


def exposures(records: Sequence[Record]) -> list[tuple[float, int, float]]:
    """(time, run, exposure) of each verification."""
    return [(r.t, r.event.run, r.event.exposure) for r in of(records, VerificationEnded)]


def test_two_workers_that_compute_for_10_are_exposed_for_20() -> None:
    records = World(workers=2).run(Task(processors=2, time=10, verification=1, **DRAWN))
    assert exposures(records) == [(11, 0, 20)]


def test_the_time_of_a_suspension_does_not_count() -> None:
    """Worker 0 is RECLAIMED from 3 to 7."""
    records = World(owners=["uuurrrru", "u"]).run(Task(processors=2, time=10, **DRAWN))
    assert exposures(records) == [(14, 0, 20)]


def test_slow_computing_is_exposed_for_longer() -> None:
    """From 4 on at half the speed: 6 units of work take 12; from 10 on at twice the speed, the
    last 3 of them take 1.5. The slowest member counts, and its partner waits for it."""
    half = [(0, 1), (4, 0.5)]
    records = World(speeds=[half, [(0, 1)]]).run(Task(processors=2, time=10, **DRAWN))
    assert exposures(records) == [(16, 0, 32)]
    again = [*half, (10, 2)]
    records = World(speeds=[again]).run(Task(time=10, **DRAWN))
    assert exposures(records) == [(11.5, 0, 11.5)]


def test_at_speed_0_nothing_is_exposed() -> None:
    records = World(speeds=[[(0, 1), (4, 0), (9, 1)]]).run(Task(time=10, **DRAWN))
    assert exposures(records) == [(15, 0, 10)]


@pytest.mark.parametrize("kind", [IMAGES, BUDDIES])
def test_a_verification_begins_the_count_anew_and_checkpoints_do_not_count(
    kind: ProtectionKind,
) -> None:
    """4, 4 and 2 units of work, each followed by a verification of 1; the first two by a checkpoint
    of 2, too."""
    rules = {"verified": True, "cost": 2}
    task = Task(processors=2, time=10, verification=1, kind=kind, period=4, rules=rules, **DRAWN)
    records = World(workers=2).run(task)
    assert exposures(records) == [(5, 0, 8), (12, 0, 8), (17, 0, 4)]


def test_computing_inside_an_unverified_image_counts_in_the_run_that_goes_on_from_it() -> None:
    """A checkpoint at 4 to 5 of work 4, reclaimed before it from 1 to 2; a fault at 7. The next run
    fetches nothing (no master), and computes the other 6."""
    task = Task(processors=2, time=10, kind=IMAGES, period=4, rules={"cost": 1}, **DRAWN)
    records = World(owners=["uru", "u"], faults=[(8, 1)]).run(task)
    # Work 4 by 5, saved by 6; lost at 8; 4 units from 8 to 12, saved by 13, the last 2 by 15.
    assert exposures(records) == [(15, 1, 20)]


def test_members_that_checkpoint_among_themselves_go_on_counting_from_what_they_saved() -> None:
    task = Task(
        processors=2, time=6, kind=BUDDIES, period=4, rules={"cost": 1, "recovery": 2}, **DRAWN
    )
    records = World(workers=2, faults=[(6, 0)], downtime=1).run(task)
    # Saved at 5 (exposure 8); struck at 6, back at 7, recovered by 9; 2 units more.
    assert exposures(records) == [(11, 1, 12)]
