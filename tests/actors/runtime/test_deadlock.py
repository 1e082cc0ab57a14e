"""Nothing left to do and work unfinished: an error that names who waits for what, never a hang."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest
from attrs import define

from actors.runtime import NOTHING, Actor, Deadlock, Phase, System, VirtualTimeLoop
from tests.actors.runtime.worlds import Diary, Doer, Say, virtually


@define(eq=False)
class Waiter(Actor):
    """Waits, and says for what."""

    need: str | None

    def waits_for(self) -> str | None:
        return self.need


def deadlock(system: System) -> Deadlock:
    with pytest.raises(Deadlock) as caught:
        system.run()
    return caught.value


def test_a_deadlock_names_when_and_who_waits_for_what(system: System) -> None:
    for name, need in (("job 1", "3 processors"), ("job 2", "job 1"), ("idler", None)):
        system.spawn(Waiter(name, need))
    system.spawn(Diary("diary")).at(7.5, Say("the last thing that happens"), NOTHING)
    error = deadlock(system)
    assert error.time == 7.5
    assert error.waiting == ("job 1 waits for 3 processors", "job 2 waits for job 1")
    assert str(error) == (
        "deadlock at 7.5: nothing left to happen, unfinished: "
        "job 1 waits for 3 processors; job 2 waits for job 1"
    )


def test_a_deadlock_that_nobody_explains_says_so(system: System) -> None:
    assert str(deadlock(system)).endswith("unfinished: nobody says what for")


def test_a_system_in_which_only_cancelled_timers_are_left_is_deadlocked(
    system: System, diary: Diary
) -> None:
    for phase in Phase:
        diary.cancel(diary.at(5, Say("never"), NOTHING, phase))
    diary.at(math.inf, Say("never"), NOTHING)
    assert deadlock(system).time == 0


async def arrivals(queue: asyncio.Queue[int]) -> None:
    await asyncio.sleep(1)
    await queue.get()


def test_a_deadlock_names_the_pending_tasks_of_actors_and_their_places(system: System) -> None:
    """Names with blanks in them, too."""
    source = system.spawn(Doer("source of jobs"))
    source.start(arrivals(asyncio.Queue()))
    (line,) = deadlock(system).waiting
    assert line.startswith("source of jobs waits in arrivals (test_deadlock.py, line ")


def test_a_deadlock_names_the_tasks_that_an_actors_task_has_started(system: System) -> None:
    async def supervise() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(arrivals(asyncio.Queue()), name="helper")

    system.spawn(Doer("source")).start(supervise())
    helper, source = deadlock(system).waiting
    assert helper.startswith("helper waits in arrivals")
    assert source.startswith("source waits in supervise")


def test_stopped_actors_and_ended_tasks_wait_for_nothing(system: System) -> None:
    async def brief() -> None:
        await asyncio.sleep(1)

    waiter, doer = system.spawn(Waiter("gone", "nothing")), system.spawn(Doer("doer"))
    waiter.start(arrivals(asyncio.Queue()))
    doer.start(brief())
    doer.plan(3, waiter.stop)
    assert deadlock(system).waiting == ()


def test_an_asyncio_program_that_cannot_go_on_is_deadlocked() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        async with asyncio.TaskGroup() as group:
            for name in ("b", "a"):
                group.create_task(arrivals(queue), name=name)

    with pytest.raises(Deadlock) as caught:
        virtually(main())
    assert caught.value.time == 1
    assert [line.split(" (")[0] for line in caught.value.waiting if "main" not in line] == [
        "a waits in arrivals",
        "b waits in arrivals",
    ]
    assert any("main" in line for line in caught.value.waiting)


def test_sleeping_for_ever_is_a_deadlock_where_nothing_else_can_happen() -> None:
    with pytest.raises(Deadlock, match="waits in sleep"):
        virtually(asyncio.sleep(math.inf))


def test_a_loop_that_runs_for_ever_with_nothing_to_do_is_deadlocked(
    loop: VirtualTimeLoop,
) -> None:
    with pytest.raises(Deadlock):
        loop.run_forever()
    loop.call_soon(loop.stop)
    loop.run_forever()


def test_tasks_may_clean_up_after_a_deadlock(system: System) -> None:
    cleaned: list[float] = []
    doer = system.spawn(Doer("doer"))

    async def life() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(5)
            cleaned.append(doer.now)

    doer.start(life())
    assert deadlock(system).time == 0
    assert cleaned == [5]


def test_an_error_in_a_report_is_not_blamed_on_whoever_ran_last(system: System) -> None:
    @define(eq=False)
    class Muddled(Actor):
        def waits_for(self) -> str | None:
            names: Sequence[str] = ()
            return names[0]

    system.spawn(Muddled("muddled"))
    system.spawn(Diary("innocent")).at(1, Say("the last thing that happens"), NOTHING)
    with pytest.raises(IndexError):
        system.run()
