"""Allocation and redistribution policies of malleable applications, on hand-made views
(malleable17)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from policies.interface.pack import Cause, LookAhead, Resize
from policies.pack import (
    CATALOGUE,
    Combined,
    EndLocal,
    Greedy,
    GreedySpeedupProfile,
    NoRedistribution,
    OptNoRedistrib,
    ShortestApplicationsFirst,
    named,
    named_allocation,
)


@frozen
class App:
    """A candidate whose finish is a table by size (in pairs of one processor)."""

    index: int
    size: int
    times: tuple[float, ...]

    @property
    def largest(self) -> int:
        return self.times.index(min(self.times)) + 1

    def finish(self, size: int) -> float:
        return self.times[size - 1]


@frozen
class View:
    """An event seen by a policy; also an allocation."""

    candidates: Sequence[App]
    idle: int = 0
    cause: Cause = Cause.END
    faulty: int | None = None
    longest: float = 0.0
    now: float = 0.0
    pair: int = 1
    processors: int = field(default=0)

    @property
    def applications(self) -> Sequence[App]:
        return self.candidates


def test_the_longest_application_gets_the_idle_pairs_one_by_one() -> None:
    view = View([App(0, 1, (10, 6, 5, 4)), App(1, 1, (8, 5, 4, 3))], idle=2)
    assert EndLocal()(view) == (Resize(0, 2), Resize(1, 2))


def test_growing_stops_when_the_longest_is_not_improvable_though_others_are() -> None:
    view = View([App(0, 2, (12, 10, 11, 12)), App(1, 1, (8, 5, 4, 3))], idle=2)
    assert EndLocal()(view) == ()


def test_looking_ahead_sees_past_what_a_redistribution_costs_at_once() -> None:
    view = View([App(0, 1, (10, 11, 9, 8))], idle=2)
    assert EndLocal(LookAhead.ANY)(view) == (Resize(0, 3),)
    assert EndLocal(LookAhead.NEXT_PAIR)(view) == ()


def test_looking_ahead_stops_at_the_processors_that_there_are() -> None:
    view = View([App(0, 1, (10, 11, 9, 8))], idle=1)
    assert EndLocal(LookAhead.ANY)(view) == ()


def test_greedy_makes_the_whole_schedule_afresh_and_shows_only_what_changes() -> None:
    view = View([App(0, 3, (10, 6, 5, 4)), App(1, 1, (18, 7, 6, 5)), App(2, 1, (3, 2, 1, 1))])
    assert Greedy()(view) == (Resize(0, 2), Resize(1, 2))


def test_ties_for_the_longest_go_to_the_lowest_index() -> None:
    view = View([App(0, 1, (9, 4)), App(1, 1, (9, 4))], idle=1)
    assert EndLocal()(view) == (Resize(0, 2),)


def test_the_faulty_application_takes_idle_pairs_then_those_of_the_shortest() -> None:
    faulty = App(0, 1, (20, 15, 12, 10))
    view = View([faulty, App(1, 2, (9, 5)), App(2, 2, (11, 3))], 1, Cause.FAULT, faulty=0)
    assert ShortestApplicationsFirst()(view) == (Resize(0, 4), Resize(1, 1), Resize(2, 1))


def test_a_donor_that_would_end_as_late_as_the_faulty_one_gives_nothing() -> None:
    faulty = App(0, 1, (20, 15, 12, 10))
    view = View([faulty, App(1, 2, (20, 5))], 0, Cause.FAULT, faulty=0)
    assert ShortestApplicationsFirst()(view) == ()


def test_a_donor_may_have_to_give_several_pairs_for_a_jump() -> None:
    faulty = App(0, 1, (20, 21, 12, 10))
    view = View([faulty, App(1, 3, (9, 7, 5))], 0, Cause.FAULT, faulty=0)
    assert ShortestApplicationsFirst(LookAhead.ANY)(view) == (Resize(0, 3), Resize(1, 1))
    assert ShortestApplicationsFirst(LookAhead.NEXT_PAIR)(view) == ()


def test_nothing_is_tried_at_a_fault_while_another_application_is_longer() -> None:
    apps = [App(0, 1, (10, 6, 5)), App(1, 1, (12, 11, 10))]
    policy = Combined(NoRedistribution(), Greedy())
    assert policy(View(apps, 1, Cause.FAULT, faulty=0, longest=12)) == ()
    assert policy(View(apps, 1, Cause.FAULT, faulty=1, longest=12)) == (Resize(1, 2),)


def test_nothing_is_tried_for_a_faulty_application_that_is_no_candidate() -> None:
    policy = Combined(NoRedistribution(), Greedy())
    assert policy(View([App(1, 1, (9, 3))], 1, Cause.FAULT, faulty=0)) == ()


def test_the_best_speedup_profile_gets_the_pair() -> None:
    view = View([App(0, 0, (10, 9, 6)), App(1, 0, (6, 3, 3))], processors=3)
    assert GreedySpeedupProfile()(view) == [1, 2]
    assert OptNoRedistrib()(view) == [2, 1]


def test_pairs_that_make_nothing_better_stay_idle() -> None:
    view = View([App(0, 0, (10, 10, 10, 10)), App(1, 0, (6, 6, 6, 6))], processors=8)
    assert GreedySpeedupProfile()(view) == [1, 1]
    assert OptNoRedistrib()(view) == [1, 1]


falling = st.lists(st.floats(1, 100), min_size=5, max_size=5).map(
    lambda times: tuple(sorted(times, reverse=True))
)


@given(st.lists(falling, min_size=1, max_size=3), st.integers(0, 2))
def test_opt_no_redistrib_is_optimal_where_more_processors_never_hurt(
    times: list[tuple[float, ...]], spare: int
) -> None:
    """malleable17, Theorem 1, by trying everything."""
    apps = [App(k, 0, row) for k, row in enumerate(times)]
    processors = len(apps) + spare
    sizes = OptNoRedistrib()(View(apps, processors=processors))
    every = (s for s in product(range(1, 6), repeat=len(apps)) if sum(s) <= processors)
    best = min(max(a.finish(k) for a, k in zip(apps, s, strict=True)) for s in every)
    assert max(a.finish(k) for a, k in zip(apps, sizes, strict=True)) == best


@given(
    st.sampled_from(list(CATALOGUE)),
    st.sampled_from(LookAhead),
    st.lists(st.lists(st.floats(1, 100), min_size=12, max_size=12), min_size=2, max_size=4),
    st.integers(0, 3),
    st.sampled_from(Cause),
)
def test_no_policy_gives_more_than_there_is_or_takes_the_last_pair(
    name: str, look: LookAhead, times: list[list[float]], idle: int, cause: Cause
) -> None:
    apps = [App(k, 2, tuple(row)) for k, row in enumerate(times)]
    resizes = named(name, look)(View(apps, idle, cause, faulty=0))
    assert all(resize.size >= 1 for resize in resizes)
    assert sum(resize.size - 2 for resize in resizes) <= idle


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="IteratedGreedy-EndGreedy"):
        named("Greedy")
    with pytest.raises(ValueError, match="GreedySpeedupProfile"):
        named_allocation("Greedy")


def test_the_extra_work_of_a_pair_counts_in_proportion_to_what_there_was() -> None:
    """Two processors for 9 s are 1.8 times the 10 s of one; two for 1.9 s 1.9 times the 2 s,
    although they are less work."""
    view = View([App(0, 0, (10, 9, 9)), App(1, 0, (2, 1.9, 1.9))], processors=3)
    assert GreedySpeedupProfile()(view) == [2, 1]


def test_the_ratio_of_a_pair_counts_from_what_the_application_has_by_now() -> None:
    """After its second processor, a third multiplies the first one's work by 3 x 5 / (2 x 6)
    = 1.25; the other's second by 2 x 6.5 / 10 = 1.3."""
    view = View([App(0, 0, (10, 6, 5, 4.9)), App(1, 0, (10, 6.5, 6, 6))], processors=4)
    assert GreedySpeedupProfile()(view) == [3, 1]
