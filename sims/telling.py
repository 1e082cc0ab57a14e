"""Events in words: the log's own, on one line that a person can take in."""

from __future__ import annotations

import attrs

from actors.events import ScenarioStarted
from actors.runtime import Event

SLOT = "slot"
"""The unit of a log whose times are whole numbers."""

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


def counted(number: float, one: str, many: str = "", digits: int = 10) -> str:
    """`1 job`, `13,500 jobs`, `2 copies`: a number and what it counts; `many` where it is no `-s`.

    What is no whole number is told to so many digits, and is one where it then reads 1.
    """
    amount = f"{number:,}" if isinstance(number, int) else f"{number:,.{digits}g}"
    return f"{amount} {one if amount == '1' else many or one + 's'}"


def in_units(value: float, unit: str) -> str:
    """`16 slots`, `1 slot`, `2.5 s`: a time in the log's unit, to ten digits."""
    return counted(value, unit, units(unit))


def units(unit: str) -> str:
    """A log's unit in the plural: `slots`; `s`, as other symbols, stays as it is."""
    return "slots" if unit == SLOT else unit


def time_axis(unit: str) -> str:
    """What stands at an axis of virtual time: `time, slots`."""
    return f"time, {units(unit)}"


def row_of(started: ScenarioStarted) -> str:
    """What one of the platform's processors is called: a worker where it has a name."""
    return "worker" if started.workers else "processor"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        first = " ".join(map(_value, value[:SHOWN]))
        return f"({first} ... {len(value)} in all)" if len(value) > SHOWN else f"({first})"
    if isinstance(value, float):
        return f"{value:g}"
    return str(getattr(value, "value", value))
