"""What random scenarios are made of: jobs, platforms, hazards, protections, links."""

from __future__ import annotations

import tomllib
from math import inf
from pathlib import Path
from typing import Any

from numpy.random import Generator

from tests.sims.oneworld import Table

CHOICES: Table = tomllib.loads(Path(__file__).with_name("choices.toml").read_text())
PROFILES = CHOICES["profiles"]
LONGEST = 80


def users_job(workers: int, rng: Generator) -> Table:
    time = float(rng.uniform(0.5, 30))
    job: Table = {
        "release": one(rng, 0.0, 0.0, 2.5, 7.0, 11.0),
        "user": one(rng, "ada", "bob"),
        "priority": float(rng.integers(3)),
        "estimate": time * float(rng.uniform(0.5, 3)),
    }
    processors = int(rng.integers(1, workers + 1))
    match one(rng, "rigid", "rigid", "moldable", "iterative"):
        case "moldable":
            times = [time, time * 0.6, time * 0.5]
            return job | {"kind": "moldable", "speedup": {"kind": "table", "times": times}}
        case "iterative":
            rounds = {"tasks": processors + 1, "iterations": int(rng.integers(1, 4))}
            return job | {"kind": "iterative", "processors": processors, **rounds}
    return job | {"kind": "rigid", "processors": processors, "time": time}


def an_underestimate(workers: int, rng: Generator) -> Table:
    time = float(rng.integers(2, 30))
    return {
        "processors": one(rng, 1, 1, 1, 2, workers),
        "time": time,
        "estimate": max(1.0, float(round(time * rng.uniform(0.3, 2)))),
        "release": float(rng.integers(12)),
        "user": one(rng, "ada", "bob"),
    }


def slow(rng: Generator) -> Table:
    if rng.random() < 0.5:
        return {}
    first, then = sorted(rng.uniform(1, 60, 2).tolist())
    changes = [[0, 1.0], [first, one(rng, 0.0, 0.5)], [then, one(rng, 1.0, 2.0)]]
    return {"speed": {"kind": "list", "changes": changes}}


def an_application(workers: int, rng: Generator) -> Table:
    work = float(rng.uniform(20, 90))
    release = one(rng, 0.0, 0.0, 10.0, 17.5)
    table = {"kind": "table", "times": [work / k + 0.3 * k for k in range(1, workers + 1)]}
    speedup = one(rng, table, {"kind": "synthetic", "fraction": 0.1}, *PROFILES)
    job = {"footprint": float(rng.uniform(4, 14)), "speedup": speedup, "release": release}
    return job | ({"protection": kept(rng)} if rng.random() < 0.5 else {})


def kept(rng: Generator) -> Table:
    """Any protection of an application."""
    kind = one(rng, "none", "buddies", "buddies", "images")
    copies = {"copies": int(rng.integers(1, 4)), "cloning": bool(rng.integers(2))}
    section = {"kind": kind, **(copies if rng.random() < 0.4 else {})}
    if kind == "none":
        return section
    formula = rng.random() < 0.4
    period = one(rng, "young", "daly") if formula else one(rng, 5.0, 20.5, inf)
    mtbf = one(rng, 2000.0, 5000.0) if formula else one(rng, 1000.0, inf)
    cost = {} if kind == "buddies" and rng.random() < 0.5 else {"cost": 0.5, "recovery": 0.25}
    cost = {"cost": 1.25} if kind == "images" else cost
    verified = bool(rng.integers(2))
    return section | {"period": period, "mtbf": mtbf, "verified": verified, **cost}


def any_job(kind: str, workers: int, rng: Generator) -> Table:
    job: Table = {"kind": kind, "release": one(rng, 0.0, 0.0, 2.5, 7.0)}
    if rng.random() < 0.5:
        job["failures"] = one(rng, 0, 1, 3, [0, 1], [1, 0, 0, 1])
    if rng.random() < 0.5:
        own = {"copies": int(rng.integers(1, 4)), "delay": one(rng, 0, 0.5, 2)}
        job["protection"] = {"cost": 0.5} | kept(rng) | own
    processors, work = int(rng.integers(1, workers + 1)), float(rng.uniform(0.5, 40))
    match kind:
        case "rigid":
            return job | {"processors": processors, "time": work, "estimate": work * 1.5}
        case "moldable":
            return job | {"speedup": one(rng, *PROFILES) | {"work": work}}
        case "iterative":
            rounds = {"tasks": processors + 1, "iterations": int(rng.integers(1, 4))}
            return job | {"processors": processors, **rounds}
    times = [work, work / 2 + 1, work / 3 + 1]
    return job | {"footprint": 100.0, "speedup": {"kind": "table", "times": times}}


def law_of_faults(rng: Generator) -> Table:
    law: Table = one(rng, *CHOICES["faults"])
    mtbf, detection = one(rng, 300, 300, 30), one(rng, 0, 0, 0.5, 4)
    return law | {"mtbf": mtbf, "downtime": one(rng, 0, 1, 1.5, 20), "detection": detection}


