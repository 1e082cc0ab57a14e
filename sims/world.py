"""Runs: from a scenario to its end, every run through the same few lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from actors.events import SCHEMA, End, ScenarioEnded, ScenarioStarted
from actors.runtime import Sink, System
from sims.scenario.loader import Scenario, family_of
from sims.scenario.settings import settings


@frozen
class Ending:
    """How a run ended."""

    end: End
    time: float
    """Virtual time of the end, in the scenario's unit."""
    events: int
    """Events in the journal, wanted by a sink or not."""


def run(
    scenario: Scenario, sinks: Sequence[Sink] = (), folder: Path = Path(), debug: bool = False
) -> Ending:
    """Simulate `scenario` to its end; `sinks` get its events; its files are sought in `folder`.

    Raises InputError where the scenario cannot be run, and what the runtime raises (ActorFailed,
    Deadlock).
    """
    system = System(scenario.seed, sinks, debug, start=0)
    family = family_of(scenario.job.kind)
    header = scenario.header()
    system.journal.record(
        ScenarioStarted,
        *(SCHEMA, scenario.name, scenario.seed, scenario.job.kind, scenario.policy.name),
        *(header.processors, header.workers, header.unit, settings(scenario.policy)),
    )
    family.populate(scenario, system, folder)
    system.run()
    end = system.result if isinstance(system.result, End) else End.COMPLETED
    system.journal.record(ScenarioEnded, end)
    return Ending(end, system.loop.now, system.journal.length)
