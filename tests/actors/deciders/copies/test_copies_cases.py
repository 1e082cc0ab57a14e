"""The expected values of redundancy.json: exact in rational arithmetic, 1e-12 in floats."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from policies.copies import Fcfs, Laps, LapsR, ProcessorSharing, Srpt, SrptR, SrptREven
from policies.interface.copies import ActiveJobs, RedundancyPolicy
from policies.maths.gains import ConstantGain, FrozenTwoPoint, Gain, GainFunction
from tests.actors.deciders.copies.worlds import columns, run
from tests.case_files import case_file

Case = dict[str, Any]
OWN = Path(__file__).parents[3] / "cases"


def policy_of(name: str, beta: Fraction) -> RedundancyPolicy:
    policies = {
        "srptR": SrptR(),
        "srptR_noclone": SrptR(cloning=False),
        "srptR_even": SrptREven(),
        "srpt": Srpt(),
        "srpt_sticky": Srpt(stay=True),
        "fcfs": Fcfs(),
        "lapsR": LapsR(beta),
        "lapsR_onecopy": LapsR(beta, redundant=False),
        "laps": Laps(beta),
        "ps": ProcessorSharing(),
    }
    return policies[name]


def synthetic(copies: int, time: float) -> float:
    return time + (1 - 1 / copies) * (1 - math.exp(-time))


@pytest.fixture(scope="module")
def cases(cases_dir: Path) -> Case:
    return case_file(cases_dir, "redundancy.json")


def instances(cases: Case) -> dict[str, Case]:
    """Mean-model cases name an instance of this file, or of the project's own."""
    own = json.loads((OWN / "redundancy.json").read_text())["sample_path"]
    return {case["name"]: case for case in (*own, *cases["sample_path"])}


def gain_of(name: str, number: Any) -> Gain:
    if name.startswith("frozen_two_point_"):
        return FrozenTwoPoint(number(name.rsplit("_", 1)[1]))
    return {"const": ConstantGain(), "synthetic": GainFunction(synthetic, peak=2.0)}[name]


def rounded(text: str) -> float:
    return float(Fraction(text))


def completions(case: Case, policy: str, gain: Gain | None, number: Any) -> list[Any]:
    """When each job of the instance completes, in the case's order; `number` reads numbers."""
    speed = number(case["speed"])
    jobs = zip(map(number, case["arrivals"]), map(number, case["sizes"]), strict=True)
    paths = [] if gain else case["traces"]
    decider = columns(
        policy_of(policy, Fraction(case["beta"])),
        gain=gain,
        augmentation=speed,
        exact=number is Fraction,
    )
    speeds = [[(number(t), speed * number(v)) for t, v in path] for path in paths]
    result = run(decider, jobs, speeds, workers=case["M"], start=number("0"))
    ended = dict(zip(result.jobs, result.completed.tolist(), strict=True))
    return [ended[f"{k}"] for k in range(len(ended))]


@pytest.mark.parametrize("number", [Fraction, rounded])
def test_sample_path_completions_are_as_expected(cases: Case, number: Any) -> None:
    for case in cases["sample_path"]:
        for policy, expected in case["policies"].items():
            found = completions(case, policy, None, number)
            wanted = [number(time) for time in expected["completions"]]
            if number is rounded:
                wanted = pytest.approx(wanted, rel=1e-12)
            assert found == wanted, f"{case['name']}, {policy}"


@pytest.mark.parametrize("number", [Fraction, rounded])
def test_mean_model_completions_are_as_expected(cases: Case, number: Any) -> None:
    """Exactly where they are rational."""
    known, compared = instances(cases), 0
    for mean in cases["mean_model"]:
        for policy, expected in mean["policies"].items():
            if number is rounded:
                wanted = pytest.approx(expected["completions_float"], rel=1e-12)
            else:
                wanted = [Fraction(time) for time in expected.get("completions", ())]
            if mean["name"] in known and (number is rounded or wanted):
                gain = gain_of(mean["g"], number)
                found = completions(known[mean["name"]], policy, gain, number)
                assert found == wanted, f"{mean['name']}, {mean['g']}, {policy}"
                compared += 1
    assert compared


def view(servers: int, jobs: int) -> ActiveJobs:
    times = np.arange(jobs, dtype=float)
    return ActiveJobs(servers, times, times + 1, times + 1)


@pytest.mark.parametrize("name", ["srptR", "lapsR"])
def test_allocations_give_each_job_its_copies_and_share(cases: Case, name: str) -> None:
    for case in cases["allocations"][name]:
        policy = policy_of(name, Fraction(case.get("beta", "1/2")))
        given = policy(view(case["M"], case["n"]), np.random.default_rng(0))
        copies = dict(zip(given.jobs.tolist(), given.copies.tolist(), strict=True))
        assert [copies.get(job, 0) for job in range(case["n"])] == case["r"]
        if "x" in case:
            shares = [given.share if job in copies else 0 for job in range(case["n"])]
            assert shares == [Fraction(share) for share in case["x"]]
            assert len(given.jobs) == case["served"]
            assert sum(given.copies.tolist()) * given.share == Fraction(case["machine_units"])
