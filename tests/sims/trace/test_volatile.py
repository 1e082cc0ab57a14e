"""The life of an iterative application, as told from its log: worlds checked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from actors.runtime import Record
from policies.interface import Wake
from sims.log import LogFile, LogWriter
from sims.scenario.volatile import VolatileScenario
from sims.trace.account import Part
from sims.trace.families import read_trace
from sims.trace.span import Span
from sims.trace.volatile import IterativeTrace
from sims.world import run
from tests.actors.volatile.test_laws import scenarios
from tests.actors.volatile.worlds import (
    Costs,
    Played,
    Script,
    choice,
    fixed,
    play,
    play_with,
    workers,
    world,
)

Told = tuple[float, float | None, str]


def life(records: list[Record]) -> IterativeTrace:
    trace = IterativeTrace("application")
    for record in records:
        trace(record)
    return trace


def root(played: Played) -> Span:
    found = life(played.records).root
    assert found is not None
    return found


def told(spans: list[Span]) -> list[Told]:
    return [(span.start, span.end, span.title) for span in spans]


def runs(played: Played) -> list[list[Told]]:
    """What is told of each run of the first iteration, but for how it ended."""
    iteration = root(played).children[0]
    return [told(span.children[:-1]) for span in iteration.children if span.title.startswith("run")]


def everything(span: Span) -> Iterator[tuple[Span, Span]]:
    """(parent, child), the whole tree."""
    for child in span.children:
        yield span, child
        yield from everything(child)


def test_a_transfer_that_is_suspended_is_told_in_parts() -> None:
    played = play(world(workers(["uurruuuu"]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert runs(played) == [
        [
            (0, 2, "P1 receives program, 1 slot of it left"),
            (2, 4, "P1 is RECLAIMED"),
            (4, 5, "P1 receives the last 1 slot of program"),
            (5, 6, "computes"),
        ]
    ]


def test_a_transfer_that_a_crash_cuts_is_told_as_lost() -> None:
    played = play(world(workers(["uuduuuuuu"]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert runs(played)[0] == [
        (0, 2, "P1 receives program, lost"),
        (2, 2, "P1 goes DOWN"),
    ]


def test_a_part_that_was_suspended_first_and_lost_later_is_told_so() -> None:
    played = play(world(workers(["uurduuuuuu"]), 1, Costs(program=3), policy=fixed((0, 1))))
    assert runs(played)[0] == [
        (0, 2, "P1 receives program, 1 slot of it left, lost"),
        (2, 3, "P1 is RECLAIMED"),
        (3, 3, "P1 goes DOWN"),
    ]


def test_a_part_that_is_dropped_with_its_worker_is_told_as_lost() -> None:
    """P2 crashes at 1: nobody can take its place, and P1's part goes with its enrolment."""
    platform = workers(["uuuuuuuuu", "uduuuuuuu"])
    costs = Costs(channels=2, program=2)
    played = play(world(platform, 2, costs, policy=fixed((0, 1), (1, 1))))
    assert (0, 1, "P1 receives program, 1 slot of it left, lost") in runs(played)[0]


def test_a_transfer_that_outlives_its_run_is_told_in_both() -> None:
    platform = workers(["uuuuuu", "uddddd", "uuuuuu"])
    script = Script([choice((0, 1), (1, 1)), choice((0, 1), (2, 1))])
    played = play_with(script, world(platform, 2, Costs(channels=3, program=2)))
    first, second = runs(played)
    assert (0, 1, "P1 receives program, goes on in the next run") in first
    assert (1, 2, "P1 goes on receiving program") in second


def test_a_stop_of_the_computation_says_how_much_was_done_and_who_was_away() -> None:
    platform = workers(["uurruuuu", "uuuuuuuu"], speeds=[4, 4])
    played = play(world(platform, 2, policy=fixed((0, 1), (1, 1))))
    assert runs(played) == [
        [
            (0, 2, "computes, 2 slots done by then"),
            (2, 4, "P1 is RECLAIMED"),
            (4, 6, "computes"),
        ]
    ]


def test_who_is_still_away_when_the_run_is_lost_is_told_up_to_there() -> None:
    platform = workers(["uurruuuu", "uuuduuuu"], speeds=[4, 4])
    played = play(world(platform, 2, policy=fixed((0, 1), (1, 1))))
    assert runs(played)[0][1:] == [(2, 3, "P1 is RECLAIMED"), (3, 3, "P2 goes DOWN")]


def test_a_wait_for_a_configuration_is_told_and_no_wait_is_not() -> None:
    platform = workers(["rrrruuuuuddduuuuuu"], speeds=[6])
    iteration = root(play(world(platform, 1))).children[0]
    assert told(iteration.children) == [
        (0, 4, "waits for a configuration"),
        (4, 9, "run 0 (start): P1 x1; 6 slots of work"),
        (9, 12, "waits for a configuration"),
        (12, 18, "run 1 (start): P1 x1; 6 slots of work"),
    ]


def test_a_switch_is_told_as_a_run_that_was_withdrawn() -> None:
    lines = [choice((0, 1)), None, choice((1, 1)), *[None] * 9]
    platform = workers(["u" * 12] * 2, speeds=[4, 4])
    iteration = root(play_with(Script(lines, Wake.EVERY_SLOT), world(platform, 1))).children[0]
    first, second = iteration.children
    assert told(first.children)[-1] == (2, 2, "ended: withdrawn")
    assert second.title == "run 1 (proactive): P2 x1; 4 slots of work"
    assert (second.start, second.end) == (2, 6)


@pytest.mark.parametrize("cap", [3, 5])
def test_a_capped_life_is_closed_everywhere_but_at_its_end(cap: int) -> None:
    """At 3 nothing is enrolled, at 5 something computes."""
    platform = workers(["ddddudd"], speeds=[9])
    trace = life(play(world(platform, 1, cap=cap)).records)
    assert trace.root is not None
    assert trace.account.total == cap


@settings(max_examples=100, deadline=None)
@given(scenarios())
def test_spans_lie_within_their_parents_and_the_account_adds_up(
    scenario: VolatileScenario,
) -> None:
    played = play(scenario)
    trace = life(played.records)
    assert trace.root is not None
    assert trace.account.total == played.time
    computed = trace.account.spent[Part.USEFUL] + trace.account.spent[Part.LOST]
    letters = [set(slot) for slot in zip(*played.rows(), strict=True)]
    assert computed + trace.account.spent[Part.UNSETTLED] == sum("C" in slot for slot in letters)
    for parent, child in everything(trace.root):
        end = played.time if parent.end is None else parent.end
        assert parent.start <= child.start <= end
        assert child.end is None or child.start <= child.end <= end
        assert child.cause is None or child.seq is None or child.cause < child.seq


def test_a_trace_is_the_same_from_a_log_as_from_memory(tmp_path: Path) -> None:
    platform = workers(["uuruuduuuuu", "uuuuuuruuuu"], speeds=[2, 3])
    scenario = world(platform, 2, Costs(program=2, data=1), iterations=2)
    records: list[Record] = []
    with LogWriter(tmp_path / "run.jsonl") as log:
        run(scenario, [records.append, log])
    read = read_trace(LogFile(tmp_path / "run.jsonl"), "application")
    assert read.root == life(records).root
