"""Checks that scenario fields share; each message says what would be accepted."""

from __future__ import annotations

from collections.abc import Callable, Sized
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attrs import Attribute

MOST_JOBS = 10**9
"""Drawn for one scenario: a hundred times as many as were ever run here."""


class Unacceptable(ValueError):
    """A value of the right type that a field does not take."""

    def __init__(self, field: str, value: object, accepted: str) -> None:
        super().__init__(field, value, accepted)
        self.field, self.value, self.accepted = field, value, accepted

    def __str__(self) -> str:
        return f"{self.field} = {self.value!r} is not accepted; accepted: {self.accepted}"


def positive(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a finite number above 0."""
    if not (isfinite(value) and value > 0):
        raise Unacceptable(attribute.name, value, "a finite number above 0")


def up_to(most: int, what: str = "") -> Callable[[object, Attribute[Any], int], None]:
    """attrs validator: a whole number from 1 to `most`; `what`: why no more, for people."""

    def check(_: object, attribute: Attribute[Any], value: int) -> None:
        if not 1 <= value <= most:
            raise Unacceptable(attribute.name, value, f"1 to {most:,}")

    check.__doc__ = f"attrs validator: {what or f'1 to {most:,}'}"
    return check


countable = up_to(MOST_JOBS, "so many as some memory could hold")


def positive_or_inf(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a number above 0, infinity included."""
    if not value > 0:
        raise Unacceptable(attribute.name, value, "a number above 0, or inf")


def not_negative(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a finite number, 0 or above."""
    if not (isfinite(value) and value >= 0):
        raise Unacceptable(attribute.name, value, "a finite number, 0 or above")


def a_number(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a finite number."""
    if not isfinite(value):
        raise Unacceptable(attribute.name, value, "a finite number")


def not_empty(_: object, attribute: Attribute[Any], value: Sized) -> None:
    """attrs validator: at least one element."""
    if not len(value):
        raise Unacceptable(attribute.name, value, "at least one element")


def probability(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a number in [0, 1]."""
    if not 0 <= value <= 1:
        raise Unacceptable(attribute.name, value, "a number from 0 to 1")


def part(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a number in [0, 1)."""
    if not 0 <= value < 1:
        raise Unacceptable(attribute.name, value, "a number from 0 to below 1")


def above_one(_: object, attribute: Attribute[Any], value: float) -> None:
    """attrs validator: a finite number above 1."""
    if not (isfinite(value) and value > 1):
        raise Unacceptable(attribute.name, value, "a finite number above 1")


def range_of_positives(_: object, attribute: Attribute[Any], value: tuple[float, float]) -> None:
    """attrs validator: two finite numbers above 0, the lower first."""
    low, high = value
    if not 0 < low <= high < inf:
        raise Unacceptable(attribute.name, value, "two finite numbers above 0, the lower first")


def range_of_probabilities(
    _: object, attribute: Attribute[Any], value: tuple[float, float]
) -> None:
    """attrs validator: two numbers in [0, 1], the lower first."""
    low, high = value
    if not 0 <= low <= high <= 1:
        raise Unacceptable(attribute.name, value, "two numbers from 0 to 1, the lower first")
