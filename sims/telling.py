"""Numbers, times and events in words, and tables that are never cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from itertools import count
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING

import attrs
from attrs import frozen

from sims.errors import show, visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Column, Table

    from actors.events import ScenarioStarted
    from actors.runtime import Event

NO_FORMULAS = "mathjax_ignore tex2jax_ignore"
"""Classes of an HTML element in which notebooks show a `$` as it is; elsewhere it begins a
formula."""

SLOT = "slot"
"""Unit of a log whose times are whole numbers."""

SECOND = "s"
"""Unit of a log of real jobs."""
HOUR = 3600
EXACT = 2**53
"""Size from which on numbers are shown with an exponent: they have no fractions, and those of 300
digits would fill a screen."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = 2**35
"""Seconds before and after 1970 within which dates are shown: about a thousand years."""

SHOWN = 8
"""Values of a column that are shown; of a longer column, its length follows the first ones."""


NEWLINE = "\n"


def event_text(event: Event) -> str:
    """Return an event as `Kind: field value, field value`, without fields at their defaults."""
    values, names, usual, file = _fields(type(event))  # type: ignore[arg-type]  # it has a hash
    fields = [
        f"{name} {_lines(value) if name == file else _value(value)}"
        for value, name, default in zip(values(event), names, usual, strict=True)
        if value != default
    ]
    return visible(f"{type(event).__name__}: {', '.join(fields)}")


@cache
def _fields(
    kind: type[Event],
) -> tuple[Callable[[Event], tuple[object, ...]], tuple[str, ...], tuple[object, ...], str]:
    """Return the function that fetches an event's fields, their names, their defaults, and the
    name of the one that holds a whole file.

    Asking attrs for each event takes longer than everything else that is done with it.
    """
    fields = attrs.fields(kind)
    names = tuple(it.name for it in fields)
    several = (
        attrgetter(*names) if len(names) > 1 else lambda it: tuple(getattr(it, n) for n in names)
    )
    return several, names, tuple(it.default for it in fields), kind.whole_file


def title_of(started: ScenarioStarted) -> str:
    """Return one line that names a run's scenario, seed and policy."""
    settings = f" ({', '.join(started.settings)})" if started.settings else ""
    return visible(f"{started.scenario}, seed {started.seed}, {started.policy}{settings}")


def amount_of(number: float, digits: int = 10) -> str:
    """Return a number as text, such as `1,234.5`, rounded to so many significant digits.

    An int, and a number from 10^(digits - 1) to 2^53, is given as a whole number with all its
    digits, so that no exponent hides its size.
    """
    if isinstance(number, int) or 10 ** (digits - 1) <= abs(number) < EXACT:
        return f"{number:,.0f}"
    return f"{number:,.{digits}g}"


def counted(number: float, one: str, many: str = "", digits: int = 10) -> str:
    """Return a number and what it counts: `1 job`, `13,500 jobs`, `2 copies`.

    `many` is the plural where it does not end in `-s`. A number that is not whole is rounded to so
    many digits, and takes the singular if it then reads 1.
    """
    amount = amount_of(number, digits)
    return f"{amount} {one if amount == '1' else many or one + 's'}"


def in_units(value: float, unit: str, digits: int = 10) -> str:
    """Return a time in the log's unit to so many digits: `16 slots`, `1 slot`, `2.5 s`; a log of a
    user's own actors has no unit: `2.5`.

    An hour or more of seconds is given in larger units, to a hundredth of a second: `2 h 5 min`,
    `68 d 10 h 46 min 40.5 s`.
    """
    if not unit:
        return amount_of(value, digits)
    if unit != SECOND or not HOUR <= value < EXACT:
        return counted(value, unit, units(unit), digits)
    days, hours, minutes, seconds = _clock(value)
    parts = (f"{days:,} d", f"{hours} h", f"{minutes} min", f"{seconds:.10g} s")
    return " ".join(part for part in parts if not part.startswith("0 "))


