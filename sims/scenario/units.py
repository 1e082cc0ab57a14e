"""Numbers and ranges of units, workers say, as the keys of a file write them."""

from __future__ import annotations

import re
from typing import Annotated

from actors.intervals import Intervals, spans_in
from sims.tables.fields import Accepts

UNITS = re.compile(r"\s*\d{1,9}(-\d{1,9})?([\s,]+\d{1,9}(-\d{1,9})?)*\s*")


def _named_once(text: str) -> bool:
    """Return whether the text has numbers and ranges. Raises ValueError where one of its ranges
    falls, or a number is in it twice: a typing error that would change how many units it names."""
    if not UNITS.fullmatch(text):
        return False
    beyond = 0
    for first, last in intervals_in(text):
        if last < first:
            raise ValueError(f"{first}-{last} falls")
        if first < beyond:
            raise ValueError(f"{first} is in it twice")
        beyond = last + 1
    return True


Units = Annotated[str, Accepts('numbers and ranges, such as "0-15, 40"', check=_named_once)]


def intervals_in(units: str) -> Intervals:
    """Return the intervals (first, last), both included, that a text such as `0-15, 40` names, in
    ascending order."""
    return tuple(sorted(spans_in(units.replace(",", " "))))
