"""The cases of cosched.json as scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.protection import ProtectionKind
from actors.runtime import System
from policies.pack import LookAhead
from sims.scenario.build import populate
from sims.scenario.faults import YEAR, ListedFaults
from sims.scenario.jobs.entries import MalleableEntry
from sims.scenario.jobs.section import MalleableSection
from sims.scenario.jobs.speedups import Synthetic, Times
from sims.scenario.master import LinkSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario
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


def policy_of(key: str, look: LookAhead) -> PolicySection:
    """The policy section that a run's key stands for."""
    if "+" in key:
        allocation, at_end = key.split("+")
        return PolicySection(name=at_end, allocation=allocation, look=look)
    if key.startswith("fault-free "):
        return PolicySection(name=key.removeprefix("fault-free "), look=look)
    return PolicySection(name=POLICIES[key], look=look)


def scenario_of(case: Case, key: str, look: LookAhead) -> Scenario:
    """One run of an instance."""
    faulty = case["mtbf_years"] is not None and not key.startswith("fault-free")
    return Scenario(
        name=f"{case['name']} {key}",
        platform=PlatformSection(workers=case["p"]),
        job=_pack(case),
        link=LinkSection(unit=case["c"], latency=case["beta"], startup=case["S"]),
        faults=ListedFaults(
            kind="list",
            downtime=case["D"],
            strikes=tuple((t, q) for t, q in case["faults"]) if faulty else (),
        ),
        protection=_protection(case["mtbf_years"]) if faulty else ProtectionSection(),
        policy=policy_of(key, look),
    )


def _pack(case: Case) -> MalleableSection:
    if "table" not in case:
        speedup = Synthetic(fraction=case["f"])
        sizes = tuple(case["m"])
        return MalleableSection(
            kind="malleable", pair=case["ps"], footprints=sizes, speedup=speedup
        )
    rows = enumerate(zip(case["m"], case["table"], strict=True), start=1)
    jobs = tuple(
        MalleableEntry(name=f"T{k}", footprint=m, speedup=Times(times=tuple(times)))
        for k, (m, times) in rows
    )
    return MalleableSection(kind="malleable", pair=case["ps"], jobs=jobs)


def _protection(years: float) -> ProtectionSection:
    return ProtectionSection(kind=ProtectionKind.BUDDIES, period="young", mtbf=years * YEAR)


def play(scenario: Scenario) -> Story:
    """Run it, keeping its story."""
    story = Story()
    system = System(scenario.seed, [story])
    populate(scenario, system, Path())
    system.run()
    return story
