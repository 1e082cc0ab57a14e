"""The header of a Standard Workload Format log: comments of the form `; Key: value`."""

from __future__ import annotations

import re

from attrs import frozen

ENTRY = re.compile(r";\s*([A-Za-z]\w*)\s*:\s*(.*)")
LEADING_NUMBER = re.compile(r"\d+(?!\S)")


@frozen
class SwfHeader:
    """All header entries in the file's order; keys such as Queue and Note may repeat."""

    entries: tuple[tuple[str, str], ...]

    def values(self, key: str) -> tuple[str, ...]:
        """Every value of `key`, as written."""
        return tuple(value for name, value in self.entries if name == key)

    def whole(self, key: str) -> int | None:
        """The number that the first value of `key` begins with; None where there is none, or
        where it is -1 or text: logs write `unknown` there."""
        values = self.values(key)
        number = LEADING_NUMBER.match(values[0]) if values else None
        return int(number.group()) if number else None

    @property
    def max_procs(self) -> int | None:
        """Processors of the machine."""
        return self.whole("MaxProcs")


def header_entry(comment: str) -> tuple[str, str] | None:
    """(key, value) of a comment line; None where it is free text."""
    entry = ENTRY.match(comment)
    return (entry.group(1), entry.group(2).strip()) if entry else None
