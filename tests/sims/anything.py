"""Random scenarios of every kind and every mechanism, small enough to run by the hundred."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

from numpy.random import Generator, default_rng

from policies.copies.named import FIXED
from policies.copies.named import NAMES as REDUNDANCY
from policies.enrolment import CATALOGUE
from policies.pack.names import ALLOCATIONS
from policies.pack.names import NAMES as REDISTRIBUTIONS
from sims import matrix
from tests.oracle.coincidences import TENTH
from tests.oracle.scenarios import generate
from tests.sims.oneworld import Table, as_file

STRATEGIES = (
    *("R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q"),
    *("R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB"),
)
ORDERS = ("LPT", "SPT", "HPA", "LPA", "LA", "SA", "RANDOM", "LJF", "FCFS")
SITE_STRATEGIES = ("FCFS", "EASY", "conservative", "greedy", *STRATEGIES)
SITE_ORDERS = ("FAIR-SHARE", "PRIORITY", "WFP3", "UNICEP", "F1", "SJF", "FCFS")
ALLOTMENTS = ("scaled", "exact", "programme")
RARELY = 5000
"""Steps after which a run counts as endless."""
RULES = ("LPA", "MINTIME", "MINAREA", "BATCH")
PLACEMENTS = ("lowest", "lowest", "compact", "programmed", "IP", "IE", "IY", "IAY")
COPIES = tuple(name.replace("beta", "0.4") for name in REDUNDANCY)
WHOLE = tuple(name for name in FIXED if name != "PS")
"""Those of COPIES whose workers serve one copy at a time."""
LAWS = (
    1,
    {"kind": "two-point", "peak": 4, "interval": 0.5},
    {"kind": "two-point-slots", "peak": 3, "slot": 0.4},
    {"kind": "on-off", "peak": 2, "on": 1},
    {"kind": "uniform", "peak": 2, "slot": 0.5},
)
"""Of speeds."""
PROFILES = (
    *({"kind": "amdahl", "fraction": 0.2}, {"kind": "roofline", "degree": 4}),
    {"kind": "communication", "cost": 1.5},
    {"kind": "mix", "degree": 6, "fraction": 0.1, "cost": 0.5},
    {"kind": "power", "delta": 0.7},
)
LONGEST = 80
BELIEF = {"rows": [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]}
"""What policies believe of workers, which may never be UP."""


def queue(seed: int) -> Table:
    """Up to ten jobs under any strategy, order and reading, on workers that come, go and fail."""
    rng = default_rng(seed)
    workers = int(rng.integers(2, 10))
    kind = str(rng.choice(["rigid", "moldable"]))
    listed = [_job(kind, workers, rng) for _ in range(rng.integers(1, 10))]
    jobs = {"kind": kind, "jobs": listed, "verification": _one(rng, 0, 0.5)}
    policy: Table = {"order": _one(rng, *ORDERS), "reading": _one(rng, "fresh", "easy", "kept")}
    policy["name"] = _one(rng, *STRATEGIES)
    if kind == "moldable":
        policy["allocation"] = _one(rng, *RULES)
    else:
        jobs["overrun"] = _one(rng, "finish", "kill")
    return {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": jobs,
        "policy": policy,
        **_platform(workers, rng),
        **_protection(rng),
    }


def believed(seed: int) -> Table:
    """Jobs of users, with requests and priorities, in a queue that believes them or not, whose
    order may change with time and whose first job may preempt; on workers of any task time."""
    rng = default_rng([seed, 7])
    workers, preemptive = int(rng.integers(2, 9)), bool(rng.random() < 0.4)
    listed = [_users_job(workers, rng) for _ in range(rng.integers(2, 10))]
    policy: Table = {
        "name": _one(rng, *SITE_STRATEGIES),
        "order": _one(rng, *SITE_ORDERS),
        "estimates": _one(rng, "user", "user", "exact", "noise", "recent"),
        "noise": _one(rng, "lognormal", "uniform"),
        "spread": 0.5,
    }
    images = {"kind": "images", "period": float(rng.integers(2, 9)), "cost": 0.5, "recovery": 0.5}
    if preemptive:
        policy["preemption"] = True
        policy["name"] = _one(rng, "EASY", "FCFS", "greedy", "R-LIST-1")
    table = {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": {"kind": "rigid", "jobs": listed, "overrun": _one(rng, "finish", "kill")},
        "policy": policy,
        **_platform(workers, rng),
        **({"protection": images} if preemptive else _protection(rng)),
    }
    if "workers" in table:
        for worker in table["workers"]:
            worker["task_time"] = _one(rng, 1, 2.5)
    return table


def _users_job(workers: int, rng: Generator) -> Table:
    time = float(rng.uniform(0.5, 30))
    job: Table = {
        "release": _one(rng, 0.0, 0.0, 2.5, 7.0, 11.0),
        "user": _one(rng, "ada", "bob"),
        "priority": float(rng.integers(3)),
        "estimate": time * float(rng.uniform(0.5, 3)),
    }
    processors = int(rng.integers(1, workers + 1))
    match _one(rng, "rigid", "rigid", "moldable", "iterative"):
        case "moldable":
            times = [time, time * 0.6, time * 0.5]
            return job | {"kind": "moldable", "speedup": {"kind": "table", "times": times}}
        case "iterative":
            rounds = {"tasks": processors + 1, "iterations": int(rng.integers(1, 4))}
            return job | {"kind": "iterative", "processors": processors, **rounds}
    return job | {"kind": "rigid", "processors": processors, "time": time}


def reused(seed: int) -> Table:
    """Many iterations of tasks whose data stays with who is enrolled again at once; some
    verify."""
    table = enrolled(seed)
    if seed % 2:
        table["job"]["verification"] = 2
        table["errors"] = {"rate": 0.01}
    table["policy"]["reuse"] = True
    table["job"] |= {"iterations": 500 if seed % 10 == 0 else 50, "cap": 40_000}
    return table


def pack(seed: int) -> Table:
    """Up to four applications whose workers fail often; malleable17's own rules or every fault."""
    rng = default_rng(seed)
    count, pair = int(rng.integers(1, 5)), _one(rng, 1, 2, 2, 3)
    workers = pair * count + int(rng.integers(0, 10))
    strikes = [
        [float(rng.uniform(0, 2e6)), int(rng.integers(workers))] for _ in range(rng.integers(12))
    ]
    faults: Table = {"kind": "list", "strikes": sorted(strikes), "downtime": _one(rng, 0, 60, 5000)}
    protection: Table = {
        "kind": "buddies",
        "period": _one(rng, "young", "daly", 20000.0),
        "mtbf": 3e6 * 10 ** float(rng.uniform(0, 2)),
        "fatal": _one(rng, "possible", "ignored"),
    }
    return {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "platform": {"workers": workers},
        "job": {
            "kind": "malleable",
            "pair": pair,
            "footprints": [float(rng.integers(20_000, 60_000)) for _ in range(count)],
        },
        "link": {
            "unit": _one(rng, 0.05, 0.5),
            "latency": _one(rng, 0.0, 2.0),
            "startup": _one(rng, 0.0, 30.0),
        },
        "protection": protection,
        "faults": faults,
        "policy": {"name": _one(rng, *REDISTRIBUTIONS)},
    }


