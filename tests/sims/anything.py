"""Random scenarios of every kind and every mechanism, small enough to run by the hundred."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from actors.runtime import Record
from policies.copies.named import FIXED, NAMES
from policies.enrolment import CATALOGUE
from policies.pack.names import NAMES as REDISTRIBUTIONS
from sims.scenario.loader import Scenario, read
from sims.world import run

Table = dict[str, Any]

SEEDS = st.integers(0, 2**16)
LISTS = ("R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q")
SHELVES = ("R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB")
ORDERS = ("LPT", "SPT", "HPA", "LPA", "LA", "SA", "RANDOM", "LJF", "FCFS")
PLACEMENTS = ("lowest", "lowest", "compact", "programmed", "IP", "IE", "IY", "IAY")
BELIEF = {"rows": [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]}
"""What policies believe of workers, which may never be UP."""
SIZES = st.floats(0.5, 40, allow_nan=False)
COPIES = tuple(name.replace("beta", "0.4") for name in NAMES)
WHOLE = tuple(name for name in FIXED if name != "PS")
"""Those of COPIES whose workers serve one copy at a time."""
LAWS = (
    1,
    {"kind": "two-point", "peak": 4, "interval": 0.5},
    {"kind": "two-point-slots", "peak": 3, "slot": 0.4},
    {"kind": "on-off", "peak": 2, "on": 1},
    {"kind": "uniform", "peak": 2, "slot": 0.5},
)
RARELY = 5000
"""Steps after which a run counts as endless."""


def records_of(scenario: Scenario) -> list[Record]:
    """The records of one run."""
    records: list[Record] = []
    run(scenario, [records.append])
    return records


# --- what any scenario may have -------------------------------------------------------------------

LIVES = st.text(alphabet="uuuuuurd", min_size=1, max_size=60)
"""Of an owner; UP at its end."""
PERIODS = st.sampled_from((1, 2.5, 4, 20, "young", "daly"))
COSTS = st.sampled_from((0, 0.5, 1, 2))


def _maybe(table: st.SearchStrategy[Table]) -> st.SearchStrategy[Table]:
    return st.one_of(st.just({}), table)


@st.composite
def faults(draw: st.DrawFn, workers: int, scale: float = 1) -> Table:
    """Workers that fail, or do not: some of the faults of one instant, or on a DOWN one."""
    times = st.sampled_from((0.0, 1.0, 2.5, 7.0, 30.0)).map(lambda time: time * scale)
    strike = st.tuples(times, st.integers(0, workers - 1)).map(list)
    kinds = (
        {"kind": "none"},
        {"kind": "exponential", "mtbf": 300 * scale},
        {"kind": "weibull", "mtbf": 300 * scale, "shape": 0.7},
        {"kind": "list", "strikes": draw(st.lists(strike, max_size=8))},
    )
    downtime = draw(st.sampled_from((0, 1, 1.5, 20))) * scale
    return {"faults": draw(st.sampled_from(kinds)) | {"downtime": downtime}}


@st.composite
def living(draw: st.DrawFn, workers: int) -> Table:
    """Workers of which each has an owner, and some a speed that varies."""
    speeds = ([[0, 1], [3, 2]], [[0, 0.5], [4, 0], [6, 1.5]], *LAWS)
    varying = draw(st.booleans())
    each = [
        {"availability": draw(LIVES), "belief": BELIEF}
        | ({"speed": draw(st.sampled_from(speeds))} if varying else {})
        for _ in range(workers)
    ]
    return {"workers": each}


def platform(workers: int) -> st.SearchStrategy[Table]:
    """Workers alike, or each with a life of its own."""
    return st.one_of(st.just({"platform": {"workers": workers}}), living(workers))


@st.composite
def master(draw: st.DrawFn) -> Table:
    """A link, and what passes it."""
    whole = st.integers(0, 3)
    sizes = {key: draw(whole) for key in ("program", "data", "image")}
    section = {
        "channels": draw(st.integers(1, 3)),
        "order": draw(st.sampled_from(("started-first", "longest-first"))),
        "shared_program": draw(st.booleans()),
    }
    return {"master": section | sizes}


@st.composite
def protection(draw: st.DrawFn, most: int = 3) -> Table:
    """Of a job: what it saves, and how many copies run at once."""
    section = {
        "kind": draw(st.sampled_from(("none", "buddies", "images"))),
        "period": draw(PERIODS),
        "cost": draw(COSTS),
        "recovery": draw(COSTS),
        "verified": draw(st.booleans()),
        "copies": draw(st.integers(1, most)),
        "cloning": draw(st.booleans()),
        "delay": draw(COSTS),
        "mtbf": 50,
    }
    if isinstance(section["period"], str):
        section["cost"] = 0.5
    return {"protection": section}


def errors() -> st.SearchStrategy[Table]:
    """Silent ones, told in any way."""
    ways = ({}, {"rate": 0.01}, {"average": 0.3}, {"per_work": 0.01})
    return st.sampled_from(ways).map(lambda section: {"errors": section})


@st.composite
def listed(draw: st.DrawFn) -> Table:
    """What a job says whatever its kind."""
    said: Table = {"release": draw(st.sampled_from((0.0, 0.0, 2.5, 7.0)))}
    if draw(st.booleans()):
        said["failures"] = draw(st.sampled_from((0, 1, 3, [0, 1], [1, 0, 0, 1])))
    return said


# --- kinds of jobs --------------------------------------------------------------------------------


@st.composite
def rigid_job(draw: st.DrawFn, workers: int) -> Table:
    """One, with an estimate or without."""
    time = draw(SIZES)
    job = {"kind": "rigid", "processors": draw(st.integers(1, workers)), "time": time}
    if draw(st.booleans()):
        job["estimate"] = time * draw(st.floats(0.5, 3))
    return job | draw(listed())


@st.composite
def moldable_job(draw: st.DrawFn) -> Table:
    """One of any speedup."""
    work = draw(st.floats(1, 200))
    profiles = (
        {"kind": "amdahl", "work": work, "fraction": 0.1},
        {"kind": "roofline", "work": work, "degree": 4},
        {"kind": "communication", "work": work, "cost": 0.5},
        {"kind": "power", "work": work, "delta": 0.7},
        {"kind": "table", "times": [work, work * 0.6, work * 0.5]},
    )
    return {"kind": "moldable", "speedup": draw(st.sampled_from(profiles))} | draw(listed())


@st.composite
def iterative_job(draw: st.DrawFn, workers: int) -> Table:
    """One that asks a queue for workers."""
    processors = draw(st.integers(1, workers))
    job = {
        "kind": "iterative",
        "processors": processors,
        "tasks": processors + draw(st.integers(0, 4)),
        "iterations": draw(st.integers(1, 3)),
    }
    return job | draw(listed())


@st.composite
def malleable_job(draw: st.DrawFn) -> Table:
    """One that a queue never resizes."""
    first = draw(st.integers(4, 60))
    speedup = {"kind": "table", "times": [first, first / 2 + 1, first / 3 + 1]}
    return {"kind": "malleable", "footprint": 100.0, "speedup": speedup} | draw(listed())


# --- scenarios ------------------------------------------------------------------------------------


def _queue(draw: st.DrawFn) -> Table:
    return {
        "name": draw(st.sampled_from(LISTS + SHELVES)),
        "order": draw(st.sampled_from(ORDERS)),
        "reading": draw(st.sampled_from(("fresh", "easy", "kept"))),
    }


@st.composite
def rigid(draw: st.DrawFn) -> Table:
    """Up to ten jobs on up to twelve workers that may fail; any strategy, order and reading."""
    workers = draw(st.integers(1, 12))
    job = {
        "kind": "rigid",
        "jobs": draw(st.lists(rigid_job(workers), min_size=1, max_size=10)),
        "verification": draw(st.sampled_from((0, 0.5))),
        "overrun": draw(st.sampled_from(("finish", "kill"))),
    }
    head = {"name": "any", "seed": draw(SEEDS), "platform": {"workers": workers}}
    rest = draw(faults(workers)) | draw(errors())
    return head | {"job": job, "policy": _queue(draw)} | rest


@st.composite
def moldable(draw: st.DrawFn) -> Table:
    """Up to eight jobs of any speedup, under any allocation rule, batches included."""
    workers = draw(st.integers(1, 16))
    policy = _queue(draw) | {
        "name": draw(st.sampled_from(LISTS)),
        "allocation": draw(st.sampled_from(("LPA", "MINTIME", "MINAREA", "BATCH"))),
        "allotment": draw(st.sampled_from(("scaled", "exact", "programme"))),
    }
    job = {
        "kind": "moldable",
        "jobs": draw(st.lists(moldable_job(), min_size=1, max_size=8)),
        "verification": draw(st.sampled_from((0, 0.5))),
    }
    head = {"name": "any", "seed": draw(SEEDS), "platform": {"workers": workers}}
    return head | {"job": job, "policy": policy} | draw(faults(workers)) | draw(errors())


@st.composite
def mixed(draw: st.DrawFn) -> Table:
    """Up to four jobs of all kinds in one queue, each protected in its own way, on workers with
    owners, faults and speeds, with a link or without."""
    workers = draw(st.integers(1, 6))
    kinds = st.one_of(
        *(rigid_job(workers), moldable_job(), iterative_job(workers), malleable_job())
    )
    jobs = [
        job | (draw(protection()) if draw(st.booleans()) else {})
        for job in draw(st.lists(kinds, min_size=1, max_size=4))
    ]
    job = {
        "kind": "rigid",
        "jobs": jobs,
        "verification": draw(st.sampled_from((0, 0.5, 1))),
        "overrun": draw(st.sampled_from(("finish", "kill"))),
        "cap": RARELY,
    }
    policy = _queue(draw) | {"placement": draw(st.sampled_from(PLACEMENTS))}
    head = {"name": "any", "seed": draw(SEEDS), "job": job, "policy": policy}
    own = draw(platform(workers)) | draw(faults(workers)) | draw(_maybe(master()))
    return head | own | draw(errors()) | draw(_maybe(protection()))


@st.composite
def iterative(draw: st.DrawFn) -> Table:
    """Up to six workers that come and go, some tasks, any of the papers' enrolment policies."""
    tasks, workers = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    each = [
        {
            "task_time": draw(st.integers(1, 5)),
            "availability": draw(LIVES),
            "memory": tasks,
            "belief": BELIEF,
        }
        for _ in range(workers)
    ]
    job = {
        "kind": "iterative",
        "tasks": tasks,
        "iterations": draw(st.integers(1, 3)),
        "verification": draw(st.sampled_from((0, 0, 2))),
        "cap": 150,
    }
    policy = {"name": draw(st.sampled_from(sorted(CATALOGUE))), "reuse": draw(st.booleans())}
    head = {"name": "any", "seed": draw(SEEDS), "workers": each, "job": job, "policy": policy}
    silent = {"errors": {"rate": draw(st.sampled_from((0, 0, 0.01, 0.2)))}}
    rest = draw(_maybe(faults(workers))) | draw(_maybe(protection(most=1)))
    return head | silent | draw(master()) | rest


