"""Numbers, times and events in words, and tables that are never cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import count
from math import inf
from typing import TYPE_CHECKING

import attrs
from attrs import frozen

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
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = 2**35
"""Seconds from there, in either direction, up to which dates are shown: a thousand years."""

SHOWN = 8
"""Values of a column; of a longer one, how many there are is told beside the first ones."""


def told(event: Event) -> str:
    """`Kind: field value, field value`; what is as by default goes without saying."""
    values = ((it.name, getattr(event, it.name), it.default) for it in attrs.fields(type(event)))
    fields = ", ".join(f"{name} {_value(value)}" for name, value, usual in values if value != usual)
    return visible(f"{type(event).__name__}: {fields}")


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


DAY = 24 * HOUR


def about(value: float, unit: str) -> str:
    """Tell a time to four digits: `421.5 d`, `33 h`, `2.5 s`, `16 slots`."""
    for size, symbol in ((DAY, "d"), (HOUR, "h")):
        if unit == SECOND and size <= value < inf:
            return f"{amount_of(value / size, 4)} {symbol}"
    return in_units(value, unit, 4)


APART = 1.1
"""Times by which two numbers of faults, or two rates, may differ without a warning."""
PARTED = (
    "the fitted law and its log part: the law takes all nodes for alike and each of its times for "
    "independent of the others; kind = 'replayed' keeps the log's own rate and differences"
)


def differ(one: float, other: float) -> bool:
    """Whether two numbers that should be alike differ by more than a tenth."""
    return max(one, other) > APART * min(one, other)


def log_rate(law_mtbf: float, log_mtbf: float, unit: str) -> str:
    """Tell a log's own rate of failures beside that of the law that was fitted to it."""
    own, times = about(log_mtbf, unit), amount_of(law_mtbf / log_mtbf, 3)
    return f"a node has one failure in {own}: {times} times the law's rate"


def moment(t: float, unit: str) -> str:
    """When: as `in_units`, to six digits, but seconds from an hour on as a clock shows them:
    `68 d 10:46:40.5`."""
    if unit != SECOND or not HOUR <= t < inf:
        return in_units(t, unit, digits=6)
    days, hours, minutes, seconds = _clock(t)
    time = f"{hours}:{minutes:02}:{seconds:05.2f}".removesuffix("0").removesuffix(".0")
    return f"{days:,} d {time}" if days else time


@frozen
class Clock:
    """How the moments of one log are shown: as dates where it has them, else as `moment` does."""

    unit: str
    begins: float | None = None
    """The date of time 0, in seconds since 1970."""

    def __call__(self, t: float) -> str:
        """`2020-05-01 12:30:00` (Universal Time), or `68 d 10:46:40.5`."""
        if self.begins is None or not abs(self.begins + t) < LAST:
            return moment(t, self.unit)
        hundredths = round(100 * (self.begins + t))
        date = EPOCH + timedelta(seconds=hundredths // 100)
        rest = f".{hundredths % 100:02}".rstrip("0") if hundredths % 100 else ""
        return f"{date.date()} {date.time()}{rest}"

    def lasted(self, value: float) -> str:
        """A length of time, to six digits."""
        return in_units(value, self.unit, digits=6)


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


def as_text(table: RenderableType) -> str:
    """Return what `show_table` prints, uncut. Rich would otherwise send it to the notebook in which
    it runs, beside what the notebook shows itself."""
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    Console(width=UNCUT, file=text, force_jupyter=False, force_terminal=False).print(table)
    return text.getvalue()


def as_html(table: Table, notes: Iterable[str] = ()) -> str:
    """Return a `grid` as an HTML table with the notes, a paragraph each, below it."""
    heads = "".join(f"<th>{escape(str(column.header))}</th>" for column in table.columns)
    sides = [column.justify for column in table.columns]
    rows = (
        "".join(
            f'<td style="text-align: {side}">{escape(str(cell))}</td>'
            for side, cell in zip(sides, row, strict=True)
        )
        for row in zip(*(column.cells for column in table.columns), strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    below = "".join(f"<p>{escape(visible(note))}</p>" for note in notes)
    title = f"<caption>{escape(str(table.title or ''))}</caption>"
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}"


def list_pairs(pairs: Iterable[tuple[str, str]], indent: str = "") -> None:
    """Print names, and beside them what they are."""
    told = list(pairs)
    width = max(len(name) for name, _ in told)
    show(*(f"{indent}{name:<{width}}  {about}" for name, about in told))
