"""The expected values of redundancy.json: exact in rational arithmetic, 1e-12 in floats."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from policies.copies import Fcfs, Laps, LapsR, ProcessorSharing, Srpt, SrptR, SrptREven
from policies.interface.copies import ActiveJobs, RedundancyPolicy
from policies.maths.gains import ConstantGain, FrozenTwoPoint, Gain, GainFunction
from tests.actors.deciders.copies.worlds import columns, run
from tests.case_files import case_file

Case = dict[str, Any]
OWN = Path(__file__).parents[3] / "cases"

POLICIES: dict[str, Callable[[Fraction], RedundancyPolicy]] = {
    "srptR": lambda beta: SrptR(),
    "srptR_noclone": lambda beta: SrptR(cloning=False),
    "srptR_even": lambda beta: SrptREven(),
    "srpt": lambda beta: Srpt(),
    "srpt_sticky": lambda beta: Srpt(stay=True),
    "fcfs": lambda beta: Fcfs(),
    "lapsR": lambda beta: LapsR(beta),
    "lapsR_onecopy": lambda beta: LapsR(beta, redundant=False),
    "laps": lambda beta: Laps(beta),
    "ps": lambda beta: ProcessorSharing(),
}


def synthetic(copies: int, time: float) -> float:
    return time + (1 - 1 / copies) * (1 - math.exp(-time))


@pytest.fixture(scope="module")
def cases(cases_dir: Path) -> Case:
    return case_file(cases_dir, "redundancy.json")


def instances(cases: Case) -> dict[str, Case]:
    """Mean-model cases name an instance of this file, or of the project's own."""
    own = json.loads((OWN / "redundancy.json").read_text())["sample_path"]
    return {case["name"]: case for case in (*own, *cases["sample_path"])}


def gain_of(name: str, exact: bool) -> Gain:
    if name == "const":
        return ConstantGain()
    if name.startswith("frozen_two_point_"):
        peak = Fraction(name.rsplit("_", 1)[1])
        return FrozenTwoPoint(cast(float, peak) if exact else float(peak))
    assert name == "synthetic"
    return GainFunction(synthetic, peak=2.0)


def completions(case: Case, policy: str, gain: Gain | None, exact: bool) -> list[Any]:
    """When each job of the instance completes, in the case's order."""
    number: Callable[[str], Any] = Fraction if exact else (lambda text: float(Fraction(text)))
    speed, jobs = (
        number(case["speed"]),
        zip(map(number, case["arrivals"]), map(number, case["sizes"]), strict=True),
    )
    paths: list[list[Any]] = []
    if gain is None:
        paths = [[(number(t), speed * number(v)) for t, v in trace] for trace in case["traces"]]
    decider = columns(
        POLICIES[policy](Fraction(case["beta"])), gain=gain, augmentation=speed, exact=exact
    )
    result = run(decider, jobs, paths, workers=case["M"], start=number("0"))
    ended = dict(zip(result.jobs, result.completed.tolist(), strict=True))
    return [ended[f"{k}"] for k in range(len(ended))]


def test_sample_path_completions_are_exact(cases: Case) -> None:
    for case in cases["sample_path"]:
        for policy, expected in case["policies"].items():
            found = completions(case, policy, None, exact=True)
            where = f"{case['name']}, {policy}"
            assert found == [Fraction(time) for time in expected["completions"]], where
            flowtime = sum(found) - sum(map(Fraction, case["arrivals"]))
            assert flowtime == Fraction(expected["total_flowtime"]), where


def test_sample_path_completions_in_floats_agree_to_1e_12(cases: Case) -> None:
    for case in cases["sample_path"]:
        for policy, expected in case["policies"].items():
            found = completions(case, policy, None, exact=False)
            wanted = [float(Fraction(time)) for time in expected["completions"]]
            assert found == pytest.approx(wanted, rel=1e-12), f"{case['name']}, {policy}"
            flowtime = math.fsum(found) - float(sum(map(Fraction, case["arrivals"])))
            assert flowtime == pytest.approx(expected["total_flowtime_float"], rel=1e-11)


def test_mean_model_completions_agree_exactly_where_they_are_rational(cases: Case) -> None:
    known = instances(cases)
    for mean in cases["mean_model"]:
        for policy, expected in mean["policies"].items():
            if mean["name"] in known and "completions" in expected:
                gain = gain_of(mean["g"], exact=True)
                found = completions(known[mean["name"]], policy, gain, exact=True)
                wanted = [Fraction(time) for time in expected["completions"]]
                assert found == wanted, f"{mean['name']}, {mean['g']}, {policy}"


def test_mean_model_completions_in_floats_agree_to_1e_12(cases: Case) -> None:
    known = instances(cases)
    for mean in cases["mean_model"]:
        if mean["name"] in known:
            for policy, expected in mean["policies"].items():
                gain = gain_of(mean["g"], exact=False)
                found = completions(known[mean["name"]], policy, gain, exact=False)
                wanted = expected["completions_float"]
                where = f"{mean['name']}, {mean['g']}, {policy}"
                assert found == pytest.approx(wanted, rel=1e-12), where


def test_some_mean_model_case_has_its_instance_at_hand(cases: Case) -> None:
    known = instances(cases)
    assert any(mean["name"] in known for mean in cases["mean_model"])


def view(servers: int, jobs: int) -> ActiveJobs:
    times = np.arange(jobs, dtype=float)
    return ActiveJobs(servers, times, times + 1, times + 1)


@pytest.mark.parametrize("name", ["srptR", "lapsR"])
def test_allocations_give_each_job_its_copies_and_share(cases: Case, name: str) -> None:
    for case in cases["allocations"][name]:
        policy = POLICIES[name](Fraction(case.get("beta", "1/2")))
        given = policy(view(case["M"], case["n"]), np.random.default_rng(0))
        copies = dict(zip(given.jobs.tolist(), given.copies.tolist(), strict=True))
        assert [copies.get(job, 0) for job in range(case["n"])] == case["r"]
        if "x" in case:
            shares = [given.share if job in copies else 0 for job in range(case["n"])]
            assert shares == [Fraction(share) for share in case["x"]]
            assert len(given.jobs) == case["served"]
            assert sum(given.copies.tolist()) * given.share == Fraction(case["machine_units"])
