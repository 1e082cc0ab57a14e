"""The loop under a wall clock, beside the one under virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from attrs import define, evolve, field

from actors.events import PartMeasured, ProcessesDescribed
from actors.runtime import Record, System, Timer
from actors.runtime.wall import Arrival, WallClockLoop
from actors.worker_messages import TransferDue
from sims.audit.audit import audit
from sims.history.reader import History
from sims.live.carrier import CARRIED
from sims.scenario.loader import load
from sims.world import run

SCENARIOS = Path("sims/scenarios")
NAMES = ("batch-faults", "batch-images", "coupled", "iterative-buddies", "volatile20")


@define(eq=False)
class Clock:
    """A wall clock that jumps, and work that is late every so often."""

    system: System = field(init=False)

    late: float = 0
    carried: frozenset[type] = CARRIED
    tolerance: float = 0.5
    free: bool = False
    time: float = 0
    begun: int = 0
    under_way: list[tuple[float, int, Timer]] = field(factory=list)

    def begin(self, entry: Timer) -> None:
        self.begun += 1
        late = 0 if self.begun % 7 else self.late
        self.under_way = sorted([*self.under_way, (entry[0] + late, self.begun, entry)])

    def stop(self, entry: Timer) -> None:
        self.under_way = [it for it in self.under_way if it[2] is not entry]

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> Sequence[Arrival]:
        first = self.under_way[0][0] if self.under_way else until
        self.time = max(self.time, min(until, first))
        over = [(due, it) for due, _, it in self.under_way if due <= self.time]
        self.under_way = self.under_way[len(over) :]
        return over


@define(eq=False)
class Free(Clock):
    """Such a clock whose work takes 0.3, 1 or 2.7 times its nominal time, and is measured."""

    free: bool = True
    history: History = field(init=False, factory=History)
    system: System = field(init=False)
    since: dict[int, float] = field(init=False, factory=dict)
    name: str = "measure"

    def begin(self, entry: Timer) -> None:
        self.begun += 1
        now = self.since[entry[1]] = self.system.loop.now
        takes = max(entry[0] - now, 0.1) * (0.3, 1, 2.7)[self.begun % 3]
        self.under_way = sorted([*self.under_way, (now + takes, self.begun, entry)])

    def measured(self, entry: Timer) -> tuple[Free, Timer]:
        return self, list(entry)

    def hand_on(self, entry: Timer, cause: int) -> None:
        _, order, target, message, _ = entry
        if isinstance(message, TransferDue):
            transfer = self.history.workers[target.index].transfer
            subject = transfer.job, transfer.run, target.index
        else:
            subject = target.name, getattr(message, "run", getattr(target, "attempt", 0)), None
        length = self.system.loop.now - self.since[order]
        self.system.journal.record(cause, PartMeasured, *subject, length, length / 2)
        target.handlers[type(message)](target, message, cause)

    handlers: ClassVar = {list: hand_on}


@define(eq=False)
class Carried:
    """A run that such a clock drives."""

    clock: Clock
    lateness: float | None = None
    loop: WallClockLoop = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.loop = WallClockLoop(self.clock)

    def attach(self, system: System) -> None:
        self.clock.system = system
        if self.clock.free:
            system.describe(ProcessesDescribed, 1.0)


def log(name: str, live: Carried | None = None) -> list[Record]:
    records: list[Record] = []
    history = getattr(live and live.clock, "history", History())
    sinks = [history.apply, records.append]
    run(load(SCENARIOS / f"{name}.toml"), sinks, SCENARIOS, live=live)
    return records


@pytest.mark.parametrize("name", NAMES)
def test_work_that_is_on_time_gives_the_log_of_the_simulation(name: str) -> None:
    assert log(name, Carried(Clock(late=0.4), None)) == log(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_audit_accepts_work_that_is_as_late_as_the_log_says(name: str) -> None:
    records = log(name, Carried(Clock(late=2), 2))
    assert records[-1].t > log(name)[-1].t or name == "volatile20"
    assert list(audit(iter(records))) == []


def test_the_audit_refuses_work_that_is_later_than_the_log_says() -> None:
    head, *rest = log("coupled", Carried(Clock(late=2), 2))
    stricter = evolve(head, event=evolve(head.event, late=1.5))
    (violation,) = audit(iter([stricter, *rest]))
    assert "must come at" in violation.why


@pytest.mark.parametrize("name", NAMES)
def test_the_audit_derives_a_run_from_the_times_that_its_parts_took(name: str) -> None:
    records = log(name, Carried(Free()))
    measured = [it.event for it in records if isinstance(it.event, PartMeasured)]
    assert measured
    assert list(audit(iter(records))) == []


def test_the_audit_refuses_a_part_of_another_length_and_processes_busy_for_longer() -> None:
    records = log("coupled", Carried(Free()))
    at = next(k for k, it in enumerate(records) if isinstance(it.event, PartMeasured))
    event = records[at].event
    for wrong in (evolve(event, length=event.length * 1.01), evolve(event, busy=event.length * 2)):
        spoilt = [*records[:at], evolve(records[at], event=wrong), *records[at + 1 :]]
        (violation,) = audit(iter(spoilt))
        assert violation.events == (at,)


def test_the_audit_misses_an_end_that_no_measured_part_leads_to() -> None:
    """Every line stands one place further forward, as if nothing had been measured there."""
    records = log("coupled", Carried(Free()))
    at = next(k for k, it in enumerate(records) if isinstance(it.event, PartMeasured))
    later = [
        evolve(it, seq=it.seq - 1, cause=it.cause - (it.cause > at)) for it in records[at + 1 :]
    ]
    (violation,) = audit(iter([*records[:at], *later]))
    assert violation.events == (at,)
