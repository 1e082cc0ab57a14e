"""Coroutine actors wait for their messages where they want them, and do all else that tasks do."""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections.abc import Awaitable, Callable

import pytest
from attrs import define, field

from actors.runtime import (
    NOTHING,
    ActorFailed,
    Deadlock,
    System,
    handles,
    message,
)
from actors.runtime.coroutines import CoroutineActor
from tests.actors.runtime.worlds import Diary, Noted, Say, over, run_to_end


@message
class Number:
    """A number."""

    value: int


@define(eq=False)
class Storyteller(CoroutineActor):
    """Lives the life that a test gives it."""

    tell: Callable[[Storyteller], Awaitable[None]]
    heard: list[tuple[float, object]] = field(factory=list)

    async def run(self) -> None:
        await self.tell(self)

    def note(self, what: object) -> None:
        self.heard.append((self.now, what))

    async def numbers(self, count: int) -> None:
        for _ in range(count):
            it, _ = await self.receive(Number)
            self.note(it.value)


def teller(system: System, tell: Callable[[Storyteller], Awaitable[None]]) -> Storyteller:
    return system.spawn(Storyteller("teller", tell))


def send(system: System, target: Storyteller, *what: object, at: float = 0) -> None:
    """Have a diary of its own send these at a time."""
    loop = system.loop
    for it in what:
        loop.call_at(at, lambda it=it: target.send(target, it, NOTHING))


def test_messages_are_received_in_the_order_in_which_they_came_at_their_times(
    system: System,
) -> None:
    async def life(me: Storyteller) -> None:
        await me.numbers(4)

    it = teller(system, life)
    for value, time in ((1, 0), (2, 3), (3, 3), (4, 7.5)):
        send(system, it, Number(value), at=time)
    run_to_end(system)
    assert it.heard == [(0, 1), (3, 2), (3, 3), (7.5, 4)]


def test_messages_that_come_while_it_does_something_else_wait_in_its_mailbox(
    system: System,
) -> None:
    async def life(me: Storyteller) -> None:
        await me.sleep(5)
        await me.numbers(2)
        await asyncio.sleep(5)
        await me.numbers(1)

    it = teller(system, life)
    for value, time in ((1, 1), (2, 2), (3, 6)):
        send(system, it, Number(value), at=time)
    run_to_end(system)
    assert it.heard == [(5, 1), (5, 2), (10, 3)]


def test_a_message_of_a_class_is_received_before_others_that_keep_their_order(
    system: System,
) -> None:
    async def life(me: Storyteller) -> None:
        first, _ = await me.receive(Number)
        me.note(first.value)
        for _ in range(2):
            it, _ = await me.receive()
            me.note(getattr(it, "text", None))

    it = teller(system, life)
    send(system, it, Say("a"), Say("b"), at=1)
    send(system, it, Number(7), at=2)
    run_to_end(system)
    assert it.heard == [(2, 7), (2, "a"), (2, "b")]


def test_the_cause_comes_with_the_message(system: System) -> None:
    causes: list[int] = []

    async def life(me: Storyteller) -> None:
        _, cause = await me.receive()
        causes.append(cause)

    it = teller(system, life)
    noted = system.journal.record(NOTHING, Noted, "begin")
    it.send(it, Number(1), noted)
    run_to_end(system)
    assert causes == [noted]


@define(eq=False)
class Both(CoroutineActor):
    """Handles what is said, and receives numbers."""

    said: list[str] = field(factory=list)
    numbers: list[int] = field(factory=list)

    @handles(Say)
    def hear(self, it: Say, cause: int) -> None:
        self.said.append(it.text)

    async def run(self) -> None:
        while True:
            it, _ = await self.receive()
            self.numbers.append(it.value)


def test_a_message_with_a_handler_goes_to_its_handler(system: System) -> None:
    it = system.spawn(Both("both"))
    for what in (Number(1), Say("a"), Number(2), Say("b")):
        it.send(it, what, NOTHING)
    run_to_end(system)
    assert (it.said, it.numbers) == (["a", "b"], [1, 2])


