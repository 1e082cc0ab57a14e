"""Scenario files of jobs in redundant copies."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from numpy.random import Generator

from actors.runtime import System
from policies.maths.speeds import Change
from sims.errors import InputError
from sims.history.summary import Summary
from sims.metrics.arrivals import Flowtimes
from sims.scenario.builders import populate
from sims.scenario.loader import read
from tests.case_files import listed

TABLE = """
name = "test"
platform.workers = 2
policy.name = "SRPT+R"
[job]
kind = "rigid"
stream.arrivals = { kind = "list", times = [0, 1] }
stream.sizes = { kind = "list", sizes = [4, 1] }
"""


def table(platform: Any = None, stream: Any = None, **changes: Any) -> dict[str, Any]:
    """Two jobs on two workers, but for another stream, and what else is changed."""
    found = tomllib.loads(TABLE) | changes
    found["platform"] |= platform or {}
    found["job"]["stream"] = stream or found["job"]["stream"]
    return found


def run(source: dict[str, Any], folder: Path = Path(), records: Any = None) -> Flowtimes:
    scenario = read(source, "test.toml")
    found = Flowtimes()
    system = System(scenario.seed, [found] if records is None else [found, records.append], start=0)
    populate(scenario, system, folder)
    system.run()
    return found


def poisson(**job: Any) -> dict[str, Any]:
    return {"arrivals": {"kind": "poisson", "load": 0.5}, "count": 40, **job}


def test_listed_jobs_run_as_listed() -> None:
    assert run(table()).completed.tolist() == [4, 2]


@pytest.mark.parametrize("speed", listed(__file__, "speeds"))
@pytest.mark.parametrize("policy", ["SRPT+R", "LAPS+R(0.3)"])
def test_every_speed_process_serves_all_jobs(speed: Any, policy: str) -> None:
    source = table({"speed": speed}, poisson(), policy={"name": policy})
    assert len(run(source).jobs) == 40


@pytest.mark.parametrize("sizes", listed(__file__, "sizes"))
def test_every_law_of_sizes_gives_the_load_that_was_asked_for(sizes: dict[str, Any]) -> None:
    result = run(table(stream=poisson(sizes=sizes)))
    offered = result.sizes.sum() / result.submitted.max() / 2
    assert len(result.jobs) == 40
    assert 0.2 < offered < 1.5


@pytest.mark.parametrize("kind", ["process", "linear", {"kind": "frozen-two-point", "peak": 4}])
def test_mean_semantics_serve_all_jobs(kind: Any) -> None:
    platform = {"gain": kind, "speed": {"kind": "two-point", "peak": 4}}
    source = table(platform=platform, stream=poisson(sizes={"kind": "exponential"}))
    assert len(run(source).jobs) == 40


def test_all_policies_meet_the_same_jobs_and_speeds() -> None:
    platform = {"workers": 4, "speed": {"kind": "two-point", "peak": 4}}
    stream = poisson(sizes={"kind": "exponential"})
    one, other = (
        run(table(platform=platform, stream=stream, policy={"name": name}))
        for name in ("PS", "SRPT")
    )
    assert one.submitted.tolist() == other.submitted.tolist()
    assert one.sizes.tolist() == other.sizes.tolist()
    assert one.completed.tolist() != other.completed.tolist()


def test_a_log_s_jobs_run_with_their_run_times(tmp_path: Path) -> None:
    fields = ["-1"] * 12
    lines = [" ".join([str(k + 1), str(10 * k), "0", "5", "1", *fields, "-1"]) for k in range(3)]
    (tmp_path / "small.swf").write_text("; Version: 2.2\n" + "\n".join(lines) + "\n")
    source = table(stream={"arrivals": {"kind": "file", "path": "small.swf"}})
    assert run(source, tmp_path).completed.tolist() == [5, 15, 25]
    source["job"]["stream"]["arrivals"]["load"] = 0.5
    stretched = run(source, tmp_path)
    assert stretched.sizes.sum() / stretched.submitted.max() / 2 == pytest.approx(0.5)


def test_a_module_of_speeds_that_fails_at_its_import_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken_speeds.py").write_text("1 / 0\n")
    speed = {"kind": "own", "name": "broken_speeds:Law"}
    with pytest.raises(InputError, match="ZeroDivisionError") as caught:
        run(table(platform={"speed": speed}), tmp_path)
    assert caught.value.key == "speed.name"


@frozen
class Sawtooth:
    """A user's own process: 0.5 and 1.5 in turn."""

    peak: float = 1.5

    def path(self, rng: Generator) -> Iterator[Change]:
        for k in range(10_000):
            yield float(k), 0.5 + (k % 2)


def test_flowtimes_leave_the_warm_up_out() -> None:
    numbers = np.arange(10.0)
    facts = {"submitted": numbers, "sizes": numbers + 1, "completed": numbers * 3}
    times = {it: dict(zip("abcdefghij", facts[it].tolist(), strict=True)) for it in facts}
    result = Flowtimes(Summary(**times))
    assert result.after(0.3).jobs == tuple("defghij")
    assert result.flowtimes.tolist() == (2 * numbers).tolist()
    assert result.stretches[4] == 8 / 5
    assert result.total == 90


def test_jobs_that_are_listed_come_as_those_of_a_stream_do() -> None:
    jobs = [{"processors": 1, "time": 1, "release": 1}, {"processors": 1, "time": 4}]
    listed = {**table(), "job": {"kind": "rigid", "jobs": jobs}}
    ours, theirs = run(listed), run(table())
    assert sorted(ours.flowtimes) == sorted(theirs.flowtimes)


def test_jobs_of_a_log_are_carried_as_runs_of_their_own_alike(tmp_path: Path) -> None:
    line = "{} {} 0 {} 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
    (tmp_path / "jobs.swf").write_text(line.format(1, 0, 4) + line.format(2, 1, 1))
    logged = {**table(), "job": {"kind": "rigid", "swf": {"file": "jobs.swf"}}}
    ours, theirs = run(logged, tmp_path), run(table())
    assert sorted(ours.flowtimes) == sorted(theirs.flowtimes)
