"""What the policy that a log names says of the log's decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from actors.events import ChainsBelieved, RunEnded, RunStarted
from actors.intervals import intervals_of, numbers_in, text
from actors.runtime import Record
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.audit.replay.replay import replay
from sims.audit.replay.shadow import Unreplayable
from sims.cli.main import main
from tests.sims.audit.anything import Table, cell, enrolled, pack, queue, records_of, shares
from tests.sims.audit.plain import records_of as plain

pytestmark = pytest.mark.filterwarnings("ignore:.*no buddy")
GOLDEN = Path(__file__).parents[2] / "golden"
SEEDS = range(100, 130)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_queues_policy_decides_as_its_log_says(seed: int) -> None:
    assert list(replay(records_of(queue(seed)))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_policy_of_copies_decides_as_its_log_says(seed: int) -> None:
    assert list(replay(records_of(shares(seed)))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_an_enrolment_policy_decides_as_its_log_says(seed: int) -> None:
    assert list(replay(records_of(enrolled(seed)))) == []


def test_an_enrolment_policy_that_serves_several_jobs_decides_as_its_log_says() -> None:
    for name in ("IE", "Y-IE", "RANDOM"):
        table = enrolled(3)
        common = {"kind": "iterative", "tasks": table["job"]["tasks"], "iterations": 2}
        each = [{**common, "release": release} for release in (0.0, 0.0, 11.0)]
        table["job"] = {"kind": "iterative", "cap": 400, "jobs": each}
        table["policy"]["name"] = name
        records = records_of(table)
        assert len({it.event.job for it in records if isinstance(it.event, RunStarted)}) == 3
        assert list(audit(records)) == []
        assert list(replay(records)) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_queue_of_iterative_jobs_decides_as_its_log_says(seed: int) -> None:
    records = records_of(cell("iterative", seed))
    assert list(replay(records)) == []


def test_another_enrolment_policy_is_told_by_the_first_choice_that_it_would_not_make() -> None:
    compared = 0
    for seed in range(20):
        table = enrolled(seed)
        told = records_of(table)
        for name in ("IE", "IP", "Y-IE"):
            other = records_of({**table, "policy": {**table["policy"], "name": name}})
            if other[1:] != told[1:]:
                compared += 1
                (found,) = replay([other[0], *told[1:]])
                assert "would " in found.why and "; the log tells: " in found.why
    assert compared > 20


def test_what_is_believed_of_workers_decides_whom_a_policy_enrols() -> None:
    """All alike, but one that is believed to go DOWN at once."""
    noticed = 0
    for seed in range(20):
        records = records_of(enrolled(seed))
        at, event = next(
            (k, it.event) for k, it in enumerate(records) if isinstance(it.event, ChainsBelieved)
        )
        ((workers, rows),) = event.chains
        frail = ((0.05, 0.0, 0.95), *rows[1:])
        others = text(intervals_of(numbers_in(workers)[1:]))
        belief = ChainsBelieved((("0", frail), (others, rows)))
        altered = [*records[:at], evolve(records[at], event=belief), *records[at + 1 :]]
        noticed += next(replay(altered), None) is not None
    assert noticed > 3


def named(records: list[Record], policy: str, *settings: str) -> list[Record]:
    first = evolve(records[0].event, policy=policy, settings=settings)
    return [evolve(records[0], event=first), *records[1:]]


def test_the_first_decision_that_another_policy_would_not_take_is_told_with_both() -> None:
    """Five jobs on eight workers; the shortest, of all eight, comes first by SPT."""
    records = plain([(4, 10.0, 0), (2, 6.0, 0), (8, 4.0, 0)], [])
    assert list(replay(named(records, "R-LIST-0", "order=FCFS"))) == []
    (found,) = replay(named(records, "R-LIST-0", "order=SPT"))
    assert found.law is Law.POLICY
    assert "would start j2 on 0-7; the log starts j0 on 0-3, j1 on 4-5" in found.why


def test_a_run_that_starts_later_than_it_could_is_noticed_with_the_policy_and_without() -> None:
    """Two jobs of four on eight workers: the second can start with the first."""
    records = plain([(4, 10.0, 0), (4, 10.0, 0)], [])
    late = [
        evolve(it, t=it.t + 3)
        if isinstance(it.event, RunStarted | RunEnded) and it.event.job == "j1"
        else evolve(it, t=13.5)
        if it.t == 10.5 and getattr(it.event, "job", None) != "j0"
        else it
        for it in records
    ]
    late = [evolve(it, seq=k) for k, it in enumerate(sorted(late, key=lambda it: it.t))]
    laws = {found.law for found in audit(late)}
    assert Law.START in laws
    assert [found.law for found in replay(late)] == [Law.POLICY]


def renamed(make: Callable[[int], Table], seeds: range, policy: str) -> int:
    """Of logs that break no law, how many do so once they name that policy, which never decides as
    they tell."""
    logs = [records_of(make(seed)) for seed in seeds]
    assert all(list(audit(log)) == [] for log in logs)
    return sum(Law.POLICY in {it.law for it in audit(named(log, policy))} for log in logs)


def test_a_policy_that_redistributes_nobody_or_at_ends_only_is_not_one_that_does_otherwise() -> (
    None
):
    seeds = range(20)
    assert renamed(pack, seeds, "none") > renamed(pack, seeds, "EndGreedy") > 2


def test_an_enrolment_policy_that_is_passive_withdraws_no_run() -> None:
    assert renamed(enrolled, range(20), "IE") > 2


def test_what_no_log_tells_is_named_where_a_policy_cannot_be_asked() -> None:
    told = records_of(enrolled(20))
    untold = [it for it in told if not isinstance(it.event, ChainsBelieved)]
    with pytest.raises(Unreplayable, match="believed"):
        next(replay(untold))


def test_the_command_replays_decisions_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(GOLDEN / "rigid.jsonl"), "--policy"]) == 0
    assert "every law holds, and its policy decides so" in capsys.readouterr().out
