"""Runs: from a scenario to its end, every run through the same few lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Protocol

from attrs import frozen

from actors.decisions import BadDecision
from actors.events import SCHEMA, End, ScenarioEnded, ScenarioStarted
from actors.limit import TimeLimit
from actors.runtime import NOTHING, ActorFailed, Sink, System, VirtualTimeLoop
from sims.errors import InputError
from sims.scenario.build import populate
from sims.scenario.policy import settings
from sims.scenario.scenario import Scenario

Begins = Callable[[int, Callable[[], float]], None]
"""Told how many jobs will come, and what tells the virtual time."""


class Live(Protocol):
    """What stands for real processes in a run under the wall clock."""

    loop: VirtualTimeLoop
    lateness: float
    """How late what takes time may end, as the log says."""

    def attach(self, system: System) -> None:
        """Called once the log has begun, before there are any actors."""


@frozen
class Ending:
    """How a run ended."""

    end: End
    time: float
    """Virtual time of the end, in the scenario's unit."""
    events: int
    """Events in the journal, wanted by a sink or not."""


def run(
    scenario: Scenario,
    sinks: Sequence[Sink] = (),
    folder: Path = Path(),
    debug: bool = False,
    until: float | None = None,
    begins: Begins | None = None,
    live: Live | None = None,
) -> Ending:
    """Simulate `scenario` to its end, or `until` a virtual time, in the scenario's unit, if that
    comes first; `sinks` get its events; its files are sought in `folder`; `begins` hears of it when
    all is set up; `live`: real processes that carry out what it decides.

    Raises InputError where the scenario cannot be run, BadDecision for what a policy may not do,
    and what the runtime raises (ActorFailed, Deadlock).
    """
    loop, late = (live.loop, live.lateness) if live is not None else (None, None)
    system = System(scenario.seed, sinks, debug, start=0, loop=loop)
    platform, unit = scenario.full_platform, scenario.times.value
    system.origin = system.journal.record(
        NOTHING,
        ScenarioStarted,
        *(SCHEMA, scenario.name, scenario.seed, scenario.kinds, scenario.policy_name),
        *(platform.size, platform.names, unit, settings(scenario.policy)),
        scenario.decider,
        late,
    )
    if live is not None:
        live.attach(system)
    jobs = populate(scenario, system, folder)
    if until is not None:
        system.spawn(TimeLimit("--until", time_limit(until, unit)))
    if begins is not None:
        begins(jobs, lambda: system.loop.now)
    try:
        system.run()
    except ActorFailed as failed:
        # Of a trace that has ended; of a policy: how an actor came to ask it is not for its user.
        if isinstance(failed.error, InputError | BadDecision):
            raise failed.error from None
        raise
    end = system.result if isinstance(system.result, End) else End.COMPLETED
    system.journal.record(system.last, ScenarioEnded, end)
    return Ending(end, system.loop.now, system.journal.length)


def time_limit(until: float, unit: str) -> float:
    """`until`, a time at which a run in `unit` can end. Raises InputError for another."""
    if not (isfinite(until) and until >= 0):
        raise InputError("command line", "--until", f"{until!r} is no time", "a number, 0 or above")
    if unit == "slot" and until != int(until):
        raise InputError("command line", "--until", f"{until!r} is within a slot", "a whole number")
    return until
