"""C-H: keep what runs, or change it (volatile13, section VI.B)."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from policies.enrolment import Criterion, Incremental, Proactive, Random, named
from policies.enrolment.criteria import bar
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


class TestProactive:
    """C-H: keep, or change."""

    asked = enrolment([FLEETING, STEADY, STEADY], [4, 4, 2], 1)
    slow = Configuration(((1, 1),))
    fast = Configuration(((2, 1),))

    def view(
        self, running: Configuration, left: int, lacking: int, up: int = 0b111, elapsed: int = 5
    ) -> View:
        state = Running(running, left, (lacking,))
        return View(self.asked, up, 0b111, elapsed, Reason.PROACTIVE, state)

    @pytest.mark.parametrize("name", ["P-IE", "E-IE", "Y-IE", "AY-IE"])
    def test_a_better_candidate_replaces_what_runs(self, name: str) -> None:
        assert ask(named(name), self.view(self.slow, 4, 4)) == self.fast

    @pytest.mark.parametrize("name", ["P-IE", "E-IE", "Y-IE", "AY-IE"])
    def test_what_is_nearly_done_is_kept(self, name: str) -> None:
        assert ask(named(name), self.view(self.slow, 1, 0)) is None

    def test_a_tie_is_no_reason_to_change(self) -> None:
        twins = evolve(self.asked, speeds=(4, 2, 2))
        higher = Running(self.fast, 2, (1,))
        view = View(twins, 0b111, 0b111, 5, Reason.PROACTIVE, higher)
        candidate = ask(named("IE"), evolve(view, reason=Reason.START))
        assert candidate == self.slow
        assert ask(named("E-IE"), view) is None

    def test_the_same_allocation_is_no_change_even_if_begun_afresh(self) -> None:
        assert ask(named("E-IE"), self.view(self.fast, 2, 10)) is None

    def test_a_reclaimed_member_is_valued_as_if_up(self) -> None:
        assert ask(named("E-IE"), self.view(self.fast, 2, 0, up=0b011)) is None
        assert ask(named("E-IE"), self.view(self.fast, 2, 9, up=0b011)) == self.slow

    def test_too_few_up_workers_leave_everything_as_it_is(self) -> None:
        assert ask(named("E-IE"), self.view(self.slow, 4, 9, up=0)) is None

    def test_the_candidate_is_chosen_as_if_no_data_had_been_sent(self) -> None:
        expensive = evolve(self.asked, data=6, speeds=(4, 2, 2))
        running = Running(self.slow, 2, (1,))
        held = {1: 5}
        view = View(expensive, 0b111, 0b110, 5, Reason.PROACTIVE, running, held)
        assert ask(named("E-IE"), view) is None
        outside = Running(Configuration(((0, 1),)), 4, (99,))
        assert ask(named("E-IE"), evolve(view, running=outside, held={2: 6})) == self.slow

    @pytest.mark.parametrize("reason", [Reason.START, Reason.FAILURE])
    def test_where_a_choice_is_due_the_passive_heuristic_makes_it(self, reason: Reason) -> None:
        view = View(self.asked, 0b111, reason=reason, held={0: 1})
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
    def test_only_the_yield_asks_to_be_woken_every_slot(self, name: str, wake: Wake) -> None:
        policy = named(name)
        assert isinstance(policy, Incremental | Proactive | Random)
        assert policy.wake is wake


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


@given(views(), st.data(), st.sampled_from(["E-IE", "P-IAY", "Y-IP", "Y-IY"]))
def test_what_was_asked_in_other_slots_never_changes_an_answer(
    view: View, data: st.DataObject, name: str
) -> None:
    workers = len(view.enrolment.speeds)
    masks = st.integers(0, (1 << workers) - 1)
    everywhere = Running(Configuration(tuple((q, 1) for q in range(workers))), 50, (0,) * workers)
    belief = view.enrolment.belief
    for _ in range(8):
        now = evolve(
            view,
            up=data.draw(masks),
            programmed=data.draw(masks),
            reason=Reason.PROACTIVE,
            running=everywhere,
        )
        afresh = evolve(view.enrolment, belief=Belief(belief.chains, belief.expectation))
        assert ask(named(name), now) == ask(named(name), evolve(now, enrolment=afresh))