def test_an_actor_answers_within_the_turn_of_the_message_that_it_waits_for(
    system: System, diary: Diary
) -> None:
    async def life(me: Storyteller) -> None:
        while True:
            it, cause = await me.receive()
            me.send(diary, Say(f"answer {it.value}"), cause)

    it = teller(system, life)

    def ask() -> None:
        for value in (1, 2):
            it.send(it, Number(value), NOTHING)
            it.send(diary, Say(f"after {value}"), NOTHING)

    system.loop.call_at(1, ask)
    run_to_end(system)
    assert diary.texts() == ["after 1", "after 2", "answer 1", "answer 2"]


def test_it_stops_when_its_life_is_over(system: System) -> None:
    async def life(me: Storyteller) -> None:
        await me.receive()

    it = teller(system, life)
    send(system, it, Number(1), Number(2), at=1)
    over(system, 2)
    system.run()
    assert "teller" not in system.actors


def test_an_error_in_its_life_ends_the_run_and_names_it(system: System) -> None:
    async def life(me: Storyteller) -> None:
        await me.receive()
        await me.sleep(1)
        raise KeyError("own")

    send(system, teller(system, life), Number(1), at=1)
    with pytest.raises(ActorFailed, match="teller failed on its task: KeyError: 'own'") as caught:
        system.run()
    assert isinstance(caught.value.error, KeyError)


def test_an_error_right_after_a_message_ends_the_run_too(system: System) -> None:
    async def life(me: Storyteller) -> None:
        await me.receive()
        raise KeyError("own")

    send(system, teller(system, life), Number(1), at=1)
    with pytest.raises(ActorFailed, match="teller failed"):
        system.run()
    assert system.loop.now == 1


def test_a_deadlock_says_that_it_waits_for_a_message_and_where(system: System) -> None:
    async def inner(me: Storyteller) -> None:
        await me.receive()

    async def life(me: Storyteller) -> None:
        await me.sleep(2)
        await inner(me)

    teller(system, life)
    with pytest.raises(Deadlock) as caught:
        system.run()
    [line] = caught.value.waiting
    assert line.startswith("teller waits in inner (test_coroutines.py, line ")
    assert line.endswith(" for a message")
    assert caught.value.time == 2


def test_a_negative_sleep_is_refused(system: System) -> None:
    async def life(me: Storyteller) -> None:
        await me.sleep(-1)

    teller(system, life)
    with pytest.raises(ActorFailed, match="ValueError: nothing can come at -1"):
        system.run()


# --- with asyncio's tools -------------------------------------------------------------------------


def test_a_wait_for_a_message_can_time_out_and_be_waited_for_again(system: System) -> None:
    async def life(me: Storyteller) -> None:
        for _ in range(2):
            try:
                async with asyncio.timeout(4):
                    it, _ = await me.receive()
                    me.note(it.value)
            except TimeoutError:
                me.note("late")
        await me.numbers(1)

    it = teller(system, life)
    send(system, it, Number(1), at=5)
    send(system, it, Number(2), at=9)
    run_to_end(system)
    assert it.heard == [(4, "late"), (5, 1), (9, 2)]


def test_a_sleep_that_times_out_leaves_no_timer(system: System) -> None:
    async def life(me: Storyteller) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await me.sleep(10)
        await me.sleep(3)
        me.note("awake")
        await me.sleep(20)
        me.note("again")

    it = teller(system, life)
    run_to_end(system, 100)
    assert it.heard == [(4, "awake"), (24, "again")]


def test_other_tasks_of_the_actor_may_receive_and_sleep(system: System) -> None:
    async def life(me: Storyteller) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(me.numbers(2))
            group.create_task(me.sleep(3)).add_done_callback(lambda _: me.note("slept"))
        it, _ = await asyncio.wait_for(me.receive(), 5)
        me.note(it.value)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(me.receive(), 1)
        await me.numbers(1)

    it = teller(system, life)
    for value, time in ((1, 1), (2, 2), (3, 6), (4, 9)):
        send(system, it, Number(value), at=time)
    run_to_end(system)
    assert it.heard == [(1, 1), (2, 2), (3, "slept"), (6, 3), (9, 4)]


