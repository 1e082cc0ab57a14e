"""Numbers and ranges of units, workers say, as the keys of a file write them."""

from __future__ import annotations

import re
from typing import Annotated

from actors.intervals import Intervals, spans_in
from sims.tables.fields import Accepts

UNITS = re.compile(r"\s*\d{1,9}(-\d{1,9})?([\s,]+\d{1,9}(-\d{1,9})?)*\s*")
Units = Annotated[
    str,
    Accepts(
        'numbers and ranges, such as "0-15, 40"',
        check=lambda text: UNITS.fullmatch(text) is not None,
    ),
]


def intervals_in(units: str) -> Intervals:
    """Return the intervals (first, last), both included, that a text such as `0-15, 40` names, in
    ascending order. Overlapping ones stay as they are."""
    return tuple(sorted(spans_in(units.replace(",", " "))))
