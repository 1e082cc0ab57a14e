"""Random scenarios of every kind, small enough to run by the hundred."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from actors.runtime import Record
from policies.enrolment import CATALOGUE
from policies.malleable.names import NAMES as REDISTRIBUTIONS
from policies.redundancy.named import NAMES
from sims.scenario.loader import Scenario, read
from sims.world import run

Table = dict[str, Any]

SEEDS = st.integers(0, 2**16)
LISTS = ("R-LIST-0", "R-LIST-1", "R-LIST-2", "R-LIST-Q")
SHELVES = ("R-SHELF-B", "R-SHELF-NB", "R-SHELFFILL-B", "R-SHELFFILL-NB")
ORDERS = ("LPT", "SPT", "HPA", "LPA", "LA", "SA", "RANDOM", "LJF", "FCFS")
BELIEF = {"rows": [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]}
"""What policies believe of workers, which may never be UP."""
SIZES = st.floats(0.5, 40, allow_nan=False)
REDUNDANCY = tuple(name.replace("beta", "0.4") for name in NAMES)


def records_of(scenario: Scenario) -> list[Record]:
    """The records of one run."""
    records: list[Record] = []
    run(scenario, [records.append])
    return records


@st.composite
def iterative(draw: st.DrawFn) -> Table:
    """Up to six workers that come and go, some tasks, any of the papers' policies."""
    tasks = draw(st.integers(1, 5))
    availability = st.text(alphabet="uuuuuurd", min_size=3, max_size=60)
    workers = [
        {
            "speed": draw(st.integers(1, 5)),
            "availability": draw(availability),
            "memory": tasks,
            "belief": BELIEF,
        }
        for _ in range(draw(st.integers(1, 6)))
    ]
    return {
        "name": "any",
        "seed": draw(SEEDS),
        "master": {
            "channels": draw(st.integers(1, 3)),
            "program": draw(st.integers(0, 5)),
            "data": draw(st.integers(0, 3)),
            "order": draw(st.sampled_from(("started-first", "longest-first"))),
        },
        "workers": workers,
        "job": {
            "kind": "iterative",
            "tasks": tasks,
            "iterations": draw(st.integers(1, 3)),
            "cap": 150,
        },
        "failures": {"rate": draw(st.sampled_from((0, 0, 0.01, 0.2)))},
        "policy": {"name": draw(st.sampled_from(sorted(CATALOGUE)))},
    }


@st.composite
def _releases(draw: st.DrawFn) -> Table:
    failures = draw(st.sampled_from((0, 0, 0, 1, 2, 3)))
    return {"release": draw(st.sampled_from((0.0, 0.0, 2.5, 7.0))), "failures": failures}


@st.composite
def _platform(draw: st.DrawFn, processors: int) -> Table:
    """Processors that fail, or do not: some of the faults of one instant, or on a DOWN one."""
    times = st.sampled_from((0.0, 1.0, 2.5, 7.0, 30.0))
    strikes = st.lists(st.tuples(times, st.integers(0, processors - 1)), max_size=8)
    faults = draw(
        st.sampled_from(
            (
                "none",
                {"kind": "exponential", "mtbf_years": 1e-5},
                {"kind": "weibull", "mtbf_years": 1e-5, "shape": 0.7},
                {"kind": "list", "strikes": [list(strike) for strike in draw(strikes)]},
            )
        )
    )
    downtime = draw(st.sampled_from((0, 1.5, 20)))
    return {"platform": {"processors": processors, "downtime": downtime}, "faults": faults}


@st.composite
def rigid(draw: st.DrawFn) -> Table:
    """Up to ten jobs on up to twelve processors that may fail; any strategy, order and reading."""
    processors = draw(st.integers(1, 12))
    jobs = []
    for _ in range(draw(st.integers(1, 10))):
        time = draw(SIZES)
        job = draw(_releases()) | {"processors": draw(st.integers(1, processors)), "time": time}
        if draw(st.booleans()):
            job["estimate"] = time * draw(st.floats(0.5, 3))
        jobs.append(job)
    kind = {"kind": "rigid", "jobs": jobs, "verification": draw(st.sampled_from((0, 0.5)))}
    policy = {
        "name": draw(st.sampled_from(LISTS + SHELVES)),
        "order": draw(st.sampled_from(ORDERS)),
        "reading": draw(st.sampled_from(("fresh", "easy", "kept"))),
    }
    kind["overrun"] = draw(st.sampled_from(("finish", "kill")))
    rest = draw(_platform(processors))
    return {"name": "any", "seed": draw(SEEDS), "job": kind, "policy": policy} | rest