def test_it_is_the_current_task_and_has_a_context_of_its_own(system: System) -> None:
    who = contextvars.ContextVar("who", default="nobody")

    async def life(me: Storyteller) -> None:
        who.set(me.name)
        for _ in range(2):
            await me.receive()
            task = asyncio.current_task()
            assert task is not None
            me.note((task.get_name(), who.get()))

    it = teller(system, life)
    send(system, it, Number(1), Number(2), at=1)
    run_to_end(system)
    assert it.heard == [(1, ("teller", "teller"))] * 2
    assert who.get() == "nobody"


def test_an_actor_that_is_stopped_cleans_up(system: System) -> None:
    cleaned: list[float] = []

    async def life(me: Storyteller) -> None:
        try:
            await me.receive()
        finally:
            cleaned.append(me.now)

    it = teller(system, life)
    system.loop.call_at(3, it.stop)
    send(system, it, Number(1), at=4)
    run_to_end(system)
    assert cleaned == [3]
    assert it.heard == []


def test_an_actor_may_cancel_itself(system: System) -> None:
    async def life(me: Storyteller) -> None:
        await me.receive()
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await asyncio.sleep(50)
        except asyncio.CancelledError:
            me.note("cancelled")
            raise

    it = teller(system, life)
    send(system, it, Number(1), at=1)
    run_to_end(system, 100)
    assert it.heard == [(1, "cancelled")]


def test_an_actor_that_is_stopped_before_it_began_never_lives(
    system: System, recwarn: pytest.WarningsRecorder
) -> None:
    async def life(me: Storyteller) -> None:
        me.note("alive")

    it = teller(system, life)
    it.stop()
    run_to_end(system)
    assert it.heard == []
    assert [str(it.message) for it in recwarn if "never awaited" in str(it.message)] == []


# --- beside the plain way -------------------------------------------------------------------------


async def wander(rng: random.Random, me: Storyteller, plain: asyncio.Queue[Number] | None) -> None:
    """Wait for this and that, by our ways or by asyncio's own only."""
    lock = asyncio.Lock()
    for _ in range(60):
        choice, delay = rng.randrange(5), rng.randrange(4)
        try:
            async with asyncio.timeout(rng.choice([1, 2, 50])):
                if choice == 0:
                    await (asyncio.sleep(delay) if plain else me.sleep(delay))
                elif choice == 1:
                    await asyncio.sleep(delay)
                elif choice == 2:
                    async with lock:
                        await asyncio.sleep(delay)
                elif plain is not None:
                    me.note((await plain.get()).value)
                else:
                    me.note((await me.receive())[0].value)
        except TimeoutError:
            me.note("late")
    me.note("end")


@pytest.mark.parametrize("seed", range(20))
def test_it_does_what_a_plain_task_with_a_queue_does_at_the_same_times(seed: int) -> None:
    heard = []
    for plainly in (False, True):
        system, queue = System(), asyncio.Queue[Number]()

        async def life(
            me: Storyteller, plainly: bool = plainly, queue: asyncio.Queue[Number] = queue
        ) -> None:
            await wander(random.Random(seed), me, queue if plainly else None)

        it, rng = teller(system, life), random.Random(-seed)
        for value in range(40):
            # Odd halves: whether a message or a time-out of one instant is first is not compared.
            at = rng.randrange(100) + 0.5
            if plainly:
                system.loop.call_at(at, queue.put_nowait, Number(value))
            else:
                send(system, it, Number(value), at=at)
        run_to_end(system, 5000)
        heard.append(it.heard)
    assert heard[0] == heard[1]
    assert len(heard[0]) > 20


def test_a_coroutine_actor_refuses_what_is_no_message(system: System) -> None:
    async def life(me: Storyteller) -> None:
        await me.receive(Number)

    send(system, teller(system, life), 5, at=1)  # type: ignore[arg-type]
    with pytest.raises(ActorFailed, match=r"a Storyteller expects messages, .* and no int"):
        system.run()
