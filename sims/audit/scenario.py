"""Reads, without the simulator's loader, what the scenario in a log's first line says that later
lines have to follow."""

from __future__ import annotations

import tomllib
from typing import Any

from attrs import frozen

from actors.events import DeciderKind, ScenarioStarted
from sims.audit.law import framed

DOWNTIME = 60.0
"""Downtime of the faults of a law that gives none, in the scenario's unit of time."""
TIMED = ("exponential", "weibull", "list")
"""Kinds of laws whose faults all have the downtime that the law gives."""


@frozen
class Given:
    """What a scenario gives; each is None where the log has no text of the scenario, or where the
    text alone does not say it."""

    unit: str | None = None
    """Unit of all times: `s` or `slot`."""
    downtime: float | None = None
    """How long each fault keeps a worker DOWN, time units."""


def given(head: ScenarioStarted) -> Given:
    """Return what the scenario in the log's first line gives. Raises Broken if it is no TOML."""
    if not head.text:  # a program made the scenario of its own objects
        return Given()
    try:
        table = tomllib.loads(head.text)
    except ValueError:
        framed(False, "its scenario is no TOML")
    unit = "slot" if head.decider is DeciderKind.ENROLMENT else "s"
    return Given(table.get("unit", unit), _downtime(table.get("faults", {})))


def _downtime(faults: Any) -> float | None:
    """Return the downtime that all faults have; None where several laws, a log or a user's own law
    give it, and for hangs, which take no worker DOWN."""
    if not isinstance(faults, dict) or {"laws", "name"} & faults.keys():
        return None
    timed = faults.get("kind", TIMED[0]) in TIMED
    asked = faults.get("downtime", DOWNTIME)
    if not timed or faults.get("effect") == "hang" or not isinstance(asked, int | float):
        return None
    return float(asked)
