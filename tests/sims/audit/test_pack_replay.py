"""What a pack's policies say of its log's decisions, and what the log tells for that (003)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve

from actors.events import (
    ApplicationDescribed,
    CheckpointTaken,
    DeciderKind,
    EndExpected,
    MembersPromised,
    PackDescribed,
    PeriodRule,
    RedistributionDecided,
    RunEnded,
    RunStarted,
)
from actors.runtime import Event, Record
from policies.interface.pack import Cause
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.audit.replay.replay import replay
from sims.audit.replay.shadow import Unreplayable
from sims.cli.main import main
from sims.errors import InputError
from sims.scenario.loader import load
from sims.world import run
from tests.sims.audit.anything import cell, pack, records_of, varied_pack

pytestmark = pytest.mark.filterwarnings("ignore")
GOLDEN = Path(__file__).parents[2] / "golden" / "pack.jsonl"
SCENARIOS = Path(__file__).parents[3] / "sims" / "scenarios"
SHIPPED = [path for path in sorted(SCENARIOS.glob("*.toml")) if path.stem.startswith("malleable")]
SEEDS = range(100, 130)
ADDED = {
    PackDescribed.__name__: ("releases",),
    ApplicationDescribed.__name__: (
        *("index", "profile", "times", "rule"),
        *("period", "mtbf", "faultless"),
    ),
}
"""Fields that older logs have not."""


@cache
def varied() -> list[list[Record]]:
    """Logs of packs of all sorts."""
    return list(_varied())


def _varied() -> Iterator[list[Record]]:
    for seed in range(150):
        try:
            yield records_of(varied_pack(seed))
        except InputError:
            continue  # a checkpoint that costs nothing has no period


@cache
def packs() -> list[list[Record]]:
    """Logs of 003's own packs."""
    return [records_of(pack(seed)) for seed in SEEDS]


def of_kind(records: list[Record], kind: type[Event]) -> list[Record]:
    return [record for record in records if isinstance(record.event, kind)]


def altered(records: list[Record], record: Record, **fields: object) -> list[Record]:
    """With other fields of one event."""
    now = evolve(record, event=evolve(record.event, **fields))
    return [*records[: record.seq], now, *records[record.seq + 1 :]]


# --- what is so is found so -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_packs_policies_decide_as_its_log_says(seed: int) -> None:
    assert list(replay(records_of(pack(seed)))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_they_do_so_with_any_hazard_protection_and_communication(seed: int) -> None:
    log = records_of(cell("malleable", seed))
    assert log[0].event.decider is DeciderKind.PACK
    assert list(replay(log)) == []


def test_they_do_so_for_applications_that_have_nothing_in_common() -> None:
    assert [list(map(str, replay(log))) for log in varied()] == [[]] * len(varied())
    assert sum(bool(of_kind(log, RedistributionDecided)) for log in varied()) > 30


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_they_do_so_in_the_examples(path: Path) -> None:
    records: list[Record] = []
    run(load(path), [records.append], path.parent)
    assert list(replay(records)) == []


def test_the_command_replays_a_pack(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(GOLDEN), "--policy"]) == 0
    assert "every law holds, and its policy decides so" in capsys.readouterr().out


# --- what is not so is noticed --------------------------------------------------------------------


def test_a_policy_that_decides_otherwise_is_told_with_what_the_log_tells() -> None:
    log = next(it for it in packs() if of_kind(it, RedistributionDecided))
    told = of_kind(log, RedistributionDecided)[0].event
    started = evolve(log[0], event=evolve(log[0].event, policy="none"))
    (found,) = replay([started, *log[1:]])
    assert found.law is Law.POLICY
    assert f"none would go on with: nothing; the log goes on with: {told}" in found.why


def test_a_decision_with_other_moves_or_for_another_reason_is_not_the_policys() -> None:
    tried = 0
    for log in packs():
        for record in of_kind(log, RedistributionDecided):
            job, before, after = record.event.moves[0]
            others = Cause.END if record.event.why is Cause.FAULT else Cause.FAULT
            for other in (
                altered(log, record, moves=((job, before, after + 6), *record.event.moves[1:])),
                altered(log, record, moves=record.event.moves[1:]),
                altered(log, record, why=others),
            ):
                tried += 1
                assert [found.law for found in replay(other)] == [Law.POLICY]
    assert tried > 100


def test_a_run_on_other_workers_or_a_promise_that_nobody_made_is_not_the_policys() -> None:
    log = packs()[0]
    start = of_kind(log, RunStarted)[0]
    (found,) = replay(altered(log, start, processors=f"{start.event.processors} 99"))
    assert f"start {start.event.job} on {start.event.processors}" in found.why
    promised = next(it for it in packs() if of_kind(it, MembersPromised))
    without = [it for it in promised if not isinstance(it.event, MembersPromised)]
    (found,) = replay(without)
    assert "would go on with: promise T" in found.why


