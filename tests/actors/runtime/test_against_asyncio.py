"""The same asyncio program does the same, in the same order, as on asyncio's standard loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from actors.runtime import VirtualTimeLoop
from tests.actors.runtime.programs import TIMELESS, Scripts, Stage, Step, scripts, sleeps

PUNCTUAL = 0.5
"""Slots by which the standard loop may wake late while its order still follows from the program."""


def play(
    program: Scripts,
    loop: Callable[[], asyncio.AbstractEventLoop],
    unit: float = 1.0,
    slots: dict[tuple[int, int], int] | None = None,
) -> Stage:
    async def main() -> Stage:
        stage = Stage(unit, slots or {})
        await stage.run(program)
        return stage

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(main())


def reference(program: Scripts, slots: dict[tuple[int, int], int], ours: Stage) -> Stage:
    """The standard loop's run, with slots so long that this machine keeps to them.

    Lateness shows only where a sleep ends, not where it is cancelled: so a run that differs from
    ours counts only if a slower one differs, too.
    """
    stage = None
    for unit in (0.001, 0.002, 0.004, 0.016, 0.05):
        again = play(program, asyncio.SelectorEventLoop, unit, slots)
        if again.tardiest < PUNCTUAL:
            stage = again
            if stage.trace == ours.trace:
                break
    assume(stage is not None)  # a machine so busy that its clock says nothing about order
    assert stage is not None
    return stage


@settings(max_examples=120)
@given(scripts(TIMELESS))
def test_programs_that_take_no_time_run_in_the_standard_loops_order(program: Scripts) -> None:
    expected = play(program, asyncio.SelectorEventLoop)
    assert play(program, VirtualTimeLoop).trace == expected.trace


@settings(max_examples=20)
@given(st.data())
def test_programs_that_sleep_run_in_the_standard_loops_order(data: st.DataObject) -> None:
    # Half of the steps sleep, until slots that no two sleepers share.
    acts = data.draw(st.lists(st.sampled_from(TIMELESS), min_size=1, max_size=4))
    program = data.draw(scripts([*acts, *[Stage.sleep] * len(acts)], tasks=3, steps=4))
    order = data.draw(st.permutations(sleeps(program)))
    times = iter(range(1, len(order) + 1))
    slots: dict[tuple[int, int], int] = {}
    for task in (task for task, _ in order):
        # A task's own sleeps end in the order of its script.
        following = next(
            place for place in sleeps(program) if place[0] == task and place not in slots
        )
        slots[following] = next(times)
    ours = play(program, VirtualTimeLoop, 1.0, slots)
    assert ours.trace == reference(program, slots, ours).trace


def test_a_trace_shows_programs_apart() -> None:
    """The comparison above can fail: other orders give other traces."""
    one = ((Step(Stage.pause), Step(Stage.set)), (Step(Stage.set),))
    assert play(one, VirtualTimeLoop).trace != play(one[::-1], VirtualTimeLoop).trace


def test_what_a_timer_calls_later_comes_before_what_its_successors_call() -> None:
    """A timer's callback is a round like any other: what is overdue joins the next round."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        ran: list[str] = []

        def due() -> None:
            loop.call_soon(first)
            loop.call_later(0, ran.append, "overdue")

        def first() -> None:
            loop.call_soon(ran.append, "second round")

        loop.call_later(0.001, due)
        await asyncio.sleep(0.002)
        return ran

    for factory in (VirtualTimeLoop, asyncio.SelectorEventLoop):
        with asyncio.Runner(loop_factory=factory) as runner:
            assert runner.run(main()) == ["overdue", "second round"]