def varied_pack(seed: int) -> Table:
    """Up to five applications, each with its own profile, release and protection, in copies or not,
    on workers that come, go, fail and slow down, with a master or without."""
    rng = default_rng([seed, 3])
    count, pair = int(rng.integers(1, 6)), _one(rng, 1, 2, 2, 3)
    workers = pair * count + int(rng.integers(0, 10))
    table = {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": {
            "kind": "malleable",
            "pair": pair,
            "jobs": [_application(workers, rng) for _ in range(count)],
            "verification": _one(rng, 0, 0, 0.5),
        },
        "link": {"unit": _one(rng, 0.1, 0.5), "latency": 0.1, "startup": _one(rng, 0.0, 1.0)},
        "protection": _kept(rng),
        "policy": {"name": _one(rng, *REDISTRIBUTIONS), "allocation": _one(rng, *ALLOCATIONS)},
        **_platform(workers, rng),
    }
    if rng.random() < 0.3:
        table["master"] = {"channels": int(rng.integers(1, 4)), "program": 2, "data": 1, "image": 2}
    if "workers" in table and rng.random() < 0.5:
        table["workers"] = [worker | _slow(rng) for worker in table["workers"]]
    return table


def _slow(rng: Generator) -> Table:
    if rng.random() < 0.5:
        return {}
    first, then = sorted(rng.uniform(1, 60, 2).tolist())
    changes = [[0, 1.0], [first, _one(rng, 0.0, 0.5)], [then, _one(rng, 1.0, 2.0)]]
    return {"speed": {"kind": "list", "changes": changes}}


