"""A system that logs its messages says who received what from whom, and because of what."""

from __future__ import annotations

import enum
import random
from collections.abc import Callable

import pytest
from attrs import define, field

from actors.runtime import (
    NOTHING,
    Actor,
    ActorFailed,
    Livelock,
    Phase,
    Record,
    System,
    handles,
    message,
)
from actors.runtime.coroutines import CoroutineActor
from actors.runtime.deliveries import ActorStarted, MessageReceived, content
from tests.actors.runtime.worlds import Diary, Doer, Noted, Say, over, run_to_end

Received = tuple[float, str | None, str, str, float]


def logged() -> tuple[System, list[Record]]:
    records: list[Record] = []
    return System(sinks=[records.append], messages=True), records


def received(records: list[Record]) -> list[Received]:
    """Time, receiver, class, sender and time of sending of each message."""
    return [
        (it.t, it.actor, it.event.message, it.event.sender, it.event.sent)
        for it in records
        if isinstance(it.event, MessageReceived)
    ]


@message
class Ask:
    """A question."""

    who: Actor
    number: int


@message
class Later:
    """A timer."""


@define(eq=False)
class Answerer(Actor):
    """Notes a question, thinks for a time, and answers."""

    thinks: float
    who: Actor | None = None

    @handles(Ask)
    def ask(self, it: Ask, cause: int) -> None:
        self.who = it.who
        self.after(self.thinks, Later(), self.record(cause, Noted, f"{it.number}"))

    @handles(Later)
    def answer(self, it: Later, cause: int) -> None:
        assert self.who is not None
        self.send(self.who, Say("answer"), cause)


def conversation(system: System) -> None:
    diary, it = system.spawn(Diary("diary")), system.spawn(Answerer("answerer", 3))
    system.loop.call_at(1, lambda: diary.send(it, Ask(diary, 7), NOTHING))
    run_to_end(system, 10)


def test_each_message_is_an_event_that_causes_what_follows_from_it() -> None:
    system, records = logged()
    conversation(system)
    about = [it for it in records if it.actor in ("diary", "answerer")]
    kinds = [(it.seq, it.t, it.cause, it.actor, type(it.event)) for it in about]
    asked = kinds[2][0]
    assert [it[1:] for it in kinds] == [
        (0, None, "diary", ActorStarted),
        (0, None, "answerer", ActorStarted),
        (1, None, "answerer", MessageReceived),
        (1, asked, "answerer", Noted),
        (4, asked + 1, "answerer", MessageReceived),
        (4, asked + 2, "diary", MessageReceived),
    ]
    assert about[1].event == ActorStarted("Answerer")
    assert about[2].event == MessageReceived("Ask", "who diary, number 7", "diary", 1)
    assert about[4].event == MessageReceived("Later", "", "answerer", 1)
    assert about[5].event == MessageReceived("Say", "text answer", "answerer", 4)


def test_a_system_that_does_not_log_messages_records_what_its_actors_record_only() -> None:
    records: list[Record] = []
    system = System(sinks=[records.append])
    conversation(system)
    assert records == [Record(0, 1, None, Noted("7"))]


def test_messages_in_a_later_phase_and_timers_at_a_time_are_logged() -> None:
    system, records = logged()
    doer, diary = system.spawn(Doer("doer")), system.spawn(Diary("diary"))

    def act() -> None:
        diary.later(Say("later"), NOTHING, Phase.DECISION)
        diary.at(5, Say("at"), NOTHING, Phase.NOTICES)

    doer.plan(2, act)
    run_to_end(system, 9)
    assert [it for it in received(records) if it[1] == "diary"] == [
        (2, "diary", "Say", "diary", 2),
        (5, "diary", "Say", "diary", 2),
    ]


def test_a_cancelled_timer_and_a_message_to_a_stopped_actor_are_not_received() -> None:
    system, records = logged()
    doer, diary = system.spawn(Doer("doer")), system.spawn(Diary("diary"))
    diary.cancel(diary.after(1, Say("cancelled"), NOTHING))
    doer.plan(2, diary.stop)
    doer.plan(3, lambda: doer.send(diary, Say("too late"), NOTHING))
    run_to_end(system, 9)
    assert [it for it in received(records) if it[1] == "diary"] == []


@define(eq=False)
class Slow(CoroutineActor):
    """Takes a message every five time units."""

    async def run(self) -> None:
        while True:
            _, cause = await self.receive(Say)
            self.record(await self.sleep(5, cause), Noted, "done")


