"""One order of everything: by time, then phase, then sequence; at exact times."""

from __future__ import annotations

import asyncio
import math

import pytest
from attrs import Factory, define
from hypothesis import example, given
from hypothesis import strategies as st

from actors.runtime import NOTHING, Phase, System, Timer, VirtualTimeLoop
from tests.actors.runtime.worlds import Diary, Do, Doer, Say, over, run_to_end, virtually

UNIX_NOW = 1.7e9


@define
class Planned:
    """A timer to be set: it may set others when it comes, and take one back."""

    delay: float
    phase: Phase
    following: list[Planned]
    cancels: int | None


def planned(*delays: float, depth: int = 0) -> st.SearchStrategy[Planned]:
    # Later ones lie in the future: what a phase does to its own instant is `test_phases`' matter.
    later = st.lists(planned(0.5, 1.0, 2.5, depth=depth - 1), max_size=3) if depth else None
    return st.builds(
        Planned,
        st.sampled_from(delays),
        st.sampled_from(Phase),
        st.just([]) if later is None else later,
        st.none() | st.integers(0, 30),
    )


plans = st.lists(planned(0.0, 0.5, 1.0, 3.0, depth=2), min_size=1, max_size=12)


@define
class Agenda:
    """The plainest of all schedulers: looks through everything for what comes next."""

    now: float = 0.0
    pending: list[tuple[float, Phase, int, Planned]] = Factory(list)
    made: int = 0
    came: list[tuple[float, int]] = Factory(list)

    def set(self, plan: Planned) -> None:
        self.pending.append((self.now + plan.delay, plan.phase, self.made, plan))
        self.made += 1

    def run(self) -> None:
        while self.pending:
            due = min(self.pending, key=lambda entry: entry[:3])
            self.pending.remove(due)
            self.now, _, number, plan = due
            self.came.append((self.now, number))
            self.pending = [entry for entry in self.pending if entry[2] != plan.cancels]
            for following in plan.following:
                self.set(following)


@define
class Tried:
    """The same through an actor's timers."""

    doer: Doer
    timers: list[Timer] = Factory(list)
    came: list[tuple[float, int]] = Factory(list)

    def set(self, plan: Planned) -> None:
        number = len(self.timers)
        message = Do(lambda: self.come(number, plan))
        self.timers.append(self.doer.after(plan.delay, message, NOTHING, plan.phase))

    def come(self, number: int, plan: Planned) -> None:
        self.came.append((self.doer.now, number))
        if plan.cancels is not None and plan.cancels < len(self.timers):
            self.doer.cancel(self.timers[plan.cancels])
        for following in plan.following:
            self.set(following)


@given(plans)
def test_timers_come_by_time_then_phase_then_sequence(plans: list[Planned]) -> None:
    system = System()
    agenda, tried = Agenda(), Tried(system.spawn(Doer("doer")))
    over(system)
    for plan in plans:
        agenda.set(plan)
        tried.set(plan)
    agenda.run()
    system.run()
    assert tried.came == agenda.came


def test_messages_tasks_and_callbacks_of_one_instant_share_one_order(
    system: System, diary: Diary, doer: Doer
) -> None:

    async def sleeper(text: str) -> None:
        await asyncio.sleep(2)
        doer.send(diary, Say(text), NOTHING)

    def write(text: str) -> None:
        doer.send(diary, Say(text), NOTHING)

    doer.plan(2, lambda: write("timer of an actor"))
    system.loop.call_at(2, write, "timer of asyncio")
    doer.plan(2, lambda: write("another timer of an actor"))
    system.loop.call_at(2, write, "another timer of asyncio")
    doer.start(sleeper("task, one round after its timer"))
    run_to_end(system)
    assert diary.heard == [
        (2, "timer of an actor"),
        (2, "timer of asyncio"),
        (2, "another timer of an actor"),
        (2, "another timer of asyncio"),
        (2, "task, one round after its timer"),
    ]