def _application(workers: int, rng: Generator) -> Table:
    work = float(rng.uniform(20, 90))
    release = _one(rng, 0.0, 0.0, 10.0, 17.5)
    table = {"kind": "table", "times": [work / k + 0.3 * k for k in range(1, workers + 1)]}
    speedup = _one(rng, table, {"kind": "synthetic", "fraction": 0.1}, *PROFILES)
    job = {"footprint": float(rng.uniform(4, 14)), "speedup": speedup, "release": release}
    return job | ({"protection": _kept(rng)} if rng.random() < 0.5 else {})


def _kept(rng: Generator) -> Table:
    """Any protection of an application."""
    kind = _one(rng, "none", "buddies", "buddies", "images")
    copies = {"copies": int(rng.integers(1, 4)), "cloning": bool(rng.integers(2))}
    section = {"kind": kind, **(copies if rng.random() < 0.4 else {})}
    if kind == "none":
        return section
    formula = rng.random() < 0.4
    period = _one(rng, "young", "daly") if formula else _one(rng, 5.0, 20.5, inf)
    mtbf = _one(rng, 2000.0, 5000.0) if formula else _one(rng, 1000.0, inf)
    cost = {} if kind == "buddies" and rng.random() < 0.5 else {"cost": 0.5, "recovery": 0.25}
    cost = {"cost": 1.25} if kind == "images" else cost
    verified = bool(rng.integers(2))
    return section | {"period": period, "mtbf": mtbf, "verified": verified, **cost}


def shares(seed: int) -> Table:
    """Up to thirty jobs in copies, placed all at once, on workers whose speed varies."""
    rng = default_rng(seed)
    return {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "platform": {
            "workers": int(rng.integers(2, 7)),
            "speed": {"kind": "two-point", "peak": 4, "interval": 0.5},
        },
        "job": {
            "kind": "rigid",
            "stream": {
                "count": int(rng.integers(3, 30)),
                "arrivals": {"kind": "poisson", "load": 0.5},
                "sizes": {"kind": "exponential", "mean": 1},
            },
        },
        "policy": {"name": _one(rng, "SRPT+R", "SRPT+R-noclone", "SRPT", "LAPS+R(1/2)")},
    }


def enrolled(seed: int) -> Table:
    """Tasks on workers that owners take back, enrolled by a policy of volatile13, through a
    master."""
    rng = default_rng(seed)
    tasks, workers = int(rng.integers(1, 6)), int(rng.integers(2, 6))
    each = [
        _owned(rng) | {"task_time": int(rng.integers(1, 5)), "memory": tasks, "belief": BELIEF}
        for _ in range(workers)
    ]
    sizes = {key: int(rng.integers(4)) for key in ("program", "data", "image")}
    return {
        "name": "any",
        "seed": seed,
        "workers": each,
        "master": {"channels": int(rng.integers(1, 4)), **sizes},
        "job": {"kind": "iterative", "tasks": tasks, "iterations": 3, "cap": 150},
        "policy": {"name": _one(rng, *sorted(CATALOGUE)), "reuse": bool(rng.integers(2))},
        **_protection(rng),
    }


def crowded(seed: int) -> Table:
    """Twelve workers that come and go, and a narrow link that serves who lacks most."""
    rng = default_rng([seed, 19])
    rows = [[0.9, 0.06, 0.04], [0.3, 0.65, 0.05], [0.3, 0.0, 0.7]]
    sizes = {"program": int(rng.integers(2, 6)), "data": int(rng.integers(1, 4))}
    return {
        "name": "any",
        "seed": seed,
        "unit": "slot",
        "platform": {"workers": 12, "availability": {"kind": "markov", "rows": rows}},
        "master": {"channels": int(rng.integers(1, 4)), "order": "longest-first", **sizes},
        "job": {"kind": "iterative", "tasks": 5, "iterations": 4, "cap": 1000},
        "policy": {"name": _one(rng, *sorted(CATALOGUE))},
    }


def runs(seed: int) -> Table:
    """The jobs of `shares`, in copies that are runs of their own, as workers fail."""
    rng = default_rng(seed)
    table = shares(seed)
    workers = table["platform"]["workers"]
    strikes = [[float(rng.uniform(0, 20)), int(rng.integers(workers))] for _ in range(6)]
    table["faults"] = {"kind": "list", "strikes": sorted(strikes), "downtime": 1.5}
    table["policy"] = {"name": _one(rng, "SRPT+R", "SRPT+R-noclone", "SRPT", "FCFS")}
    return table


