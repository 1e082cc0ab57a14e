"""Counts the lines of a file that cannot be read, so that one of them does not refuse the rest."""

from __future__ import annotations

from attrs import define, evolve, field

from sims.errors import InputError

MOST_UNREAD = 0.1
"""Largest part of a file's lines that may be left out as unreadable; a single line always may."""


class Unreadable(Exception):
    """Raised where one line of a file cannot be read; `reason` is the same for all lines with that
    defect, and `error` names this line and its value."""

    def __init__(self, reason: str, error: InputError) -> None:
        super().__init__(str(error))
        self.reason, self.error = reason, error


@define
class Unread:
    """The lines of a file that cannot be read, counted by reason, with the number of the first."""

    lines: int = 0
    """Number of lines that should be readable."""
    _counts: dict[str, int] = field(factory=dict)
    _places: dict[str, str] = field(factory=dict)
    _first: InputError | None = None

    def leave_out(self, reason: str, error: InputError) -> None:
        """Count a line as left out for `reason`; `error` names the line and what is wrong."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        self._places.setdefault(reason, error.key.partition(":")[0])
        self._first = self._first or error

    def settle(self, any_read: bool) -> dict[str, int]:
        """Return the numbers of lines left out, by reason with the first one's place.

        Raises the InputError of the first such line where no other line has been read (`any_read`
        is false), and where several lines, more than a tenth of all, cannot be read.
        """
        count = sum(self._counts.values())
        if self._first is not None and not any_read:
            raise self._first
        if self._first is not None and 1 < count > MOST_UNREAD * self.lines:
            share = f"{count:,} of {self.lines:,} lines cannot be read, more than a tenth"
            raise evolve(self._first, problem=f"{self._first.problem} ({share})")
        texts = {reason: f"{reason} (first: {self._places[reason]})" for reason in self._counts}
        return {texts[reason]: count for reason, count in self._counts.items()}
