"""Failures end the run, with the actor's name and message; so does Ctrl-C, promptly."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator

import pytest
from attrs import define

from actors.runtime import (
    NOTHING,
    ActorFailed,
    Deadlock,
    Phase,
    RuntimeFault,
    System,
    UnexpectedMessage,
    VirtualTimeLoop,
)
from actors.runtime.coroutines import CoroutineActor
from tests.actors.runtime.worlds import Diary, Do, Doer, Say, over, run_to_end, virtually


def fail() -> None:
    raise ValueError("worn out")


async def fail_later() -> None:
    await asyncio.sleep(2)
    fail()


def check(fault: ActorFailed, message: type | str) -> None:
    """The fault names the culprit and its message, and keeps the error, also as its cause."""
    assert fault.actor == "culprit"
    assert fault.message == message if isinstance(message, str) else type(fault.message) is message
    assert isinstance(fault.error, ValueError)
    assert fault.__cause__ is fault.error
    assert str(fault).startswith(f"culprit failed on {fault.message}")
    assert str(fault).endswith(": ValueError: worn out")


def failure(system: System, contained: bool = False) -> ActorFailed:
    with pytest.raises(ActorFailed) as caught:
        system.run(contained)
    return caught.value


def test_an_error_in_a_handler_ends_the_run(system: System) -> None:
    culprit, doer = system.spawn(Doer("culprit")), system.spawn(Doer("doer"))
    diary = system.spawn(Diary("diary"))
    doer.plan(2, lambda: doer.send(culprit, Do(fail), NOTHING))
    diary.at(3, Say("never"), NOTHING)
    check(failure(system), Do)
    assert (system.loop.now, diary.heard) == (2, [])


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("company", [0, 3])
def test_an_error_on_a_timer_names_the_actor_alone_at_its_instant_or_not(
    system: System, phase: Phase, company: int
) -> None:
    for number in range(company):
        system.spawn(Doer(f"before {number}")).plan(2, lambda: None, phase)
    system.spawn(Doer("culprit")).plan(2, fail, phase)
    for number in range(company):
        system.spawn(Doer(f"behind {number}")).plan(2, lambda: None, phase)
    check(failure(system), Do)


def test_an_error_in_an_actors_task_ends_the_run(system: System) -> None:
    culprit, diary = system.spawn(Doer("culprit")), system.spawn(Diary("diary"))
    culprit.start(fail_later())
    diary.at(3, Say("never"), NOTHING)
    check(failure(system), "its task")
    assert (system.loop.now, diary.heard) == (2, [])


async def fail_at_the_end() -> None:
    try:
        await asyncio.sleep(100)
    finally:
        fail()


@pytest.mark.parametrize(
    ("life", "stopped"),
    [
        pytest.param(fail_at_the_end, True, id="while a stopped actor's task cleans up"),
        pytest.param(fail_at_the_end, False, id="while tasks clean up after the end"),
        pytest.param(fail_later, False, id="at the last instant"),
    ],
)
def test_an_error_at_the_end_of_a_task_is_not_lost(
    system: System, life: Callable[[], Coroutine[None, None, None]], stopped: bool
) -> None:
    culprit = system.spawn(Doer("culprit"))
    if life is fail_later:
        culprit.plan(2, lambda: system.finish(NOTHING))
    culprit.start(life())
    if stopped:
        system.spawn(Doer("doer")).plan(5, culprit.stop)
    if life is not fail_later:
        over(system, 10)
    check(failure(system), "its task")


def leave() -> None:
    raise SystemExit(0)


async def leave_later() -> None:
    await asyncio.sleep(2)
    leave()


@define(eq=False)
class Leaver(CoroutineActor):
    """Leaves the program as it is told anything."""

    async def run(self) -> None:
        await self.receive()
        leave()


def test_an_actor_that_leaves_a_contained_program_fails(system: System, doer: Doer) -> None:
    culprit = system.spawn(Doer("culprit"))
    culprit.plan(2, leave)
    fault = failure(system, contained=True)
    assert (fault.actor, str(fault.error)) == ("culprit", "0")


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_task_that_leaves_a_contained_program_fails(
    system: System, doer: Doer, sleeps: bool
) -> None:
    if sleeps:
        system.spawn(Doer("culprit")).start(leave_later())
    else:
        doer.send(system.spawn(Leaver("culprit")), Say("go"), NOTHING)
    fault = failure(system, contained=True)
    assert (fault.actor, type(fault.error)) == ("culprit", SystemExit)


def test_a_program_of_tasks_alone_may_leave() -> None:
    with pytest.raises(SystemExit):
        virtually(leave_later())


def test_an_unexpected_message_keeps_its_error_as_the_cause(
    system: System, diary: Diary, doer: Doer
) -> None:
    doer.send(diary, Do(fail), NOTHING)
    with pytest.raises(ActorFailed, match=r"diary failed on Do.* UnexpectedMessage: ") as caught:
        system.run()
    assert isinstance(caught.value.__cause__, UnexpectedMessage)


def test_the_first_of_several_errors_is_the_one_that_is_raised(system: System) -> None:
    for name in ("culprit", "next", "last"):
        culprit = system.spawn(Doer(name))
        culprit.send(culprit, Do(fail), NOTHING)
        culprit.plan(0, fail)
        culprit.start(fail_later())
    check(failure(system), Do)


def test_after_an_error_no_actor_runs_while_tasks_clean_up(system: System) -> None:
    diary, culprit = system.spawn(Diary("diary")), system.spawn(Doer("culprit"))

    async def life() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(50)
            culprit.send(diary, Say("never"), NOTHING)

    culprit.start(life())
    culprit.plan(1, fail)
    culprit.plan(1, lambda: culprit.send(diary, Say("never"), NOTHING))
    diary.at(20, Say("never"), NOTHING)
    with pytest.raises(ActorFailed):
        system.run()
    assert diary.heard == []


def test_an_actor_may_cancel_its_own_task_without_failing(system: System, doer: Doer) -> None:
    async def life() -> None:
        doer.plan(1, asyncio.current_task().cancel)
        await asyncio.sleep(100)

    doer.start(life())
    run_to_end(system, 2)
    assert system.loop.now == 2


def test_errors_go_from_process_to_process_in_words() -> None:
    """As a campaign's do; a message that names an actor could not."""
    actor = System().spawn(Doer("culprit"))
    actor.system.loop.close()
    fault = ActorFailed("culprit", ("a message that names", actor), ValueError("worn out"))
    copy = pickle.loads(pickle.dumps(fault))
    assert (copy.actor, str(copy)) == ("culprit", str(fault))
    assert isinstance(copy.error, ValueError)
    deadlock = Deadlock(3.5, ["job 1 waits for a processor"])
    assert str(pickle.loads(pickle.dumps(deadlock))) == str(deadlock)