def served(seed: int) -> Table:
    """Some jobs in copies by any policy, on workers of any law of speeds; by arrays where nothing
    else happens, else by runs."""
    rng = default_rng([seed, 13])
    platform: Table = {"workers": int(rng.integers(1, 7)), "speed": _one(rng, *LAWS)}
    arrivals = {"kind": "poisson", "load": _one(rng, 0.4, 0.9)}
    stream = {"count": int(rng.integers(1, 13)), "arrivals": arrivals}
    policy = {"name": _one(rng, *COPIES), "placement": _one(rng, "uniform", "lowest")}
    table = {"name": "any", "seed": seed, "job": {"kind": "rigid", "stream": stream}}
    table |= {"platform": platform, "policy": policy}
    if rng.random() < 0.5:
        platform["augmentation"] = _one(rng, 1, 1.5)
        if policy["name"] != "SRPT+R-noclone" and rng.random() < 0.5:
            platform["gain"] = {"kind": "linear"}
        return table
    policy["name"] = _one(rng, *WHOLE)
    platform["availability"] = _owned(rng)["availability"]
    return table | {"faults": _law_of_faults(rng)} | _protection(rng) | _link(rng)


def mixed(seed: int) -> Table:
    """Up to four jobs of all kinds in one queue, under any placement, each protected in its own
    way, with silent errors, on workers with owners, faults and speeds, with a link or without."""
    rng = default_rng([seed, 17])
    workers = int(rng.integers(1, 7))
    kinds = ("rigid", "moldable", "iterative", "malleable")
    jobs = [_any_job(_one(rng, *kinds), workers, rng) for _ in range(rng.integers(1, 5))]
    verification, overrun = _one(rng, 0, 0.5, 1), _one(rng, "finish", "kill")
    table: Table = {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": {"kind": "rigid", "jobs": jobs, "verification": verification, "overrun": overrun},
        "policy": {"name": _one(rng, *STRATEGIES), "order": _one(rng, *ORDERS)},
        "errors": _one(rng, {}, {"rate": 0.01}, {"average": 0.3}, {"per_work": 0.01}),
        **_platform(workers, rng),
        **_link(rng),
    }
    table["job"]["cap"] = RARELY
    table["policy"] |= {"placement": _one(rng, *PLACEMENTS), "allotment": _one(rng, *ALLOTMENTS)}
    for worker in table.get("workers", ()):
        worker |= {"belief": BELIEF} | _slow(rng)
    if rng.random() < 0.5:
        table["faults"] = _law_of_faults(rng)
    if rng.random() < 0.3:
        table["reclaims"] = [[2.5, 4.0, int(rng.integers(workers))]]
    return table


def _any_job(kind: str, workers: int, rng: Generator) -> Table:
    job: Table = {"kind": kind, "release": _one(rng, 0.0, 0.0, 2.5, 7.0)}
    if rng.random() < 0.5:
        job["failures"] = _one(rng, 0, 1, 3, [0, 1], [1, 0, 0, 1])
    if rng.random() < 0.5:
        own = {"copies": int(rng.integers(1, 4)), "delay": _one(rng, 0, 0.5, 2)}
        job["protection"] = {"cost": 0.5} | _kept(rng) | own
    processors, work = int(rng.integers(1, workers + 1)), float(rng.uniform(0.5, 40))
    match kind:
        case "rigid":
            return job | {"processors": processors, "time": work, "estimate": work * 1.5}
        case "moldable":
            return job | {"speedup": _one(rng, *PROFILES) | {"work": work}}
        case "iterative":
            rounds = {"tasks": processors + 1, "iterations": int(rng.integers(1, 4))}
            return job | {"processors": processors, **rounds}
    times = [work, work / 2 + 1, work / 3 + 1]
    return job | {"footprint": 100.0, "speedup": {"kind": "table", "times": times}}


def _law_of_faults(rng: Generator) -> Table:
    law = _one(rng, {"kind": "exponential"}, {"kind": "weibull", "shape": 0.7})
    return law | {"mtbf": 300, "downtime": _one(rng, 0, 1, 1.5, 20)}


def _link(rng: Generator) -> Table:
    if rng.random() < 0.5:
        return {}
    master = {key: int(rng.integers(4)) for key in ("program", "data", "image")}
    shared, channels = bool(rng.integers(2)), int(rng.integers(1, 4))
    return {"master": master | {"channels": channels, "shared_program": shared}}


def practised(seed: int) -> Table:
    """Practitioners' mechanisms, alone and together, as the oracle draws them."""
    return as_file(generate(seed, TENTH, practised=True)[1])


