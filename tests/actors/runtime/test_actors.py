"""Actors: messages in order and one at a time, lives, timers, tasks of their own."""

from __future__ import annotations

import asyncio
import math

import pytest
from attrs import define, field

from actors.runtime import (
    NOTHING,
    Actor,
    ActorFailed,
    Phase,
    RuntimeFault,
    System,
    handles,
    message,
)
from tests.actors.runtime.worlds import Diary, Do, Doer, Say, run_to_end


def test_a_handler_is_through_before_the_next_message_is_handled(
    system: System, diary: Diary, doer: Doer
) -> None:
    """Even a message to oneself waits its turn."""

    def handle() -> None:
        doer.send(doer, Do(lambda: doer.send(diary, Say("next message"), NOTHING)), NOTHING)
        diary.heard.append((doer.now, "rest of the handler"))

    doer.plan(1, handle)
    run_to_end(system)
    assert diary.texts() == ["rest of the handler", "next message"]


def test_a_run_ends_at_once_with_the_result_it_is_given(
    system: System, diary: Diary, doer: Doer
) -> None:
    doer.plan(3, lambda: system.finish(NOTHING, "made it"))
    doer.plan(3, lambda: system.finish(NOTHING, "too late"))
    for time, phase in ((3, Phase.DECISION), (4, Phase.WORK_ENDS)):
        diary.at(time, Say("never"), NOTHING, phase)
    system.run()
    assert system.result == "made it"
    assert system.loop.now == 3
    assert diary.heard == []


def test_what_is_said_at_the_last_instant_is_still_heard_to_its_end(
    system: System, diary: Diary, doer: Doer
) -> None:

    def say(left: int) -> None:
        doer.send(diary, Say(str(left)), NOTHING)
        if left:
            doer.send(doer, Do(lambda: say(left - 1)), NOTHING)

    doer.plan(3, lambda: system.finish(NOTHING))
    doer.plan(3, lambda: say(20))
    system.run()
    assert diary.texts() == [str(left) for left in range(20, -1, -1)]


def test_a_run_may_be_finished_before_it_begins(system: System) -> None:
    system.spawn(Diary("diary")).at(1, Say("never"), NOTHING)
    system.finish(NOTHING, "nothing to do")
    system.run()
    assert (system.result, system.loop.now) == ("nothing to do", 0)


# --- coming and going -----------------------------------------------------------------------------


def test_an_actor_is_started_once_it_belongs_to_its_system() -> None:
    @define(eq=False)
    class NewApplication(Actor):
        began: list[float] = field(factory=list)

        def started(self) -> None:
            self.began.append(self.now)
            assert self.system.actors[self.name] is self

    system = System(start=2)
    newcomer = system.spawn(NewApplication("newcomer"))
    run_to_end(system, 4)
    assert newcomer.began == [2]


def test_actors_can_be_spawned_while_the_run_goes_on(system: System) -> None:
    doer, born = system.spawn(Doer("doer")), []

    def give_birth() -> None:
        child = system.spawn(Diary(f"child of {doer.now}"))
        doer.send(child, Say("welcome"), NOTHING)
        born.append(child)

    doer.plan(1, give_birth)
    doer.plan(2, give_birth)
    run_to_end(system)
    assert [child.heard for child in born] == [[(1, "welcome")], [(2, "welcome")]]


def test_two_actors_of_one_name_are_refused(system: System) -> None:
    system.spawn(Diary("diary"))
    with pytest.raises(RuntimeFault, match="two actors called 'diary'"):
        system.spawn(Doer("diary"))


def test_a_stopped_actor_gets_no_more_messages_and_no_timers(
    system: System, diary: Diary, doer: Doer
) -> None:
    diary.at(1, Say("heard"), NOTHING)
    for phase in Phase:
        diary.at(2, Say("never"), NOTHING, phase)
        diary.at(3, Say("never"), NOTHING, phase)
    doer.plan(1.5, diary.stop)
    doer.plan(2, lambda: doer.send(diary, Say("never"), NOTHING))
    run_to_end(system)
    assert diary.heard == [(1, "heard")]


