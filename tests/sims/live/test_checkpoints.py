"""Which states processes keep for each other, and when they forget them; without a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, wait
from threading import Thread, current_thread
from typing import Any, TypeVar

import pytest
from attrs import define, field

from actors.events import CheckpointTaken, PartMeasured, RunEnded, RunStarted, Stage, StageStarted
from actors.runtime import Record, System
from sims.live import holder
from sims.live import live as live_runs
from sims.live.carrier import Carrier
from sims.live.holder import Holder, Peer, hashed
from sims.live.live import LiveResult, live, playable
from sims.live.processes import BUSY, Gone, Processes, Seat
from sims.packing import pack
from sims.scenario.live import LiveSection
from tests.sims.live.worlds import BUDDIES, FREE, RIGID, scenario

T = TypeVar("T")


@define(eq=False)
class Here(Processes):
    """Holders in this process, in place of a cluster's.

    Work that the simulation posts is complete before it goes on, so that a test's order of events
    does not depend on the machine.
    """

    loop: asyncio.AbstractEventLoop = field(factory=asyncio.new_event_loop)
    thread: Thread = field(init=False)
    posted: list[Future[Any]] = field(init=False, factory=list)

    def post(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        self.posted.append(future)
        if current_thread() is not self.thread:
            wait([future])
        return future

    async def call(self, number: int, method: str, *arguments: Any) -> Any:
        seat = self.seats[number]
        holder = seat.holder
        answer, _ = await holder.do(method, *arguments)
        if seat.holder is not holder:
            raise Gone(number)
        return answer

    async def ask(self, peer: Peer, method: str, *arguments: Any) -> Any:
        answer, _ = await self.seats[int(peer[0])].holder.do(method, *arguments)
        return answer

    async def peer(self, number: int) -> Peer:
        return str(number), ""

    async def stop(self, number: int, stopped: bool) -> None:
        """No process is stopped here."""

    async def kill(self, number: int) -> None:
        seat = self.seats[number]
        seat.held.clear()
        seat.holder = Holder(self.packed, False)

    def kept(self) -> list[str]:
        """Names of all states that are left once all work is done."""
        while not all(it.done() for it in self.posted):
            wait(list(self.posted))
        holders = [seat.holder for seat in self.seats.values()]
        return [name for it in holders for name in (*it._kept, *it._states)]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    packed = pack(hashed)
    seats = {k: Seat(k, str(k), str(k), Holder(packed, False)) for k in range(4)}
    for it in seats.values():
        it.ready.set()
    processes = Here(None, True, hashed, packed, seats, starts=[0.01])
    monkeypatch.setattr(holder, "_ask", processes.ask)
    processes.thread = Thread(target=processes.loop.run_forever)
    processes.thread.start()
    yield processes
    processes.loop.call_soon_threadsafe(processes.loop.stop)
    processes.thread.join()
    processes.loop.close()


def lived(here: Here, failing: int | None = None, **sections: Any) -> tuple[LiveResult, list[Any]]:
    """The result of a run of two jobs under buddies, and its events. The process of worker 0 dies
    as its run begins the checkpoint of this number, if any."""
    events: list[Any] = []
    begun: list[StageStarted] = []

    def follow(record: Record) -> None:
        event = record.event
        events.append(event)
        if isinstance(event, StageStarted) and event.stage is Stage.CHECKPOINTING:
            begun.extend([event] if event.job == "J1" else [])
            if len(begun) == failing and event is begun[-1]:
                here.lost(0)

    about = {"protection": BUDDIES, "faults": {"kind": "none"}, "job": RIGID, "live": FREE}
    it = playable(scenario("buddies and a spare", platform={"workers": 4}, **about | sections))
    return live(it, here, sinks=[follow]), events


def taken(events: list[Any], job: str) -> list[float]:
    return [it.done for it in events if isinstance(it, CheckpointTaken) and it.job == job]


def test_members_forget_each_checkpoint_once_the_next_one_is_complete(here: Here) -> None:
    found, events = lived(here)
    assert len(taken(events, "J1")) == 4
    assert all(found.answers.values())
    assert here.kept() == []


def test_members_forget_a_checkpoint_that_a_failure_has_interrupted(here: Here) -> None:
    """All parts of the third one are kept as the failure comes, and the next run begins from the
    second one."""
    found, events = lived(here, failing=3)
    (lost,) = (it for it in events if isinstance(it, RunEnded) and it.outcome.value == "lost")
    again = next(it for it in events if isinstance(it, RunStarted) and it.keeps is not None)
    assert lost.kept
    assert again.begun == taken(events, "J1")[1] == 4
    assert found.missed == 1
    assert all(found.answers.values())
    assert here.kept() == []


def test_members_forget_what_they_kept_while_they_computed_on(here: Here) -> None:
    found, events = lived(here, protection={**BUDDIES, "blocking": False})
    assert taken(events, "J1")
    assert all(found.answers.values())
    assert here.kept() == []


def test_a_carrier_forgets_work_that_has_ended(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Carrier] = []

    def carrier(*about: Any) -> Carrier:
        made.append(Carrier(*about))
        return made[-1]

    monkeypatch.setattr(live_runs, "Carrier", carrier)
    _, events = lived(here, failing=3)
    assert sum(isinstance(it, PartMeasured) for it in events) > 8
    (it,) = made
    assert it._open == {}


def test_a_carrier_forgets_work_that_is_stopped(here: Here) -> None:
    carrier = Carrier(here, LiveSection(), lambda _: (asyncio.sleep(0), ("J1", 0, None)), 1, 1.0)
    carrier.system = System()
    entry = [1.0, 7, None, "a part", 0]
    carrier.begin(entry)
    assert list(carrier._open) == [7]
    carrier.stop(entry)
    assert carrier._open == {}


def test_a_question_whether_a_process_answers_does_not_count_as_its_work() -> None:
    """It is answered while the process is busy with the work, whose time it would count twice."""
    asked: list[str] = []

    class Answering:
        async def do(self, method: str, run: str) -> tuple[int, float]:
            asked.append(f"{method} {run}")
            return 1, 0.5

    async def heard() -> dict[int, float]:
        seat = Seat(0, "0", "0", Answering())
        seat.ready.set()
        processes = Processes(None, True, hashed, pack(hashed), {0: seat}, patience=0.02)
        spent: dict[int, float] = {}
        BUSY.set(spent)
        await processes.heard(0, "J1", "run", asyncio.sleep(0.2))
        return spent

    assert asyncio.run(heard()) == {}
    assert set(asked) == {"reached run"}
