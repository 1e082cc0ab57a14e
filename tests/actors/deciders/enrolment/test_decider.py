"""When an enrolment policy is asked, how its answers are checked, and when it diverges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from numpy.random import Generator

from actors.events import End, IterationStarted, RunEnded, RunStarted, WorkerChanged
from actors.runtime import ActorFailed, Event
from policies.enrolment import CATALOGUE
from policies.enrolment import named as policy_named
from policies.interface import Configuration, EnrolmentView, Reason, Wake
from policies.maths.markov import workers_of
from tests.actors.deciders.enrolment.worlds import (
    Costs,
    Played,
    Script,
    choice,
    play,
    play_with,
    workers,
    world,
)

START, FAILURE, PROACTIVE = Reason.START, Reason.FAILURE, Reason.PROACTIVE


# --- when it is asked -----------------------------------------------------------------------------


P1 = choice((0, 1))
Lines = Sequence[Configuration | None]
Asked = list[tuple[int, Reason]]


def asked(
    lines: Lines,
    states: Sequence[str],
    speeds: Sequence[int] = (),
    wake: Wake = Wake.NEVER,
    tasks: int = 1,
    **more: Any,
) -> Asked:
    """When a policy of such answers is asked, in slots since the iteration began, and why."""
    script = Script(lines, wake)
    play_with(script, world(workers(states, speeds), tasks, **more))
    return script.asked


def test_a_passive_policy_is_asked_only_when_something_is_needed() -> None:
    """P2's comings and goings, P1's program and P1's suspension are no questions."""
    states = ["uuuruuudddddddd", "ududrudu" + "u" * 9]
    lines = [P1, choice((1, 1)), choice((1, 1))]
    found = asked(lines, states, [6, 4], costs=Costs(program=1), iterations=2)
    assert found == [(0, START), (7, FAILURE), (0, START)]


def test_a_policy_that_waits_is_asked_again_whenever_a_worker_changes_state() -> None:
    found = asked([None, None, choice((0, 1), (1, 1))], ["ddduuuuu", "rruuuuuu"], tasks=2)
    assert found == [(0, START), (2, START), (3, START)]


def test_after_a_failure_without_replacement_it_is_asked_for_a_start() -> None:
    """What was held is gone by then: nothing makes that decision a failure's any more."""
    assert asked([P1, None, P1], ["uuduuuuu"], [3]) == [(0, START), (2, FAILURE), (3, START)]


@pytest.mark.parametrize(
    ("wake", "states", "speeds", "program", "times"),
    [
        (Wake.EVERY_SLOT, ["u"], [4], 0, (1, 2, 3)),
        # At 1 because of the decision, at 2 for the program, at 4 and 6 for P2's states.
        (Wake.ON_CHANGE, ["u", "uuuurruuuuuu"], [8, 8], 2, (1, 2, 4, 6)),
        # Once for all that happens at an instant.
        (Wake.ON_CHANGE, ["u", "uuudu", "uuuru"], [6, 6, 6], 0, (1, 3, 4)),
    ],
)
def test_a_proactive_policy_is_asked_as_often_as_it_wants(
    wake: Wake, states: list[str], speeds: list[int], program: int, times: tuple[int, ...]
) -> None:
    found = asked([P1, *[None] * 9], states, speeds, wake, costs=Costs(program=program))
    assert found == [(0, START), *((t, PROACTIVE) for t in times)]


def test_the_same_answer_again_is_no_switch() -> None:
    script = Script([choice((0, 1))] * 9, Wake.EVERY_SLOT)
    played = play_with(script, world(workers(["u" * 9], speeds=[4]), 1))
    assert played.outcomes() == [(4, "completed")]


# --- what it sees ---------------------------------------------------------------------------------


@frozen
class Witness:
    """Enrols P1 for good and keeps what it sees."""

    seen: list[tuple[int, int, float, int, list[float]]] = field(factory=list)
    """up, programmed, slots that P1 would lack with 1 task, W left, slots really missing."""
    wake = Wake.EVERY_SLOT

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        running = view.running
        if running is None:
            return choice((0, 2))
        lacks = view.missing(0, 1)
        self.seen.append(
            (view.up, view.programmed, lacks, running.work_left, list(running.missing()))
        )
        return None


def test_the_view_shows_who_is_up_who_has_the_program_and_what_is_left() -> None:
    witness = Witness()
    platform = workers(["uuuuuruuuuu", "uuuduuuuuuu"], speeds=[1, 1])
    play_with(witness, world(platform, 2, Costs(program=2, data=1)))
    assert witness.seen == [
        (0b11, 0b00, 2, 2, [3]),
        (0b11, 0b01, 1, 2, [2]),
        (0b01, 0b01, 0, 2, [1]),
        (0b11, 0b01, 0, 2, [0]),
        (0b10, 0b01, 0, 1, [0]),
        (0b11, 0b01, 0, 1, [0]),
    ]