def test_a_message_under_way_to_an_actor_that_stops_is_lost(
    system: System, diary: Diary, doer: Doer
) -> None:

    def last_words() -> None:
        doer.send(diary, Say("never"), NOTHING)
        diary.stop()

    doer.plan(1, last_words)
    run_to_end(system)
    assert diary.heard == []


def test_stopping_cancels_an_actors_tasks_in_the_order_of_their_making(system: System) -> None:
    doer, ended = system.spawn(Doer("doer")), []

    async def linger(number: int) -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append((number, doer.now))

    for number in range(50):
        doer.start(linger(number))
    system.spawn(Doer("other")).plan(5, doer.stop)
    run_to_end(system)
    assert ended == [(number, 5) for number in range(50)]


def test_the_end_of_the_run_cancels_what_tasks_have_started_in_the_order_of_their_making(
    system: System,
) -> None:
    ended: list[int] = []

    async def wait(number: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    async def live() -> None:
        await asyncio.wait([asyncio.create_task(wait(number)) for number in range(50)])

    system.spawn(Doer("doer")).start(live())
    run_to_end(system, 5)
    assert ended == list(range(50))


def test_an_actor_may_stop_itself_and_stop_twice(system: System, doer: Doer) -> None:
    doer.plan(1, doer.stop)
    system.spawn(Doer("other")).plan(2, doer.stop)
    run_to_end(system)
    assert "doer" not in system.actors


def test_the_name_of_a_stopped_actor_is_free_again(system: System) -> None:
    first, second = Diary("diary"), Diary("diary")
    doer = system.spawn(Doer("doer"))
    system.spawn(first).at(5, Say("never"), NOTHING)

    def replace() -> None:
        first.stop()
        system.spawn(second).at(5, Say("heard"), NOTHING)
        first.stop()  # must not take its successor away

    doer.plan(1, replace)
    run_to_end(system)
    assert (first.heard, second.heard) == ([], [(5, "heard")])
    assert system.actors["diary"] is second


# --- delays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [-1.0, -1e-300, math.nan, -math.inf])
def test_a_delay_that_is_negative_or_no_number_is_refused(delay: float, diary: Diary) -> None:
    with pytest.raises(ValueError, match=r"nothing can come at .*: it is 0\.0 now"):
        diary.after(delay, Say("never"), NOTHING)


@pytest.mark.parametrize("phase", Phase)
def test_a_time_in_the_past_is_refused_in_every_phase(
    system: System, phase: Phase, diary: Diary, doer: Doer
) -> None:
    doer.plan(5, lambda: diary.at(4.5, Say("never"), NOTHING, phase))
    with pytest.raises(ActorFailed, match=r"nothing can come at 4\.5: it is 5 now"):
        system.run()


# --- handlers -------------------------------------------------------------------------------------


@message
class Begin:
    """Begin to work."""


def test_a_subclass_serves_its_own_messages_and_its_parents(system: System) -> None:
    @define(eq=False)
    class Richer(Diary):
        @handles(Begin)
        def begin(self, _: Begin, cause: int) -> None:
            self.heard.append((self.now, "begun"))

    richer, doer = system.spawn(Richer("richer")), system.spawn(Doer("doer"))
    doer.send(richer, Begin(), NOTHING)
    doer.send(richer, Say("said"), NOTHING)
    run_to_end(system)
    assert richer.texts() == ["begun", "said"]


def test_an_actor_is_found_by_its_name(system: System, diary: Diary) -> None:
    assert system.find(diary.name) is diary
    with pytest.raises(RuntimeFault, match="no actor called 'nobody'"):
        system.find("nobody")


def test_a_handler_that_is_a_coroutine_function_is_refused_as_it_is_defined() -> None:
    with pytest.raises(TypeError, match=r"Late\.at_last is a handler, which cannot be `async def`"):

        class Late(Actor):
            @handles(Say)
            async def at_last(self, message: Say, cause: int) -> None:
                pass


def test_two_handlers_of_one_message_in_one_class_are_refused_as_it_is_defined() -> None:
    with pytest.raises(TypeError, match="Twice: first and second both handle Say"):

        class Twice(Actor):
            @handles(Say)
            def first(self, message: Say, cause: int) -> None:
                pass

            @handles(Say)
            def second(self, message: Say, cause: int) -> None:
                pass
