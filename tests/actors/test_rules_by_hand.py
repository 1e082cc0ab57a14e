"""What the cases of the one world do not tell, worked out by hand: pairs of buddies, exposures,
what is said of who waits for ever, and of an order of service that cannot be kept."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import pytest
from attrs import frozen

from actors.decisions import BadDecision
from actors.events import VerificationEnded
from actors.master import Request, choose
from actors.protection.buddies import groups
from actors.runtime import Deadlock
from tests.sims.oneworld import Table, as_file, play, records_of


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ((4,), [(4,)]),
        ((1, 3), [(1, 3)]),
        ((1, 3, 5), [(1, 3, 5)]),
        ((0, 1, 2, 3), [(0, 1), (2, 3)]),
        ((0, 1, 2, 3, 7), [(0, 1), (2, 3, 7)]),
    ],
)
def test_members_are_paired_by_number_and_an_odd_last_one_makes_a_ring(
    members: tuple[int, ...], expected: list[tuple[int, ...]]
) -> None:
    assert groups(members) == expected


# --- exposure: workers times computing time since the last verified point (rules.md, R3) ----------

TEN = {"p": 1, "t": 10, "protection": "images"}
BOTH = TEN | {"p": 2}
KEPT = BOTH | {"verification": 1, "period": 4, "verified": True, "cost": 2}
SAVED = {"period": 4, "cost": 1, "recovery": 0}
HALF = [[0, 1], [4, 0.5]]


@pytest.mark.parametrize(
    ("job", "world", "expected"),
    [
        (BOTH | {"verification": 1}, {}, [(11, 0, 20)]),
        # The time of a suspension does not count: worker 0 is RECLAIMED from 3 to 7.
        (BOTH, {"owner": ["uuurrrru", "u"]}, [(14, 0, 20)]),
        # From 4 on at half the speed: 6 units of work take 12, and the partner waits for it; from
        # 10 on at twice the speed, the last 3 of them take 1.5. At speed 0 nothing is exposed.
        (BOTH, {"speeds": [HALF, [[0, 1]]]}, [(16, 0, 32)]),
        (TEN, {"speeds": [[*HALF, [10, 2]]]}, [(11.5, 0, 11.5)]),
        (TEN, {"speeds": [[[0, 1], [4, 0], [9, 1]]]}, [(15, 0, 10)]),
        # A verification begins the count anew and checkpoints do not count: 4, 4 and 2 units of
        # work, each followed by a verification of 1; the first two by a checkpoint of 2, too.
        *(
            (KEPT | {"protection": kind}, {}, [(5, 0, 8), (12, 0, 8), (17, 0, 4)])
            for kind in ("images", "buddies")
        ),
        # Computing inside an unverified image counts in the run that goes on from it: work 4 by 5,
        # saved by 6; lost at 8; 4 units from 8 to 12, saved by 13, the last 2 by 15.
        (
            BOTH | SAVED,
            {"owner": ["uru", "u"], "faults": [[8, 1]]},
            [(15, 1, 20)],
        ),
        # Saved at 5 (exposure 8); struck at 6, back at 7, recovered by 9; 2 units more.
        (
            SAVED | {"p": 2, "t": 6, "protection": "buddies", "recovery": 2},
            {"faults": [[6, 0]], "downtime": 1},
            [(11, 1, 12)],
        ),
    ],
)
def test_a_run_is_exposed_while_it_computes(
    job: Table, world: Table, expected: list[tuple[float, int, float]]
) -> None:
    said = as_file({"workers": job["p"], "jobs": [job]} | world)
    records = records_of(said | {"errors": {"rate": 1e-12}})
    ended = [(it.t, it.event) for it in records if isinstance(it.event, VerificationEnded)]
    assert [(t, it.run, it.exposure) for t, it in ended] == expected


# --- what is told ---------------------------------------------------------------------------------


def test_a_run_that_never_ends_is_reported_with_the_jobs_that_wait() -> None:
    with pytest.raises(Deadlock, match="1 of 1 jobs"):
        play({"workers": 1, "jobs": [TEN], "speeds": [[[0, 1], [3, 0]]]})


@frozen
class Answering:
    """An order of service that answers with what is made of those that wait."""

    make: Callable[[list[Any]], Any]
    every_slot = False

    def __call__(self, waiting: Any, channels: int, now: float) -> Any:
        return self.make(list(waiting))


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda waiting: waiting, "it serves 3; there are 1 channels"),
        (lambda waiting: [*waiting[:1], *waiting[:1]], "it names a worker twice"),
        (lambda waiting: [it.index for it in waiting[:1]], "a sequence of those that wait"),
        (lambda waiting: None, "a sequence of those that wait"),
        (lambda waiting: [copy(waiting[0])], "a sequence of those that wait"),
    ],
)
def test_an_order_of_service_that_cannot_be_kept_is_refused_with_what_it_saw(
    make: Callable[[list[Any]], object], problem: str
) -> None:
    asked: Any = None
    waiting = [Request(asked, index, False, 5.0, 0, asked) for index in range(3)]
    with pytest.raises(BadDecision, match=rf"test_rules_by_hand:Answering .*{problem}.*now = 0"):
        choose(Answering(make), waiting, 1, 0)
