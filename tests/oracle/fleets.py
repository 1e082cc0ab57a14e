"""What fleets add to a random scenario: hangs, start-ups, windows, repairs, a reserve and replicas
(rules.md, F6, R5 to R8, P11, M2 and E1)."""

from __future__ import annotations

from random import Random
from typing import Any


def add_fleet(rng: Random, scenario: dict[str, Any]) -> set[str]:
    """Change the scenario; return which of them it has."""
    added = {name for name in ("hangs", "startup", "windows") if rng.random() < 0.5}
    if scenario["faults"] and rng.random() < 0.6:
        added = added - {"hangs"} | {"repair"}
        _repair(rng, scenario)
    if any(job["kind"] == "iterative" for job in scenario["jobs"]):
        added.discard("windows")  # what such a job is believed to take depends on its workers
    if "windows" not in added and _reserve(rng, scenario):
        added.add("reserve")
    if _replicate(rng, scenario):
        added.add("replicas")
    _add_times(rng, scenario, added)
    return added


def _add_times(rng: Random, scenario: dict[str, Any], added: set[str]) -> None:
    """Add what happens at times of its own."""
    if "hangs" in added:
        _hang(rng, scenario)
    if "startup" in added:
        for job in scenario["jobs"]:
            job["startup"], job["select"] = rng.choice([0, 1, 3]), rng.choice([0, 0, 2])
    if "windows" in added:
        _close(rng, scenario)


def _reserve(rng: Random, scenario: dict[str, Any]) -> bool:
    """Keep some workers for calls, now and then; whether that is so."""
    rigid = all(job["kind"] == "rigid" for job in scenario["jobs"])
    most = scenario["workers"] - scenario.get("spares", 0) - 1
    if not (rigid and most) or rng.random() >= 0.4:
        return False
    scenario["reserve"] = rng.randint(1, min(most, 2))
    scenario["reserve_delay"] = rng.choice([1, 2, 5])
    return True


def _repair(rng: Random, scenario: dict[str, Any]) -> None:
    """Stages with outcomes and crews, errors of diagnosis, and a rule of retirement."""
    scenario["downtime"] = 0
    stages = [
        {
            "time": rng.choice([1, 2, 3, 6]),
            "crews": rng.choice([None, 1, 1, 2]),
            "passes_on": [int(rng.random() < 0.5) for _ in range(rng.randint(0, 6))],
        }
        for _ in range(rng.randint(1, 3))
    ]
    del stages[-1]["passes_on"]
    repair: dict[str, Any] = {"stages": stages}
    if rng.random() < 0.6:
        repair["blamed"] = [int(rng.random() < 0.7) for _ in range(8)]
        repair["mistaken"] = [int(rng.random() < 0.5) for _ in range(8)]
        repair["others"] = [rng.randint(0, 3) for _ in range(8)]
    if rng.random() < 0.3:
        repair["retire"] = [rng.randint(1, 3), rng.choice([3, 8, 20])]
    scenario["repair"] = repair


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


def _replicate(rng: Random, scenario: dict[str, Any]) -> bool:
    """Give some jobs replicas, now and then; whether one has them."""
    wide = [it for it in scenario["jobs"] if it["kind"] == "rigid" and it["p"] > 1]
    if not wide or rng.random() < 0.5:
        return False
    for job in wide:
        counts = [g for g in range(2, job["p"] + 1) if job["p"] % g == 0]
        job["replicas"] = rng.choice(counts)
        job["least"] = rng.choice([1, 1, rng.randint(1, job["replicas"])])
        job["regroup"], job["rejoin"] = rng.choice([0, 1, 2]), rng.choice([0, 1, 2])
    return True
