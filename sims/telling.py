"""Events in words: the log's own, on one line that a person can take in."""

from __future__ import annotations

import attrs

from actors.events import ScenarioStarted
from actors.runtime import Event

SHOWN = 8
"""Values of a column; of a longer one, how many there are is told beside the first ones."""


def told(event: Event) -> str:
    """`Kind: field value, field value`."""
    values = ((name, getattr(event, name)) for name in attrs.fields_dict(type(event)))
    fields = ", ".join(f"{name} {_value(value)}" for name, value in values)
    return f"{type(event).__name__}: {fields}"


def title_of(started: ScenarioStarted) -> str:
    """What was run, in a line: scenario, seed, policy."""
    settings = f" ({', '.join(started.settings)})" if started.settings else ""
    return f"{started.scenario}, seed {started.seed}, {started.policy}{settings}"


def in_units(value: float, unit: str) -> str:
    """`16 slots`, `1 slot`, `2.5 s`: a time in the log's unit, to ten digits."""
    many = "s" if unit == "slot" and value != 1 else ""
    return f"{value:,.10g} {unit}{many}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        first = " ".join(map(_value, value[:SHOWN]))
        return f"({first} ... {len(value)} in all)" if len(value) > SHOWN else f"({first})"
    if isinstance(value, float):
        return f"{value:g}"
    return str(getattr(value, "value", value))
