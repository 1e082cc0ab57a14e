"""Builder of the repairs of what faults strike (rules.md, R6 and R7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.events import RepairDescribed, Struck
from actors.records import Records
from actors.repair import Repairs
from actors.runtime import System
from actors.worker import WorkerRegistry
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import HAZARD, REPAIRS, SCHEDULER
from sims.scenario.retirement import NeverRetire


def check_repair(scenario: Scenario) -> None:
    """Raise InputError, naming the key, where a law of faults has a `curable` though there is no
    `[repair]`, or a `downtime` though there is one."""
    section = scenario.repair
    for law in scenario.faults.laws:
        if section is None and law.curable is not None:
            raise unfit("faults.curable", "nothing is repaired", "[repair], or no curable")
        if section is not None and "downtime" in law.model_fields_set and law.differs("downtime"):
            problem = f"{law.downtime!r}, and with [repair] what is struck is DOWN until its repair"
            raise unfit("faults.downtime", f"{problem} is over", "no downtime, or no [repair]")


def recorded(scenario: Scenario) -> bool:
    """Return whether computing times on each worker have to be recorded: there are repairs, and a
    retirement policy that may ask for them."""
    return scenario.repair is not None and not isinstance(scenario.repair.retirement, NeverRetire)


def records_of(scenario: Scenario) -> Records | None:
    """Return the records of the workers' faults, repairs and computing times, for the actor that
    repairs; None where the scenario has no `[repair]`."""
    if scenario.repair is None:
        return None
    policy = scenario.repair.retirement.policy(scenario.folder)
    return Records(scenario.full_platform.able, policy)


def spawn_repairs(
    scenario: Scenario,
    system: System,
    registry: WorkerRegistry,
    records: Records | None,
    badness: Callable[[int], Any] | None,
) -> Repairs | None:
    """Make the actor that repairs what faults strike, which keeps `records`; return it, or None
    where there are none, because faults have a downtime. `badness` is the measure of records by
    which the placement chooses workers; None: it does not."""
    section, laws, platform = scenario.repair, scenario.faults.laws, scenario.full_platform
    if section is None or records is None:
        return None
    of = tuple(law.of for law in laws)
    cured: dict[Struck, tuple[str, ...]] = {}
    for number, law in enumerate(laws):
        if law.cured:
            cured[law.of] = (*cured.get(law.of, ()), hazard_name(number))
    sizes = {it: platform.unit_size(it) for it in Struck}
    begun = [it.begun for it in section.stages]
    about = of, sizes, platform.size, section.blame, records, SCHEDULER, cured, badness
    return system.spawn(Repairs(REPAIRS, begun, registry, *about))


def hazard_name(number: int) -> str:
    """Return the name of the actor that makes the faults of the law with this number happen."""
    return f"{HAZARD}/{number}" if number else HAZARD


def describe_repair(scenario: Scenario, system: System) -> None:
    """Describe in the log how what faults strike is repaired, if it is."""
    section, laws = scenario.repair, scenario.faults.laws
    if section is None:
        return
    stages = section.stages
    system.describe(
        RepairDescribed,
        tuple(it.law for it in stages),
        tuple(it.time for it in stages),
        tuple(it.crews for it in stages),
        tuple(law.of for law in laws),
        tuple(number for number, law in enumerate(laws) if law.cured),
        section.blame.certain,
    )