@st.composite
def malleable(draw: st.DrawFn) -> Table:
    """Up to four applications whose workers fail some times each, or whenever listed; in the
    paper's own world, or with owners, images, copies."""
    count, pair = draw(st.integers(1, 4)), draw(st.sampled_from((1, 2, 2, 3)))
    workers = pair * count + draw(st.integers(0, 9))
    footprints = draw(st.lists(st.integers(20_000, 60_000), min_size=count, max_size=count))
    mtbf = draw(st.sampled_from((3e6, 1e7, 1e8)))
    strike = st.tuples(st.floats(0, 2e6), st.integers(0, workers - 1)).map(list)
    strikes = {"kind": "list", "strikes": draw(st.lists(strike, max_size=8))}
    hazard = draw(st.sampled_from(({"kind": "exponential", "mtbf": mtbf}, strikes)))
    own: Table = {"kind": "buddies", "period": "young", "mtbf": mtbf}
    if pair > 1:
        own["fatal"] = draw(st.sampled_from(("possible", "ignored")))
    head = {
        "name": "any",
        "seed": draw(SEEDS),
        "platform": {"workers": workers},
        "job": {"kind": "malleable", "pair": pair, "footprints": list(map(float, footprints))},
        "link": {
            "unit": draw(st.sampled_from((0.05, 0.5))),
            "latency": draw(st.sampled_from((0.0, 2.0))),
            "startup": draw(st.sampled_from((0.0, 30.0))),
        },
        "faults": hazard | {"downtime": draw(st.sampled_from((0.0, 60.0)))},
        "protection": own,
        "policy": {"name": draw(st.sampled_from(REDISTRIBUTIONS))},
    }
    return head | draw(_maybe(_pack_elsewhere(own)))


