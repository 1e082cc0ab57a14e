"""Random scenarios of every kind and every mechanism, small enough to run by the hundred."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial

from numpy.random import Generator, default_rng

from policies.copies import FIXED
from policies.copies import NAMES as REDUNDANCY
from policies.enrolment import CATALOGUE
from policies.pack import ALLOCATIONS
from policies.pack import CATALOGUE as REDISTRIBUTIONS
from sims import examples
from tests.oracle.coincidences import TENTH
from tests.oracle.scenarios import generate
from tests.sims.drawn import (
    CHOICES,
    a_job,
    a_link,
    a_platform,
    a_protection,
    a_slow_link,
    an_application,
    an_underestimate,
    any_job,
    in_halves,
    kept,
    law_of_faults,
    on_storage,
    one,
    owned,
    practised_protection,
    slow,
    struck,
    users_job,
)
from tests.sims.oneworld import Table, as_file

RARELY = 5000
"""Steps after which a run counts as endless."""
COPIES = tuple(name.replace("beta", "0.4") for name in REDUNDANCY)
WHOLE = tuple(name for name in FIXED if name != "PS")
"""Those of COPIES whose workers serve one copy at a time."""


def chosen(rng: Generator, **keys: str) -> Table:
    """A choice for each key, of those of that name."""
    return {key: one(rng, *CHOICES[name]) for key, name in keys.items()}


def queue(seed: int) -> Table:
    """Up to ten jobs under any strategy, order and reading, on workers that come, go and fail."""
    rng = default_rng(seed)
    workers = int(rng.integers(2, 10))
    kind = str(rng.choice(["rigid", "moldable"]))
    listed = [a_job(kind, workers, rng) for _ in range(rng.integers(1, 10))]
    jobs = {"kind": kind, "jobs": listed, "verification": one(rng, 0, 0.5)}
    policy = chosen(rng, order="orders", reading="readings", name="strategies")
    if kind == "moldable":
        policy["allocation"] = one(rng, *CHOICES["allocations"])
    else:
        jobs["overrun"] = one(rng, "finish", "kill")
    return {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": jobs,
        "policy": policy,
        **a_platform(workers, rng),
        **a_protection(rng),
    }


def believed(seed: int) -> Table:
    """Jobs of users, with requests and priorities, in a queue that believes them or not, whose
    order may change with time and whose first job may preempt; on workers of any task time."""
    rng = default_rng([seed, 7])
    workers, preemptive = int(rng.integers(2, 9)), bool(rng.random() < 0.4)
    listed = [users_job(workers, rng) for _ in range(rng.integers(2, 10))]
    policy = chosen(rng, name="site_strategies", order="site_orders") | {
        "estimates": one(rng, "user", "user", "exact", "noise", "recent"),
        "noise": one(rng, "lognormal", "uniform"),
        "spread": 0.5,
    }
    images = {"kind": "images", "period": float(rng.integers(2, 9)), "cost": 0.5, "recovery": 0.5}
    if preemptive:
        policy["preemption"] = True
        policy["name"] = one(rng, "EASY", "FCFS", "greedy", "R-LIST-1")
    table = {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": {"kind": "rigid", "jobs": listed, "overrun": one(rng, "finish", "kill")},
        "policy": policy,
        **a_platform(workers, rng),
        **({"protection": images} if preemptive else a_protection(rng)),
    }
    if "workers" in table:
        for worker in table["workers"]:
            worker["task_time"] = one(rng, 1, 2.5)
    return in_halves(table) if rng.random() < 0.5 else table  # type: ignore[no-any-return]


def preempted(seed: int) -> Table:
    """Jobs that outlive what their users believe, in a queue whose order changes with time: who was
    promised a start preempts several others as that comes due."""
    rng = default_rng([seed, 23])
    workers = int(rng.integers(3, 6))
    listed = [an_underestimate(workers, rng) for _ in range(rng.integers(4, 9))]
    return {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "platform": {"workers": workers},
        "job": {"kind": "rigid", "jobs": listed, "overrun": "finish"},
        "protection": {"kind": "images", "period": 2.0, "cost": 0.5, "recovery": 0.5},
        "policy": {
            **chosen(rng, reading="readings"),
            "name": one(rng, "EASY", "conservative", "R-LIST-1", "R-LIST-2"),
            "order": one(rng, "FAIR-SHARE", "WFP3", "UNICEP", "F1"),
            "preemption": True,
        },
    }


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
    count, pair = int(rng.integers(1, 5)), one(rng, 1, 2, 2, 3)
    workers = pair * count + int(rng.integers(0, 10))
    strikes = struck(rng, int(rng.integers(12)), 2e6, workers)
    faults = strikes | {"downtime": one(rng, 0, 60, 5000)}
    protection: Table = {
        "kind": "buddies",
        "period": one(rng, "young", "daly", 20000.0),
        "mtbf": 3e6 * 10 ** float(rng.uniform(0, 2)),
        "fatal": one(rng, "possible", "ignored"),
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
            "unit": one(rng, 0.05, 0.5),
            "latency": one(rng, 0.0, 2.0),
            "startup": one(rng, 0.0, 30.0),
        },
        "protection": protection,
        "faults": faults,
        "policy": {"name": one(rng, *REDISTRIBUTIONS)},
    }


def varied_pack(seed: int) -> Table:
    """Up to five applications, each with its own profile, release and protection, in copies or not,
    on workers that come, go, fail and slow down, with a master or without."""
    rng = default_rng([seed, 3])
    count, pair = int(rng.integers(1, 6)), one(rng, 1, 2, 2, 3)
    workers = pair * count + int(rng.integers(0, 10))
    table = {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": {
            "kind": "malleable",
            "pair": pair,
            "jobs": [an_application(workers, rng) for _ in range(count)],
            "verification": one(rng, 0, 0, 0.5),
        },
        "link": {"unit": one(rng, 0.1, 0.5), "latency": 0.1, "startup": one(rng, 0.0, 1.0)},
        "protection": kept(rng),
        "policy": {"name": one(rng, *REDISTRIBUTIONS), "allocation": one(rng, *ALLOCATIONS)},
        **a_platform(workers, rng),
    }
    if rng.random() < 0.3:
        table["master"] = {"channels": int(rng.integers(1, 4)), "program": 2, "data": 1, "image": 2}
    if "workers" in table and rng.random() < 0.5:
        table["workers"] = [worker | slow(rng) for worker in table["workers"]]
    return table


def shares(seed: int) -> Table:
    """Up to thirty jobs in copies, placed all at once, on workers whose speed varies."""
    rng = default_rng(seed)
    return {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "platform": {
            "workers": int(rng.integers(2, 7)),
            "speed": CHOICES["speeds"][1],
        },
        "job": {
            "kind": "rigid",
            "stream": {
                "count": int(rng.integers(3, 30)),
                "arrivals": {"kind": "poisson", "load": 0.5},
                "sizes": {"kind": "exponential", "mean": 1},
            },
        },
        "policy": {"name": one(rng, *CHOICES["copies"])},
    }


def enrolled(seed: int) -> Table:
    """Tasks on workers that owners take back, enrolled by a policy of volatile13, through a
    master."""
    rng = default_rng(seed)
    tasks, workers = int(rng.integers(1, 6)), int(rng.integers(2, 6))
    each = [
        owned(rng)
        | {"task_time": int(rng.integers(1, 5)), "memory": tasks, "belief": CHOICES["belief"]}
        for _ in range(workers)
    ]
    sizes = {key: int(rng.integers(4)) for key in ("program", "data", "image")}
    return {
        "name": "any",
        "seed": seed,
        "workers": each,
        "master": {"channels": int(rng.integers(1, 4)), **sizes},
        "job": {"kind": "iterative", "tasks": tasks, "iterations": 3, "cap": 150},
        "policy": {"name": one(rng, *sorted(CATALOGUE)), "reuse": bool(rng.integers(2))},
        **a_protection(rng),
    }


def crowded(seed: int) -> Table:
    """Twelve workers that come and go, and a narrow link that serves who lacks most."""
    rng = default_rng([seed, 19])
    sizes = {"program": int(rng.integers(2, 6)), "data": int(rng.integers(1, 4))}
    return {
        "name": "any",
        "seed": seed,
        "unit": "slot",
        "platform": CHOICES["crowd"],
        "master": {"channels": int(rng.integers(1, 4)), "order": "longest-first", **sizes},
        "job": {"kind": "iterative", "tasks": 5, "iterations": 4, "cap": 1000},
        "policy": {"name": one(rng, *sorted(CATALOGUE))},
    }


def runs(seed: int) -> Table:
    """The jobs of `shares`, in copies that are runs of their own, as workers fail."""
    rng = default_rng(seed)
    table = shares(seed)
    workers = table["platform"]["workers"]
    times = {"downtime": 1.5, "detection": one(rng, 0, 0, 0.5, 3)}
    table["faults"] = struck(rng, 6, 20, workers) | times
    table["policy"] = {"name": one(rng, "SRPT+R", "SRPT+R-noclone", "SRPT", "FCFS")}
    return table


def served(seed: int) -> Table:
    """Some jobs in copies by any policy, on workers of any law of speeds; by arrays where nothing
    else happens, else by runs."""
    rng = default_rng([seed, 13])
    platform: Table = {"workers": int(rng.integers(1, 7)), "speed": one(rng, *CHOICES["speeds"])}
    arrivals = {"kind": "poisson", "load": one(rng, 0.4, 0.9)}
    stream = {"count": int(rng.integers(1, 13)), "arrivals": arrivals}
    policy = {"name": one(rng, *COPIES), "placement": one(rng, "uniform", "lowest")}
    table = {"name": "any", "seed": seed, "job": {"kind": "rigid", "stream": stream}}
    table |= {"platform": platform, "policy": policy}
    if rng.random() < 0.2:
        platform |= {"workers": platform["workers"] + 1, "spares": 1}
    if rng.random() < 0.5:
        platform["augmentation"] = one(rng, 1, 1.5)
        if policy["name"] != "SRPT+R-noclone" and rng.random() < 0.5:
            platform["gain"] = {"kind": "linear"}
        return table
    policy["name"] = one(rng, *WHOLE)
    platform["availability"] = owned(rng)["availability"]
    return table | {"faults": law_of_faults(rng)} | a_protection(rng) | a_link(rng)


def mixed(seed: int) -> Table:
    """Up to four jobs of all kinds in one queue, under any placement, each protected in its own
    way, with silent errors, on workers with owners, faults and speeds, with a link or without."""
    rng = default_rng([seed, 17])
    workers = int(rng.integers(1, 7))
    kinds = ("rigid", "moldable", "iterative", "malleable")
    jobs = [any_job(one(rng, *kinds), workers, rng) for _ in range(rng.integers(1, 5))]
    verification, overrun = one(rng, 0, 0.5, 1), one(rng, "finish", "kill")
    table: Table = {
        "name": "any",
        "seed": seed,
        "unit": "s",
        "job": {"kind": "rigid", "jobs": jobs, "verification": verification, "overrun": overrun},
        "policy": chosen(rng, name="strategies", order="orders"),
        **chosen(rng, errors="errors"),
        **a_platform(workers, rng),
        **a_link(rng),
    }
    table["job"]["cap"] = RARELY
    table["policy"] |= chosen(
        rng, placement="placements", allocation="allocations", allotment="allotments"
    )
    for worker in table.get("workers", ()):
        worker |= {"belief": CHOICES["belief"]} | slow(rng)
    if rng.random() < 0.5:
        table["faults"] = law_of_faults(rng)
    if rng.random() < 0.3:
        table["reclaims"] = [[2.5, 4.0, int(rng.integers(workers))]]
    return in_halves(table) if rng.random() < 0.5 else table  # type: ignore[no-any-return]


def practised(seed: int) -> Table:
    """Practitioners' mechanisms, alone and together, as the oracle draws them."""
    return as_file(generate(seed, TENTH, practised=True)[1])