DAY = 24 * HOUR


def about(value: float, unit: str) -> str:
    """Return a time to four digits: `421.5 d`, `33 h`, `2.5 s`, `16 slots`."""
    for size, symbol in ((DAY, "d"), (HOUR, "h")):
        if unit == SECOND and size <= value < inf:
            return f"{amount_of(value / size, 4)} {symbol}"
    return in_units(value, unit, 4)


def time_words(seconds: float) -> str:
    """Return a wall time in whole hours from 2 h on, in whole minutes from 2 min on, and else in
    seconds."""
    hours, minutes = seconds / HOUR, seconds / 60
    if hours >= 2:
        return f"{hours:,.0f} h"
    return f"{minutes:.0f} min" if minutes >= 2 else f"{seconds:.0f} s"


LARGEST_RATIO = 1.1
"""Ratio by which two numbers of faults, or two rates, may differ without a warning."""
PARTED = (
    "the fitted law and its log part: the law takes all nodes for alike and each of its times for "
    "independent of the others; kind = 'replayed' keeps the log's own rate and differences"
)


def differ(one: float, other: float) -> bool:
    """Return whether two numbers that should agree differ by more than a tenth, which calls for a
    warning."""
    return max(one, other) > LARGEST_RATIO * min(one, other)


def log_rate(law_mtbf: float, log_mtbf: float, unit: str) -> str:
    """Return in words how often a node of a log of failures fails, compared with the law that was
    fitted to the log.

    `law_mtbf` and `log_mtbf` are the mean times between failures of a node, in `unit`, under the
    law and in the log.
    """
    own, times = about(log_mtbf, unit), amount_of(law_mtbf / log_mtbf, 3)
    return f"a node has one failure in {own}: {times} times the law's rate"


def moment(t: float, unit: str) -> str:
    """Return the time `t` as text, as `in_units` does, to six digits; from an hour of seconds on as
    on a clock: `68 d 10:46:40.5`."""
    if unit != SECOND or not HOUR <= t < EXACT:
        return in_units(t, unit, digits=6)
    days, hours, minutes, seconds = _clock(t)
    time = f"{hours}:{minutes:02}:{seconds:05.2f}".removesuffix("0").removesuffix(".0")
    return f"{days:,} d {time}" if days else time


