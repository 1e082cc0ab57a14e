"""The loop under a wall clock, beside the one under virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import define, evolve, field

from actors.runtime import Record, System, Timer
from actors.runtime.wall import Arrival, WallClockLoop
from sims.audit.audit import audit
from sims.live.carrier import CARRIED
from sims.scenario.loader import load
from sims.world import run

SCENARIOS = Path("sims/scenarios")
NAMES = ("batch-faults", "batch-images", "coupled", "iterative-buddies", "volatile20")


@define(eq=False)
class Clock:
    """A wall clock that jumps, and work that is late every so often."""

    late: float = 0
    carried: frozenset[type] = CARRIED
    tolerance: float = 0.5
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
class Carried:
    """A run that such a clock drives."""

    clock: Clock
    lateness: float | None
    loop: WallClockLoop = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.loop = WallClockLoop(self.clock)

    def attach(self, system: System) -> None: ...


def log(name: str, live: Carried | None = None) -> list[Record]:
    records: list[Record] = []
    run(load(SCENARIOS / f"{name}.toml"), [records.append], SCENARIOS, live=live)
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
