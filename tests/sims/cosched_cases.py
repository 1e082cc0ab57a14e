"""The cases of cosched.json as scenarios."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from actors.runtime import System
from policies.malleable import LookAhead
from sims.scenario.malleable import MalleableScenario, populate
from sims.scenario.malleable_profiles import Synthetic, Tables
from sims.scenario.malleable_sections import (
    CheckpointSection,
    LinkSection,
    Listed,
    MalleablePolicy,
    MalleableSection,
)
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


def policy_of(key: str, look: LookAhead) -> MalleablePolicy:
    """The policy section that a run's key stands for."""
    if "+" in key:
        allocation, at_end = key.split("+")
        return MalleablePolicy(name=at_end, allocation=allocation, look=look)
    if key.startswith("fault-free "):
        return MalleablePolicy(name=key.removeprefix("fault-free "), look=look)
    return MalleablePolicy(name=POLICIES[key], look=look)


def scenario_of(case: Case, key: str, look: LookAhead) -> MalleableScenario:
    """One run of an instance."""
    faulty = case["mtbf_years"] is not None and not key.startswith("fault-free")
    table = case.get("table")
    profile = Tables(kind="table", times=table) if table else Synthetic(sequential=case["f"])
    return MalleableScenario(
        name=f"{case['name']} {key}",
        job=MalleableSection(
            kind="malleable",
            processors=case["p"],
            pair=case["ps"],
            footprints=tuple(case["m"]),
            profile=profile,
        ),
        link=LinkSection(unit=case["c"], latency=case["beta"], startup=case["S"]),
        checkpoints=CheckpointSection(downtime=case["D"]),
        faults=Listed(
            kind="list",
            strikes=tuple((t, q) for t, q in case["faults"]) if faulty else (),
            mtbf_years=case["mtbf_years"] if faulty else math.inf,
        ),
        policy=policy_of(key, look),
    )


def play(scenario: MalleableScenario) -> Story:
    """Run it, keeping its story."""
    story = Story()
    system = System(scenario.seed, [story])
    populate(scenario, system, Path())
    system.run()
    return story
