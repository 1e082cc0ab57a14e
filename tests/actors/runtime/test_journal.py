"""The journal: numbers, causes, levels; sinks get what they want, and only that is built."""

from __future__ import annotations

from typing import ClassVar

import pytest
from attrs import Factory, define, field, frozen

from actors.runtime import NOTHING, ActorFailed, Event, Phase, Record, System
from tests.actors.runtime.worlds import Answer, Do, Doer, Noted, over


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
        self.doer.record(NOTHING, Noted, text)

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


def test_an_event_names_the_cause_that_it_is_given_and_tells_its_own_number() -> None:
    world = World()
    record = world.doer.record
    first = record(NOTHING, Noted, "a")
    second = record(first, Noted, "b")
    record(first, Noted, "c")
    assert (first, second) == (0, 1)
    assert [line[2] for line in world.run()] == [None, 0, 0]


def test_a_message_brings_its_cause() -> None:
    world = World()
    doer, heard = world.doer, list[int]()
    for cause in (NOTHING, 7, 3):
        doer.send(doer, Answer(heard.append), cause)
    world.run()
    assert heard == [NOTHING, 7, 3]


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("company", [False, True])
@pytest.mark.parametrize("later", [False, True])
def test_a_timer_brings_its_cause_over_time(phase: Phase, company: bool, later: bool) -> None:
    """Whatever happens in between, and whether it comes alone or with others of its instant."""
    world = World()
    doer, heard = world.doer, list[int]()
    if later:
        doer.later(Answer(heard.append), 7, phase)
    else:
        doer.at(5, Answer(heard.append), 7, phase)
    doer.plan(3, lambda: doer.send(doer, Do(lambda: None), 4))
    if company:
        for each in Phase:
            doer.plan(5, lambda: None, each)
            doer.later(Do(lambda: None), 2, each)
    world.run()
    assert heard == [7]


def test_what_ended_the_run_is_known_when_it_is_over() -> None:
    system = System()
    doer = system.spawn(Doer("doer"))
    doer.plan(1, lambda: system.finish(5))
    doer.plan(1, lambda: system.finish(6))
    system.run()
    assert system.last == 5


# --- who wants what -------------------------------------------------------------------------------


def test_a_sink_gets_only_what_it_wants_with_the_numbers_that_a_full_log_has() -> None:
    noted, whispered = Choosy(frozenset({Noted})), Choosy(frozenset({Whispered}))
    everything: list[Record] = []
    system = System(sinks=[noted, whispered, everything.append], debug=True)
    doer = system.spawn(Doer("doer"))
    for kind in (Noted, Whispered, Noted, Whispered):
        doer.record(NOTHING, kind, "text")
    assert [record.seq for record in noted.records] == [0, 2]
    assert [record.seq for record in whispered.records] == [1, 3]
    assert [record.seq for record in everything] == [0, 1, 2, 3]
    assert [record.cause for record in noted.records] == [None, None]
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
        doer.record(NOTHING, Costly, "text")
    assert built == []
    assert system.journal.length == 3
    assert not system.journal.wants(Costly)
    system.loop.close()


@pytest.mark.parametrize("wanted", [True, False])
def test_costly_arguments_are_computed_only_for_who_wants_the_event(wanted: bool) -> None:
    asked: list[str] = []

    def arguments() -> tuple[str]:
        asked.append("asked")
        return ("text",)

    sink = Choosy(frozenset({Noted} if wanted else ()))
    system = System(sinks=[sink])
    system.journal.record_costly(NOTHING, Noted, arguments)
    assert system.journal.length == 1
    assert asked == ["asked"] * wanted
    assert [record.event for record in sink.records] == [Noted("text")] * wanted
    system.loop.close()


def test_debug_events_do_not_exist_below_debug_level() -> None:
    for debug, expected in ((False, [(0, "a"), (1, "c")]), (True, [(0, "a"), (1, "b"), (2, "c")])):
        world = World(debug=debug)
        world.note("a")
        assert world.doer.record(5, Whispered, "b") == (1 if debug else 5)
        world.note("c")
        assert world.system.journal.wants(Whispered) is debug
        assert [(line[0], line[3]) for line in world.run()] == expected


def test_an_event_takes_its_fields_by_position_or_by_name() -> None:
    world = World()
    world.doer.record(NOTHING, Noted, text="by name")
    assert world.run()[0][3] == "by name"


def test_a_sink_that_fails_ends_the_run() -> None:
    def full(_: Record) -> None:
        raise OSError("disk full")

    failing = System(sinks=[full])
    doer = failing.spawn(Doer("doer"))
    doer.plan(1, lambda: doer.record(NOTHING, Noted, "text"))
    with pytest.raises(ActorFailed, match=r"doer failed on Do.*: OSError: disk full"):
        failing.run()