# --- what the log tells for that ------------------------------------------------------------------


def test_the_log_tells_each_applications_own_mtbf_and_rule() -> None:
    jobs = [
        {"protection": {"kind": "buddies", "period": "daly", "mtbf": 4000.0}},
        {"protection": {"kind": "images", "period": 5.0, "cost": 0.5, "mtbf": float("inf")}},
        {"protection": {"kind": "none"}},
        {},
    ]
    table = varied_pack(0) | {
        "job": {"kind": "malleable", "jobs": [{"footprint": 9.0, **job} for job in jobs]},
        "protection": {"kind": "buddies", "period": "young", "mtbf": 2000.0},
        "platform": {"workers": 9},
        "policy": {"name": "EndGreedy"},
    }
    log = records_of({key: it for key, it in table.items() if key not in ("workers", "master")})
    told = [it.event for it in of_kind(log, ApplicationDescribed)]
    assert [(it.rule, it.period, it.mtbf, it.faultless) for it in told] == [
        (PeriodRule.DALY, None, 4000.0, False),
        (PeriodRule.FIXED, 5.0, None, True),
        (PeriodRule.NONE, None, None, False),
        (PeriodRule.YOUNG, None, None, False),
    ]
    assert {it.profile for it in told} == {("kind=synthetic", "fraction=0.08")}
    assert [*audit(log), *replay(log)] == []


def test_a_time_period_or_rule_that_is_not_the_applications_is_noticed_without_the_policy() -> None:
    log = next(it for it in packs() if of_kind(it, CheckpointTaken))
    told = of_kind(log, ApplicationDescribed)[0]
    rule = next(it for it in PeriodRule if it.value in ("young", "daly") and it != told.event.rule)
    for fields, law in (
        ({"profile": ("kind=synthetic", "fraction=0.1")}, Law.DURATION),
        ({"profile": ("kind=synthetic",)}, Law.FRAME),
        ({"times": (3.0, 2.0)}, Law.FRAME),
        ({"index": 7}, Law.FRAME),
        ({"index": None}, Law.FRAME),
        ({"rule": PeriodRule.NONE}, Law.DURATION),
        ({"rule": rule}, Law.DECISION),
        ({"mtbf": 1e6}, Law.DECISION),
        ({"faultless": True}, Law.FRAME),
    ):
        assert law in {it.law for it in audit(altered(log, told, **fields))}, fields


def test_a_run_that_takes_another_time_than_its_profile_says_is_noticed() -> None:
    log = packs()[0]
    for start in of_kind(log, RunStarted):
        laws = {it.law for it in audit(altered(log, start, work=start.event.work * 1.01))}
        assert Law.DURATION in laws


def test_where_the_oldest_copy_is_lost_the_log_tells_where_the_next_one_stands() -> None:
    """What it said last, though it has been the oldest only since then."""
    tried = 0
    for seed in range(400, 460):
        log = records_of(cell("malleable", seed))
        for record in of_kind(log, EndExpected):
            cause = log[record.cause or 0].event
            if not isinstance(cause, RunEnded) or cause.kept or record.event.since is None:
                continue
            tried += 1
            again = altered(log, record, left=record.event.left * 0.9)
            assert Law.DECISION in {it.law for it in audit(again)}
    assert tried > 3


def test_a_pack_that_ends_before_all_its_applications_have_come_is_sound() -> None:
    """The first of them by index would come at 10."""
    jobs = [{"footprint": 9.0, "release": release} for release in (10.0, 0.0, 2.0)]
    log = records_of(
        {
            "name": "any",
            "job": {"kind": "malleable", "cap": 8, "jobs": jobs},
            "platform": {"workers": 6},
            "policy": {"name": "EndGreedy"},
        }
    )
    assert [it.event.index for it in of_kind(log, ApplicationDescribed)] == [1, 2]
    assert [*audit(log), *replay(log)] == []
    assert {it.law for it in audit(log[:-1])} == {Law.FRAME}


def test_an_older_log_is_audited_as_ever_and_what_it_lacks_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = tmp_path / "older.jsonl"
    with older.open("w") as file:
        for line in map(json.loads, GOLDEN.read_text().splitlines()):
            added = ADDED.get(line["event"], ())
            print(json.dumps({key: line[key] for key in line if key not in added}), file=file)
    assert main(["audit", str(older)]) == 0
    assert main(["audit", str(older), "--policy"]) == 2
    assert "does not tell how long an application takes" in capsys.readouterr().err


def test_a_log_that_tells_only_a_part_is_not_replayed() -> None:
    log = packs()[0]
    told = of_kind(log, ApplicationDescribed)[0]
    bare = altered(log, told, **dict.fromkeys(("index", "rule"), None))
    with pytest.raises(Unreplayable, match="t_ij"):
        list(replay(bare))