def overlaid(seed: int) -> Table:
    """Practitioners' mechanisms over any of the others, under several kinds of faults at once."""
    rng = default_rng([seed, 11])
    made: Callable[[int], Table] = one(rng, queue, believed, varied_pack, enrolled)
    table = made(seed)
    platform = table.setdefault("platform", {})
    node, spares = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    platform |= {"node": node, "spares": spares, "workers": platform.get("workers", 0) + spares}
    laws = [
        {"kind": "exponential", "mtbf": 60},
        {"kind": "weibull", "shape": 0.7, "mtbf": 90, "of": "nodes"},
    ]
    times = {"downtime": one(rng, 0, 1.5, 6), "detection": one(rng, 0, 0.5, 3)}
    others = times | {"detection": one(rng, times["detection"], 0, 2)}
    table["faults"] = [laws[0] | times, laws[1] | others][: int(rng.integers(1, 3))]
    for worker in table.get("workers", ()):
        if isinstance(worker.get("availability"), dict):
            worker["availability"]["notice"] = one(rng, 0, 1, 2.5)
    table["job"].setdefault("cap", RARELY)  # hardly any run of all workers may get to its end
    return table | {"protection": table.get("protection", {}) | practised_protection(rng)}


def fleet(seed: int) -> Table:
    """Lemons, some by computing time and some of units that wear out, racks, faults that spread
    within racks, hangs, start-ups, and images that are always there, over any of the others."""
    rng = default_rng([seed, 12])
    made: Callable[[int], Table] = one(rng, queue, varied_pack, enrolled, overlaid)
    table = made(seed)
    platform = table.setdefault("platform", {})
    platform |= {"node": int(rng.integers(1, 3)), "rack": int(rng.integers(1, 4))}
    lemons = {"kind": "exponential", "mtbf": 60, "downtime": one(rng, 0, 1.5, 6)}
    lemons |= one(rng, {"share": 0.3}, {"units": "0"}, {"share": 1}, {})
    if table["job"]["kind"] != "malleable":
        lemons |= one(rng, {"clock": "computing"}, {})
    spreading = {"kind": "weibull", "shape": 0.7, "mtbf": 150, "of": "nodes", "spread": 0.4}
    racks = {"kind": "list", "strikes": [[2.5, 0], [9, 0]], "of": "racks"}
    last = one(rng, spreading, racks) | {"downtime": one(rng, 0, 2), "detection": one(rng, 0, 1)}
    if made is queue:
        table["policy"]["placement"] = one(rng, "random", "lowest")
    table["job"] |= {"startup": one(rng, 0, 0.5, 3), "select": one(rng, 0, 1), "cap": 500}
    hangs = {"kind": "exponential", "mtbf": one(rng, 20, 80), "effect": "hang"}
    hangs |= {"detection": one(rng, 0, 0.5, 2.5, 4), "of": one(rng, "workers", "nodes", "racks")}
    listed = {"kind": "list", "strikes": [[2.5, 0], [5, 1], [5, 0]], "effect": "hang"}
    listed |= {"detection": one(rng, 1, 3)}
    laws = [lemons, last]
    pack = table["policy"].get("name") in REDISTRIBUTIONS
    hanging = rng.random() < 0.6 and (not pack or _fatal(table))
    if hanging:
        laws.insert(int(rng.integers(3)), one(rng, hangs, listed))
    more = default_rng([seed, 53])
    if {"share", "units"} & lemons.keys() and more.random() < 0.5:
        drawn, listed = {"share_added": 0.5}, {"added": ["0"]}
        lemons |= one(more, drawn, listed, drawn | listed) | {"interval": one(more, 1.5, 4, 10)}
    if table["job"]["kind"] != "malleable" and "master" not in table and more.random() < 0.2:
        always = {"kind": "images", "period": "continuous"}
        table["protection"] = always | {"recovery": one(more, 0, 0.5)}
    return table | {"faults": laws}