@st.composite
def _pack_elsewhere(draw: st.DrawFn, buddies: Table) -> Table:
    """What malleable17 has not: other protections, an owner that takes workers back, a link."""
    images = {"kind": "images", "period": 100_000.0, "cost": 500.0, "recovery": 500.0}
    kinds = ({"kind": "none"}, images, {key: buddies[key] for key in ("kind", "period", "mtbf")})
    own = draw(st.sampled_from(kinds)) | {
        "copies": draw(st.integers(1, 2)),
        "cloning": draw(st.booleans()),
    }
    times = st.floats(0, 1e6)
    spans = draw(st.lists(st.tuples(times, times), max_size=3))
    reclaims = [[min(span), max(span) + 1, 0] for span in spans]
    sizes = {"channels": draw(st.integers(1, 3)), "program": 50, "data": 10, "image": 300}
    linked = {"master": sizes} if draw(st.booleans()) else {}
    return {"protection": own, "reclaims": reclaims} | linked


@st.composite
def copies(draw: st.DrawFn) -> Table:
    """Some jobs on up to six workers, whatever their speeds, served in copies; by arrays where
    nothing else happens, else by runs."""
    name = draw(st.sampled_from(COPIES))
    law = draw(st.sampled_from(LAWS))
    platform: Table = {"workers": draw(st.integers(1, 6)), "speed": law}
    arrivals = {"kind": "poisson", "load": draw(st.sampled_from((0.4, 0.9)))}
    head: Table = {
        "name": "any",
        "seed": draw(SEEDS),
        "job": {"kind": "rigid", "stream": {"count": draw(st.integers(1, 12))}},
        "policy": {"name": name, "placement": draw(st.sampled_from(("uniform", "lowest")))},
    }
    head["job"]["stream"]["arrivals"] = arrivals
    if draw(st.booleans()):
        platform["augmentation"] = draw(st.sampled_from((1, 1.5)))
        if name != "SRPT+R-noclone" and draw(st.booleans()):
            platform["gain"] = {"kind": "linear"}
        return head | {"platform": platform}
    head["policy"]["name"] = draw(st.sampled_from(WHOLE))
    platform["availability"] = draw(LIVES)
    rest = draw(faults(platform["workers"])) | draw(_maybe(master()))
    return head | {"platform": platform} | rest | draw(_maybe(protection(most=1)))


TABLES = {
    "rigid": rigid(),
    "moldable": moldable(),
    "mixed": mixed(),
    "iterative": iterative(),
    "malleable": malleable(),
    "copies": copies(),
}
"""By the kind of jobs, or what else is at stake."""


def scenarios(kind: str) -> st.SearchStrategy[Scenario]:
    """Scenarios of a kind."""
    return TABLES[kind].map(lambda table: read(table, "test"))
