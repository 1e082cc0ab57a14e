"""Measures, held against what numpy makes of nothing but a log's times."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

import numpy as np
import orjson
import pytest

from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.metrics.report import Report
from sims.scenario.loader import read
from sims.world import run
from tests.sims.oneworld import records_of

SCENARIO = tomllib.loads("""
name = "measured"
seed = 5
platform = { workers = 32 }
policy = { name = "R-LIST-1", order = "FCFS", reading = "easy" }
[job]
kind = "rigid"
lublin = { jobs = 300, machine = 32 }
scale = { load = 0.9, by = "arrivals" }
[measures]
bound = 60
prices = { busy = 0.12, idle = 0.05 }
watts = { busy = 250, idle = 90 }
""")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "log.jsonl"
    with LogWriter(path) as writer:
        run(read(SCENARIO, "test"), [writer])
    return path


@pytest.fixture(scope="module")
def columns(log: Path) -> np.ndarray:
    """Submission, start, completion, processors, by job: read off the log's lines; no fold of ours
    has a part in it."""
    times, processors = defaultdict[str, list[float]](list), dict[str, int]()
    for line in map(orjson.loads, log.read_bytes().splitlines()):
        if line["event"] in ("JobSubmitted", "RunStarted", "JobCompleted"):
            times[line["job"]].append(line["t"])
        if line["event"] == "RunStarted":
            spans = [part.split("-") for part in line["processors"].split()]
            processors[line["job"]] = sum(int(it[-1]) - int(it[0]) + 1 for it in spans)
    return np.array([(*times[job], processors[job]) for job in times]).T


Measured = dict[Measure, float | None]


def of_report(report: Report) -> Measured:
    """All measures of a report."""
    return {it: it.found_in(report) for it in Measure}


@pytest.fixture(scope="module")
def measured(log: Path) -> Measured:
    return of_report(Report.of(LogFile(log)))


def test_measures_of_jobs_agree_with_their_starts_and_ends(
    columns: np.ndarray, measured: Measured
) -> None:
    submitted, started, completed, _ = columns
    ran = completed - started
    by_hand = {
        "wait": started - submitted,
        "flowtime": completed - submitted,
        "stretch": (completed - submitted) / ran,
        "bounded-slowdown": np.maximum(1, (started - submitted + ran) / np.maximum(ran, 60)),
    }
    assert by_hand["wait"].max() > 0
    for name, values in by_hand.items():
        assert Measure(f"{name}-p95").summed(values) == pytest.approx(np.percentile(values, 95))
        assert Measure(name).summed(values) == pytest.approx(values.mean())
        assert measured[Measure(name)] == pytest.approx(values.mean())
        assert measured[Measure(f"{name}-median")] == pytest.approx(np.median(values))
        for percent in (90, 95, 99):
            expected = np.percentile(values, percent)
            assert measured[Measure(f"{name}-p{percent}")] == pytest.approx(expected)


def test_measures_of_the_machine_agree_with_starts_and_ends(
    columns: np.ndarray, measured: Measured
) -> None:
    submitted, started, completed, processors = columns
    makespan, busy = completed.max(), float(((completed - started) * processors).sum())
    assert measured[Measure.MAKESPAN] == makespan
    assert measured[Measure.UTILISATION] == pytest.approx(busy / (32 * makespan))
    idle = 32 * makespan - busy
    assert measured[Measure.COST] == pytest.approx((0.12 * busy + 0.05 * idle) / 3600)
    assert measured[Measure.ENERGY] == pytest.approx((250 * busy + 90 * idle) / 3.6e6)
    # Its mean by Little's law, its maximum by looking at every start and submission.
    assert measured[Measure.QUEUE] == pytest.approx((started - submitted).sum() / makespan)
    times = np.concatenate((submitted, started))
    longest = max(int(((submitted <= t) & (t < started)).sum()) for t in times)
    assert measured[Measure.LONGEST_QUEUE] == longest > 1


def test_a_run_in_memory_and_its_log_give_the_same_measures(measured: Measured) -> None:
    assert of_report(Report.of(records_of(SCENARIO))) == measured


def test_response_and_slowdown_are_other_names() -> None:
    assert Measure("response") is Measure.FLOWTIME
    assert Measure("response-p95") is Measure.FLOWTIME_P95
    assert Measure("slowdown-median") is Measure.STRETCH_MEDIAN
    with pytest.raises(ValueError, match="responsible"):
        Measure("responsible")


# --- users, classes -----------------------------------------------------------------------------

OWNED = """
name = "owned"
platform = { workers = 4 }
policy = { name = "R-LIST-0", order = "FCFS" }
[job]
kind = "rigid"
jobs = [
    { processors = 4, time = 20, user = "ann", queue = "day" },
    { processors = 3, time = 10, user = "10", queue = "day" },
    { processors = 4, time = 100, user = "9", queue = "night" },
    { processors = 1, time = 2, user = "10", release = 100 },
]
"""
"""Starts at 0, 20, 30 and 130; bounded slowdowns (bound 10 s) of 1, 3, 1.3 and 3.2."""


@pytest.fixture(scope="module")
def owned() -> Report:
    return Report.of(records_of(tomllib.loads(OWNED)))


def test_fairness_is_jains_index_of_users_mean_bounded_slowdowns(
    owned: Report, measured: Measured
) -> None:
    means = [1, (3 + 3.2) / 2, 1.3]
    jain = sum(means) ** 2 / (3 * sum(it**2 for it in means))
    assert owned.jobs.fairness == pytest.approx(jain)
    assert of_report(owned)[Measure.FAIRNESS] == pytest.approx(jain)
    assert measured[Measure.FAIRNESS] is None  # without users
    one = Report.of(
        records_of(tomllib.loads(OWNED.replace('"9"', '"ann"').replace('"10"', '"ann"')))
    )
    assert one.jobs.fairness is None  # of one user, 1 would say nothing


@pytest.mark.parametrize(
    ("by", "classes"),
    [
        (By.SIZE, {"1": ["J4"], "3-4": ["J1", "J2", "J3"]}),
        (By.TIME, {"to 10": ["J2", "J4"], "to 100": ["J1", "J3"]}),
        (By.USER, {"9": ["J3"], "10": ["J2", "J4"], "ann": ["J1"]}),
        (By.QUEUE, {"unknown": ["J4"], "day": ["J1", "J2"], "night": ["J3"]}),
        (By.GROUP, {"unknown": ["J1", "J2", "J3", "J4"]}),
    ],
)
def test_jobs_fall_into_classes_in_order(
    owned: Report, by: By, classes: dict[str, list[str]]
) -> None:
    names = np.array(owned.jobs.names)
    found = {name: names[which].tolist() for name, which in owned.jobs.classes(by)}
    assert found == classes
    assert list(found) == list(classes)
