"""The cases of cosched.json as scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from policies.interface.pack import LookAhead
from sims.durations import YEAR
from sims.scenario import Scenario
from sims.scenario.loader import read
from sims.world import run
from tests.case_files import case_file
from tests.sims.malleable_story import Story

Case = dict[str, Any]

POLICIES = {
    "none": "none",
    "IG-EG": "IteratedGreedy-EndGreedy",
    "IG-EL": "IteratedGreedy-EndLocal",
    "SF-EG": "ShortestApplicationsFirst-EndGreedy",
    "SF-EL": "ShortestApplicationsFirst-EndLocal",
}


def load(folder: Path) -> Case:
    """The case file, or a skipped test where the folder has none."""
    return case_file(folder, "cosched.json")


def scenario_of(case: Case, key: str, look: LookAhead) -> Scenario:
    """One run of an instance."""
    faulty = case["mtbf_years"] is not None and not key.startswith("fault-free")
    table: dict[str, Any] = {
        "name": f"{case['name']} {key}",
        "platform": {"workers": case["p"]},
        "job": {"kind": "malleable", "pair": case["ps"]} | _jobs(case),
        "link": {"unit": case["c"], "latency": case["beta"], "startup": case["S"]},
        "policy": {"look": look.value} | _policy(key),
    }
    if faulty:
        mtbf = case["mtbf_years"] * YEAR
        table["protection"] = {"kind": "buddies", "period": "young", "mtbf": mtbf}
        table["faults"] = {"kind": "list", "downtime": case["D"], "strikes": case["faults"]}
    return read(table, "cosched.json")


def _policy(key: str) -> Case:
    """What a run's key stands for."""
    if "+" in key:
        return dict(zip(("allocation", "name"), key.split("+"), strict=True))
    return {"name": POLICIES.get(key, key.removeprefix("fault-free "))}


def _jobs(case: Case) -> Case:
    if "table" not in case:
        speedup = {"kind": "synthetic", "fraction": case["f"]}
        return {"footprints": case["m"], "speedup": speedup}
    listed = zip(case["m"], case["table"], strict=True)
    jobs = [{"footprint": m, "speedup": {"kind": "table", "times": t}} for m, t in listed]
    return {"jobs": jobs}


def play(scenario: Scenario) -> Story:
    """Run it, keeping its story."""
    story = Story()
    run(scenario, [story])
    return story
