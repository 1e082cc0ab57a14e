"""Builders of the hazards: an actor for each law of faults, and what the log says of the laws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from attrs import astuple

from actors.chance import Chance
from actors.decider import Decider
from actors.events import (
    DeciderKind,
    FaultsDescribed,
    FaultsExpected,
    FaultsFitted,
    FaultsReplayed,
    Struck,
)
from actors.hazards import Faults, Hazard, Outages, PaperFaults, Spread
from actors.intervals import intervals_of, text
from actors.runtime import Actor, System
from actors.wear import Wear
from actors.worker import WorkerRegistry
from actors.worker_messages import Fail, Hang
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.expectations import expected
from sims.scenario.fault_laws import gap_of
from sims.scenario.faults import AnyFault, ReplayedFaults
from sims.scenario.jobs import SCHEDULER, hazard_name
from sims.scenario.parts import PARTS

if TYPE_CHECKING:
    from actors.deciders.pack import PackDecider


def spawn_hazards(
    scenario: Scenario,
    system: System,
    registry: WorkerRegistry,
    told: Actor | None,
    ignored: bool,
) -> list[Actor]:
    """Make, for each law of faults, the actor that makes its faults happen on the workers of
    `registry`. Return those whose clocks pass only while workers compute.

    `told` is the actor that decides what becomes of units that are struck; None: they have a
    downtime. `ignored`: a pack ignores some faults.
    """
    faulty, clocks = _faulty_units(scenario, system), list[Actor]()
    for number, law in enumerate(scenario.faults.laws):
        about = law, number, faulty[number], registry, told, ignored
        hazard = system.spawn(_hazard(scenario, system, *about))
        if law.by_computing:
            clocks.append(hazard)
    return clocks


def ignores_faults(scenario: Scenario, decider: Decider) -> bool:
    """Return whether a pack decides that ignores some faults, as malleable17 has it."""
    return scenario.decider is DeciderKind.PACK and not cast("PackDecider", decider).fatal


def describe_faults(scenario: Scenario, system: System) -> None:
    """Describe in the log the laws of faults that were fitted to logs, and the expected numbers of
    faults where `expected` gives them."""
    for number, law in enumerate(scenario.faults.laws):
        if law.fit is not None:
            system.describe(FaultsFitted, number, *astuple(law.fit))
    for about in expected(scenario):
        system.describe(FaultsExpected, *about)


def _faulty_units(scenario: Scenario, system: System) -> list[tuple[int, ...] | None]:
    """Return, for each law of faults, the numbers of the units (workers, nodes or racks) that it
    strikes, or None if it strikes all; describe in the log those that were drawn."""
    platform, found = scenario.full_platform, []
    for number, law in enumerate(scenario.faults.laws):
        nodes = platform.units(law.of)
        total = platform.size if nodes is None else len(nodes)
        law.wears(total)  # refuses units that there are not, before the log tells of the law
        units = law.units_of(total, partial(system.stream, f"share/{number}"))
        if units is not None and not law.names_units:
            system.describe(FaultsDescribed, number, total, text(intervals_of(units)))
        found.append(units)
    return found


def _hazard(
    scenario: Scenario,
    system: System,
    law: AnyFault,
    number: int,
    faulty: Sequence[int] | None,
    registry: WorkerRegistry,
    told: Actor | None,
    ignored: bool,
) -> Hazard:
    """Make the actor that makes the faults of `law`, which has number `number`, happen. `ignored`:
    a pack ignores some of them.

    `faulty` has the numbers of the units that the law strikes; None means all. The first law's
    random stream has no number in its name, so that adding a law does not change its draws.
    """
    platform, own = scenario.full_platform, f"/{number}" if number else ""
    nodes = platform.units(law.of)
    units = len(nodes) if nodes else platform.size
    faults: Faults | Outages
    if isinstance(law, ReplayedFaults):
        begin, records = law.drawn(system.stream, number, units)
        names = tuple(f"{it.platform}/{it.node}" for it in records)
        system.describe(FaultsReplayed, number, begin, names)
        faults = law.replay(begin, records)
    else:
        rng = system.stream(f"faults{own}")
        faults = law.faults(rng, units) if faulty is None else law.faults_of(faulty, rng, units)
    if law.by_computing or (faulty is not None and not faulty):
        faults = iter(())
    fault = _effect(scenario, law, number, lasting=told is None)
    spread = None
    if law.spread and law.of is Struck.NODES:
        draws = system.unit_draws(f"spread/{number}")
        spread = Spread(platform.rack, Chance(law.spread), draws)
    wear = _wear_of(scenario, system, law, number, faulty)
    about = hazard_name(number), faults, registry, fault, nodes, spread, told, wear
    if ignored:
        _refuse_others_than_papers(law)
        for part in PARTS:
            part.check_ignored(scenario)
    if law.by_computing:
        from actors.computing_faults import ComputingFaults  # few laws count computing time

        units_of = faulty if faulty is not None else range(units)
        gap = gap_of(law, system.unit_draws(f"fault/{number}"))
        size = platform.unit_size(law.of)
        return ComputingFaults(*about, gap=gap, units=units_of, unit_size=size)
    if ignored:
        return PaperFaults(*about, scheduler=system.find(SCHEDULER))
    return Hazard(*about)


def _wear_of(
    scenario: Scenario, system: System, law: AnyFault, number: int, faulty: Sequence[int] | None
) -> Wear | None:
    """Return the object that chooses the units that come under `law`, which has number `number`, in
    the course of time; None if none do. `faulty` has the units that it strikes at the start."""
    total = scenario.full_platform.count(law.of)
    wears = law.wears(total)
    if wears is None:
        return None
    interval, count, listed = wears
    stream = system.unit_draws(f"wear/{number}").generator
    gap = gap_of(law, system.unit_draws(f"fault/{number}"))
    return Wear(number, total, set(faulty or ()), interval, count, listed, stream, gap)


def _effect(scenario: Scenario, law: AnyFault, number: int, lasting: bool) -> Fail | Hang:
    """Return the message to each worker of a unit that law number `number` strikes: the worker
    fails, or it hangs. `lasting`: how long it is DOWN follows from the law."""
    if law.hangs:
        return Hang(law.detection, number)
    differ = len({it.detection for it in scenario.faults.laws if not it.hangs}) > 1
    return Fail((law.downtime or 0) if lasting else 0, law.detection, differ, number)


def _refuse_others_than_papers(law: AnyFault) -> None:
    """Raise InputError where a pack may ignore faults, as malleable17's own rule has it, and the
    law makes hangs, or faults by computing time, which that rule does not know."""
    others = ("effect", law.hangs, "fault"), ("clock", law.by_computing, "calendar")
    for key, found, usual in others:
        if found:
            own = "a pack that ignores faults has those of malleable17"
            problem = f"{getattr(law, key).value!r}: {own}"
            raise unfit(f"faults.{key}", problem, f"{usual!r}, or protection.fatal = 'possible'")
