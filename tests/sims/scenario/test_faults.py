"""Laws of faults: several at once, of nodes, and fitted to a log of failures."""

from __future__ import annotations

import tomllib
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.events import FaultsFitted, WorkerChanged
from actors.runtime import Record
from policies.availability import WorkerState
from policies.maths.renewals import expected_renewals
from sims.audit.audit import audit
from sims.durations import YEAR
from sims.errors import InputError
from sims.scenario.builders.jobs import period_by
from sims.scenario.loader import read
from tests.sims.kinds import recorded

EIGHT = tomllib.loads("""
name = "eight"
unit = "s"
platform = { workers = 8, node = 4 }
job = { kind = "rigid", jobs = [{ processors = 8, time = 100 }] }
protection = { kind = "images", period = 10, cost = 60 }
""")


def records_of(table: dict[str, Any], folder: Path = Path()) -> list[Record]:
    """Of a run that obeys the laws."""
    records = recorded(read(table, "test", folder), folder)
    assert not list(audit(iter(records)))
    return records


def failures(path: Path, gaps: list[list[float]], end: float) -> None:
    """A log in FTA form of nodes that fail after such times, each for a second, from 1 on; the
    last line is of one that is there to the end."""
    times = [(node, 1 + sum(own[:k])) for node, own in enumerate(gaps) for k in range(len(own) + 1)]
    lines = [f"0 0 {node} 7 n 0 {at} {at + 1}" for node, at in times]
    path.write_text("\n".join([*lines, f"0 0 99 7 n 1 0 {end}"]) + "\n")


def fitted(path: Path, **more: Any) -> dict[str, Any]:
    return EIGHT | {"faults": {"kind": "fitted", "file": path.name, **more}}


def test_laws_strike_side_by_side_each_with_its_own_downtime() -> None:
    one = {"kind": "list", "strikes": [[10, 0]], "downtime": 5}
    node = {"kind": "list", "strikes": [[20, 1]], "downtime": 7, "of": "nodes"}
    told = records_of(EIGHT | {"faults": [one, node]})
    down = [(it.t, it.event) for it in told if isinstance(it.event, WorkerChanged)]
    fell = [(t, it.worker, it.until) for t, it in down if it.state is WorkerState.DOWN]
    assert fell == [(10, 0, 15), *((20, worker, 27) for worker in range(4, 8))]


def test_young_and_daly_count_nodes_and_add_up_the_laws() -> None:
    nodes = {"kind": "exponential", "mtbf": "1 y", "of": "nodes"}
    workers = {"kind": "exponential", "mtbf": "2 y"}
    for laws, rate in (([nodes], 2 / YEAR), ([nodes, workers], 2 / YEAR + 8 / (2 * YEAR))):
        young, _ = period_by("young", read(EIGHT | {"faults": laws}, "test"), Path())
        assert young == pytest.approx(sqrt(2 * 60 / rate))
        daly, _ = period_by("daly", read(EIGHT | {"faults": laws}, "test"), Path())
        assert young - 60 < daly < young


def test_young_and_daly_follow_the_rate_that_the_jobs_run_sees(tmp_path: Path) -> None:
    """8 workers, and 100 s of work from the start: new workers of a shape below 1 fail more often
    than once in their mean, old ones exactly so; nodes of a log as often as the log says."""
    law = {"kind": "weibull", "mtbf": 1000, "shape": 0.5}
    for age, mtbf in (
        ("new", 100 / expected_renewals(100, 1000, 0.5)),
        ("stationary", 1000.0),
    ):
        young, _ = period_by("young", read(EIGHT | {"faults": law | {"age": age}}, "test"), Path())
        assert young == pytest.approx(sqrt(2 * 60 * mtbf / 8))
    late = {"kind": "rigid", "jobs": [{"processors": 8, "time": 100, "release": 50_000}]}
    young, _ = period_by("young", read(EIGHT | {"faults": law, "job": late}, "test"), Path())
    assert young == pytest.approx(sqrt(2 * 60 * 1000 / 8), rel=0.01)
    failures(tmp_path / "log.tab", [[100.0] * 6, [50.0, 150.0]], 1001)
    replayed = EIGHT | {"faults": {"kind": "replayed", "file": "log.tab"}}
    young, _ = period_by("young", read(replayed, "test", tmp_path), tmp_path)
    assert young == pytest.approx(sqrt(2 * 60 * (3 * 1000 / 10) / 8))


def test_an_exponential_law_is_all_time_seen_over_the_times_between_failures(
    tmp_path: Path,
) -> None:
    gaps = [[100.0] * 6, [50.0, 150.0, 400.0, 200.0], []]
    failures(tmp_path / "log.tab", gaps, 1001)
    records = records_of(fitted(tmp_path / "log.tab", law="exponential"), tmp_path)
    [told] = [it.event for it in records if isinstance(it.event, FaultsFitted)]
    censored = 1000 - 600, 1000 - 800, 1000
    assert told.mtbf == pytest.approx((600 + 800 + sum(censored)) / 10, rel=1e-4)
    assert (told.shape, told.gaps, told.nodes) == (1, 10, 3)


def test_a_weibull_law_is_found_again_in_what_it_drew(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    drawn = [(1000 * rng.weibull(0.6, 200)).cumsum() for _ in range(100)]
    failures(tmp_path / "log.tab", [np.diff(it[it < 20000], prepend=0) for it in drawn], 20001)
    law = read(fitted(tmp_path / "log.tab"), "test", tmp_path).faults.laws[0]
    assert (law.fit.shape, law.mtbf) == pytest.approx((0.6, 1504.6), rel=0.05)


def test_a_log_with_too_few_failures_fits_no_law(tmp_path: Path) -> None:
    failures(tmp_path / "log.tab", [[5.0] * 9], 100)
    with pytest.raises(InputError, match=r"log\.tab: 9 times between failures .* 10 or more"):
        read(fitted(tmp_path / "log.tab"), "test", tmp_path)
    with pytest.raises(InputError, match=r"faults\.kind: .* the unit is a slot"):
        failures(tmp_path / "more.tab", [[5.0] * 10], 100)
        read(fitted(tmp_path / "more.tab") | {"unit": "slot"}, "test", tmp_path)


def test_a_fitted_law_has_all_keys_of_the_law_that_it_stands_for(tmp_path: Path) -> None:
    failures(tmp_path / "log.tab", [[100.0] * 6, [50.0, 150.0, 400.0, 200.0]], 1001)
    said = {"of": "nodes", "detection": 3.0, "downtime": 7.0, "spread": 0.5, "share": 0.25}
    said |= {"clock": "computing", "gaps": [[5.0]], "age": "new", "curable": False}
    law = read(fitted(tmp_path / "log.tab", **said), "test", tmp_path).faults.laws[0]
    assert law.model_dump(mode="json", include=set(said)) == said
    hang = read(fitted(tmp_path / "log.tab", effect="hang"), "test", tmp_path).faults.laws[0]
    assert hang.hangs
