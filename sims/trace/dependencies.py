"""Puts into words which jobs a job follows, and finds the jobs that are held back at an instant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from attrs import define, field

from actors.events import DependenciesDescribed
from sims.history.lines import ABOUT
from sims.telling import in_units

NAMED = 5
"""Largest number of jobs that a line names."""
DESCRIBED, SUBMITTED = DependenciesDescribed.__name__.encode(), b"JobSubmitted"
ENDS = (b"JobCompleted", b"JobKilled")


def submission(event: DependenciesDescribed, at_end: bool, unit: str) -> str:
    """Return the words that say when a job that follows others is submitted, such as `submitted 50
    s after J1 ends`. `at_end` says that it is an end of theirs that leads to it, and not its own
    release; times are in `unit`."""
    several, names = len(event.after) > 1, _named(event.after)
    if not at_end:
        return f"submitted at its release, after {names} {'have' if several else 'has'} ended"
    when = f"{in_units(event.think, unit)} after" if event.think else "when"
    return f"submitted {when} {'the last of ' if several else ''}{names} ends"


def unending(event: DependenciesDescribed) -> str:
    """Return the words that say why a job that follows others is not in a log."""
    return f"{event.job} is not submitted in this log: it follows {_named(event.after)}"


def _named(names: tuple[str, ...]) -> str:
    more = [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
    *first, last = [*names[:NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


@define
class HeldBack:
    """The jobs that follow others and are not yet submitted, as the lines read so far tell."""

    _lines: dict[bytes, bytes] = field(factory=dict)
    """Maps the name of each such job, as it stands in the log's lines, to the line that describes
    the conditions of its submission."""
    _over: set[bytes] = field(factory=set)
    """Names of the jobs that are over."""

    def hear(self, line: bytes) -> None:
        """Take note of the log's next line, which is not decoded."""
        if not self._lines and DESCRIBED not in line:
            return
        found = ABOUT.search(line)
        kind, job, _ = found.groups() if found is not None else (b"", b"", b"")
        if kind == DESCRIBED:
            self._lines[job] = line
        elif kind == SUBMITTED:
            self._lines.pop(job, None)
        elif kind in ENDS:
            self._over.add(job)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each such job, with the keys job, think, release and after (jobs that
        are not over)."""
        return list(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for line in self._lines.values():
            told = orjson.loads(line)
            left = [name for name in told["after"] if orjson.dumps(name) not in self._over]
            about = {key: told[key] for key in ("job", "think", "release")}
            yield about | {"after": left}
