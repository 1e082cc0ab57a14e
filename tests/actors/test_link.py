"""The master's channels: who is served, what is kept (WORLD.md, L)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import pytest
from attrs import frozen

from actors.decisions import BadDecision
from actors.events import TransferDropped, TransferEnded, TransferStarted, TransferSuspended
from actors.protection import ProtectionKind
from actors.runtime import ActorFailed
from tests.actors.worlds import Task, World, of, runs


def spans(records) -> list[tuple[float, int, str, float]]:
    return [
        (r.t, r.event.worker, r.event.kind.value, r.event.left)
        for r in of(records, TransferStarted)
    ]


def test_no_more_messages_than_channels_are_under_way() -> None:
    records = World(workers=3, channels=2).run(Task(processors=3, program=4, time=1))
    assert spans(records) == [(0, 0, "program", 4), (0, 1, "program", 4), (4, 2, "program", 4)]


def test_a_member_receives_the_program_then_its_data_then_the_image() -> None:
    task = Task(
        time=8, program=1, data=2, image=3, kind=ProtectionKind.IMAGES, period=4, processors=1
    )
    records = World(workers=1, channels=1, faults=[(11, 0)], downtime=1).run(task)
    kinds = [kind for _, _, kind, _ in spans(records)]
    assert kinds == ["program", "data", "save", "program", "data", "image"]
    assert runs(records)[1][6] == 4


def test_a_reclaimed_worker_gives_its_channel_up_and_resumes_where_it_stopped() -> None:
    records = World(owners=["uurruuuu", "u"], channels=1).run(
        Task(program=4, time=1), Task(program=4, time=1)
    )
    assert spans(records) == [
        (0, 0, "program", 4),
        (2, 1, "program", 4),
        (6, 0, "program", 2),
    ]
    assert [(r.t, r.event.left) for r in of(records, TransferSuspended)] == [(2, 2)]


def test_down_loses_a_message_and_the_memory() -> None:
    records = World(owners=["uuudu"], channels=1).run(Task(program=2, data=2, time=5))
    assert [(r.t, r.event.kind.value) for r in of(records, TransferDropped)] == [(3, "data")]
    assert [kind for _, _, kind, _ in spans(records)] == ["program", "data", "program", "data"]


def test_who_held_the_program_once_needs_only_data_for_the_next_run() -> None:
    records = World(workers=1, channels=1).run(Task(program=2, data=1, time=5, failures=[1, 0]))
    ended = [(r.t, r.event.kind.value) for r in of(records, TransferEnded)]
    assert ended == [(2, "program"), (3, "data"), (9, "data")]


def test_no_channel_is_asked_for_what_takes_no_time() -> None:
    records = World(workers=2, channels=1).run(Task(processors=2, time=5))
    assert not of(records, TransferStarted)
    assert runs(records)[0][4] == 5


# --- orders of service that answer wrongly --------------------------------------------------------


@frozen
class Answering:
    """Answers with what is made of those that wait."""

    make: Callable[[list[Any]], object]
    every_slot = False

    def __call__(self, waiting: Sequence[Any], channels: int, now: float) -> Any:
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
    world = World(workers=3, channels=1, order=Answering(make))
    with pytest.raises(ActorFailed, match=problem) as failed:
        world.run(Task(processors=3, program=5, time=1))
    assert isinstance(failed.value.error, BadDecision)
    assert "test_link:Answering" in str(failed.value)
    assert "now = 0, waiting: [" in str(failed.value)