def overlaid(seed: int) -> Table:
    """Practitioners' mechanisms over any of the others, under several kinds of faults at once."""
    rng = default_rng([seed, 11])
    made: Callable[[int], Table] = _one(rng, queue, believed, varied_pack, enrolled)
    table = made(seed)
    platform = table.setdefault("platform", {})
    node, spares = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    platform |= {"node": node, "spares": spares, "workers": platform.get("workers", 0) + spares}
    downtime, detection = _one(rng, 0, 1.5, 6), _one(rng, 0, 0.5, 3)
    law = {"kind": "exponential", "mtbf": 60, "downtime": downtime, "detection": detection}
    other = {"kind": "weibull", "shape": 0.7, "mtbf": 90, "downtime": downtime, "of": "nodes"}
    table["faults"] = [law, other | {"detection": detection}][: int(rng.integers(1, 3))]
    for worker in table.get("workers", ()):
        if isinstance(worker.get("availability"), dict):
            worker["availability"]["notice"] = _one(rng, 0, 1, 2.5)
    return table | {"protection": table.get("protection", {}) | _practised_protection(rng)}


def _practised_protection(rng: Generator) -> Table:
    kind = _one(rng, "buddies", "buddies", "images")
    section = {
        "kind": kind,
        "period": float(rng.integers(2, 9)),
        "cost": _one(rng, 0, 0.5),
        "on_notice": _one(rng, "nothing", "save"),
        "blocking": bool(rng.integers(2)),
        "slowdown": _one(rng, 0, 0.25),
    }
    if kind == "buddies":
        section |= {"replace_after": _one(rng, 0, 1.5), "image_cost": _one(rng, 0, 0.5)}
        section["images_every"] = int(rng.integers(1, 4))
    return section


def cell(kind: str, seed: int) -> Table:
    """A cell of the matrix of job x hazard x protection x communication."""
    cells = [it for it in matrix.cells() if it.startswith(f"{kind}/")]
    return tomllib.loads(matrix.text(cells[(17 * seed) % len(cells)], seed))


def _job(kind: str, workers: int, rng: Generator) -> Table:
    job: Table = {"release": _one(rng, 0.0, 0.0, 2.5, 7.0), "failures": _one(rng, 0, 0, 0, 1, 2)}
    if kind == "moldable":
        work = float(rng.uniform(1, 60))
        job["speedup"] = {"kind": "table", "times": [work, work * 0.6, work * 0.5]}
        return job
    time = float(rng.uniform(0.5, 30))
    if rng.random() < 0.5:
        job["estimate"] = time * float(rng.uniform(0.5, 3))
    return job | {"processors": int(rng.integers(1, workers + 1)), "time": time}


def _platform(workers: int, rng: Generator) -> Table:
    """Workers that owners take back, that fail, or neither."""
    parts: Table = {"platform": {"workers": workers}}
    if rng.random() < 0.4:
        parts = {"workers": [_owned(rng) for _ in range(workers)]}
    if rng.random() < 0.5:
        strikes = [
            [float(rng.uniform(0, LONGEST)), int(rng.integers(workers))]
            for _ in range(rng.integers(8))
        ]
        downtime = _one(rng, 0, 1.5, 20)
        parts["faults"] = {"kind": "list", "strikes": sorted(strikes), "downtime": downtime}
    return parts


def _owned(rng: Generator) -> Table:
    letters = "".join(str(c) * int(rng.integers(1, 9)) for c in rng.choice(list("uuuurd"), 8))
    return {"availability": {"kind": "letters", "states": f"{letters}u"}}


def _protection(rng: Generator) -> Table:
    if rng.random() < 0.6:
        return {}
    kind = _one(rng, "none", "buddies", "images")
    return {
        "protection": {
            "kind": kind,
            "period": float(rng.integers(2, 9)),
            "cost": _one(rng, 0, 0.5),
            "recovery": _one(rng, 0, 0.5),
            "copies": _one(rng, 1, 1, 2) if kind != "buddies" else 1,
        }
    }


def _one(rng: Generator, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


TABLES: dict[str, Callable[[int], Table]] = {
    "queue": queue,
    "believed": believed,
    "reused": reused,
    "pack": pack,
    "varied pack": varied_pack,
    "shares": shares,
    "runs": runs,
    "served": served,
    "mixed": mixed,
    "enrolled": enrolled,
    "crowded": crowded,
    "practised": practised,
    "overlaid": overlaid,
    **{
        f"{kind} cells": partial(cell, kind)
        for kind in ("rigid", "moldable", "malleable", "iterative")
    },
}
"""What is drawn from a seed, by its kind."""
