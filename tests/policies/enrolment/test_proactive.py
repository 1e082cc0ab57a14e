"""C-H: keep what runs, or change it (volatile13, section VI.B)."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from policies.enrolment import Criterion, Incremental, Proactive, named
from policies.enrolment.tree import bar
from policies.interface import Configuration, Reason, Wake
from policies.maths.markov import Belief
from tests.policies.enrolment.views import (
    FLEETING,
    NAMES,
    STEADY,
    Running,
    View,
    ask,
    enrolment,
    views,
)

ASKED = enrolment([FLEETING, STEADY, STEADY], [4, 4, 2], 1)
SLOW = Configuration(((1, 1),))
FAST = Configuration(((2, 1),))


def view(running: Configuration, left: int, lacking: int, up: int = 0b111) -> View:
    state = Running(running, left, (lacking,))
    return View(ASKED, up, 0b111, 5, Reason.PROACTIVE, state)


@pytest.mark.parametrize("name", ["P-IE", "E-IE", "Y-IE", "AY-IE"])
def test_a_better_candidate_replaces_what_runs_unless_that_is_nearly_done(name: str) -> None:
    assert ask(named(name), view(SLOW, 4, 4)) == FAST
    assert ask(named(name), view(SLOW, 1, 0)) is None


def test_a_tie_is_no_reason_to_change() -> None:
    twins = evolve(ASKED, speeds=(4, 2, 2))
    higher = Running(FAST, 2, (1,))
    view = View(twins, 0b111, 0b111, 5, Reason.PROACTIVE, higher)
    candidate = ask(named("IE"), evolve(view, reason=Reason.START))
    assert candidate == SLOW
    assert ask(named("E-IE"), view) is None


def test_the_same_allocation_is_no_change_even_if_begun_afresh() -> None:
    assert ask(named("E-IE"), view(FAST, 2, 10)) is None


def test_a_reclaimed_member_is_valued_as_if_up() -> None:
    assert ask(named("E-IE"), view(FAST, 2, 0, up=0b011)) is None
    assert ask(named("E-IE"), view(FAST, 2, 9, up=0b011)) == SLOW


def test_too_few_up_workers_leave_everything_as_it_is() -> None:
    assert ask(named("E-IE"), view(SLOW, 4, 9, up=0)) is None


def test_the_candidate_is_chosen_as_if_no_data_had_been_sent() -> None:
    expensive = evolve(ASKED, data=6, speeds=(4, 2, 2))
    running = Running(SLOW, 2, (1,))
    held = {1: 5}
    view = View(expensive, 0b111, 0b110, 5, Reason.PROACTIVE, running, held)
    assert ask(named("E-IE"), view) is None
    outside = Running(Configuration(((0, 1),)), 4, (99,))
    assert ask(named("E-IE"), evolve(view, running=outside, held={2: 6})) == SLOW


@pytest.mark.parametrize("reason", [Reason.START, Reason.FAILURE])
def test_where_a_choice_is_due_the_passive_heuristic_makes_it(reason: Reason) -> None:
    view = View(ASKED, 0b111, reason=reason, held={0: 1})
    for name in NAMES:
        assert ask(named(f"P-{name}"), view) == ask(named(name), view)


@pytest.mark.parametrize(
    ("name", "wake"),
    [
        ("IE", Wake.NEVER),
        ("RANDOM", Wake.NEVER),
        ("E-IE", Wake.ON_CHANGE),
        ("P-IAY", Wake.ON_CHANGE),
        ("AY-IP", Wake.ON_CHANGE),
        ("Y-IE", Wake.EVERY_SLOT),
        ("E-IY", Wake.EVERY_SLOT),
    ],
)
def test_only_the_yield_asks_to_be_woken_every_slot(name: str, wake: Wake) -> None:
    assert named(name).wake is wake


@given(views(), st.sampled_from(NAMES), st.sampled_from(["P", "E", "AY"]))
def test_without_a_change_progress_alone_never_makes_a_timeless_pair_switch(
    view: View, heuristic: str, criterion: str
) -> None:
    """What Wake.ON_CHANGE relies on."""
    if heuristic == "IY":
        heuristic = "IE"
    start = ask(named(heuristic), view)
    if start is None:
        return
    lacking = [view.missing(q, x) for q, x in start.members]
    work = max(x * view.enrolment.speeds[q] for q, x in start.members)
    transfer, kept = sum(lacking), False
    for slot in range(transfer + work - 1):
        running = Running(start, work - max(0, slot - transfer), tuple(lacking))
        now = evolve(view, reason=Reason.PROACTIVE, running=running, elapsed=view.elapsed + slot)
        answer = ask(named(f"{criterion}-{heuristic}"), now)
        assert answer is None or not kept
        kept = kept or answer is None
        first = next((i for i, need in enumerate(lacking) if need), None)
        if first is not None:
            lacking[first] -= 1


@given(views(), st.data(), st.sampled_from(Criterion), st.sampled_from(NAMES))
def test_a_candidate_that_is_not_looked_at_to_its_end_would_not_have_been_better(
    view: View, data: st.DataObject, criterion: Criterion, heuristic: str
) -> None:
    """The definition: from scratch, whole, and valued as the running configuration is (VI.B)."""
    enrolment, passive = view.enrolment, named(heuristic)
    speeds, workers = enrolment.speeds, range(len(enrolment.speeds))
    mine = tuple((q, 1) for q in workers if data.draw(st.booleans()) or q == 0)
    lacking = tuple(data.draw(st.integers(0, 4)) for _ in mine)
    running = Running(Configuration(mine), data.draw(st.integers(1, 12)), lacking)
    now = evolve(view, reason=Reason.PROACTIVE, running=running, elapsed=view.elapsed + 1)
    candidate = ask(passive, evolve(now, held={}))
    expected = None
    if candidate is not None and candidate != running.configuration:
        needs = [(q, evolve(now, held={}).missing(q, x)) for q, x in candidate.members]
        work = max(x * speeds[q] for q, x in candidate.members)
        new = enrolment.belief.estimate(needs, work, enrolment.channels)
        left = [(q, need) for (q, _), need in zip(mine, lacking, strict=True)]
        old = enrolment.belief.estimate(left, running.work_left, enrolment.channels)
        kept = bar(criterion.score(*old, now.elapsed))
        expected = candidate if criterion.score(*new, now.elapsed) > kept else None
    assert ask(named(f"{criterion.value}-{heuristic}"), now) == expected


@given(views(), st.data(), st.sampled_from([*NAMES, "E-IE", "P-IAY", "Y-IP", "Y-IY"]))
def test_what_was_asked_before_never_changes_an_answer(
    view: View, data: st.DataObject, name: str
) -> None:
    workers, policy = len(view.enrolment.speeds), named(name)
    masks = st.integers(0, (1 << workers) - 1)
    belief = view.enrolment.belief
    if "-" in name:
        everywhere = Configuration(tuple((q, 1) for q in range(workers)))
        running = Running(everywhere, 50, (0,) * workers)
        view = evolve(view, reason=Reason.PROACTIVE, running=running)
    for _ in range(8):
        now = evolve(view, up=data.draw(masks), programmed=data.draw(masks))
        afresh = evolve(view.enrolment, belief=Belief(belief.chains, belief.expectation))
        assert ask(policy, now) == ask(policy, evolve(now, enrolment=afresh))


@pytest.mark.parametrize("criterion", Criterion)
@pytest.mark.parametrize("heuristic", Criterion)
def test_every_pair_of_the_paper_has_its_name(criterion: Criterion, heuristic: Criterion) -> None:
    expected = Proactive(criterion, Incremental(heuristic))
    assert named(f"{criterion.value}-I{heuristic.value}") == expected


@pytest.mark.parametrize("name", ["", "ie", "E", "E-", "-IE", "IX", "E-RANDOM", "IE-IE", "E-IE-IE"])
def test_an_unknown_name_is_refused_with_what_is_accepted(name: str) -> None:
    with pytest.raises(ValueError, match=r"accepted: IP, IE, IY, IAY, RANDOM, or C-H"):
        named(name)
