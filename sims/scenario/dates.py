"""Dates in a scenario, such as `from = "2024-10-22 08:00"`: they become times of the run once the
log of jobs has said which date time 0 is. A date that names no zone is in the log's."""

from __future__ import annotations

from datetime import datetime
from math import isnan
from typing import Annotated
from zoneinfo import ZoneInfo

from attrs import frozen
from pydantic import Field

from sims.errors import InputError, unfit
from sims.tables.fields import Accepts, Timed

DATE = "a date such as `2024-10-22 08:00`"


def read_date(text: str) -> datetime:
    """Return the date that a text states in ISO 8601. Raises ValueError for another text."""
    return datetime.fromisoformat(text.strip())


def _is_moment(value: float | str) -> bool:
    if isinstance(value, str):
        try:
            read_date(value)
        except ValueError:
            return False
        return True
    return value >= 0 and not isnan(value)


Moment = Annotated[
    Annotated[float, Timed()] | str,
    Field(union_mode="left_to_right"),  # `1 h` is a time before it is a text
    Accepts(f"a number, 0 or above, inf, or {DATE}", check=_is_moment),
]
"""A time, inf included, or a date, which is a text until the log of jobs has been read."""


@frozen
class Calendar:
    """Conversion of dates to times of a run."""

    begins: float
    """Date of time 0, in seconds since 1970."""
    zone: str
    """Zone of dates that name none, as an IANA name."""

    def time(self, date: datetime) -> float:
        """Return the time of the run at a date; below 0 before the run begins."""
        if date.tzinfo is None:
            date = date.replace(tzinfo=self._zone)
        return date.timestamp() - self.begins

    def told(self, time: float) -> str:
        """Return the date at a time of the run, in the calendar's zone."""
        return datetime.fromtimestamp(self.begins + time, self._zone).isoformat(" ", "seconds")

    @property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self.zone)

    def span(self, start: float | str, end: float | str, key: str) -> tuple[float, float]:
        """Return the times of a span, each of whose ends is a time or a date. A date before the run
        begins is its beginning.

        Raises InputError, naming the `key`, for a span that ends no later than it begins, or that
        is over when the run begins, and for a date of an hour that summer time leaves out.
        """
        first, last = (self._of_date(it, key) if isinstance(it, str) else it for it in (start, end))
        if last <= max(first, 0):
            problem = f"{end!r} is not after {start!r}" if last <= first else f"{end!r} is over"
            raise unfit(key, problem, f"dates in order, the last one after {self.told(0)}")
        return max(first, 0), last

    def _of_date(self, text: str, key: str) -> float:
        """Return the time at the date that `text` states. Raises InputError if there is none."""
        date = read_date(text)
        time = self.time(date)
        then = datetime.fromtimestamp(self.begins + time, date.tzinfo or self._zone)
        apart = then.replace(tzinfo=None) - date.replace(tzinfo=None)
        if abs(apart.total_seconds()) > 1:
            problem = f"{text!r} does not exist in {self.zone}, where summer time begins then"
            raise unfit(key, problem, f"{then.isoformat(' ', 'seconds')}, which is meant perhaps")
        return time


def is_dated(*values: float | str) -> bool:
    """Return whether any of these is a date."""
    return any(isinstance(it, str) for it in values)


def undated(key: str) -> InputError:
    """Return the error of a date at `key` where the jobs of the run have no dates."""
    return unfit(key, "a date, and the jobs have none", "a time, or the jobs of a dated log")