def a_link(rng: Generator) -> Table:
    if rng.random() < 0.5:
        return {}
    master = {key: int(rng.integers(4)) for key in ("program", "data", "image")}
    shared, channels = bool(rng.integers(2)), int(rng.integers(1, 4))
    order = one(rng, "started-first", "longest-first")
    return {"master": master | {"channels": channels, "shared_program": shared, "order": order}}


def a_slow_link(rng: Generator, images: bool) -> Table:
    """A master whose messages take as long as much of a run, by halves or not at all."""
    sizes = {"program": one(rng, 0.5, 2, 6), "data": one(rng, 0, 1, 2.5)}
    if images:
        sizes["image"] = one(rng, 0, 0.5, 2)
    order = one(rng, "started-first", "started-first", "longest-first")
    shared, channels = bool(rng.random() < 0.3), int(rng.integers(1, 4))
    return sizes | {"channels": channels, "shared_program": shared, "order": order}


def practised_protection(rng: Generator) -> Table:
    kind = one(rng, "buddies", "buddies", "images")
    section = {
        "kind": kind,
        "period": float(rng.integers(2, 9)),
        "cost": one(rng, 0, 0.5),
        "on_notice": one(rng, "nothing", "save"),
        "blocking": bool(rng.integers(2)),
        "slowdown": one(rng, 0, 0.25),
    }
    if kind == "buddies":
        section |= {"replace_after": one(rng, 0, 1.5), "image_cost": one(rng, 0, 0.5)}
        section["images_every"] = int(rng.integers(1, 4))
    return section


def a_job(kind: str, workers: int, rng: Generator) -> Table:
    job: Table = {"release": one(rng, 0.0, 0.0, 2.5, 7.0), "failures": one(rng, 0, 0, 0, 1, 2)}
    if kind == "moldable":
        work = float(rng.uniform(1, 60))
        job["speedup"] = {"kind": "table", "times": [work, work * 0.6, work * 0.5]}
        return job
    time = float(rng.uniform(0.5, 30))
    if rng.random() < 0.5:
        job["estimate"] = time * float(rng.uniform(0.5, 3))
    return job | {"processors": int(rng.integers(1, workers + 1)), "time": time}


def a_platform(workers: int, rng: Generator) -> Table:
    """Workers that owners take back, that fail, or neither."""
    parts: Table = {"platform": {"workers": workers}}
    if rng.random() < 0.4:
        parts = {"workers": [owned(rng) for _ in range(workers)]}
    if rng.random() < 0.5:
        strikes = struck(rng, int(rng.integers(8)), LONGEST, workers)
        parts["faults"] = strikes | {"downtime": one(rng, 0, 1.5, 20)}
    return parts


def struck(rng: Generator, count: int, until: float, workers: int) -> Table:
    """So many strikes."""
    drawn = [[float(rng.uniform(0, until)), int(rng.integers(workers))] for _ in range(count)]
    return {"kind": "list", "strikes": sorted(drawn)}


def owned(rng: Generator) -> Table:
    letters = "".join(str(c) * int(rng.integers(1, 9)) for c in rng.choice(list("uuuurd"), 8))
    return {"availability": {"kind": "letters", "states": f"{letters}u"}}


def a_protection(rng: Generator) -> Table:
    if rng.random() < 0.6:
        return {}
    kind = one(rng, "none", "buddies", "images")
    return {
        "protection": {
            "kind": kind,
            "period": float(rng.integers(2, 9)),
            "cost": one(rng, 0, 0.5),
            "recovery": one(rng, 0, 0.5),
            "copies": one(rng, 1, 1, 2) if kind != "buddies" else 1,
        }
    }


TIMES = frozenset(("time", "times", "work", "estimate", "release", "strikes"))


def in_halves(said: Any, is_time: bool = False) -> Any:
    """Round all times of a scenario to halves, none of them to nothing: events then coincide."""
    if isinstance(said, dict):
        return {key: in_halves(value, key in TIMES) for key, value in said.items()}
    if isinstance(said, list):
        return [in_halves(value, is_time) for value in said]
    rounds = is_time and isinstance(said, float) and said > 0
    return max(round(2 * said) / 2, 0.5) if rounds else said


def one(rng: Generator, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def on_storage(table: Table, rng: Generator) -> Table:
    """The scenario with shared storage, to which images go, and those of buddies, in place of the
    master's link; most jobs without a protection keep images."""
    bandwidths = {"bandwidth": one(rng, 2, 5.5)} | one(rng, {}, {"worker_bandwidth": 1.5})
    jobs = table["job"].get("jobs", ())
    for section in (table.get("master", {}), *jobs):
        section.pop("image", None)
    protection = table.setdefault("protection", {})
    if protection.get("kind", "none") == "none" and rng.random() < 0.7:
        protection |= {"kind": "images", "period": 3.0}
    for own in (protection, *(job["protection"] for job in jobs if "protection" in job)):
        kind = own.get("kind")
        if kind == "buddies" and rng.random() < 0.5:
            own["images_every"] = int(rng.integers(1, 3))
        if kind == "images" or (kind == "buddies" and own.get("images_every")):
            for key in ("image_cost", *(("cost", "recovery", "delay") if kind == "images" else ())):
                own.pop(key, None)
            own["bytes"] = one(rng, 3, 7.5, 0 if not isinstance(own.get("period"), str) else 3)
    return table | {"storage": bandwidths}
