"""Whatever fails whenever: work and processor-seconds add up (malleable17; fatal failures are our
own)."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    FaultIgnored,
    JobCompleted,
    Outcome,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    WhyIgnored,
    WorkerChanged,
)
from actors.protection import ProtectionKind
from actors.runtime import Event, Record, System
from policies.pack import NAMES, LookAhead
from sims.ledger import account
from sims.scenario.build import populate
from sims.scenario.faults import YEAR, ListedFaults
from sims.scenario.jobs.section import MalleableSection
from sims.scenario.master import LinkSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import Fatal, ProtectionSection
from sims.scenario.scenario import Scenario
from tests.sims.malleable_work import WorkReplay, numbers

P = 13
"""Processors of the small platform; the last one has no buddy and stays unused."""


@define
class Log:
    """Keeps everything."""

    records: list[Record] = field(factory=list)

    def __call__(self, record: Record) -> None:
        self.records.append(record)

    def all(self, kind: type[Event]) -> list[Record]:
        return [record for record in self.records if isinstance(record.event, kind)]

    def losses(self) -> list[Record]:
        """Runs that a fault ended."""
        ended = self.all(RunEnded)
        return [r for r in ended if r.event.outcome is Outcome.LOST]  # type: ignore[attr-defined]


def small(
    strikes: tuple[tuple[float, int], ...] = (),
    policy: str = "IteratedGreedy-EndGreedy",
    fatal: Fatal = Fatal.POSSIBLE,
    downtime: float = 5e4,
) -> Scenario:
    return Scenario(
        name="small",
        platform=PlatformSection(workers=P),
        job=MalleableSection(kind="malleable", footprints=(1e5, 1.6e5, 2.5e5, 4e4)),
        link=LinkSection(unit=1.0, startup=1e4),
        faults=ListedFaults(kind="list", strikes=strikes, downtime=downtime),
        protection=ProtectionSection(
            kind=ProtectionKind.BUDDIES, period="young", mtbf=YEAR, fatal=fatal
        ),
        policy=PolicySection(name=policy, look=LookAhead.ANY),
    )


def play(scenario: Scenario) -> tuple[Log, WorkReplay]:
    log, work = Log(), WorkReplay()
    system = System(scenario.seed, [log, work])
    populate(scenario, system, Path())
    system.run()
    return log, work


def check(log: Log, work: WorkReplay) -> None:
    assert len(log.all(JobCompleted)) == 4
    assert work.problems == []
    ledger = account(log.records, P)
    assert float(sum(ledger.total.values())) == pytest.approx(P * log.records[-1].t, rel=1e-9)


def ends_and_changes(policy: str, fatal: Fatal) -> list[float]:
    """Every time at which something happens without a fault."""
    log, _ = play(small((), policy, fatal))
    return sorted({record.t for record in log.records})


@settings(max_examples=60, deadline=None)
@given(
    policy=st.sampled_from(NAMES),
    fatal=st.sampled_from(list(Fatal)),
    strikes=st.lists(
        st.tuples(st.floats(0, 6e6, allow_nan=False), st.integers(0, P - 1)), max_size=12
    ),
)
def test_work_and_processor_seconds_add_up_whenever_any_processor_fails(
    policy: str, fatal: Fatal, strikes: list[tuple[float, int]]
) -> None:
    check(*play(small(tuple(strikes), policy, fatal)))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), policy=st.sampled_from(NAMES), fatal=st.sampled_from(list(Fatal)))
def test_they_add_up_when_faults_chase_every_stage_of_the_first_one(
    data: st.DataObject, policy: str, fatal: Fatal
) -> None:
    first = data.draw(st.sampled_from(ends_and_changes(policy, fatal)))
    struck = data.draw(st.integers(0, P - 1))
    delays = data.draw(st.lists(st.floats(0, 3e5), min_size=1, max_size=4))
    others = data.draw(st.lists(st.integers(0, P - 1), min_size=4, max_size=4))
    chase = [(first + d, q) for d, q in zip(delays, others, strict=False)]
    buddy = [(first + d / 2, struck ^ 1) for d in delays if struck < P - 1]
    check(*play(small(((first, struck), *chase, *buddy), policy, fatal)))


STAGES = [Stage.CHECKPOINTING, Stage.RECOVERING, Stage.REDISTRIBUTING]


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_in_every_stage_counts_where_fatal_failures_are_possible(stage: Stage) -> None:
    log, _ = play(small(((1.1e6, 4),)))
    busy = next(r for r in log.all(StageStarted) if r.event.stage is stage)  # type: ignore[attr-defined]
    after = next(r.t for r in log.records if r.t > busy.t)
    held = next(q for q in range(P - 1) if _holder(log, q, busy.t) == busy.event.job)  # type: ignore[attr-defined]
    strikes = tuple(sorted(((1.1e6, 4), ((busy.t + after) / 2, held))))
    log, work = play(small(strikes))
    check(log, work)
    assert (busy.t + after) / 2 in [record.t for record in log.losses()]


def _holder(log: Log, processor: int, time: float) -> str:
    holder = ""
    for record in log.all(RunStarted):
        event = record.event
        assert isinstance(event, RunStarted)
        if record.t <= time and processor in numbers(event.processors):
            holder = event.job
    return holder


def _just_after_a_checkpoint() -> tuple[float, int]:
    log, _ = play(small())
    first = log.all(CheckpointTaken)[0]
    job = first.event.job  # type: ignore[attr-defined]
    return first.t + 1, next(q for q in range(P) if _holder(log, q, first.t) == job)


@pytest.mark.parametrize(
    ("after", "on_buddy", "fatal", "losses", "lost"),
    [
        pytest.param(1e4, True, Fatal.POSSIBLE, 1, 1, id="while members are down"),
        pytest.param(6e4, True, Fatal.POSSIBLE, 1, 1, id="during the recovery"),
        pytest.param(6e4, True, Fatal.IGNORED, 1, 0, id="the same in the paper's model"),
        pytest.param(2e6, True, Fatal.POSSIBLE, 2, 0, id="after the recovery"),
        pytest.param(6e4, False, Fatal.POSSIBLE, 2, 0, id="on the same processor"),
    ],
)
def test_a_second_fault_is_fatal_on_the_buddy_until_all_is_recovered(
    after: float, on_buddy: bool, fatal: Fatal, losses: int, lost: int
) -> None:
    """`losses`: runs that a fault ends, where nothing saved is lost."""
    time, processor = _just_after_a_checkpoint()
    second = time + after, processor ^ on_buddy
    log, work = play(small(((time, processor), second), fatal=fatal))
    check(log, work)
    assert [record.t for record in log.all(CheckpointLost)] == [second[0]] * lost
    restarts, ignored = log.all(RestartedFromScratch), log.all(FaultIgnored)
    assert [it.cause for it in restarts] == [it.seq for it in log.all(CheckpointLost)]
    assert all(it.event.lost > 0 for it in restarts)  # type: ignore[attr-defined]
    assert lost or len(log.losses()) == losses
    whys = [it.event.why for it in ignored]  # type: ignore[attr-defined]
    assert whys == [WhyIgnored.BUSY] * (fatal is Fatal.IGNORED)


def test_both_buddies_lost_with_nothing_saved_yet_is_told_all_the_same() -> None:
    log, work = play(small(((10.0, 0), (20.0, 1))))
    check(log, work)
    (lost,) = log.all(CheckpointLost)
    assert isinstance(lost.event, CheckpointLost)
    assert lost.event.workers == (0, 1)


def test_the_same_two_faults_are_harmless_in_the_papers_model() -> None:
    time, processor = _just_after_a_checkpoint()
    strikes = ((time, processor), (time + 6e4, processor ^ 1))
    log, work = play(small(strikes, fatal=Fatal.IGNORED))
    check(log, work)
    assert not log.all(CheckpointLost)
    (ignored,) = log.all(FaultIgnored)
    assert isinstance(ignored.event, FaultIgnored)
    assert ignored.event.why is WhyIgnored.BUSY


def test_a_fault_on_the_processor_that_is_left_over_changes_nothing() -> None:
    log, _ = play(small(((5.0, P - 1),), fatal=Fatal.IGNORED))
    (ignored,) = log.all(FaultIgnored)
    assert isinstance(ignored.event, FaultIgnored)
    assert (ignored.event.job, ignored.event.why) == (None, WhyIgnored.IDLE)
    assert not log.all(WorkerChanged)


def test_where_every_fault_counts_an_idle_worker_is_down_and_nobody_gets_it() -> None:
    log, work = play(small(((5.0, P - 1),)))
    check(log, work)
    assert [record.t for record in log.all(WorkerChanged)] == [5.0, 5.0 + 5e4]
    assert not log.losses()


def test_without_checkpoints_a_fault_restarts_the_application() -> None:
    bare = {"protection": ProtectionSection(), "policy": PolicySection(name="none")}
    scenario = small(((1.0e6, 0),)).model_copy(update=bare)
    log, work = play(scenario)
    check(log, work)
    (lost,) = log.losses()
    again = next(r for r in log.all(RunStarted) if r.t >= lost.t)
    assert isinstance(again.event, RunStarted)
    assert (again.event.begun, again.event.source) == (0, None)
