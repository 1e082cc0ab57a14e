"""The journal: numbers, causes, levels; sinks get what they want, and only that is built."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from attrs import Factory, define, field, frozen

from actors.runtime import ActorFailed, Event, Phase, Record, System
from tests.actors.runtime.worlds import Do, Doer, Noted, over


@frozen
class Whispered(Event):
    """Something for the debugger."""

    debug: ClassVar[bool] = True
    text: str


@define(eq=False)
class Choosy:
    """A sink that wants only some events."""

    wants: frozenset[type]
    records: list[Record] = field(factory=list)

    def __call__(self, record: Record) -> None:
        self.records.append(record)


@define
class World:
    """A doer whose events are kept."""

    records: list[Record] = Factory(list)
    debug: bool = False
    start: float = 0.0
    system: System = field(init=False)
    doer: Doer = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.system = System(sinks=[self.records.append], debug=self.debug, start=self.start)
        self.doer = self.system.spawn(Doer("doer"))

    def note(self, text: str) -> None:
        self.doer.record(Noted, text)

    def plan(self, time: float, *texts: str) -> None:
        def note_all() -> None:
            for text in texts:
                self.note(text)

        self.doer.plan(time, note_all)

    def run(self) -> list[tuple[int, float, int | None, str]]:
        over(self.system)
        self.system.run()
        return [
            (record.seq, record.t, record.cause, record.event.text)
            for record in self.records
            if isinstance(record.event, (Noted, Whispered))
        ]


def test_events_are_numbered_from_0_and_bear_their_time() -> None:
    world = World(start=10)
    world.plan(10, "a")
    world.plan(12.5, "b", "c")
    assert [line[:2] for line in world.run()] == [(0, 10), (1, 12.5), (2, 12.5)]


def test_an_event_that_nothing_recorded_led_to_has_no_cause() -> None:
    world = World()
    world.plan(1, "a")
    world.plan(2, "b")
    assert [line[2] for line in world.run()] == [None, None]


def test_the_events_of_one_handler_cause_each_other_in_turn() -> None:
    world = World()
    world.plan(1, "a", "b", "c")
    assert [line[2] for line in world.run()] == [None, 0, 1]


def test_a_message_carries_the_last_event_of_its_handler_as_the_cause() -> None:
    world = World()
    doer = world.doer

    def handle() -> None:
        doer.send(doer, Do(lambda: world.note("sent before")))
        world.note("first")
        doer.send(doer, Do(lambda: world.note("sent between")))
        world.note("second")
        doer.send(doer, Do(lambda: world.note("sent behind")))

    doer.plan(1, handle)
    assert [(line[3], line[2]) for line in world.run()] == [
        *(("first", None), ("second", 0)),
        *(("sent before", None), ("sent between", 0), ("sent behind", 1)),
    ]


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("company", [False, True])
def test_a_timer_carries_its_cause_over_time(phase: Phase, company: bool) -> None:
    """Whatever happens in between, and whether it comes alone or with others of its instant."""
    world = World()
    doer = world.doer

    def handle() -> None:
        world.note("cause")
        doer.plan(5, lambda: world.note("effect"), phase)

    doer.plan(1, handle)
    world.plan(3, "in between")
    if company:
        for each in Phase:
            doer.plan(5, lambda: None, each)
    assert [(line[3], line[2]) for line in world.run()] == [
        *(("cause", None), ("in between", None), ("effect", 0)),
    ]


def test_what_passes_on_a_message_without_an_event_passes_on_its_cause() -> None:
    world = World()
    doer = world.doer

    def pass_on() -> None:
        doer.after(1, Do(lambda: doer.send(doer, Do(lambda: world.note("effect")))))

    def handle() -> None:
        world.note("cause")
        doer.send(doer, Do(pass_on))

    doer.plan(1, handle)
    world.plan(1, "other")
    assert world.run()[-1][2:] == (0, "effect")


def test_tasks_and_callbacks_of_asyncio_carry_causes_too() -> None:
    world = World()
    loop = world.system.loop

    async def life() -> None:
        world.note("task")

    def handle() -> None:
        world.note("cause")
        loop.call_later(1, world.note, "callback")
        world.doer.start(life())

    world.doer.plan(1, handle)
    world.plan(1, "other")
    assert [(line[3], line[2]) for line in world.run()][1:] == [
        *(("other", None), ("task", 0), ("callback", 0)),
    ]


def test_an_actor_that_is_spawned_is_caused_by_its_maker_which_goes_on_by_itself() -> None:
    @define(eq=False)
    class Newcomer(Doer):
        def started(self) -> None:
            self.record(Noted, "child")

    world = World()

    def give_birth() -> None:
        world.note("mother")
        for name in ("one", "two"):
            world.system.spawn(Newcomer(name))
        world.note("mother again")

    world.doer.plan(1, give_birth)
    assert [(line[3], line[2]) for line in world.run()] == [
        *(("mother", None), ("child", 0), ("child", 0), ("mother again", 0)),
    ]


def test_what_follows_the_run_is_caused_by_what_ended_it() -> None:
    world = World()

    async def linger() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            world.note("cleaned up")

    def end() -> None:
        world.note("last")
        world.system.finish()

    world.doer.start(linger())
    world.doer.plan(1, end)
    world.plan(1, "at the same instant")
    world.run()
    world.note("summary")
    assert [(line.event, line.cause) for line in world.records[2:]] == [
        *((Noted("cleaned up"), 0), (Noted("summary"), 0)),
    ]


# --- who wants what -------------------------------------------------------------------------------


def test_a_sink_gets_only_what_it_wants_with_the_numbers_that_a_full_log_has() -> None:
    noted, whispered = Choosy(frozenset({Noted})), Choosy(frozenset({Whispered}))
    everything: list[Record] = []
    system = System(sinks=[noted, whispered, everything.append], debug=True)
    doer = system.spawn(Doer("doer"))
    for kind in (Noted, Whispered, Noted, Whispered):
        doer.record(kind, "text")
    assert [record.seq for record in noted.records] == [0, 2]
    assert [record.seq for record in whispered.records] == [1, 3]
    assert [record.seq for record in everything] == [0, 1, 2, 3]
    assert [record.cause for record in noted.records] == [None, 1]
    system.loop.close()


@pytest.mark.parametrize("wants", [frozenset({Whispered}), None])
def test_an_event_that_nobody_wants_is_counted_but_not_built(wants: frozenset[type] | None) -> None:
    built: list[str] = []

    @frozen
    class Costly(Noted):
        def __attrs_post_init__(self) -> None:
            built.append(self.text)

    sinks = [] if wants is None else [Choosy(wants)]
    system = System(sinks=sinks)
    doer = system.spawn(Doer("doer"))
    for _ in range(3):
        doer.record(Costly, "text")
    assert built == []
    assert system.journal.length == 3
    assert system.loop.cause == 2
    assert not system.journal.wants(Costly)
    system.loop.close()


def test_what_is_described_causes_nothing() -> None:
    records: list[Record] = []
    system = System(sinks=[records.append])
    system.journal.record(Noted, "first")
    system.journal.describe(Noted, "a property")
    system.journal.record(Noted, "second")
    assert [(record.seq, record.cause) for record in records] == [(0, None), (1, 0), (2, 0)]
    system.loop.close()


@pytest.mark.parametrize("wanted", [True, False])
def test_costly_arguments_are_computed_only_for_who_wants_the_event(wanted: bool) -> None:
    asked: list[str] = []

    def arguments() -> tuple[str]:
        asked.append("asked")
        return ("text",)

    sink = Choosy(frozenset({Noted} if wanted else ()))
    system = System(sinks=[sink])
    system.journal.record_costly(Noted, arguments)
    assert system.journal.length == 1
    assert asked == ["asked"] * wanted
    assert [record.event for record in sink.records] == [Noted("text")] * wanted
    system.loop.close()


def test_debug_events_do_not_exist_below_debug_level() -> None:
    for debug, expected in ((False, [(0, "a"), (1, "c")]), (True, [(0, "a"), (1, "b"), (2, "c")])):
        world = World(debug=debug)
        world.note("a")
        world.doer.record(Whispered, "b")
        world.note("c")
        assert world.system.journal.wants(Whispered) is debug
        assert [(line[0], line[3]) for line in world.run()] == expected


def test_an_event_takes_its_fields_by_position_or_by_name() -> None:
    world = World()
    world.doer.record(Noted, text="by name")
    assert world.run()[0][3] == "by name"


def test_a_sink_that_fails_ends_the_run() -> None:
    def full(_: Record) -> None:
        raise OSError("disk full")

    failing = System(sinks=[full])
    doer = failing.spawn(Doer("doer"))
    doer.plan(1, lambda: doer.record(Noted, "text"))
    with pytest.raises(ActorFailed, match=r"doer failed on Do.*: OSError: disk full"):
        failing.run()


def test_the_same_run_gives_the_same_records() -> None:
    def once() -> list[Record]:
        world = World()
        for time in (3, 1, 2, 1):
            world.plan(time, f"a {time}", f"b {time}")
        world.run()
        return world.records

    assert once() == once()
    assert [record.seq for record in once()] == list(range(8))
