"""Measures, held against what numpy makes of nothing but a log's times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from attrs import define, field

from sims.log import LogFile, LogWriter
from sims.metrics.jobs import By
from sims.metrics.measures import Measure, Measured, of_report
from sims.report import Report
from sims.scenario.loader import read
from sims.world import run

SCENARIO: dict[str, Any] = {
    "name": "measured",
    "seed": 5,
    "platform": {"workers": 32},
    "job": {
        "kind": "rigid",
        "lublin": {"jobs": 300, "machine": 32},
        "scale": {"load": 0.9, "by": "arrivals"},
    },
    "policy": {"name": "R-LIST-1", "order": "FCFS", "reading": "easy"},
    "measures": {
        "bound": 60,
        "prices": {"busy": 0.12, "idle": 0.05},
        "watts": {"busy": 250, "idle": 90},
    },
}
QUANTITIES = ("wait", "flowtime", "stretch", "bounded-slowdown")


@define
class Times:
    """Of the jobs of a log, read off its lines: no fold of ours has a part in it."""

    submitted: dict[str, float] = field(factory=dict)
    started: dict[str, float] = field(factory=dict)
    completed: dict[str, float] = field(factory=dict)
    processors: dict[str, int] = field(factory=dict)

    @classmethod
    def of(cls, log: Path) -> Times:
        found = cls()
        for line in map(orjson.loads, log.read_bytes().splitlines()):
            match line["event"]:
                case "JobSubmitted":
                    found.submitted[line["job"]] = line["t"]
                case "RunStarted":
                    found.started[line["job"]] = line["t"]
                    spans = [part.split("-") for part in line["processors"].split()]
                    found.processors[line["job"]] = sum(
                        int(it[-1]) - int(it[0]) + 1 for it in spans
                    )
                case "JobCompleted":
                    found.completed[line["job"]] = line["t"]
        return found

    def columns(self) -> Iterator[np.ndarray]:
        """Submission, start, completion, processors: by job."""
        for column in (self.submitted, self.started, self.completed, self.processors):
            yield np.array([column[job] for job in self.submitted], dtype=float)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "log.jsonl"
    with LogWriter(path) as writer:
        run(read(SCENARIO, "test"), [writer])
    return path


@pytest.fixture(scope="module")
def measured(log: Path) -> Measured:
    return of_report(Report.of(LogFile(log)))


def test_measures_of_jobs_agree_with_their_starts_and_ends(log: Path, measured: Measured) -> None:
    submitted, started, completed, _ = Times.of(log).columns()
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


def test_measures_of_the_machine_agree_with_starts_and_ends(log: Path, measured: Measured) -> None:
    submitted, started, completed, processors = Times.of(log).columns()
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
    report = Report()
    run(read(SCENARIO, "test"), [report])
    report.close()
    assert of_report(report) == measured


def test_response_and_slowdown_are_other_names() -> None:
    assert Measure("response") is Measure.FLOWTIME
    assert Measure("response-p95") is Measure.FLOWTIME_P95
    assert Measure("slowdown-median") is Measure.STRETCH_MEDIAN
    with pytest.raises(ValueError, match="responsible"):
        Measure("responsible")


# --- users, classes -----------------------------------------------------------------------------

OWNED: dict[str, Any] = {
    "name": "owned",
    "platform": {"workers": 4},
    "job": {
        "kind": "rigid",
        "jobs": [
            {"processors": 4, "time": 20, "user": "ann", "queue": "day"},
            {"processors": 3, "time": 10, "user": "10", "queue": "day"},
            {"processors": 4, "time": 100, "user": "9", "queue": "night"},
            {"processors": 1, "time": 2, "user": "10", "release": 100},
        ],
    },
    "policy": {"name": "R-LIST-0", "order": "FCFS"},
}
"""Starts at 0, 20, 30 and 130; bounded slowdowns (bound 10 s) of 1, 3, 1.3 and 3.2."""


@pytest.fixture(scope="module")
def owned() -> Report:
    report = Report()
    run(read(OWNED, "test"), [report])
    report.close()
    return report


def test_fairness_is_jains_index_of_users_mean_bounded_slowdowns(
    owned: Report, measured: Measured
) -> None:
    means = [1, (3 + 3.2) / 2, 1.3]
    jain = sum(means) ** 2 / (3 * sum(it**2 for it in means))
    assert owned.jobs.fairness == pytest.approx(jain)
    assert of_report(owned)[Measure.FAIRNESS] == pytest.approx(jain)
    assert measured[Measure.FAIRNESS] is None  # without users


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
