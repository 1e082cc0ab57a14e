"""What fleets add to a random scenario: hangs, start-ups and windows of maintenance (rules.md, F6,
R5 and M2)."""

from __future__ import annotations

from random import Random
from typing import Any


def add_fleet(rng: Random, scenario: dict[str, Any]) -> set[str]:
    """Change the scenario; return which of them it has."""
    added = {name for name in ("hangs", "startup", "windows") if rng.random() < 0.5}
    if any(job["kind"] == "iterative" for job in scenario["jobs"]):
        added.discard("windows")  # what such a job is believed to take depends on its workers
    if "hangs" in added:
        _hang(rng, scenario)
    if "startup" in added:
        for job in scenario["jobs"]:
            job["startup"], job["select"] = rng.choice([0, 1, 3]), rng.choice([0, 0, 2])
    if "windows" in added:
        _close(rng, scenario)
    return added


def _hang(rng: Random, scenario: dict[str, Any]) -> None:
    """Some, none of which meets a fault of its worker, where the laws' order would decide."""
    struck = {time for time, _ in scenario["faults"]}
    times = [rng.randint(0, 40) for _ in range(rng.randint(1, 8))]
    workers = range(scenario["workers"])
    scenario["hangs"] = [[t, rng.choice(workers)] for t in times if t not in struck]
    scenario["hang_detection"] = rng.choice([0, 1, 2, 5])


def _close(rng: Random, scenario: dict[str, Any]) -> None:
    workers = range(scenario["workers"])
    if scenario["owner"] is None and "notice" in scenario:
        scenario["owner"] = [""] * len(workers)
    scenario["windows"] = []
    for _ in range(rng.randint(1, 3)):
        since, who = rng.randint(0, 30), rng.sample(workers, rng.randint(1, len(workers)))
        scenario["windows"].append([since, since + rng.randint(1, 12), sorted(who)])