def _fatal(table: Table) -> bool:
    """Whether a pack heeds all faults: one that ignores some has no hangs."""
    return bool(table.get("protection", {}).get("fatal") == "possible")


def ready(seed: int) -> Table:
    """Rigid and moldable jobs with standbys in a queue, over any of the others that have such."""
    rng = default_rng([seed, 37])
    table = one(rng, queue, believed, preempted, overlaid, fleet, stored, mixed)(seed)
    if table["job"]["kind"] not in ("rigid", "moldable"):
        table = queue(seed)
    name = table["policy"].get("name", "")
    if "SHELF" in name or name == "conservative":
        table["policy"] = {"name": one(rng, "FCFS", "EASY", "greedy", "R-LIST-0")}
    for job in table["job"]["jobs"]:
        if job.get("kind", table["job"]["kind"]) in ("rigid", "moldable"):
            job["standbys"] = int(rng.integers(0, 4))
    if rng.random() < 0.6:
        table["master"] = a_slow_link(rng, "storage" not in table)
    if "faults" not in table:
        table["faults"] = law_of_faults(rng)
    return table  # type: ignore[no-any-return]


def maintained(seed: int) -> Table:
    """Jobs in a queue around windows of maintenance, over any of the others with a queue."""
    rng = default_rng([seed, 41])
    table = one(rng, queue, believed, preempted, ready)(seed)
    if "recent" in table["policy"].values() or "tasks" in str(table["job"]):
        table = queue(seed)
    windows, alone = [], table.get("platform", {}).get("workers") == 1
    for _ in range(rng.integers(1, 4)):
        start = float(rng.choice([0, 1.5, 4, 10, 20]))
        long = float(rng.choice([0.5, 3, 8, 40]))
        units = one(rng, "0", "1", "0-1")
        windows.append({"from": start, "to": start + long, "units": "0" if alone else units})
    table.setdefault("platform", {})["maintenance"] = windows
    table["job"]["cap"] = 500
    return table  # type: ignore[no-any-return]


