"""Read the log of failures that Los Alamos National Laboratory released (LA-UR-05-7318) in its own
form: CSV, a line for each failure of a node, with local times."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from attrs import frozen

from sims.readers.files import whole

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "system": ("system",),
    "node": ("nodenumz", "node", "nodenum"),
    "started": ("prob started", "started"),
    "fixed": ("prob fixed", "fixed"),
}
"""Maps what is read to the beginnings of its column's name, in lower case, the best first."""
FORMS = ("%m/%d/%Y %H:%M", "%m/%d/%y %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")
"""Forms of a local time."""


@frozen
class LanlTable:
    """The columns of a file in this form, by number."""

    places: Mapping[str, int]

    @classmethod
    def of(cls, line: str) -> LanlTable | None:
        """Return the columns that a header names, or None where the line is no such header."""
        names = [name.strip().lower() for name in _cells(line)]
        found = {key: _place(names, said) for key, said in COLUMNS.items()}
        places = {key: place for key, place in found.items() if place is not None}
        return cls(places) if len(places) == len(COLUMNS) else None

    def failure(self, line: str) -> tuple[int, int, float, float]:
        """Return (system, node, start, end) of the failure that a line tells of, with times in
        seconds since 1970 as if they were UTC. Raises ValueError for a malformed line."""
        cells = _cells(line)
        if len(cells) <= max(self.places.values()):
            raise ValueError(f"{len(cells)} columns")
        told = {key: cells[place].strip() for key, place in self.places.items()}
        start, end = _seconds(told["started"]), _seconds(told["fixed"])
        if end < start:
            raise ValueError(f"the failure lasts from {told['started']} to {told['fixed']}")
        return whole(told["system"]), whole(told["node"]), start, end


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]))


def _place(names: Sequence[str], said: Sequence[str]) -> int | None:
    """Return the number of the first column that has one of these names, or a name of several words
    that begins with it."""
    places = (k for it in said for k, name in enumerate(names) if name == it)
    longer = (k for it in said for k, name in enumerate(names) if " " in it and name.startswith(it))
    return next(places, next(longer, None))


def _seconds(text: str) -> float:
    """Return a local time in seconds since 1970. Raises ValueError for another text."""
    for form in FORMS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    raise ValueError(f"{text!r} is not a time such as 6/21/2005 10:54")
