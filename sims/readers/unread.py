"""Counts the lines of a file that are left out, so that one of them does not refuse the rest."""

from __future__ import annotations

from attrs import define, evolve, field

from sims.errors import InputError

MOST_UNREAD = 0.1
"""Largest part of a file's lines that may be left out because of a defect."""


class Unreadable(Exception):
    """Raised where one line of a file is to be left out; `reason` is the same for all lines with
    that defect, and `error` names this line and its value. `malformed` is that of `leave_out`."""

    def __init__(self, reason: str, error: InputError, malformed: bool = True) -> None:
        super().__init__(str(error))
        self.reason, self.error, self.malformed = reason, error, malformed


@define
class Unread:
    """The lines of a file that are left out because of a defect, counted by reason, with the number
    of the first."""

    lines: int = 0
    """Number of lines that should be readable."""
    _counts: dict[str, int] = field(factory=dict)
    _places: dict[str, str] = field(factory=dict)
    _malformed: int = 0
    _first: InputError | None = None

    def leave_out(self, reason: str, error: InputError, malformed: bool = True) -> None:
        """Count a line as left out for `reason`; `error` names the line and its value. `malformed`
        says that the line cannot be read, and not only that it says something that cannot be."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        self._places.setdefault(reason, error.key.partition(":")[0])
        self._malformed += malformed
        self._first = self._first or error

    def settle(self, any_read: bool) -> dict[str, int]:
        """Return the numbers of lines left out, by reason with the first one's place.

        Raises the InputError of the first such line where no other line has been read (`any_read`
        is false), and where such lines are more than a tenth of all. A single line that can be read
        refuses no file.
        """
        count, first = sum(self._counts.values()), self._first
        if first is None:
            return {}
        if not any_read:
            raise first
        if count > MOST_UNREAD * self.lines and (count > 1 or self._malformed):
            share = f"{count:,} of {self.lines:,} lines left out, more than a tenth"
            raise evolve(first, problem=f"{first.problem} ({share})")
        return {f"{it} (first: {self._places[it]})": n for it, n in self._counts.items()}
