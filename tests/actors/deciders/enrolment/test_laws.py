"""Whatever the platform, the availability and the policy: the laws of volatile13, section III
hold."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import End, IterationCompleted, IterationStarted, Outcome, RunEnded
from policies.enrolment import CATALOGUE, named
from policies.maths.markov import MarkovChain
from policies.service import LongestFirst, StartedFirst
from tests.actors.deciders.enrolment.laws import Laws
from tests.actors.deciders.enrolment.worlds import (
    Application,
    Costs,
    Machine,
    World,
    play,
    workers,
    world,
)

CAP = 150


@st.composite
def scenarios(draw: st.DrawFn) -> World:
    """Up to five workers with letters of their own, under any of the papers' policies."""
    size = draw(st.integers(1, 5))
    tasks = draw(st.integers(1, 5))

    def each(strategy: st.SearchStrategy[int]) -> list[int]:
        return draw(st.lists(strategy, min_size=size, max_size=size))

    letters = st.text(alphabet="uuuuuurd", min_size=1, max_size=60)
    platform = workers(
        draw(st.lists(letters, min_size=size, max_size=size)),
        each(st.integers(1, 6)),
        each(st.integers(-(-tasks // size), tasks)),
    )
    costs = Costs(
        channels=draw(st.integers(1, 3)),
        program=draw(st.integers(0, 5)),
        data=draw(st.integers(0, 3)),
        order=draw(st.sampled_from((StartedFirst(), LongestFirst()))),
    )
    policy = named(draw(st.sampled_from(sorted(CATALOGUE))))
    return world(platform, tasks, costs, draw(st.integers(1, 3)), CAP, policy)


@settings(max_examples=300, deadline=None)
@given(scenarios())
def test_channels_memory_lockstep_and_bounds_are_respected(scenario: World) -> None:
    Laws.of(play(scenario).records, scenario)


@settings(max_examples=100, deadline=None)
@given(scenarios())
def test_every_iteration_that_starts_ends_unless_the_run_is_cut(scenario: World) -> None:
    played = play(scenario)
    assert played.end in (End.COMPLETED, End.CAPPED)
    started, completed = len(played.times(IterationStarted)), len(played.times(IterationCompleted))
    assert started == completed + (played.end is End.CAPPED)
    assert completed == scenario.jobs[0].iterations or played.end is End.CAPPED
    won = [event for _, event in played.told(RunEnded) if event.outcome is Outcome.COMPLETED]
    assert len(won) == completed


def eventful() -> World:
    """Twelve workers that come and go, a narrow link: every kind of event happens."""
    chain = MarkovChain(((0.9, 0.06, 0.04), (0.3, 0.65, 0.05), (0.3, 0.0, 0.7)))
    costs = Costs(channels=2, program=4, data=2, order=LongestFirst())
    return World(
        seed=3,
        platform=(Machine(chain, 3, belief=chain),) * 12,
        jobs=(Application(tasks=5, iterations=10, costs=costs),),
        policy=named("Y-IE"),
        costs=costs,
        cap=3000,
    )


def test_the_laws_are_tried_by_every_kind_of_event() -> None:
    what = eventful()
    seen = Laws.of(play(what).records, what).seen
    for kind in (
        *("TransferStarted", "TransferSuspended", "TransferEnded", "TransferDropped"),
        *("StageStarted", "RateChanged", "TasksDealt", "RunEnded"),
    ):
        assert seen[kind] > 10, kind
