"""An actor's life: states, the table of transitions, and what each state expects."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import ClassVar

import pytest
from attrs import define

from actors.runtime import (
    NOTHING,
    Actor,
    ActorFailed,
    IllegalTransition,
    System,
    handles,
    message,
)
from tests.actors.runtime.worlds import Doer, run_to_end


class Life(enum.Enum):
    """States of the actor below."""

    IDLE = "idle"
    BUSY = "busy"
    GONE = "gone"


@message
class Begin:
    """Begin to work."""


@message
class End:
    """End the work."""


@message
class Become:
    """Change to this state."""

    state: Life


@define(eq=False)
class Machine(Actor):
    """Idle, busy, idle, busy, gone."""

    transitions: ClassVar[Mapping[Life, frozenset[Life]]] = {
        Life.IDLE: frozenset((Life.BUSY,)),
        Life.BUSY: frozenset((Life.IDLE, Life.GONE)),
    }
    initial: ClassVar[Life] = Life.IDLE

    @handles(Begin, during=(Life.IDLE,))
    def begin(self, _: Begin, cause: int) -> None:
        self.become(Life.BUSY)

    @handles(End, during=(Life.BUSY, Life.GONE))
    def end(self, _: End, cause: int) -> None:
        self.become(Life.IDLE)

    @handles(Become)
    def change(self, message: Become, cause: int) -> None:
        self.become(message.state)


def drive(*messages: object) -> Machine:
    system = System()
    machine, doer = system.spawn(Machine("m1")), system.spawn(Doer("doer"))
    for each in messages:
        doer.send(machine, each, NOTHING)
    run_to_end(system, 1)
    return machine


def test_an_actor_moves_along_its_transition_table() -> None:
    assert drive().state is Life.IDLE
    assert drive(Begin(), End(), Begin()).state is Life.BUSY
    assert drive(Begin(), Become(Life.GONE)).state is Life.GONE


def test_a_message_that_a_state_does_not_expect_names_class_state_and_message() -> None:
    with pytest.raises(ActorFailed, match="a Machine that is BUSY does not expect Begin"):
        drive(Begin(), Begin())
    with pytest.raises(ActorFailed, match="a Machine that is IDLE does not expect End"):
        drive(End())


def test_a_transition_that_is_not_in_the_table_names_actor_and_both_states() -> None:
    with pytest.raises(ActorFailed, match=r"m1 cannot go from Life\.IDLE to Life\.GONE"):
        drive(Become(Life.GONE))


def test_a_state_without_a_row_in_the_table_is_final() -> None:
    with pytest.raises(ActorFailed, match=r"m1 cannot go from Life\.GONE to Life\.IDLE"):
        drive(Begin(), Become(Life.GONE), End())


def test_an_actor_that_changes_state_after_it_has_stopped_stays_stopped(system: System) -> None:
    machine, doer = system.spawn(Machine("m1")), system.spawn(Doer("doer"))

    def go() -> None:
        machine.stop()
        machine.become(Life.BUSY)

    doer.plan(1, go)
    doer.plan(2, lambda: doer.send(machine, End(), NOTHING))
    run_to_end(system)
    assert machine.state is Life.BUSY


def test_a_stopped_actor_keeps_to_its_transition_table(system: System) -> None:
    machine = system.spawn(Machine("m1"))
    machine.stop()
    machine.become(Life.BUSY)
    machine.become(Life.IDLE)
    with pytest.raises(IllegalTransition, match=r"m1 cannot go from Life\.IDLE to Life\.GONE"):
        machine.become(Life.GONE)
