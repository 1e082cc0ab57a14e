"""What fleets add to a random scenario: hangs, start-ups, windows, repairs, a reserve and replicas
(rules.md, F6, R5 to R8, P11, M2 and E1)."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle.partitions import draw_reserve
from tests.oracle.world import simulate


def add_fleet(rng: Random, scenario: dict[str, Any]) -> set[str]:
    """Change the scenario; return which of them it has."""
    added = {name for name in ("hangs", "startup", "windows") if rng.random() < 0.5}
    if scenario["faults"] and rng.random() < 0.6:
        added = added - {"hangs"} | {"repair"}
        _repair(rng, scenario)
    if any(job["kind"] == "iterative" for job in scenario["jobs"]):
        added.discard("windows")  # what such a job is believed to take depends on its workers
    if "windows" not in added and "windows" not in scenario and draw_reserve(rng, scenario):
        added.add("reserve")
    ways = {
        "always": _save_always,
        "records": _choose_by_record,
        "standbys": _stand_by,
        "replicas": _replicate,
        "storage": _store,
    }
    added |= {name for name, add in ways.items() if add(rng, scenario)}
    _add_times(rng, scenario, added)
    if rng.random() < 0.6:
        added |= _add_laws(rng, scenario)
    if "repair" not in scenario and rng.random() < 0.15:
        added.add("drawn")  # when all the rest has been drawn
    return added


def _save_always(rng: Random, scenario: dict[str, Any]) -> bool:
    """Have images that cost nothing, now and then; whether a job has."""
    fit = [job for job in scenario["jobs"] if job["protection"] == "images" and not job["image"]]
    fit = [job for job in fit if job["copies"] == 1]
    if not fit or rng.random() < 0.6:
        return False
    for job in fit:
        job |= {"period": "continuous", "cost": 0, "verified": False}
        for key in ("on_notice", "blocking", "slowdown"):
            job.pop(key, None)
    return True


def _choose_by_record(rng: Random, scenario: dict[str, Any]) -> bool:
    """Place by the records that repairs keep, now and then; whether that is so."""
    if "repair" not in scenario or "placement" in scenario or rng.random() >= 0.4:
        return False
    scored = isinstance(scenario["repair"].get("retire"), dict)
    usual = "highest-score" if scored else "fewest-faults"
    scenario["placement"] = "longest-back" if rng.random() < 0.3 else usual
    return True


def _add_times(rng: Random, scenario: dict[str, Any], added: set[str]) -> None:
    """Add what happens at times of its own."""
    if "hangs" in added:
        _hang(rng, scenario)
    if "startup" in added:
        for job in scenario["jobs"]:
            job["startup"], job["select"] = rng.choice([0, 1, 3]), rng.choice([0, 0, 2])
    if "windows" in added:
        _close(rng, scenario)


def _repair(rng: Random, scenario: dict[str, Any]) -> None:
    """Stages with outcomes and crews, errors of diagnosis, and a rule of retirement."""
    scenario["downtime"] = 0
    stages = [
        {
            "time": rng.choice([1, 2, 3, 6]),
            "crews": rng.choice([None, 1, 1, 2]),
            "passes_on": [int(rng.random() < 0.5) for _ in range(rng.randint(0, 6))],
            "fixes": [int(rng.random() < 0.5) for _ in range(rng.randint(0, 6))],
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
    elif rng.random() < 0.5:
        points = {"initial": 5, "penalty": rng.randint(1, 4), "credit": rng.randint(0, 2)}
        repair["retire"] = points | {"period": rng.choice([1, 2, 5]), "threshold": 0}
    scenario["repair"] = repair


def _add_laws(rng: Random, scenario: dict[str, Any]) -> set[str]:
    """Add one or two laws of their own, which strike when something happens; return their kinds."""
    node = scenario.setdefault("node", rng.choice([1, 1, 2]))
    scenario["rack"] = rng.choice([1, 2, 2, 3])
    if scenario.get("faults_of") == "nodes" and rng.random() < 0.5:
        scenario["spread"] = _outcomes(rng)
    busy = sorted({int(time) for run in simulate(scenario)["runs"] for time in run[3:5]})
    added = set()
    scenario["laws"] = []
    for _ in range(rng.choice([1, 1, 2])):
        kind = rng.choice(["racks", "computing", "computing", "replayed"])
        of = rng.choice(["workers", "nodes", "racks"])
        units = -(
            -scenario["workers"] // {"workers": 1, "nodes": node}.get(of, node * scenario["rack"])
        )
        law = {"of": of, "detection": rng.choice([0, 0, 1, 3])}
        if kind == "replayed":
            law |= _replayed(rng, units)
        else:
            law |= rng.choice([{"downtime": rng.choice([0, 1, 2, 4])}] * 3 + [{"effect": "hang"}])
            law |= _computing(rng, units) if kind == "computing" else _struck(rng, units, busy)
        if of == "nodes" and rng.random() < 0.7:
            law["spread"] = _outcomes(rng)
        if "repair" in scenario:
            law["curable"] = rng.random() < 0.5
        scenario["laws"].append(law)
        added.add(kind)
    return added


def _outcomes(rng: Random) -> list[int]:
    return [int(rng.random() < 0.6) for _ in range(rng.randint(1, 12))]


def _struck(rng: Random, units: int, busy: list[int]) -> dict[str, Any]:
    times = [rng.choice([*busy, rng.randint(0, 40)]) for _ in range(rng.randint(1, 6))]
    return {"strikes": [[time, rng.randrange(units)] for time in times]}


def _computing(rng: Random, units: int) -> dict[str, Any]:
    gaps = [[rng.randint(1, 12) for _ in range(rng.randint(0, 4))] for _ in range(units)]
    some = sorted(rng.sample(range(units), rng.randint(1, units)))
    if rng.random() < 0.5:
        return {"gaps": gaps}
    wear = {"interval": rng.choice([1, 2, 3, 5, 8]), "added": _worn(rng, units)}
    return {"gaps": gaps, "units": some} | (wear if rng.random() < 0.6 else {})


def _worn(rng: Random, units: int) -> list[list[int]]:
    """Who wears out at each of some instants, some of them for the second time."""
    drawn = (rng.sample(range(units), rng.randint(1, min(3, units))) for _ in range(8))
    return [sorted(it) for it in drawn][: rng.randint(1, 8)]


def _replayed(rng: Random, units: int) -> dict[str, Any]:
    """Failures of up to three nodes of a log, over a window that begins anywhere in it."""
    record: list[list[list[int]]] = []
    for _ in range(rng.randint(1, 3)):
        record.append([])
        time = rng.randint(0, 20)
        for _ in range(rng.randint(0, 3)):
            record[-1].append([time, time + rng.randint(1, 5)])
            time = record[-1][-1][1] + rng.randint(1, 20)
    failures = [it for spans in record for it in spans] or [[0, 2]]
    record[0] = record[0] or failures[:1]
    first = min(start for start, _ in failures)
    record = [[[a - first, b - first] for a, b in spans] for spans in record]
    length = max(end for spans in record for _, end in spans)
    nodes = [rng.randrange(len(record)) for _ in range(units)]
    return {"record": record, "length": length, "start": rng.randrange(length), "nodes": nodes}


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


def _store(rng: Random, scenario: dict[str, Any]) -> bool:
    """Let images go to shared storage, now and then; whether some do."""
    stored = [
        job
        for job in scenario["jobs"]
        if (job["protection"] == "images" and job["period"] != "continuous")
        or job.get("images_every") is not None
    ]
    if not stored or rng.random() < 0.5:
        return False
    scenario["storage"] = {"bandwidth": rng.choice([1, 2, 3, 4])}
    if rng.random() < 0.5:
        scenario["storage"]["worker_bandwidth"] = rng.choice([0.5, 1, 2])
    for job in scenario["jobs"]:
        job["image"] = 0
    for job in stored:
        job["bytes"] = rng.choice([1, 2, 3, 6])
        buddies = job["protection"] == "buddies"
        for key in ("image_cost",) if buddies else ("cost", "recovery", "delay"):
            if key in job:
                job[key] = 0
    return True


def _stand_by(rng: Random, scenario: dict[str, Any]) -> bool:
    """Give some jobs standbys, now and then; whether one has them. No program is sent then."""
    fit = [job for job in scenario["jobs"] if job["kind"] != "iterative"]
    if not fit or rng.random() < 0.5:
        return False
    for job in fit:
        job["standbys"] = rng.randint(0, 3)
        job["p"] = max(1, job["p"] - rng.randint(0, 2))
    for job in scenario["jobs"]:
        job["program"] = 0
    return any(job["standbys"] for job in fit)


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
