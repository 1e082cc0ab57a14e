"""Builder of the repairs of what faults strike (rules.md, R6 and R7)."""

from __future__ import annotations

from actors.events import RepairDescribed, Struck
from actors.records import Records
from actors.repair import Repairs
from actors.runtime import System
from actors.scheduler import Scheduler
from actors.worker import WorkerRegistry
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import REPAIRS
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


def spawn_repairs(
    scenario: Scenario, system: System, registry: WorkerRegistry, scheduler: Scheduler
) -> Repairs | None:
    """Make the actor that repairs what faults strike, and describe the repair in the log; return
    the actor, or None where the scenario has no `[repair]`, so that faults have a downtime."""
    section, laws = scenario.repair, scenario.faults.laws
    if section is None:
        return None
    platform, stages, blame = scenario.full_platform, section.stages, section.blame
    of = tuple(law.of for law in laws)
    system.describe(
        RepairDescribed,
        tuple(it.law for it in stages),
        tuple(it.time for it in stages),
        tuple(it.crews for it in stages),
        of,
        tuple(number for number, law in enumerate(laws) if law.cured),
        blame.certain,
    )
    sizes = {it: platform.unit_size(it) for it in Struck}
    begun = [it.begun for it in stages]
    policy = section.retirement.policy(scenario.folder)
    records = Records(platform.able, policy, scheduler.largest)
    about = of, sizes, platform.size, blame, records, scheduler
    return system.spawn(Repairs(REPAIRS, begun, registry, *about))