def test_a_message_in_a_mailbox_is_received_when_it_is_taken() -> None:
    system, records = logged()
    doer, slow = system.spawn(Doer("doer")), system.spawn(Slow("slow"))
    for time in (1, 2):
        doer.plan(time, lambda: doer.send(slow, Say("hi"), NOTHING))
    run_to_end(system, 20)
    assert [it for it in received(records) if it[1] == "slow"] == [
        (1, "slow", "Say", "doer", 1),
        (6, "slow", "Awake", "slow", 1),
        (6, "slow", "Say", "doer", 2),
        (11, "slow", "Awake", "slow", 6),
    ]
    wakes = [it.seq for it in records if getattr(it.event, "message", "") == "Awake"]
    assert [it.cause for it in records if isinstance(it.event, Noted)] == wakes


def test_an_error_names_the_actor_and_the_message_as_without_a_log() -> None:
    told = []
    for system in (System(), logged()[0]):
        it = system.spawn(Answerer("answerer", 1))
        it.send(it, Say("what?"), NOTHING)
        with pytest.raises(ActorFailed) as caught:
            system.run()
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "answerer failed on Say(text='what?')" in told[0]
    assert "a Answerer does not expect Say" in told[0]


def test_a_livelock_names_the_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.runtime.loop.MOST_AT_ONCE", 100)
    system, _ = logged()
    doer = system.spawn(Doer("restless"))

    def again() -> None:
        doer.plan(doer.now, again, Phase.SERVICE)

    doer.plan(1, again)
    with pytest.raises(Livelock, match="restless"):
        system.run()


class Colour(enum.Enum):
    """A colour."""

    RED = "red"


@message
class Mixed:
    """Values of all sorts."""

    actor: Actor
    numbers: tuple[float, ...]
    colour: Colour
    inner: Say
    call: Callable[[], None]
    nothing: None = None


def test_a_messages_content_is_its_fields_as_text_without_addresses() -> None:
    it = Mixed(Diary("diary"), (1, 2.5), Colour.RED, Say("hi"), lambda: None)
    expected = "actor diary, numbers (1 2.5), colour red, inner Say(text hi), call function"
    assert content(it) == f"{expected}, nothing None"
    assert content("a word") == "a word"


# --- the same run ---------------------------------------------------------------------------------


@define(eq=False)
class Gossip(Actor):
    """Tells others what it hears, at once, later or after a while, at random."""

    rng: random.Random
    others: list[Actor] = field(factory=list)

    @handles(Say)
    def hear(self, it: Say, cause: int) -> None:
        mine = self.record(cause, Noted, f"{self.name} {it.text}")
        if len(it.text) > 6:
            return
        for letter in "ab":
            told, other = Say(it.text + letter), self.rng.choice(self.others)
            match self.rng.randrange(4):
                case 0:
                    self.after(self.rng.randrange(3), told, mine)
                case 1:
                    self.later(told, cause, self.rng.choice([Phase.NOTICES, Phase.DECISION]))
                case _:
                    self.send(other, told, mine)


@define(eq=False)
class Scribe(CoroutineActor):
    """Tells others what it hears, after a while."""

    rng: random.Random
    others: list[Actor] = field(factory=list)

    async def run(self) -> None:
        while True:
            it, cause = await self.receive()
            cause = await self.sleep(self.rng.randrange(3), cause)
            self.record(cause, Noted, f"{self.name} {it.text}")
            self.send(self.others[0], Say(it.text + "s" * 3), cause)


@pytest.mark.parametrize("seed", range(20))
def test_a_run_whose_messages_are_logged_is_the_same_run(seed: int) -> None:
    runs = []
    for messages in (False, True):
        records: list[Record] = []
        system = System(sinks=[records.append], messages=messages)
        actors: list[Actor] = [
            system.spawn((Scribe if k == 2 else Gossip)(f"actor {k}", random.Random(seed + k)))
            for k in range(4)
        ]
        for it in actors:
            it.others = actors  # type: ignore[attr-defined]
        actors[0].send(actors[0], Say(""), NOTHING)
        over(system, 100)
        system.run()
        # What a message caused is caused by what caused the message.
        through: dict[int | None, int | None] = {None: None}
        told: dict[int | None, tuple[object, ...]] = {None: ()}
        for it in records:
            if isinstance(it.event, Noted):
                told[it.seq] = it.t, it.event, told[through.get(it.cause, it.cause)]
            else:
                through[it.seq] = through.get(it.cause, it.cause)
        runs.append(list(told.values()))
    assert runs[0] == runs[1]
    assert len(runs[0]) > 10
