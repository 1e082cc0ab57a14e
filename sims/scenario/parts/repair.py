"""Repair of what faults strike, and the retirement of what it does not mend (rules.md, R6 to R8).
Its table is `[repair]`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import partial
from typing import Any

from actors.acts import Act
from actors.events import RepairLaw, Struck
from actors.parts.repair import Repair as RepairOfJob
from actors.parts.repair import RepairReports
from actors.protection import Rules
from actors.records import Records
from actors.repair_messages import Units
from actors.runtime import Actor, System
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import REPAIRS, SCHEDULER, hazard_name
from sims.scenario.parts.part import (
    Advice,
    Made,
    Making,
    MakingOfJob,
    ScenarioPart,
    Site,
    Timed,
)
from sims.scenario.policy import BY_RECORD
from sims.scenario.retirement import NeverRetire, OwnRetirement, RetireByScore


class Repair(ScenarioPart):
    """The stages of repair, and the policy of retirement."""

    def code(self, scenario: Scenario) -> Mapping[str, str]:
        own = _own_retirement(scenario)
        return {} if own is None else {"repair.retirement.name": own.name}

    def without_code(self, scenario: Scenario) -> Mapping[str, Any]:
        """Map `repair` to a section that retires by scores, if the scenario names a user's policy
        of retirement."""
        if _own_retirement(scenario) is None or scenario.repair is None:
            return {}
        scored = {"retirement": RetireByScore(period=1)}
        return {"repair": scenario.repair.model_copy(update=scored)}

    def check(self, scenario: Scenario) -> None:
        """Raise InputError, naming the key, where a law of faults has a `curable` though there is
        no `[repair]`, or a `downtime` though there is one."""
        section = scenario.repair
        for law in scenario.faults.laws:
            if section is None and law.curable is not None:
                raise unfit("faults.curable", "nothing is repaired", "[repair], or no curable")
            own = "downtime" in law.model_fields_set and law.differs("downtime")
            if section is not None and own:
                why = "and with [repair] what is struck is DOWN until its repair"
                problem = f"{law.downtime!r}, {why}"
                raise unfit("faults.downtime", f"{problem} is over", "no downtime, or no [repair]")

    def check_ignored(self, scenario: Scenario) -> None:
        if scenario.repair is not None:
            problem = "stands beside a pack that ignores faults, whose paper has a downtime"
            raise unfit("repair", problem, "protection.fatal = 'possible', or no [repair]")

    def acts_refused(self, scenario: Scenario, ignored: bool) -> Mapping[Act, str]:
        if scenario.repair is None:
            return {}
        reason = "with [repair] a law of faults strikes units; accepted: taking the worker DOWN"
        return dict.fromkeys((Act.FAIL, Act.HANG), reason)

    def records(self, scenario: Scenario) -> Records | None:
        """Return the records of the workers' faults, repairs and computing times."""
        if scenario.repair is None:
            return None
        policy = scenario.repair.retirement.policy(scenario.folder)
        return Records(scenario.full_platform.able, policy)

    def before(self, site: Site) -> Iterator[Actor]:
        """Make the actor that repairs what faults strike, which keeps the records."""
        scenario, records = site.scenario, site.choice.records
        section, laws, platform = scenario.repair, scenario.faults.laws, scenario.full_platform
        if section is None or records is None:
            return
        of = tuple(law.of for law in laws)
        cured: dict[Struck, list[tuple[str, Container[int]]]] = {}
        for number, law in enumerate(laws):
            if law.cured:
                units = _struck_by(law, number, scenario, site.system)
                cured.setdefault(law.of, []).append((hazard_name(number), units))
        sizes = {it: platform.unit_size(it) for it in Struck}
        begun = [it.begun for it in section.stages]
        about = of, Units(sizes, platform.size), section.blame, records, SCHEDULER, cured
        from actors.repair import Repairs  # most scenarios repair nothing

        yield Repairs(REPAIRS, begun, site.workers, *about, site.choice.measure)

    def hears_faults(self, scenario: Scenario, made: Made) -> Actor | None:
        return _repairs(scenario, made)

    def hears_computing(self, scenario: Scenario, made: Made) -> Actor | None:
        return _repairs(scenario, made) if _recorded(scenario) else None

    def of_scheduler(self, site: Site, made: Made) -> Iterator[Making]:
        repairs = _repairs(site.scenario, made)
        if repairs is not None:
            yield partial(RepairReports, repairs=repairs, badness=site.choice.badness)

    def of_job(self, scenario: Scenario, rules: Rules, made: Made) -> Iterator[MakingOfJob]:
        repairs = _repairs(scenario, made)
        if scenario.repair is not None and repairs is not None:
            kept, mistaken = _recorded(scenario), not scenario.repair.blame.certain
            yield partial(RepairOfJob, repairs=repairs, recorded=kept, mistaken=mistaken)

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        if scenario.repair is not None:
            yield "repair"

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        chosen = scenario.policy.placement in BY_RECORD  # which repair keeps, without faults too
        if scenario.repair is not None and not scenario.faults.laws and not chosen:
            yield "repair", "no law of faults strikes anything ([faults])"

    def lengths(self, scenario: Scenario) -> Iterator[Timed]:
        for law in scenario.faults.laws if scenario.repair is None else ():
            yield law.downtime or 0, "faults.downtime"
        for number, stage in enumerate(scenario.repair.stages if scenario.repair else ()):
            yield from ((time, f"repair.stages.{number}.times") for time in stage.times)
            if stage.law is RepairLaw.FIXED:
                yield stage.time, f"repair.stages.{number}.time"


def _repairs(scenario: Scenario, made: Made) -> Actor | None:
    """Return the actor that repairs, if the scenario has repairs."""
    if scenario.repair is None:
        return None
    from actors.repair import Repairs

    return made.of(Repairs)


def _struck_by(law: Any, number: int, scenario: Scenario, system: System) -> Container[int]:
    """Return the numbers of the units that a law can strike and that it has to know the cures of.
    A law by the calendar may also list faults of units that it does not strike otherwise, and units
    can come under a law in the course of time."""
    total = scenario.full_platform.count(law.of)
    if not law.by_computing or law.wears(total) is not None:
        return range(total)
    units = law.units_of(total, partial(system.stream, f"share/{number}"))
    return range(total) if units is None else frozenset(units)


def _recorded(scenario: Scenario) -> bool:
    """Return whether computing times on each worker have to be recorded: there are repairs, and a
    retirement policy that may ask for them."""
    return scenario.repair is not None and not isinstance(scenario.repair.retirement, NeverRetire)


def _own_retirement(scenario: Scenario) -> OwnRetirement | None:
    rule = None if scenario.repair is None else scenario.repair.retirement
    return rule if isinstance(rule, OwnRetirement) else None
