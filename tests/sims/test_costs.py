"""What runs cost: prices by state, prices of traces, and power."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import WorkerPriced
from sims.errors import InputError
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.metrics.costs import summed
from sims.metrics.measures import Measure
from sims.metrics.report import Report
from sims.scenario.loader import read
from sims.world import run

TWO = tomllib.loads("""
name = "two"
unit = "s"
workers = [{ name = "calm" }]
job = { kind = "rigid", jobs = [{ processors = 1, time = 3, name = "a" }] }
policy = { name = "R-LIST-0", placement = "lowest" }
[platform]
workers = 1
availability = { kind = "letters", states = "uurrd", after = "hold" }
""")
"""Worker 0 is UP over [0, 2), RECLAIMED over [2, 4), DOWN from 4 on: the job's run is lost there,
and begins again on `calm`, over [4, 7)."""


def measured(table: dict[str, Any], folder: Path) -> dict[Measure, float | None]:
    """Of the run and of its log: the same."""
    log, report = folder / "log.jsonl", Report()
    with LogWriter(log) as writer:
        run(read(table, "test"), [writer, report], folder)
    report.close()
    found = {it: it.found_in(report) for it in Measure}
    again = Report.of(LogFile(log))
    assert {it: it.found_in(again) for it in Measure} == found
    return found


def test_each_state_has_its_price_and_power(tmp_path: Path) -> None:
    section = """
    [measures]
    hour = 2
    prices = { busy = 10, idle = 1, reclaimed = 0.1, down = 0.01 }
    watts = { busy = 3000, idle = 1000, reclaimed = 100 }
    """
    found = measured(TWO | tomllib.loads(section), tmp_path)
    # Held and UP: [0, 2) and [4, 7); idle: calm over [0, 4); RECLAIMED 2, DOWN 3.
    assert found[Measure.COST] == pytest.approx((5 * 10 + 4 * 1 + 2 * 0.1 + 3 * 0.01) / 2)
    assert found[Measure.ENERGY] == pytest.approx((5 * 3000 + 4 * 1000 + 2 * 100) / 2 / 1000)


def test_without_prices_and_watts_nothing_costs_or_consumes(tmp_path: Path) -> None:
    found = measured(TWO, tmp_path)
    assert (found[Measure.COST], found[Measure.ENERGY]) == (None, None)


def test_goodput_and_overheads_sum_to_1_and_ettr_counts_from_the_first_start(
    tmp_path: Path,
) -> None:
    """Held: [0, 2), which is lost, RECLAIMED over [2, 4), and [4, 7) on `calm`: 3 of 7."""
    found = measured(TWO | {"measures": {"hour": 2}}, tmp_path)
    shares = {it.value: found[it] for it in Measure if "overhead" in it.value}
    told = {name: share for name, share in shares.items() if share}
    assert told == pytest.approx({"overhead-lost": 2 / 7, "overhead-reclaimed": 2 / 7})
    assert (found[Measure.GOODPUT], found[Measure.ETTR]) == pytest.approx((3 / 7, 3 / 7))
    assert found[Measure.MACHINE_HOURS] == pytest.approx(7 / 2)


def test_an_hours_length_must_be_known_where_the_unit_is_a_slot(tmp_path: Path) -> None:
    table = TWO | {"unit": "slot", "measures": {"watts": {"busy": 1}}}
    with pytest.raises(InputError, match=r"measures\.hour: missing"):
        run(read(table, "test"), folder=tmp_path)


ZONE = """{
    "metadata": {"gap_seconds": 7200},
    "data": [1, 1, 0, 1],
    "prices": [0.5, 1.0, 3.0, 2.0]
}"""
SPOT = """
unit = "slot"
job = { kind = "rigid", jobs = [{ processors = 1, time = 9 }] }
[platform]
workers = 1
[platform.availability]
kind = "spot"
file = "zone.json"
states = { 1 = "u", 0 = "r" }
slot = 3600
"""


def spot(then: str, folder: Path) -> dict[str, Any]:
    (folder / "zone.json").write_text(ZONE)
    table = TWO | tomllib.loads(SPOT)
    table["platform"]["availability"]["after"] = then
    return table


def test_a_trace_with_prices_is_what_its_worker_costs_while_up(tmp_path: Path) -> None:
    """An hour a slot. UP over [0, 4) at 0.5 and 1, RECLAIMED over [4, 6), UP over [6, 11), two
    slots at 2; the job, suspended meanwhile, ends at 11."""
    held = measured(spot("up", tmp_path), tmp_path)
    assert held[Measure.COST] == pytest.approx(2 * 0.5 + 2 * 1 + 5 * 2)
    again = measured(spot("repeat", tmp_path), tmp_path)
    assert again[Measure.COST] == pytest.approx(2 * 0.5 + 2 * 1 + 2 * 2 + 2 * 0.5 + 1 * 1)


def test_prices_of_the_scenario_are_for_what_a_trace_leaves_open(tmp_path: Path) -> None:
    prices = {"busy": 100, "idle": 7, "reclaimed": 0.25}
    table = spot("up", tmp_path) | {"measures": {"hour": 1, "prices": prices}}
    # Its two RECLAIMED slots at the scenario's price, and 11 idle ones of `calm`.
    assert measured(table, tmp_path)[Measure.COST] == pytest.approx(13 + 2 * 0.25 + 11 * 7)


def test_prices_are_as_many_as_ticks(tmp_path: Path) -> None:
    table = spot("up", tmp_path)
    (tmp_path / "zone.json").write_text(ZONE.replace("[0.5, 1.0, 3.0, 2.0]", "[1.0]"))
    with pytest.raises(InputError, match="prices: 1 prices for 4 ticks"):
        run(read(table, "test"), folder=tmp_path)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
    st.booleans(),
    st.integers(0, 40),
)
def test_prices_are_summed_over_every_unit_of_time(
    prices: list[int], repeats: bool, time: int
) -> None:
    times = tuple(float(2 * k) for k in range(len(prices)))
    period = 2.0 * len(prices) if repeats else None
    until = summed(WorkerPriced(0, times, tuple(map(float, prices)), period))
    last = len(prices) - 1
    each = [prices[t // 2 % len(prices) if repeats else min(t // 2, last)] for t in range(time)]
    assert until(time) == pytest.approx(sum(each))


SPARED = tomllib.loads("""
name = "spared"
unit = "s"
platform = { workers = 4, spares = 2 }
faults = { kind = "list", strikes = [[900, 0]], downtime = 900 }
job = { kind = "rigid", jobs = [{ processors = 2, time = 3600 }] }
protection = { kind = "buddies", period = 300, cost = 0, recovery = 0, replace_after = 0 }
measures = { prices = { busy = 3, idle = 2, down = 1 } }
""")
"""Worker 2 takes the place of worker 0 at 900 and nothing is lost: the job ends at 3,600."""


def test_machine_hours_and_cost_count_spares_that_wait(tmp_path: Path) -> None:
    """Two workers are held for an hour and two are not, which are worker 2 and 3 and then 0 and 3:
    four machine-hours. The cost is that of 2 h held, 1/4 h DOWN and 7/4 h idle."""
    found = measured(SPARED, tmp_path)
    assert found[Measure.MAKESPAN] == 3600
    assert found[Measure.MACHINE_HOURS] == pytest.approx(4)
    assert found[Measure.COST] == pytest.approx(2 * 3 + 1 / 4 * 1 + 7 / 4 * 2)


def test_workers_that_are_free_beside_the_spares_are_in_no_machine_hours(tmp_path: Path) -> None:
    free = measured(SPARED | {"platform": {"workers": 9, "spares": 2}}, tmp_path)
    assert free[Measure.MACHINE_HOURS] == pytest.approx(4)
    none = measured(SPARED | {"platform": {"workers": 9}}, tmp_path)
    assert none[Measure.MACHINE_HOURS] == pytest.approx(2)


def test_the_summary_tells_how_long_spares_waited(tmp_path: Path) -> None:
    measured(SPARED, tmp_path)
    lines = Report.of(LogFile(tmp_path / "log.jsonl")).lines()
    assert any("goodput" in it and "of 2 machine-hours" in it for it in lines)
    assert any("spares" in it and "waited for 2 machine-hours" in it for it in lines)
