"""Whatever fails whenever: work and processor-seconds add up (003; fatal failures are our own)."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import define, evolve, field
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import JobCompleted, RunEnded, RunStarted
from actors.malleable.events import (
    BothCopiesLost,
    CheckpointTaken,
    CopiesLost,
    CopiesRestored,
    FaultIgnored,
    FaultStruck,
    ProcessorsJoined,
    RestartedFromScratch,
    Stage,
    StageStarted,
    WhyIgnored,
)
from actors.runtime import Event, Record, System
from policies.malleable import NAMES, LookAhead
from sims.scenario.malleable import MalleableScenario, populate
from sims.scenario.malleable_sections import (
    CheckpointSection,
    Fatal,
    LinkSection,
    Listed,
    MalleablePolicy,
    MalleableSection,
)
from tests.sims.malleable_ledger import MalleableLedger, Spans
from tests.sims.malleable_work import WorkReplay

P = 13
"""Processors of the small platform; the last one has no buddy and stays unused."""


@define
class Log:
    """Keeps everything, and checks that no processor is held twice."""

    records: list[Record] = field(factory=list)
    holders: dict[int, str] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        self.records.append(record)
        match record.event:
            case RunStarted(job=job, processors=text) | ProcessorsJoined(job=job, processors=text):
                for first, last in Spans.read(text).ranges:
                    for processor in range(first, last + 1):
                        assert processor not in self.holders, record
                        self.holders[processor] = job
            case RunEnded(job=job):
                self.holders = {q: j for q, j in self.holders.items() if j != job}

    def all(self, kind: type[Event]) -> list[Record]:
        return [record for record in self.records if isinstance(record.event, kind)]


def small(
    strikes: tuple[tuple[float, int], ...] = (),
    policy: str = "IteratedGreedy-EndGreedy",
    fatal: Fatal = Fatal.POSSIBLE,
    downtime: float = 5e4,
) -> MalleableScenario:
    return MalleableScenario(
        name="small",
        job=MalleableSection(kind="malleable", processors=P, footprints=(1e5, 1.6e5, 2.5e5, 4e4)),
        link=LinkSection(unit=1.0, startup=1e4),
        checkpoints=CheckpointSection(downtime=downtime),
        faults=Listed(kind="list", strikes=strikes, mtbf_years=1.0, fatal=fatal),
        policy=MalleablePolicy(name=policy, look=LookAhead.ANY),
    )


def play(scenario: MalleableScenario) -> tuple[Log, MalleableLedger, WorkReplay]:
    log, ledger, work = Log(), MalleableLedger(scenario.job.processors), WorkReplay()
    system = System(scenario.seed, [log, ledger, work])
    populate(scenario, system, Path())
    system.run()
    return log, ledger, work


def check(log: Log, ledger: MalleableLedger, work: WorkReplay) -> None:
    assert len(log.all(JobCompleted)) == 4
    assert work.problems == []
    assert all(spent >= -1e-3 for spent in ledger.spent.values()), ledger.spent
    assert sum(ledger.spent.values()) == pytest.approx(P * ledger.makespan, rel=1e-9)


def ends_and_changes(policy: str, fatal: Fatal) -> list[float]:
    """Every time at which something happens without a fault."""
    log, _, _ = play(small((), policy, fatal))
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


STAGES = [stage for stage in Stage if stage is not Stage.COMPUTING]


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_in_every_stage_counts_where_fatal_failures_are_possible(stage: Stage) -> None:
    log, _, _ = play(small(((1.1e6, 4),)))
    busy = next(r for r in log.all(StageStarted) if r.event.stage is stage)  # type: ignore[attr-defined]
    after = next(r.t for r in log.records if r.t > busy.t)
    held = next(q for q in range(P - 1) if _holder(log, q, busy.t) == busy.event.job)  # type: ignore[attr-defined]
    strikes = tuple(sorted(((1.1e6, 4), ((busy.t + after) / 2, held))))
    log, ledger, work = play(small(strikes))
    check(log, ledger, work)
    assert any(r.event.stage is stage for r in log.all(FaultStruck))  # type: ignore[attr-defined]


def _holder(log: Log, processor: int, time: float) -> str:
    holder = ""
    for record in log.all(RunStarted):
        event = record.event
        assert isinstance(event, RunStarted)
        if record.t <= time and processor in Spans.read(event.processors):
            holder = event.job
    return holder


def _first_checkpoint(log: Log) -> tuple[float, str]:
    record = log.all(CheckpointTaken)[0]
    assert isinstance(record.event, CheckpointTaken)
    return record.t, record.event.job


def _just_after_a_checkpoint() -> tuple[float, int]:
    log, _, _ = play(small())
    time, job = _first_checkpoint(log)
    processor = next(q for q in range(P) if _holder(log, q, time) == job)
    return time + 1, processor


def test_a_second_fault_on_the_buddy_during_recovery_restarts_from_scratch() -> None:
    time, processor = _just_after_a_checkpoint()
    log, ledger, work = play(small(((time, processor), (time + 6e4, processor ^ 1))))
    check(log, ledger, work)
    (lost,) = log.all(BothCopiesLost)
    (restart,) = log.all(RestartedFromScratch)
    assert isinstance(restart.event, RestartedFromScratch)
    assert restart.event.lost > 0
    assert restart.cause == lost.seq
    assert lost.t == time + 6e4


def test_the_same_two_faults_are_harmless_in_the_papers_model() -> None:
    time, processor = _just_after_a_checkpoint()
    strikes = ((time, processor), (time + 6e4, processor ^ 1))
    log, ledger, work = play(small(strikes, fatal=Fatal.IGNORED))
    check(log, ledger, work)
    assert not log.all(BothCopiesLost)
    (ignored,) = log.all(FaultIgnored)
    assert isinstance(ignored.event, FaultIgnored)
    assert ignored.event.why is WhyIgnored.BUSY


def test_a_second_fault_on_the_buddy_after_the_recovery_is_not_fatal() -> None:
    time, processor = _just_after_a_checkpoint()
    log, ledger, work = play(small(((time, processor), (time + 2e6, processor ^ 1))))
    check(log, ledger, work)
    assert len(log.all(FaultStruck)) == 2
    assert not log.all(RestartedFromScratch)


def test_a_second_fault_on_the_same_processor_only_starts_the_recovery_again() -> None:
    time, processor = _just_after_a_checkpoint()
    log, ledger, work = play(small(((time, processor), (time + 6e4, processor))))
    check(log, ledger, work)
    assert len(log.all(FaultStruck)) == 2
    assert not log.all(BothCopiesLost)


def test_a_fault_destroys_two_copies_and_the_buddy_sends_both_back() -> None:
    time, processor = _just_after_a_checkpoint()
    log, _, _ = play(small(((time, processor),), fatal=Fatal.IGNORED))
    (lost,), (restored,) = log.all(CopiesLost), log.all(CopiesRestored)
    assert isinstance(lost.event, CopiesLost)
    assert isinstance(restored.event, CopiesRestored)
    assert (lost.event.own, lost.event.buddys) == (1, 1)
    assert restored.event.buddy == processor ^ 1
    assert restored.event.checkpoint == 1
    assert restored.t > lost.t


def test_a_fault_before_the_first_checkpoint_finds_nothing_to_destroy() -> None:
    log, _, _ = play(small(((1.0, 0),)))
    (lost,) = log.all(CopiesLost)
    assert isinstance(lost.event, CopiesLost)
    assert (lost.event.own, lost.event.buddys) == (None, None)


def test_a_fault_on_the_processor_that_is_left_over_changes_nothing() -> None:
    log, _, _ = play(small(((5.0, P - 1),)))
    (ignored,) = log.all(FaultIgnored)
    assert isinstance(ignored.event, FaultIgnored)
    assert (ignored.event.job, ignored.event.why) == (None, WhyIgnored.IDLE)


def test_without_checkpoints_a_fault_restarts_the_application() -> None:
    scenario = evolve(small(((1.0e6, 0),)), checkpoints=CheckpointSection(mtbf_years=float("inf")))
    log, ledger, work = play(evolve(scenario, policy=MalleablePolicy(name="none")))
    check(log, ledger, work)
    (fault,) = log.all(FaultStruck)
    assert isinstance(fault.event, FaultStruck)
    assert fault.event.left == 1