@st.composite
def _speedups(draw: st.DrawFn) -> Table:
    work = draw(st.floats(1, 200))
    return draw(
        st.sampled_from(
            (
                {"kind": "amdahl", "work": work, "fraction": 0.1},
                {"kind": "roofline", "work": work, "degree": 4},
                {"kind": "communication", "work": work, "cost": 0.5},
                {"kind": "power", "work": work, "delta": 0.7},
                {"kind": "table", "times": [work, work * 0.6, work * 0.5]},
            )
        )
    )


@st.composite
def moldable(draw: st.DrawFn) -> Table:
    """Up to eight jobs of any speedup, under any allocation rule."""
    jobs = [
        draw(_releases()) | {"speedup": draw(_speedups())} for _ in range(draw(st.integers(1, 8)))
    ]
    return {
        "name": "any",
        "seed": draw(SEEDS),
        **draw(_platform(draw(st.integers(1, 16)))),
        "job": {"kind": "moldable", "jobs": jobs, "verification": draw(st.sampled_from((0, 0.5)))},
        "policy": {
            "name": draw(st.sampled_from(("LPA", "MINTIME", "MINAREA", "BATCH"))),
            "order": draw(st.sampled_from(ORDERS)),
            "allotment": draw(st.sampled_from(("scaled", "exact"))),
        },
    }


@st.composite
def malleable(draw: st.DrawFn) -> Table:
    """Up to four applications whose processors fail some times each, or whenever listed."""
    count, pair = draw(st.integers(1, 4)), draw(st.sampled_from((1, 2, 2, 3)))
    processors = pair * count + draw(st.integers(0, 9))
    footprints = draw(st.lists(st.integers(20_000, 60_000), min_size=count, max_size=count))
    fatal = "possible" if pair > 1 and draw(st.booleans()) else "ignored"
    years = draw(st.sampled_from((0.1, 0.3, 3.0)))
    faults: Table = {"kind": "exponential", "mtbf_years": years, "fatal": fatal}
    if draw(st.booleans()):
        strike = st.tuples(st.floats(0, 2e6), st.integers(0, processors - 1)).map(list)
        strikes = draw(st.lists(strike, max_size=8))
        faults = {"kind": "list", "mtbf_years": years, "strikes": strikes, "fatal": fatal}
    return {
        "name": "any",
        "seed": draw(SEEDS),
        "job": {
            "kind": "malleable",
            "processors": processors,
            "pair": pair,
            "footprints": list(map(float, footprints)),
        },
        "link": {
            "unit": draw(st.sampled_from((0.05, 0.5))),
            "latency": draw(st.sampled_from((0.0, 2.0))),
            "startup": draw(st.sampled_from((0.0, 30.0))),
        },
        "checkpoints": {"downtime": draw(st.sampled_from((0.0, 60.0)))},
        "faults": faults,
        "policy": {"name": draw(st.sampled_from(REDISTRIBUTIONS))},
    }


SPEEDS = (
    "constant",
    {"kind": "two-point", "peak": 4, "interval": 0.5},
    {"kind": "two-point-slots", "peak": 3, "slot": 0.4},
    {"kind": "on-off", "peak": 2, "on": 1},
    {"kind": "uniform", "peak": 2, "slot": 0.5},
)


@st.composite
def redundant(draw: st.DrawFn) -> Table:
    """Some jobs on up to six servers, whatever their speeds; with failures and costs or without."""
    policy = draw(st.sampled_from(REDUNDANCY))
    speed = draw(st.sampled_from(SPEEDS))
    servers: Table = {
        "count": draw(st.integers(1, 6)),
        "speed": speed if isinstance(speed, dict) else {"kind": speed},
        "placement": draw(st.sampled_from(("uniform", "lowest"))),
        "augmentation": draw(st.sampled_from((1, 1.5))),
    }
    if draw(st.booleans()):
        failures = {"mtbf": 5, "downtime": draw(st.sampled_from((0, 0.7))), "lost": 0.5}
        servers["failures"] = failures
    elif policy != "SRPT+R-noclone" and draw(st.booleans()):
        servers |= {"semantics": "mean", "gain": {"kind": "linear"}}
    costs = draw(st.sampled_from(({}, {"cost": 0.05, "clone": 0.1}, {"clone": 0.2})))
    return {
        "name": "any",
        "seed": draw(SEEDS),
        "servers": servers,
        "checkpoint": costs,
        "job": {
            "kind": "redundant",
            "count": draw(st.integers(1, 12)),
            "arrivals": {"kind": "poisson", "load": draw(st.sampled_from((0.4, 0.9)))},
        },
        "policy": {"name": policy},
    }


TABLES = {
    "iterative": iterative(),
    "rigid": rigid(),
    "moldable": moldable(),
    "malleable": malleable(),
    "redundant": redundant(),
}


def scenarios(kind: str) -> st.SearchStrategy[Scenario]:
    """Scenarios of a kind."""
    return TABLES[kind].map(lambda table: read(table, "test"))
