"""The journal: numbers, causes, levels; sinks get what they want, and only that is built."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from attrs import frozen

from actors.runtime import NOTHING, ActorFailed, Event, Phase, Record, System
from tests.actors.runtime.worlds import Answer, Do, Doer, Noted, run_to_end


@frozen
class Whispered(Event):
    """Something for the debugger."""

    debug: ClassVar[bool] = True
    text: str


class Choosy(list[Record]):
    """A sink that wants only some events."""

    def __init__(self, *wants: type) -> None:
        self.wants = frozenset(wants)

    def __call__(self, record: Record) -> None:
        self.append(record)


def world(**options: Any) -> tuple[Doer, list[Record]]:
    """A doer, and what is recorded of it."""
    records: list[Record] = []
    return System(sinks=[records.append], **options).spawn(Doer("doer")), records


def test_events_are_numbered_from_0_and_bear_their_time() -> None:
    doer, records = world(start=10)
    for time in (10, 12.5, 12.5):
        doer.plan(time, lambda: doer.record(NOTHING, Noted, "text"))
    run_to_end(doer.system)
    assert [(it.seq, it.t) for it in records] == [(0, 10), (1, 12.5), (2, 12.5)]


def test_an_event_names_the_cause_that_it_is_given_and_shows_its_own_number() -> None:
    doer, records = world()
    first = doer.record(NOTHING, Noted, "a")
    second = doer.record(first, Noted, text="by name")
    doer.record(first, Noted, "c")
    doer.system.loop.close()
    assert (first, second) == (0, 1)
    assert [it.cause for it in records] == [None, 0, 0]
    assert records[1].event == Noted("by name")


def test_a_message_brings_its_cause(system: System, doer: Doer) -> None:
    heard = list[int]()
    for cause in (NOTHING, 7, 3):
        doer.send(doer, Answer(heard.append), cause)
    run_to_end(system)
    assert heard == [NOTHING, 7, 3]


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("company", [False, True])
@pytest.mark.parametrize("later", [False, True])
def test_a_timer_brings_its_cause_over_time(
    system: System, doer: Doer, phase: Phase, company: bool, later: bool
) -> None:
    """Whatever happens in between, and whether it comes alone or with others of its instant."""
    heard = list[int]()
    if later:
        doer.later(Answer(heard.append), 7, phase)
    else:
        doer.at(5, Answer(heard.append), 7, phase)
    doer.plan(3, lambda: doer.send(doer, Do(lambda: None), 4))
    if company:
        for each in Phase:
            doer.plan(5, lambda: None, each)
            doer.later(Do(lambda: None), 2, each)
    run_to_end(system)
    assert heard == [7]


def test_what_ended_the_run_is_known_when_it_is_over(system: System, doer: Doer) -> None:
    doer.plan(1, lambda: system.finish(5))
    doer.plan(1, lambda: system.finish(6))
    system.run()
    assert system.last == 5


def test_a_timer_that_is_still_to_come_can_be_given_another_cause(
    system: System, doer: Doer
) -> None:
    heard = list[int]()
    timer = doer.at(5, Answer(heard.append), 7, Phase.DECISION)
    system.loop.recause(timer, 3)
    run_to_end(system)
    assert heard == [3]


def test_events_that_are_counted_only_move_the_numbers_of_later_ones() -> None:
    doer, records = world()
    doer.record(NOTHING, Noted, "a")
    doer.system.journal.count(3)
    assert doer.record(NOTHING, Noted, "b") == 4
    doer.system.loop.close()
    assert [it.seq for it in records] == [0, 4]


def test_the_first_event_is_the_cause_of_what_comes_from_outside() -> None:
    doer, records = world()
    doer.system.begin(Noted, "begin")
    doer.system.describe(Noted, "a parameter")
    doer.system.loop.close()
    assert [(it.seq, it.cause) for it in records] == [(0, None), (1, 0)]


# --- who wants what -------------------------------------------------------------------------------


def test_a_sink_gets_only_what_it_wants_with_the_numbers_that_a_full_log_has() -> None:
    noted, whispered, everything = Choosy(Noted), Choosy(Whispered), list[Record]()
    system = System(sinks=[noted, whispered, everything.append], debug=True)
    system.loop.close()
    for kind in (Noted, Whispered, Noted, Whispered):
        system.journal.record(NOTHING, kind, "text")
    assert [it.seq for it in noted] == [0, 2]
    assert [it.seq for it in whispered] == [1, 3]
    assert [it.seq for it in everything] == [0, 1, 2, 3]
    assert [it.cause for it in noted] == [None, None]


@pytest.mark.parametrize("sinks", [[Choosy(Whispered)], []])
def test_an_event_that_nobody_wants_is_counted_but_not_built(sinks: list[Choosy]) -> None:
    built: list[str] = []

    @frozen
    class Costly(Noted):
        def __attrs_post_init__(self) -> None:
            built.append(self.text)

    system = System(sinks=sinks)
    system.loop.close()
    for _ in range(3):
        system.journal.record(NOTHING, Costly, "text")
    assert built == []
    assert system.journal.length == 3
    assert not system.journal.wants(Costly)


@pytest.mark.parametrize("wanted", [True, False])
def test_costly_arguments_are_computed_only_for_who_wants_the_event(wanted: bool) -> None:
    asked: list[str] = []

    def arguments() -> tuple[str]:
        asked.append("asked")
        return ("text",)

    sink = Choosy(*[Noted] * wanted)
    system = System(sinks=[sink])
    system.loop.close()
    system.journal.record_costly(NOTHING, Noted, arguments)
    assert system.journal.length == 1
    assert asked == ["asked"] * wanted
    assert [it.event for it in sink] == [Noted("text")] * wanted


@pytest.mark.parametrize(("debug", "expected"), [(False, "ac"), (True, "abc")])
def test_debug_events_do_not_exist_below_debug_level(debug: bool, expected: str) -> None:
    doer, records = world(debug=debug)
    doer.record(NOTHING, Noted, "a")
    assert doer.record(5, Whispered, "b") == (1 if debug else 5)
    doer.record(NOTHING, Noted, "c")
    doer.system.loop.close()
    assert doer.system.journal.wants(Whispered) is debug
    assert [(it.seq, it.event.text) for it in records] == list(enumerate(expected))


def test_a_sink_that_fails_ends_the_run() -> None:
    def full(_: Record) -> None:
        raise OSError("disk full")

    failing = System(sinks=[full])
    doer = failing.spawn(Doer("doer"))
    doer.plan(1, lambda: doer.record(NOTHING, Noted, "text"))
    with pytest.raises(ActorFailed, match=r"doer failed on Do.*: OSError: disk full"):
        failing.run()
