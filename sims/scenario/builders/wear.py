"""Builder of units that come under laws of faults in the course of time (rules.md, F8)."""

from __future__ import annotations

from collections.abc import Sequence

from actors.runtime import System
from actors.wear import Wear
from sims.scenario import Scenario
from sims.scenario.fault_laws import gap_of
from sims.scenario.faults import AnyFault


def wear_of(
    scenario: Scenario, system: System, law: AnyFault, number: int, faulty: Sequence[int] | None
) -> Wear | None:
    """Return what chooses the units that come under `law`, which has number `number`, in the course
    of time; None if none do. `faulty` has the units that it strikes at the start."""
    total = scenario.full_platform.count(law.of)
    wears = law.wears(total)
    if wears is None:
        return None
    interval, count, listed = wears
    stream = system.unit_draws(f"wear/{number}").generator
    gap = gap_of(law, system.unit_draws(f"fault/{number}"))
    return Wear(number, total, set(faulty or ()), interval, count, listed, stream, gap)