@frozen
class Clock:
    """Shows the moments of one log: as dates where the log has them, otherwise as `moment` does."""

    unit: str
    begins: float | None = None
    """Date of time 0, in seconds since 1970; None: the log has no dates."""
    zone: str = "UTC"
    """Time zone of dates that name none, as an IANA name. Moments are shown in Universal Time."""

    def __call__(self, t: float) -> str:
        """Return a moment as `2020-05-01 12:30:00` (Universal Time) or `68 d 10:46:40.5`."""
        if self.begins is None or not abs(self.begins + t) < LAST:
            return moment(t, self.unit)
        hundredths = round(100 * (self.begins + t))
        date = EPOCH + timedelta(seconds=hundredths // 100)
        rest = f".{hundredths % 100:02}".rstrip("0") if hundredths % 100 else ""
        return f"{date.date()} {date.time()}{rest}"

    def lasted(self, value: float) -> str:
        """Return a length of time, to six digits."""
        return in_units(value, self.unit, digits=6)


def _clock(value: float) -> tuple[int, int, int, float]:
    """Split seconds into (days, hours, minutes, seconds), to a hundredth of a second."""
    minutes, rest = divmod(round(100 * value), 6_000)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return days, hours, minutes, rest / 100


def units(unit: str) -> str:
    """Return a log's unit in the plural: `slots`; `s`, like other symbols, stays as it is."""
    return "slots" if unit == SLOT else unit


def time_axis(unit: str) -> str:
    """Return the label of an axis of virtual time: `time, slots`."""
    return f"time, {units(unit)}" if unit else "time"


def row_of(started: ScenarioStarted) -> str:
    """Return the word for a processor of this log: `worker` where the log's workers have names,
    else `processor`."""
    return "worker" if started.workers else "processor"


def worker_of(started: ScenarioStarted, number: int) -> str:
    """Return a worker's name: `P1`, or `worker 0` where workers have no names."""
    return started.workers[number] if started.workers else f"worker {number}"


def apart(names: Iterable[str]) -> list[str]:
    """Return the names, made different: a repeated one becomes `J7.2`, `J7.3` and so on.

    A number is skipped if another name of the list has it already.
    """
    asked = list(names)
    first, found, taken = set[str](), list[str](), set(asked)
    numbers = defaultdict[str, Iterator[int]](lambda: count(2))
    for name in asked:
        unique = name
        if name in first:
            unique = next(it for k in numbers[name] if (it := f"{name}.{k}") not in taken)
            taken.add(unique)
        first.add(name)
        found.append(unique)
    return found


def _lines(text: object) -> str:
    return f"({counted(str(text).count(NEWLINE), 'line')})"


def _value(value: object) -> str:
    if type(value) is str:
        return value
    if isinstance(value, tuple):
        first = " ".join(map(_value, value[:SHOWN]))
        return f"({first} ... {len(value)} in all)" if len(value) > SHOWN else f"({first})"
    if isinstance(value, float):
        return amount_of(value, 6)
    return str(getattr(value, "value", value))


# --- tables -------------------------------------------------------------------------------------

UNCUT = 10_000
"""Width of tables in columns where the output is no terminal; no table is wider."""


def show_table(table: RenderableType) -> None:
    """Print a table; where the output is piped or kept, nothing is cut or wrapped."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=UNCUT)).print(table)


def grid(
    left: Iterable[str | Column],
    right: Iterable[str],
    rows: Iterable[Iterable[object]],
    title: str = "",
) -> Table:
    """Return a table for the terminal with words on the left and numbers on the right.

    `left` and `right` are the heads of these columns, and each row has a cell for every one of
    them.
    """
    from rich.box import SIMPLE
    from rich.table import Column, Table
    from rich.text import Text

    numbers = (Column(head, justify="right", no_wrap=True) for head in right)
    table = Table(*left, *numbers, title=Text(visible(title)) if title else None, box=SIMPLE)
    for row in rows:
        table.add_row(*(Text(visible(str(cell))) for cell in row))
    return table


def as_text(table: RenderableType) -> str:
    """Return the text that `show_table` prints, uncut.

    A console of rich would otherwise print the table to the notebook in which it runs, in addition
    to what the notebook shows itself.
    """
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    Console(width=UNCUT, file=text, force_jupyter=False, force_terminal=False).print(table)
    return text.getvalue()


def as_html(table: Table, notes: Iterable[str] = ()) -> str:
    """Return a `grid` as an HTML table, followed by the notes, a paragraph each."""
    heads = "".join(f"<th>{as_markup(column.header)}</th>" for column in table.columns)
    sides = [column.justify for column in table.columns]
    rows = (
        "".join(
            f'<td style="text-align: {side}">{as_markup(cell)}</td>'
            for side, cell in zip(sides, row, strict=True)
        )
        for row in zip(*(column.cells for column in table.columns), strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    below = "".join(f"<p>{as_markup(note)}</p>" for note in notes)
    title = f"<caption>{as_markup(table.title or '')}</caption>"
    table_of_all = f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="{NO_FORMULAS}">{table_of_all}{below}</div>'


def as_markup(text: object) -> str:
    """Return a text as HTML that shows it as `visible` does."""
    return escape(visible(str(text)))


def list_pairs(pairs: Iterable[tuple[str, str]], indent: str = "") -> None:
    """Print pairs of a name and a text in two columns, a line each after `indent`."""
    rows = list(pairs)
    width = max((len(name) for name, _ in rows), default=0)
    show(*(f"{indent}{name:<{width}}  {text}" for name, text in rows))
