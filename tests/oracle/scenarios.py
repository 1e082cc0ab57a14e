"""Random scenarios of the one world, in the neutral format of the cases.

Two thirds of them are made of coincidences, and of these some are narrow places where rare meetings
happen. Numbers are short: multiples of 1/8, so that floats are exact. Wild ones also have iterative
jobs that continue from images on workers of another w, and events at instants that are not whole.
Those in tenths have numbers that no float is.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from attrs import evolve

from tests.oracle.coincidences import (
    EIGHTH,
    TENTH,
    WHOLE,
    Recorder,
    Scenario,
    TooLong,
    coincide,
    pick,
    struck_by,
)
from tests.oracle.dependencies import draw_dependencies
from tests.oracle.drawn_jobs import Cell, Common, draw_job
from tests.oracle.drawn_platform import (
    Practice,
    draw_platform,
    draw_practice,
    owner_strings,
    practised_hazard,
    speed_list,
)
from tests.oracle.draws import draw_chances
from tests.oracle.fleets import add_fleet
from tests.oracle.limits import draw_limits
from tests.oracle.partitions import draw_partitions, leave_nodes_whole
from tests.oracle.tenths import in_tenths
from tests.oracle.world import Stuck, world_of

COPIES = ["copies-1", "copies-p"]
MOST = {"rigid": 6, "moldable": 6, "iterative": 4}
"""Jobs, by kind; 3 of any other."""
MOST_TIME = 250


SAID = {WHOLE: "", EIGHTH: "wild", TENTH: "tenths"}


def generate(
    seed: int,
    finest: int = WHOLE,
    practised: bool = False,
    fleet: bool = False,
    groups: bool = False,
) -> tuple[str, Scenario]:
    """Its cell's name, and the scenario: the same for the same seed, in any process."""
    drawn = " practised" * practised + " fleet" * fleet + " groups" * groups
    rng = Random(f"one world {seed} {SAID[finest]}{drawn}")
    while True:
        practice = draw_practice(rng) if practised else frozenset()
        try:
            cell, scenario = attempt(rng, finest, practice, groups, fleet)
            added = add_fleet(rng, scenario) if fleet else set()
            leave_nodes_whole(scenario)
            if any("after" in job for job in scenario["jobs"]):
                added.add("dependencies")
            added |= {it for it in ("partitions", "windows", "policy") if it in scenario}
            if "limits" in scenario:
                added.add("limits")
            # Records need not go on beyond the time after which a scenario is too long.
            result = world_of(scenario).run() if added else Recorder(scenario).run()
        except (TooLong, Stuck):
            continue
        # At two thirds of its rate, say, or of a bandwidth.
        rounded = finest == TENTH or not added.isdisjoint({"replicas", "storage"})
        short = rounded or all(is_short(x) for x in numbers(result))
        if result["makespan"] <= MOST_TIME and short:
            if "drawn" in added:
                draw_chances(rng, scenario)
            return "+".join([cell.name, *sorted(practice | added)]), scenario


def is_short(number: float) -> bool:
    """A multiple of 1/8."""
    return Fraction(number) % Fraction(1, 8) == 0