def divided(seed: int) -> Table:
    """Jobs in a queue of one to three partitions, which may overlap and have tiers, with and
    without windows of maintenance, over others with a queue."""
    rng = default_rng([seed, 47])
    table = one(rng, queue, believed, preempted, maintained)(seed)
    policy = table["policy"]
    if "SHELF" in policy.get("name", "") or policy.get("allocation") == "BATCH":
        policy |= {"name": one(rng, "EASY", "conservative", "FCFS", "R-LIST-Q")}
        policy.pop("allocation", None)
    listed = sum(it.get("count", 1) for it in table.get("workers", ()))
    last = listed or table["platform"]["workers"]
    partitions = []
    for name in ("a", "b", "c")[: rng.integers(1, 4)]:
        first = int(rng.integers(0, last))
        units = f"{first}-{int(rng.integers(first, last))}"
        partitions.append({"name": name, "units": units, "tier": int(rng.integers(1, 3))})
    partitions[0] |= {"units": f"0-{last - 1}", "default": True}
    table.setdefault("platform", {})["partitions"] = partitions
    for job in table["job"]["jobs"]:
        job["queue"] = ""
        if job.get("processors", last + 1) == 1:
            job["queue"] = one(rng, *(it["name"] for it in partitions))
    if rng.random() < 0.4 and not any(job.get("standbys") for job in table["job"]["jobs"]):
        _in_whole_nodes(rng, table["platform"], last)
    elif rng.random() < 0.4:
        _replace_members(rng, table)
    return table  # type: ignore[no-any-return]