def test_a_program_that_takes_less_than_a_time_unit_keeps_the_worker_that_has_it() -> None:
    """P1 has the lower index and comes back for the second iteration, but lacks the program."""
    platform = workers(["duuuuuu", "uuuuuuu"], speeds=[2, 2])
    short = Costs(program=0.25, data=0.25)
    played = play_with(policy_named("IE"), world(platform, 1, short, iterations=2))
    assert [members for _, members, _ in played.choices()] == [((1, 1),), ((1, 1),)]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (choice((0, 1)), "it must place 2 tasks in all"),
        (choice((0, 3)), "it must place 2 tasks in all"),
        (choice((1, 1), (0, 1)), "workers must be sorted by index, each once"),
        (choice((0, 1), (0, 1)), "workers must be sorted by index, each once"),
        (choice((2, 2)), "worker 2 is not UP"),
        (choice((3, 2)), "worker 3 is not UP"),
        (choice((4, 2)), "there is no worker 4"),
        (choice((-1, 2)), "there is no worker -1"),
        (choice((0, 2)), "worker 0 takes 1 to 1 tasks"),
        (choice((0, 0), (1, 2)), "worker 0 takes 1 to 1 tasks"),
        (choice((0, 3), (1, -1)), "worker 0 takes 1 to 1 tasks"),
        (choice(), "it must place 2 tasks in all"),
    ],
)
def test_a_bad_decision_is_refused_with_the_policy_and_the_reason(
    answer: Configuration, problem: str
) -> None:
    platform = workers(["uuu", "uuu", "ruu", "duu"], memory=[1, 2, 2, 2])
    with pytest.raises(ActorFailed) as caught:
        play_with(Script([answer]), world(platform, 2))
    assert "policy tests.actors.deciders.enrolment.worlds:Script answered Configuration" in str(
        caught.value
    )
    assert problem in str(caught.value)


@pytest.mark.parametrize("answer", [5, [(0, 2)], Configuration((0, 2))])  # type: ignore[arg-type]
def test_an_answer_of_another_kind_is_refused_with_what_an_answer_is(answer: object) -> None:
    with pytest.raises(ActorFailed, match=r"policy .*:Script answered .*: an answer is None or a"):
        play_with(Script([answer]), world(workers(["uuu"]), 2))  # type: ignore[list-item]


def test_an_error_inside_a_policy_is_reported_with_the_policy() -> None:
    with pytest.raises(
        ActorFailed, match=r"policy .*:Script raised IndexError: .* \(worlds\.py, line "
    ):
        play_with(Script([]), world(workers(["uuu"]), 2))


def test_numpy_numbers_in_an_answer_are_as_good_as_plain_ones() -> None:
    """Read back from a log, they could not be told apart; a log could not hold them as they are."""
    answer = Configuration(((np.int64(0), np.int64(2)),))  # type: ignore[arg-type]
    played = play_with(Script([answer]), world(workers(["uuu"]), 2))
    [(_, members, _)] = played.choices()
    assert members == ((0, 2),)
    assert type(members[0][0]) is type(members[0][1]) is int


# --- what its decisions are due to ----------------------------------------------------------------


def causes(played: Played) -> list[Event]:
    """The event that each run began because of."""
    return [
        played.records[record.cause].event
        for record in played.records
        if isinstance(record.event, RunStarted) and record.cause is not None
    ]


@frozen
class LowestUp:
    """All tasks on the first worker that is UP, to the end; proactive in name only."""

    wake: Wake

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        up = workers_of(view.up)
        return choice((up[0], 1)) if up and view.running is None else None


@pytest.mark.parametrize("wake", Wake)
def test_a_configuration_is_due_to_what_called_for_it(wake: Wake) -> None:
    """P1 crashes at 2 and P2 at 4, to return at 6; P3 changes state at 2 and 4, to no effect."""
    platform = workers(["uuddddddddd", "uuuudduuuuu", "ddrrddddddd"], speeds=[4, 4, 4])
    played = play_with(LowestUp(wake), world(platform, 1, iterations=2))
    assert [t for t, _, _ in played.choices()] == [0, 2, 6, 10]
    assert [type(event) for event in causes(played)] == [
        IterationStarted,
        RunEnded,
        WorkerChanged,
        IterationStarted,
    ]


# --- when it diverges -----------------------------------------------------------------------------


@frozen
class FlipFlop:
    """Always prefers the other worker."""

    wake = Wake.EVERY_SLOT

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        running = view.running
        return choice((1 if running and running.configuration.members[0][0] == 0 else 0, 1))


def flip(costs: Costs, speed: int = 5, states: str = "u" * 9) -> Played:
    platform = workers([states] * 2, speeds=[speed] * 2)
    return play_with(FlipFlop(), world(platform, 1, costs, cap=100_000))


@pytest.mark.parametrize("costs", [Costs(), Costs(program=3), Costs(data=1), Costs(data=5)])
def test_a_policy_that_keeps_changing_its_mind_diverges(costs: Costs) -> None:
    played = flip(costs)
    assert played.end is End.DIVERGED
    assert played.time <= 1100


def test_a_policy_that_changes_its_mind_but_advances_does_not_diverge() -> None:
    """One slot of work is all that there is: it is done before the next change of mind."""
    assert flip(Costs(), speed=1).end is End.COMPLETED


def test_an_erratic_policy_meets_its_own_randomness_again_in_another_run() -> None:
    platform = workers(["u" * 200] * 4)
    scenario = world(platform, 3, iterations=20)
    draws = [play_with(RandomPolicy(), scenario).choices() for _ in range(2)]
    assert draws[0] == draws[1]
    assert len({members for _, members, _ in draws[0]}) > 1


class RandomPolicy:
    """All tasks on a worker drawn at random."""

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        return choice((int(rng.integers(4)), 3))


def test_a_policy_of_its_own_that_says_nothing_of_waking_is_passive() -> None:
    platform = workers(["u" * 9] * 4)
    assert play_with(RandomPolicy(), world(platform, 3)).outcomes() == [(3, "completed")]


def test_all_the_papers_policies_complete_the_same_world() -> None:
    platform = workers(["u" * 60] * 3, speeds=[1, 2, 3])
    for name in CATALOGUE:
        played = play(world(platform, 3, Costs(program=2), policy=policy_named(name)))
        assert played.end is End.COMPLETED, name
