"""The order of one instant: work ends, states change, one decision, service, storage."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runtime import NOTHING, Phase, System
from tests.actors.runtime.worlds import Diary, Do, Doer, Say, run_to_end

ORDER = [
    "WORK_ENDS",
    "PARTS_END",
    "RUNS_END",
    "FAULTS_OCCUR",
    "STATES_CHANGE",
    "NOTICES",
    "JOBS_CANCELLED",
    "RUNS_RESUME",
    "DECISION",
    "SERVICE",
    "STORAGE",
    "AGENTS",
]
SOME = [Random(k).sample(list(Phase), len(Phase)) for k in range(40)]
"""Forty of the 479,001,600 orders."""


@pytest.mark.parametrize("planned", SOME)
@pytest.mark.parametrize("time", [0, 5])
def test_phases_come_in_their_order_whatever_the_order_of_asking(
    planned: Sequence[Phase], time: float
) -> None:
    system = System()
    diary = system.spawn(Diary("diary"))
    for phase in planned:
        diary.at(time, Say(phase.name), NOTHING, phase)
    run_to_end(system)
    assert diary.heard == [(time, name) for name in ORDER]


def test_a_phase_begins_when_all_that_the_one_before_led_to_is_handled(
    system: System, diary: Diary, doer: Doer
) -> None:
    """Messages may go back and forth within a phase, by any number of steps."""

    def talk(phase: str, steps: int) -> None:
        doer.send(diary, Say(f"{phase} {steps}"), NOTHING)
        if steps:
            doer.plan(5, lambda: talk(phase, steps - 1))

    for phase in Phase:
        doer.plan(5, lambda phase=phase: talk(phase.name, 3), phase)  # type: ignore[misc]
    run_to_end(system)
    assert diary.texts() == [f"{phase} {steps}" for phase in ORDER for steps in (3, 2, 1, 0)]


def test_all_of_one_phase_come_before_what_the_first_of_them_sends(
    system: System, diary: Diary, doer: Doer
) -> None:
    for number in range(3):
        doer.plan(5, lambda number=number: doer.send(diary, Say(f"sent by {number}"), NOTHING))  # type: ignore[misc]
        diary.at(5, Say(f"due {number}"), NOTHING)
    run_to_end(system)
    assert diary.texts() == ["due 0", "due 1", "due 2", "sent by 0", "sent by 1", "sent by 2"]


def test_work_that_a_decision_starts_and_that_takes_no_time_ends_before_the_service(
    system: System, diary: Diary, doer: Doer
) -> None:

    def decide() -> None:
        diary.after(0, Say("work of no duration"), NOTHING)
        diary.at(5, Say("a state that changes because of it"), NOTHING, Phase.STATES_CHANGE)
        diary.at(5, Say("a second decision"), NOTHING, Phase.DECISION)

    diary.at(5, Say("service"), NOTHING, Phase.SERVICE)
    doer.plan(5, decide, Phase.DECISION)
    run_to_end(system)
    assert diary.texts() == [
        "work of no duration",
        "a state that changes because of it",
        "a second decision",
        "service",
    ]


@given(
    st.lists(st.sampled_from(Phase)),
    st.lists(
        st.tuples(
            st.sampled_from([Phase.STATES_CHANGE, Phase.DECISION, Phase.SERVICE]),
            st.sampled_from(["later", "timer", "timer taken back"]),
        )
    ),
)
def test_what_comes_later_in_an_instant_is_in_order_with_its_timers(
    early: list[Phase], late: list[tuple[Phase, str]]
) -> None:
    system = System()
    diary, doer = system.spawn(Diary("diary")), system.spawn(Doer("doer"))

    def ask() -> None:
        for number, (phase, how) in enumerate(late):
            text = Say(f"{how} {number}")
            if how == "later":
                diary.later(text, NOTHING, phase)
            else:
                timer = diary.at(5, text, NOTHING, phase)
                if how == "timer taken back":
                    diary.cancel(timer)

    doer.plan(5, ask)
    for number, phase in enumerate(early):
        diary.at(5, Say(f"early {number}"), NOTHING, phase)
    run_to_end(system)
    asked = [(phase, f"early {number}") for number, phase in enumerate(early)]
    asked += [(phase, f"{how} {number}") for number, (phase, how) in enumerate(late)]
    expected = [text for _, text in sorted(asked, key=lambda entry: entry[0])]
    assert diary.texts() == [text for text in expected if not text.startswith("timer taken back")]
    assert {time for time, _ in diary.heard} <= {5}


def test_what_a_phase_sends_is_heard_before_what_comes_still_later(
    system: System, diary: Diary, doer: Doer
) -> None:
    diary.later(Say("service"), NOTHING, Phase.SERVICE)
    doer.later(Do(lambda: doer.send(diary, Say("decision"), NOTHING)), NOTHING, Phase.DECISION)
    run_to_end(system)
    assert diary.texts() == ["decision", "service"]


Step = tuple[str, Phase | None, list["Step"]]  # type: ignore[misc]
"""What an actor is told by: a message or a timer; the later phase in which it goes on, if it does;
what it tells others before that."""
steps: st.SearchStrategy[Any] = st.recursive(
    st.just([]),
    lambda inner: st.lists(
        st.tuples(
            st.sampled_from(["message", "timer now", "timer later"]),
            st.sampled_from([None, *Phase]),
            inner,
        ),
        max_size=3,
    ),
    max_leaves=12,
)


def told(way: str, first: list[Step]) -> list[tuple[float, str]]:
    """What an actor hears, and when, that goes on by its method `way`."""
    system = System()
    diary, doer = system.spawn(Diary("diary")), system.spawn(Doer("doer"))

    def act(name: str, step: Step) -> None:
        _, phase, inner = step
        diary.heard.append((system.loop.now, name))
        for number, it in enumerate(inner):
            told = Do(lambda it=it, number=number: act(f"{name}.{number}", it))  # type: ignore[misc]
            if it[0] == "message":
                doer.send(doer, told, NOTHING)
            else:
                late = it[0] == "timer later"
                doer.after(late, told, NOTHING, Phase.FAULTS_OCCUR)
        if phase is not None:
            after = Do(lambda: diary.heard.append((system.loop.now, f"{name} goes on")))
            getattr(doer, way)(after, NOTHING, phase)

    doer.plan(1, lambda: act("", ("timer later", None, first)))
    run_to_end(system)
    return diary.heard


@given(steps)
def test_what_comes_then_is_heard_when_it_would_be_later(first: list[Step]) -> None:
    assert told("then", first) == told("later", first)


def test_the_only_thing_of_an_instant_is_heard_at_once(system: System, doer: Doer) -> None:
    done: list[str] = []

    def ask() -> None:
        assert doer.is_last
        doer.then(Do(lambda: done.append("then")), NOTHING, Phase.DECISION)
        done.append("asked")

    doer.plan(5, ask)
    run_to_end(system)
    assert done == ["then", "asked"]
