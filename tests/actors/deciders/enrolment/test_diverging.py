"""How many changes of mind in a row are too many, and which count."""

from __future__ import annotations

import pytest
from attrs import define, field
from numpy.random import Generator

from actors.deciders.enrolment import decider
from actors.events import End, RunStarted
from policies.interface import Configuration, EnrolmentView, Reason, Wake
from tests.actors.deciders.enrolment.worlds import Costs, choice, play_with, workers, world


@define
class Moving:
    """Goes from one of two workers to the other at these times, in slots since the iteration
    began; in the first iteration it stays where it is."""

    times: tuple[int, ...]
    wake = Wake.EVERY_SLOT
    iteration: int = field(init=False, default=0)

    def __call__(self, view: EnrolmentView, rng: Generator) -> Configuration | None:
        running = view.running
        if view.reason is not Reason.PROACTIVE or running is None:
            self.iteration += 1
            return choice((0, 1))
        if self.iteration == 1 or view.elapsed not in self.times:
            return None
        return choice((1 - running.configuration.members[0][0], 1))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decider, "PATIENCE", 3)


def moved(times: tuple[int, ...], costs: Costs, speed: int) -> tuple[End, list[float]]:
    """How it ended, and when runs started."""
    what = world(workers(["u"] * 2, speeds=[speed] * 2), 1, costs, iterations=2)
    played = play_with(Moving(times), what)
    return played.end, played.times(RunStarted)


def test_each_iteration_may_have_as_many_fruitless_switches_as_any() -> None:
    """Its datum takes 5 slots, so that whoever switches in each slot never begins to compute."""
    costs = Costs(data=5)
    three, four = (1, 2, 3), (1, 2, 3, 4)
    assert moved(three, costs, 2) == (End.COMPLETED, [0, 7, 8, 9, 10])
    assert moved(four, costs, 2) == (End.DIVERGED, [0, 7, 8, 9, 10])


def test_a_switch_of_who_has_come_nearer_to_the_end_than_ever_begins_the_count_anew() -> None:
    """Runs of 1, 2, 3, 4 and 5 of 9 slots: each is the furthest so far."""
    assert moved((1, 3, 6, 10, 15), Costs(), 9)[0] is End.COMPLETED


def test_a_switch_of_who_has_come_no_nearer_counts() -> None:
    """Runs of 2 of 9 slots, five times: the first was nearer than nothing, three may follow."""
    end, starts = moved((2, 4, 6, 8, 10), Costs(), 9)
    assert (end, starts) == (End.DIVERGED, [0, 9, 11, 13, 15])
