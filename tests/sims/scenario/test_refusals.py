"""What is wrong with a file is one line: file, key, value, what is accepted, what may be meant."""

from __future__ import annotations

from typing import Any

import pytest

from sims.errors import InputError
from sims.scenario.loader import read
from tests.sims.scenario.test_times import rigid

BASE: dict[str, Any] = {"name": "x", "platform": {"workers": 2}}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            {"faults": {"kind": "weibul", "shape": 1}},
            "faults: {'kind': 'weibul', 'shape': 1} is not accepted; accepted: a table whose "
            "`kind` is one of none, exponential, weibull, list",
        ),
        (
            {"faults": {"kind": "weibull", "shpe": 1}},
            "faults.shpe: unknown key (did you mean shape?); accepted: "
            "of, downtime, detection, kind, mtbf, shape, strikes",
        ),
        (
            {"faults": {"kind": "weibull", "shape": 0.01}},
            "faults.shape: 0.01 is not accepted; accepted: a finite number, 0.05 or above: below, "
            "most faults come at once",
        ),
        ({"faults": {"kind": "weibull"}}, "faults.shape: missing; accepted: a value"),
        (
            {"faults": 3},
            "faults: 3 is not accepted; accepted: a table whose `kind` is one of no",
        ),
        (
            {"policy": {"reading": "eazy"}},
            "policy.reading: 'eazy' is not accepted (did you mean easy?); accepted: ",
        ),
        ({"policy": {"reuse": 1}}, "policy.reuse: 1 is not accepted; accepted: true or false"),
        ({"policy": []}, "policy: [] is not accepted; accepted: a table"),
        ({"workers": {}}, "workers: {} is not accepted; accepted: a list"),
        (
            {"platform": {"workers": 2, "speed": {"kind": "two-point", "peek": 3}}},
            "platform.speed.peek: unknown key (did you mean peak?); accepted: "
            "kind, peak, interval, low",
        ),
        (
            {"platform": {"workers": 2, "speed": {"kind": "two-point", "low": 1}}},
            "platform.speed.low: 1 is not accepted; accepted: a finite number, 0 or above, below 1",
        ),
        (
            {"platform": {"workers": 2, "speed": [[0, 1], [0, 2]]}},
            "platform.speed.changes: [[0, 1], [0, 2]] is not accepted; accepted: [time, speed] p",
        ),
        (
            {"reclaims": [[3, 1, 0]]},
            "reclaims.0: [3, 1, 0] is not accepted; accepted: a time from 0 on, a later finite one",
        ),
        (
            {"errors": {"rate": 0.1, "average": 0.1}},
            "errors: both average and rate; accepted: one of them",
        ),
        (
            {"seed": 2**70},
            f"seed: {2**70} is not accepted; accepted: a whole number that fits in 64 bits",
        ),
        (
            {"link": {"latency": float("inf")}},
            "link.latency: inf is not accepted; accepted: a finit",
        ),
        (
            {"measures": {"prices": {"busy": -1}}},
            "measures.prices.busy: -1 is not accepted; accepted: a finite number, 0 or above",
        ),
    ],
)
def test_a_bad_file_is_told_in_one_line(more: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as refused:
        rigid(1, **more)
    assert str(refused.value).startswith(f"file.toml: {line}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ({"kind": "bounded-pareto", "low": 5, "high": 2}, "needs low < high, not 5, 2"),
        ({"kind": "bounded-pareto", "alpha": 1e9}, "alpha = 1000000000.0 has no finite mean"),
        (
            {"kind": "hyperexponential", "probabilities": [0.5]},
            "one mean above 0 per probability",
        ),
        ({"kind": "hyperexponential", "means": [float("inf"), 1]}, "one mean above 0"),
    ],
)
def test_a_law_that_is_none_is_told_at_its_place(sizes: dict[str, Any], problem: str) -> None:
    stream = {"count": 3, "arrivals": {"kind": "poisson", "load": 0.5}, "sizes": sizes}
    with pytest.raises(InputError) as refused:
        read({**BASE, "job": {"kind": "rigid", "stream": stream}}, "file.toml")
    assert str(refused.value).startswith("file.toml: job.stream.sizes")
    assert problem in str(refused.value)