def test_a_system_runs_once(system: System) -> None:
    system.finish(NOTHING)
    system.run()
    with pytest.raises(RuntimeFault, match="has run already"):
        system.run()


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """Sends this process the signal of Ctrl-C; with Python's own handler, as in a user's shell."""
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_run_of_actors_within_a_few_rounds(
    system: System, ctrl_c: Callable[[], None]
) -> None:
    doer, after = system.spawn(Doer("doer")), [0]

    def spin() -> None:
        after[0] += 1
        doer.send(doer, Do(spin), NOTHING)

    def interrupt() -> None:
        ctrl_c()
        spin()

    doer.plan(5, interrupt)
    with pytest.raises(KeyboardInterrupt):
        system.run()
    assert after[0] < 10
    assert system.loop.now == 5


def test_ctrl_c_ends_a_run_that_only_jumps_from_timer_to_timer(
    system: System, ctrl_c: Callable[[], None], doer: Doer
) -> None:

    def tick() -> None:
        doer.after(1, Do(tick), NOTHING)

    tick()
    doer.plan(5.5, ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        system.run()
    assert system.loop.now < 8


def test_ctrl_c_cancels_an_asyncio_program_which_may_clean_up(ctrl_c: Callable[[], None]) -> None:
    ended: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(5, ctrl_c)
        try:
            await asyncio.sleep(1e9)
        finally:
            await asyncio.sleep(2)
            ended.append(loop.time())

    with pytest.raises(KeyboardInterrupt):
        virtually(main())
    assert ended == [7]


def test_without_a_runner_ctrl_c_breaks_the_loop_off_where_it_is(
    loop: VirtualTimeLoop, ctrl_c: Callable[[], None]
) -> None:
    loop.call_later(5, ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(loop.create_future())
    assert loop.time() == 5


def test_an_exit_from_a_handler_is_not_taken_for_a_failure(system: System) -> None:
    def leave() -> None:
        raise SystemExit(3)

    system.spawn(Doer("doer")).plan(1, leave)
    with pytest.raises(SystemExit):
        system.run()