@given(
    st.floats(0, 1e12), st.lists(st.floats(0, 1e6), min_size=1, max_size=8), st.sampled_from(Phase)
)
@example(UNIX_NOW, [0.1] * 8, Phase.WORK_ENDS)
def test_due_times_are_exact_sums_of_floats(
    start: float, delays: list[float], phase: Phase
) -> None:
    async def main() -> list[float]:
        woken = []
        for delay in delays:
            await asyncio.sleep(delay)
            woken.append(asyncio.get_running_loop().time())
        return woken

    expected = [start]
    for delay in delays:
        expected.append(due(expected[-1], delay))
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(start)) as runner:
        assert runner.run(main()) == expected[1:]

    system = System(start=start)
    diary = system.spawn(Diary("diary"))
    over(system, math.nextafter(expected[-1], math.inf))
    for time in expected:
        diary.at(time, Say("due"), NOTHING, phase)
    system.run()
    assert [time for time, _ in diary.heard] == expected


def due(now: float, delay: float) -> float:
    """When a sleep is over: one that ends within this instant takes until the next."""
    end, last = now + delay, VirtualTimeLoop(now).due_by
    return math.nextafter(last, math.inf) if now < end <= last else end


@pytest.mark.parametrize("time", [0.3, 3.6, UNIX_NOW])
def test_times_an_ulp_apart_are_one_instant_that_of_the_earliest(time: float) -> None:
    """In the order of its phases, then of asking."""
    system = System()
    diary = system.spawn(Diary("diary"))
    later = math.nextafter(time, math.inf)
    diary.at(time, Say("service"), NOTHING, Phase.SERVICE)
    diary.at(later, Say("work"), NOTHING, Phase.WORK_ENDS)
    diary.at(math.nextafter(later, math.inf), Say("decision"), NOTHING, Phase.DECISION)
    diary.at(time, Say("more work"), NOTHING, Phase.WORK_ENDS)
    run_to_end(system, 2 * time)
    assert diary.heard == [
        (time, "work"),
        (time, "more work"),
        (time, "decision"),
        (time, "service"),
    ]


@pytest.mark.parametrize("apart", [1e-9, 1e-11])
def test_times_further_apart_are_two_instants(apart: float) -> None:
    system = System()
    diary = system.spawn(Diary("diary"))
    diary.at(3.6, Say("first"), NOTHING, Phase.SERVICE)
    diary.at(3.6 + 3.6 * apart, Say("second"), NOTHING, Phase.WORK_ENDS)
    run_to_end(system)
    assert diary.heard == [(3.6, "first"), (3.6 + 3.6 * apart, "second")]


def test_an_instant_is_no_longer_for_what_is_due_just_within_it() -> None:
    """Else many close together would be one instant, however far the last is from the first."""
    system = System()
    diary = system.spawn(Diary("diary"))
    times = [1 + k * 4e-13 for k in range(6)]
    for time in times:
        diary.at(time, Say("due"), NOTHING)
    run_to_end(system)
    assert [time for time, _ in diary.heard] == [times[0]] * 3 + [times[3]] * 3


@pytest.mark.parametrize("phase", Phase)
def test_what_is_asked_for_an_ulp_from_now_is_due_now(
    system: System, phase: Phase, diary: Diary, doer: Doer
) -> None:
    """Also where its phase has passed; a time an ulp ago has passed."""

    def ask() -> None:
        diary.at(math.nextafter(3.6, 4), Say("now"), NOTHING, phase)
        with pytest.raises(ValueError, match=r"it is 3.6 now"):
            diary.at(math.nextafter(3.6, 3), Say("never"), NOTHING, phase)

    doer.plan(3.6, ask, Phase.DECISION)
    diary.at(3.7, Say("next"), NOTHING)
    run_to_end(system)
    assert diary.heard == [(3.6, "now"), (3.7, "next")]


def test_a_task_that_sleeps_until_a_time_an_ulp_away_comes_to_it() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(3.6)
        until = math.nextafter(loop.time(), math.inf)
        while loop.time() < until:
            await asyncio.sleep(until - loop.time())
        return loop.time()

    assert 3.6 < virtually(main()) < 3.6 * (1 + 2e-12)


def test_a_delay_too_small_to_change_the_time_takes_one_round() -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        ran: list[str] = []
        loop.call_later(1e-12, ran.append, "later")
        loop.call_soon(ran.append, "soon")
        await asyncio.sleep(0)
        assert loop.time() == UNIX_NOW
        return ran

    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(UNIX_NOW)) as runner:
        assert runner.run(main()) == ["soon", "later"]
