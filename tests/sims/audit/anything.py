"""Random scenarios of queues, packs and shared workers, and their logs."""

from __future__ import annotations

import tomllib
from typing import Any

from numpy.random import Generator, default_rng

from actors.runtime import Record
from policies.enrolment import CATALOGUE
from policies.pack.names import NAMES as REDISTRIBUTIONS
from sims import matrix
from sims.scenario.loader import read
from sims.world import run

Table = dict[str, Any]

STRATEGIES = (
    *("R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q"),
    *("R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB"),
)
ORDERS = ("LPT", "SPT", "HPA", "LPA", "LA", "SA", "RANDOM", "LJF", "FCFS")
RULES = ("LPA", "MINTIME", "MINAREA", "BATCH")
LONGEST = 80
BELIEF = {"rows": [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]}
"""What policies believe of workers, which may never be UP."""


def records_of(table: Table) -> list[Record]:
    """The log of its run."""
    records: list[Record] = []
    run(read(table, "any"), [records.append])
    return records


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


def pack(seed: int) -> Table:
    """Up to four applications whose workers fail often; 003's own rules or every fault."""
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
    """Tasks on workers that owners take back, enrolled by a policy of 002, through a master."""
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


def runs(seed: int) -> Table:
    """The jobs of `shares`, in copies that are runs of their own, as workers fail."""
    rng = default_rng(seed)
    table = shares(seed)
    workers = table["platform"]["workers"]
    strikes = [[float(rng.uniform(0, 20)), int(rng.integers(workers))] for _ in range(6)]
    table["faults"] = {"kind": "list", "strikes": sorted(strikes), "downtime": 1.5}
    table["policy"] = {"name": _one(rng, "SRPT+R", "SRPT+R-noclone", "SRPT", "FCFS")}
    return table


def cell(kind: str, seed: int) -> Table:
    """A cell of the matrix of job x hazard x protection x communication."""
    cells = [it for it in matrix.cells() if it.kind.value == kind]
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
