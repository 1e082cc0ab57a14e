"""Numbers, times and events in words, and tables that are never cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import count
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING

import attrs

from sims.errors import show, visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Column, Table

    from actors.events import ScenarioStarted
    from actors.runtime import Event

SLOT = "slot"
"""The unit of a log whose times are whole numbers."""

SECOND = "s"
"""The unit of a log of real jobs."""
HOUR = 3600

SHOWN = 8
"""Values of a column; of a longer one, how many there are is told beside the first ones."""


def told(event: Event) -> str:
    """`Kind: field value, field value`; what is as by default goes without saying."""
    values, names, usual = _fields(type(event))
    fields = [
        f"{name} {value if type(value) is str else _value(value)}"
        for value, name, default in zip(values(event), names, usual, strict=True)
        if value != default
    ]
    return visible(f"{type(event).__name__}: {', '.join(fields)}")


@cache
def _fields(
    kind: type[Event],
) -> tuple[Callable[[Event], tuple[object, ...]], tuple[str, ...], tuple[object, ...]]:
    """How the values of a class's fields are got, their names, and their defaults; to ask attrs
    for each event takes longer than to tell it."""
    fields = attrs.fields(kind)
    names = tuple(it.name for it in fields)
    several = (
        attrgetter(*names) if len(names) > 1 else lambda it: tuple(getattr(it, n) for n in names)
    )
    return several, names, tuple(it.default for it in fields)


def _singly(names: tuple[str, ...], event: Event) -> tuple[object, ...]:
    """The values of an event that has one field, or none."""
    return tuple(getattr(event, name) for name in names)


def title_of(started: ScenarioStarted) -> str:
    """What was run, in a line: scenario, seed, policy."""
    settings = f" ({', '.join(started.settings)})" if started.settings else ""
    return visible(f"{started.scenario}, seed {started.seed}, {started.policy}{settings}")


def amount_of(number: float, digits: int = 10) -> str:
    """`1,234.5`, to so many digits, but never with an exponent that hides how large it is."""
    if isinstance(number, int) or 10 ** (digits - 1) <= abs(number) < inf:
        return f"{number:,.0f}"
    return f"{number:,.{digits}g}"


def counted(number: float, one: str, many: str = "", digits: int = 10) -> str:
    """`1 job`, `13,500 jobs`, `2 copies`: a number and what it counts; `many` where it is no `-s`.

    What is no whole number is told to so many digits, and is one where it then reads 1.
    """
    amount = amount_of(number, digits)
    return f"{amount} {one if amount == '1' else many or one + 's'}"


def in_units(value: float, unit: str, digits: int = 10) -> str:
    """`16 slots`, `1 slot`, `2.5 s`: a time in the log's unit, to so many digits. Seconds from
    an hour on as people read them, to a hundredth: `2 h 5 min`, `68 d 10 h 46 min 40.5 s`."""
    if unit != SECOND or not HOUR <= value < inf:
        return counted(value, unit, units(unit), digits)
    days, hours, minutes, seconds = _clock(value)
    parts = (f"{days:,} d", f"{hours} h", f"{minutes} min", f"{seconds:.10g} s")
    return " ".join(part for part in parts if not part.startswith("0 "))


def moment(t: float, unit: str) -> str:
    """When: as `in_units`, to six digits, but seconds from an hour on as a clock shows them:
    `68 d 10:46:40.5`."""
    if unit != SECOND or not HOUR <= t < inf:
        return in_units(t, unit, digits=6)
    days, hours, minutes, seconds = _clock(t)
    time = f"{hours}:{minutes:02}:{seconds:05.2f}".removesuffix("0").removesuffix(".0")
    return f"{days:,} d {time}" if days else time


def _clock(value: float) -> tuple[int, int, int, float]:
    """Days, hours, minutes, seconds."""
    # Beyond 2^53 there are no fractions, and a hundred times it may be infinite.
    hundredths = round(100 * value) if value < 2**53 else 100 * int(value)
    minutes, rest = divmod(hundredths, 6_000)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return days, hours, minutes, rest / 100


def units(unit: str) -> str:
    """A log's unit in the plural: `slots`; `s`, as other symbols, stays as it is."""
    return "slots" if unit == SLOT else unit


def time_axis(unit: str) -> str:
    """What stands at an axis of virtual time: `time, slots`."""
    return f"time, {units(unit)}"


def row_of(started: ScenarioStarted) -> str:
    """What one of the platform's processors is called: a worker where it has a name."""
    return "worker" if started.workers else "processor"


def worker_of(started: ScenarioStarted, number: int) -> str:
    """`P1`, or `worker 0` where workers have no names."""
    return started.workers[number] if started.workers else f"worker {number}"


def apart(names: Iterable[str]) -> list[str]:
    """Return the names, each once: a repeated one becomes `J7.2`, `J7.3` and so on, without those
    that another name of the list is already."""
    asked = list(names)
    first, found, taken = set[str](), list[str](), set(asked)
    numbers = defaultdict[str, Iterator[int]](lambda: count(2))
    for name in asked:
        told = name
        if name in first:
            told = next(it for k in numbers[name] if (it := f"{name}.{k}") not in taken)
            taken.add(told)
        first.add(name)
        found.append(told)
    return found


def _value(value: object) -> str:
    if isinstance(value, tuple):
        first = " ".join(map(_value, value[:SHOWN]))
        return f"({first} ... {len(value)} in all)" if len(value) > SHOWN else f"({first})"
    if isinstance(value, float):
        return amount_of(value, 6)
    return str(getattr(value, "value", value))


# --- tables -------------------------------------------------------------------------------------

UNCUT = 10_000
"""Columns where nobody's terminal says how many there are: no table has more."""


def show_table(table: RenderableType) -> None:
    """Print it; where the output is piped or kept, nothing is cut or wrapped."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=UNCUT)).print(table)


def grid(
    left: Iterable[str | Column],
    right: Iterable[str],
    rows: Iterable[Iterable[object]],
    title: str = "",
) -> Table:
    """A table of words on the left, and numbers on the right."""
    from rich.box import SIMPLE
    from rich.table import Column, Table
    from rich.text import Text

    numbers = (Column(head, justify="right", no_wrap=True) for head in right)
    table = Table(*left, *numbers, title=Text(visible(title)) if title else None, box=SIMPLE)
    for row in rows:
        table.add_row(*(Text(visible(str(cell))) for cell in row))
    return table


def list_pairs(pairs: Iterable[tuple[str, str]], indent: str = "") -> None:
    """Print names, and beside them what they are."""
    told = list(pairs)
    width = max(len(name) for name, _ in told)
    show(*(f"{indent}{name:<{width}}  {about}" for name, about in told))