def _replace_members(rng: Generator, table: Table) -> None:
    """Let free workers take the places of buddies that faults have taken."""
    after, recovery = one(rng, 0, 0, 1, 4), one(rng, 0, 1)
    about = {"period": one(rng, 1, 3), "cost": 0.5, "recovery": recovery, "replace_after": after}
    table["protection"] = {"kind": "buddies"} | about
    table["faults"] = {"kind": "exponential", "mtbf": 25, "downtime": one(rng, 3, 12)}
    table["job"]["cap"] = 500


def _in_whole_nodes(rng: Generator, platform: Table, last: int) -> None:
    """Let the jobs of some partitions hold whole nodes."""
    node = platform["node"] = int(rng.integers(2, 4))
    for it in platform["partitions"]:
        if rng.random() < 0.6:
            low, high = map(int, it["units"].split("-"))
            high = min((high // node + 1) * node, last) - 1
            it |= {"units": f"{low // node * node}-{high}", "exclusive": True}


def stored(seed: int) -> Table:
    """Any of the others, whose checkpoints go to storage of a bandwidth that all runs share."""
    rng = default_rng([seed, 33])
    made = one(rng, queue, believed, enrolled, overlaid, mixed, practised, varied_pack)
    return on_storage(made(seed), rng)


def repaired(seed: int) -> Table:
    """Faults of workers, nodes and racks that are repaired in stages, by few crews, and blamed on
    others now and then, over any of the others."""
    rng = default_rng([seed, 43])
    table = one(rng, queue, varied_pack, enrolled, overlaid, fleet, ready, mixed, runs)(seed)
    if not _fatal(table) and table["policy"].get("name") in REDISTRIBUTIONS:
        table = fleet(seed)
        table.setdefault("protection", {})["fatal"] = "possible"
    laws = table.get("faults", [])
    laws = list(laws) if isinstance(laws, list) else [laws]
    detection = one(rng, 0, 0, 0.5, 3)
    laws.append({"kind": "exponential", "mtbf": 25, "detection": detection})
    for law in laws:
        law.pop("downtime", None)
        if rng.random() < 0.3:
            law["curable"] = bool(rng.integers(2))
    stages = [
        {
            "time": one(rng, 0.5, 2, 6),
            "law": one(rng, "fixed", "exponential"),
            "fixes": one(rng, 0.5, [1, 0, 1], 1),
            "crews": one(rng, 1, 1, 2, 9),
            "passes_on": one(rng, 0.5, [1, 0, 1, 1]),
        }
        for _ in range(rng.integers(1, 4))
    ]
    del stages[-1]["passes_on"]
    blame: Table = one(rng, {}, {"blamed": 0.7, "mistaken": 0.4}, {"mistaken": [1, 1, 0, 1]})
    few = {"kind": "faults-within", "faults": 3, "window": 1}
    score = {"kind": "score", "period": 1, "penalty": 30, "credit": 40}
    retirement: Table = one(rng, {}, {}, {}, {"retirement": few}, {"retirement": score})
    table["job"]["cap"] = min(table["job"].get("cap", 500), 500)
    repair = {"stages": stages} | blame | retirement
    return table | {"faults": laws, "repair": repair}  # type: ignore[no-any-return]


def _rigid(table: Table) -> list[Table]:
    """The rigid jobs of a scenario that lists its jobs."""
    job = table["job"]
    return [it for it in job.get("jobs", ()) if it.get("kind", job["kind"]) == "rigid"]


def reserved(seed: int) -> Table:
    """Rigid jobs, some with standbys, in a queue with a reserve of workers that are called when
    the first job lacks workers."""
    rng = default_rng([seed, 47])
    table = one(rng, queue, believed, preempted, ready, repaired, stored)(seed)
    if not _rigid(table):
        table = preempted(seed)
    table["job"]["jobs"] = _rigid(table)
    platform = table.setdefault("platform", {})
    reserve = int(rng.integers(1, 4))
    platform["workers"] = platform.get("workers", 0) + reserve
    platform |= {"reserve": reserve, "reserve_delay": one(rng, 0, 1, 4)}
    if "SHELF" in table["policy"].get("name", ""):
        table["policy"]["name"] = "EASY"
    for job in table["job"]["jobs"]:
        if rng.random() < 0.4 and table["policy"].get("name") != "conservative":
            job["standbys"] = int(rng.integers(0, 3))
    if "faults" not in table:
        table["faults"] = law_of_faults(rng)
    if rng.random() < 0.4:
        table["master"] = a_slow_link(rng, "storage" not in table)
    table["job"]["cap"] = 500
    return table  # type: ignore[no-any-return]


def replicated(seed: int) -> Table:
    """Rigid jobs in a queue, most of them with replicas, over any of the others that have such."""
    rng = default_rng([seed, 53])
    table = one(rng, queue, believed, overlaid, fleet, ready, stored, repaired, reserved)(seed)
    if table["policy"].get("placement") == "recent" or not _rigid(table):
        table = queue(seed)
    if not _rigid(table):
        table["job"]["kind"] = "rigid"
        table["job"]["jobs"] = [{"processors": 2, "time": 20}, {"processors": 4, "time": 9}]
        workers = table.setdefault("platform", {}).get("workers", 0)
        if "workers" not in table:
            table["platform"]["workers"] = max(workers, 4)
    for job in _rigid(table):
        processors = job["processors"]
        counts = [count for count in range(2, processors + 1) if processors % count == 0]
        if counts and rng.random() < 0.8:
            job["replicas"] = count = one(rng, *counts)
            job["least"] = one(rng, 1, 1, count)
            job["regroup"], job["rejoin"] = one(rng, 0, 0.5, 2), one(rng, 0, 1, 3)
    if "faults" not in table:
        table["faults"] = law_of_faults(rng)
    table["job"]["cap"] = min(table["job"].get("cap", 500), 500)
    return table  # type: ignore[no-any-return]


def cell(kind: str, seed: int) -> Table:
    """A cell of the matrix of job x hazard x protection x communication."""
    cells = [it for it in examples.cells() if it.startswith(f"{kind}/")]
    return tomllib.loads(examples.cell_file(cells[(17 * seed) % len(cells)], seed))


def acted(seed: int) -> Table:
    """Any of the others, with an agent that does anything."""
    rng = default_rng(seed)
    kinds = [kind for kind in TABLES if not kind.startswith("acted")]
    return _with_agent(rng, TABLES[one(rng, *kinds)](int(rng.integers(1 << 30))))


def acted_groups(seed: int) -> Table:
    """Jobs that follow others, in partitions and under limits, on what the oracle draws of
    practitioners' mechanisms and fleets, with an agent that does anything."""
    rng = default_rng([seed, 59])
    practised, fleet = (bool(it) for it in rng.integers(2, size=2))
    _, scenario = generate(seed, practised=practised, fleet=fleet, groups=True)
    table = as_file(scenario)
    table["job"]["cap"] = 500  # faults that are replayed again and again may end none of the runs
    return _with_agent(rng, table)


def _with_agent(rng: Generator, table: Table) -> Table:
    """A scenario with an agent that does anything that can be done there."""
    sections = [
        table.get("platform", {}),
        table.get("random_workers", {}),
        *table.get("workers", []),
    ]
    acts = ["take", "take", "fail", "hang", "speed", "call"]
    if "repair" in table:
        acts = [act for act in acts if act not in ("fail", "hang")]
    elif table["job"].get("kind") == "malleable":
        acts.remove("hang")
    if any({"speed", "gain", "augmentation"} & section.keys() for section in sections):
        acts.remove("speed")
    if not table.get("platform", {}).get("reserve"):
        acts.remove("call")
    does = sorted({one(rng, *acts) for _ in range(rng.integers(1, 5))})
    own = {"does": does, "most": int(rng.integers(1, 20))}
    jobs = enumerate(table["job"].get("jobs", ()), 1)
    named = [job.get("name", f"J{k}") for k, job in jobs if "after" not in job]
    if named and rng.random() < 0.5:
        own["jobs"] = [name for name in named if rng.random() < 0.5] or [named[0]]
        own["does"] = [*does, "submit", *(["cancel"] if rng.random() < 0.7 else [])]
    return table | {"agents": [{"name": "wild:Wild", "parameters": own}]}


TABLES: dict[str, Callable[[int], Table]] = {
    "queue": queue,
    "believed": believed,
    "preempted": preempted,
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
    "fleet": fleet,
    "stored": stored,
    "ready": ready,
    "maintained": maintained,
    "divided": divided,
    "repaired": repaired,
    "reserved": reserved,
    "replicated": replicated,
    "acted": acted,
    "acted groups": acted_groups,
    **{
        f"{kind} cells": partial(cell, kind)
        for kind in ("rigid", "moldable", "malleable", "iterative")
    },
}
"""What is drawn from a seed, by its kind."""
