"""What a run says before it is set up."""

from __future__ import annotations

import time

import pytest

from sims.examples import FOLDER, examples
from sims.forecast import forecast, jobs_said
from sims.scenario.loader import load

MUCH = [
    ("batch-rigid", "job.synthetic.count=10000000", "about 10,000,000 jobs"),
    ("redundant", "job.stream.count=10000000", "about 10,000,000 jobs"),
    ("redundant", "platform.workers=1000000", "1,000,000 workers with a life of their own"),
    ("volatile20", "random_workers.count=100000", "100,000 workers with a life of their own"),
    ("malleable10", "platform.workers=10000000", "a pack's tables of 50,000,000 sizes: 15 s"),
    ("redundant", "platform.speed.interval=1e-9", "events"),
    ("volatile20", "job.tasks=10000000", "events"),
]


@pytest.mark.parametrize(("name", "change", "told"), MUCH)
def test_a_run_of_minutes_says_so_within_a_second_before_it_begins(
    name: str, change: str, told: str
) -> None:
    scenario = load(FOLDER / f"{name}.toml", [change])
    began = time.process_time()
    said = forecast(scenario, FOLDER)
    assert time.process_time() - began < 1
    assert said is not None and told in said


@pytest.mark.parametrize("name", examples())
def test_what_is_shipped_begins_without_a_word(name: str) -> None:
    assert forecast(load(FOLDER / f"{name}.toml"), FOLDER) is None


def test_jobs_of_a_log_are_not_counted_beforehand() -> None:
    assert jobs_said(load(FOLDER / "batch-easy.toml")) is None
    assert jobs_said(load(FOLDER / "volatile20.toml")) == 1
