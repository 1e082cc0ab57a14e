"""Times as people write them: `90 s`, `7d`, `2 h 30 min`, `3 d 10:46:40`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from math import fsum
from operator import mul
from typing import TypeVar

from sims.errors import COMMAND_LINE, InputError

T = TypeVar("T", float, float | None)

YEAR = 365 * 86400.0
"""Seconds in a year, as malleable17 counts them."""
SCALES = {"y": YEAR, "w": 604800.0, "d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001}
"""Seconds in each unit that a time can name."""
NUMBER = r"[0-9]+(\.[0-9]+)?"
TIME = re.compile("".join(("^(?=.)", *(f"({NUMBER} *{unit} *)?" for unit in SCALES), "$")))
"""Pattern of a time with units: the larger units first, each at most once."""
PART = re.compile(r"([0-9.]+) *([a-z]+)")
UNITS = ", ".join(SCALES)
TEXTS = f"a text such as `90 s`, `7d`, `2 h 30 min` (units: {UNITS})"
"""Description of the times that a scenario file may have as texts."""
FORMS = "a number, or such as `90 s`, `7d`, `2 h 30 min`, `3 d 10:46:40`"
CLOCK = re.compile(r"(?:([\d,]+)\s*d\s*)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?")
"""Pattern of a time on a clock: `68 d 10:46:40.5`, `10:46`."""


class Seconds(float):
    """A time in seconds whose text named its units, so that it cannot be a number of slots."""


class Date(float):
    """Seconds since 1970, from a text that is a date."""

    local: bool
    """Whether the text named no zone, so that it was read as Universal Time."""

    def within(self, zone: tzinfo) -> float:
        """Return the seconds since 1970, if a text that named no zone is in this one."""
        if not self.local:
            return float(self)
        return datetime.fromtimestamp(self, UTC).replace(tzinfo=zone).timestamp()


def date_or_seconds(text: str) -> float:
    """Read a date in ISO 8601 as a `Date`, or a time as `seconds` does.

    A date that names no zone is in Universal Time. Raises ValueError for any other text.
    """
    try:
        return seconds(text)
    except ValueError:
        date = datetime.fromisoformat(text.strip())
        found = Date((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
        found.local = date.tzinfo is None
        return found


def units_sum(text: str) -> float:
    """Return the seconds of a text with units, such as `2 h 30 min`, which the pattern `TIME`
    matches."""
    return fsum(float(number) * SCALES[unit] for number, unit in PART.findall(text))


def seconds(text: str) -> float:
    """Read a time: `Seconds` for a text with units (`2 h 30 min`) or as on a clock (`3 d
    10:46:40`), otherwise a plain float, which is in the caller's unit.

    Commas in numbers are left out. Raises ValueError for any other text, and for a time that is not
    finite.
    """
    word = text.strip()
    clock, plain = CLOCK.fullmatch(word), word.replace(",", "")
    if clock is not None:
        parts = (float((part or "0").replace(",", "")) for part in clock.groups())
        time: float = Seconds(sum(map(mul, parts, (SCALES["d"], 3600, 60, 1))))
    elif TIME.match(plain):
        time = Seconds(units_sum(plain))
    else:
        time = float(plain)
    if not math.isfinite(time):
        raise ValueError(f"{text!r} is not finite")
    return time


def in_unit(time: T, option: str, unit: Callable[[], str]) -> T:
    """Return the time that was given to an option of the command line as a plain number in the unit
    of the log or scenario.

    Only a time that named its units (`Seconds`) is converted; others, None included, are returned
    as they are. `unit` returns that unit, `s` or `slot`, and is called only for `Seconds`, because
    it may read a file. Raises InputError, naming the `option`, where the unit is a slot: its length
    in seconds is unknown.
    """
    if not isinstance(time, Seconds):
        return time
    if unit() == "slot":
        raise InputError(COMMAND_LINE, option, f"{time:g} s, but time is in slots", "a number")
    return float(time)
