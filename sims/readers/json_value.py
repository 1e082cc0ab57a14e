"""A JSON value that knows where it stands, so that every refusal names file, key and value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from sims.errors import InputError
from sims.readers.files import load_json


@frozen
class JsonValue:
    """One value of a JSON file. Each accessor returns it typed or raises InputError."""

    source: str
    key: str
    """Dotted place in the file, such as `jobs[3].res`; empty for the whole file."""
    value: object

    @classmethod
    def read(cls, path: Path) -> JsonValue:
        """The whole file; InputError where it cannot be read or is not JSON."""
        return cls(str(path), "", load_json(path))

    def refused(self, problem: str, accepted: str = "") -> InputError:
        """The error to raise about this value."""
        return InputError(self.source, self.key, problem, accepted)

    def optional(self, name: str) -> JsonValue | None:
        """A field of this object; None where it is absent or null."""
        fields = self.value
        if not isinstance(fields, dict):
            raise self.refused(f"{_short(fields)} is not an object", f"an object with {name}")
        value = fields.get(name)
        return None if value is None else JsonValue(self.source, self._below(name), value)

    def field(self, name: str) -> JsonValue:
        """A field of this object that must be there."""
        found = self.optional(name)
        if found is None:
            raise InputError(self.source, self._below(name), "missing")
        return found

    def items(self) -> Iterator[JsonValue]:
        """The elements of this list, at least one."""
        if not isinstance(self.value, list) or not self.value:
            raise self.refused(f"{_short(self.value)} holds nothing", "a list that is not empty")
        for index, value in enumerate(self.value):
            yield JsonValue(self.source, f"{self.key}[{index}]", value)

    def text(self) -> str:
        """A string that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            raise self.refused(f"{_short(self.value)} is not a name", "a string")
        return self.value

    def whole(self, least: int) -> int:
        """A whole number of at least `least`."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            accepted = f"a whole number of at least {least}"
            raise self.refused(f"{_short(value)} cannot be used", accepted)
        return value

    def number(self, accepted: str) -> float:
        """A finite number; `accepted` tells the user which ones are meant."""
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.refused(f"{_short(value)} is not a number", accepted)
        return float(value)

    def positive(self) -> float:
        """A number above 0."""
        accepted = "a number above 0"
        number = self.number(accepted)
        if not 0 < number < math.inf:
            raise self.refused(f"{_short(self.value)} cannot be used", accepted)
        return number

    def finite(self) -> float:
        """A finite number."""
        return self.number("a finite number")

    def not_negative(self) -> float:
        """A number of at least 0."""
        accepted = "a number of at least 0"
        number = self.number(accepted)
        if not 0 <= number < math.inf:
            raise self.refused(f"{_short(self.value)} cannot be used", accepted)
        return number

    def _below(self, name: str) -> str:
        return f"{self.key}.{name}" if self.key else name


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