def numbers(result: Any) -> Iterator[float]:
    """All that are somewhere in it."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list):
        for part in result:
            yield from numbers(part)
    elif isinstance(result, int | float):
        yield result


def attempt(
    rng: Random, finest: int, practice: Practice, groups: bool, fleet: bool
) -> tuple[Cell, Scenario]:
    """One that may be too long, or have long numbers."""
    cell = draw_cell(rng)
    together = rng.random() < 0.67
    small = together and rng.random() < 0.7
    theme = pick(rng, "theme") if together else None
    cell = themed(rng, cell, theme)
    platform = draw_platform(rng, practice)
    if practice:
        cell = evolve(cell, hazard=practised_hazard(rng, practice, cell.hazard))
    common, jobs = draw_common(rng, cell, theme, small, finest == EIGHTH)
    if practice:
        spares = platform.get("spares", 0)
        workers = common.workers + spares
        common = evolve(common, workers=workers, spares=spares, practice=practice)
    scenario: Scenario = {
        "workers": common.workers,
        "owner": None,
        "faults": [],
        "downtime": 0,
        "speeds": None,
        "master": {"channels": rng.randint(1, 3)} if cell.link else None,
        "shared_program": common.shared_program,
        "order": common.order,
        "jobs": [draw_job(rng, common) for _ in range(jobs)],
        **platform,
    }
    if groups:
        draw_dependencies(rng, scenario)
        known = cell.hazard in ("none", "silent") and not fleet
        draw_partitions(rng, scenario, known, alone=not fleet)
        if "policy" not in scenario and rng.random() < 0.5:
            draw_limits(rng, scenario)
    if theme == "buddies":
        narrow(rng, scenario, cell.kind)
    with_faults = draw_hazards(rng, scenario, cell.hazard, together)
    if finest == TENTH:
        in_tenths(rng, scenario)
    if together:
        coincide(rng, scenario, with_faults, theme is not None, finest)
    faults = {tuple(fault) for fault in scenario["faults"]}
    scenario["faults"] = [list(fault) for fault in sorted(faults)]
    return cell, scenario


def draw_cell(rng: Random) -> Cell:
    """Which mechanisms meet."""
    kind, hazard = pick(rng, "cell"), pick(rng, "hazard")
    return Cell(kind, hazard, draw_third(rng, kind, hazard), rng.choice([False, True]))


def draw_third(rng: Random, kind: str, hazard: str) -> str:
    """Protection, or for copies whether they are cloned."""
    third: str
    if kind == "mixed":
        third = "mixed"
    elif kind in COPIES:
        third = draw_cloning(rng)
    elif hazard == "none":
        third = "any"
    elif hazard == "silent":
        ways = [f"{kept}-{how}" for kept in ("buddies", "images") for how in VERIFIED]
        third = rng.choice(["restart", *ways])
    else:
        third = pick(rng, "third")
    return third


VERIFIED = ("verified", "unverified")


def draw_cloning(rng: Random) -> str:
    """For copies."""
    return rng.choice(["nocloning", "cloning"])


def themed(rng: Random, cell: Cell, theme: str | None) -> Cell:
    """The narrow place where it is, but for its link."""
    if theme == "buddies":
        kind = pick(rng, "cell of buddies")
        hazard = pick(rng, "hazard of buddies")
        third = draw_cloning(rng) if kind == "copies-p" else "buddies"
        return Cell(kind, hazard, third, cell.link)
    if theme == "copies":
        kind, third = rng.choice(COPIES), draw_cloning(rng)
        hazard = pick(rng, "hazard of copies")
        return Cell(kind, hazard, third, cell.link)
    return cell


def draw_common(
    rng: Random, cell: Cell, theme: str | None, small: bool, wild: bool
) -> tuple[Common, int]:
    """What the jobs share, and how many there are."""
    workers = draw_workers(rng, cell.kind)
    jobs = min(MOST.get(cell.kind, 3), pick(rng, "jobs"))
    common = Common(
        cell=cell,
        workers=workers,
        order="FCFS" if cell.kind == "iterative" else rng.choice(["FCFS", "LPT", "SPT"]),
        protection=pick(rng, "protection"),
        verified=rng.random() < 0.5,
        shared_program=cell.link and rng.random() < 0.3,
        program=rng.randint(0, 3),
        small=small,
        wild=wild,
    )
    if theme == "buddies":
        return evolve(common, protection="buddies", workers=max(workers, 3)), min(jobs, 2)
    return common, jobs


def draw_workers(rng: Random, kind: str) -> int:
    """How many: copies need some."""
    workers: int = pick(rng, "workers")
    if kind == "copies-1":
        workers = max(workers, 3)
    elif kind == "copies-p":
        workers = max(workers, pick(rng, "workers of copies"))
    return workers


def narrow(rng: Random, scenario: Scenario, kind: str) -> None:
    """Rings of several, with long recoveries and many checkpoints."""
    for job in scenario["jobs"]:
        if kind != "copies-p" and job["kind"] == "rigid":
            job["p"] = rng.randint(2, scenario["workers"] - scenario.get("spares", 0))
        if rng.random() < 0.5:
            job["recovery"] = rng.choice([0, 0, 3])
        if rng.random() < 0.5:
            job["period"] = rng.choice([1, 2, 3])


def draw_hazards(rng: Random, scenario: Scenario, hazard: str, together: bool) -> bool:
    """What strikes workers, but for coincidences; whether these may be faults, too."""
    faults, owner, speeds = (hazard == it for it in ("faults", "volatile", "speeds"))
    if hazard == "mixture":
        while not (faults or owner):
            faults, owner = rng.random() < 0.7, rng.random() < 0.7
        speeds = rng.random() < 0.35
    workers = scenario["workers"]
    if faults:
        scenario["downtime"] = pick(rng, "downtime")
    if owner:
        scenario["owner"] = owner_strings(rng, workers, together)
    if speeds:
        scenario["speeds"] = [speed_list(rng) for _ in range(workers)]
    if together and rng.random() < 0.5:
        bare(rng, scenario)
    if faults and not together:
        draw_faults(rng, scenario)
    return faults


def bare(rng: Random, scenario: Scenario) -> None:
    """A quiet start, for coincidences."""
    if scenario["owner"] is not None:
        scenario["owner"] = [it if rng.random() < 0.3 else "" for it in scenario["owner"]]
    if scenario["speeds"] is not None:
        scenario["speeds"] = [changes[:1] for changes in scenario["speeds"]]


def draw_faults(rng: Random, scenario: Scenario) -> None:
    """Some, of which some strike several workers at once."""
    workers, horizon = scenario["workers"], rng.choice([20, 40, 60])
    for _ in range(rng.randint(2, 6)):
        time = rng.randint(0, horizon)
        struck = min(workers, pick(rng, "struck at once"))
        drawn = rng.sample(range(workers), struck)
        scenario["faults"] += [[time, struck_by(scenario, k)] for k in drawn]
