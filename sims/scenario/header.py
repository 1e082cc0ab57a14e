"""What all scenarios begin with, and what the log's first record says of them."""

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from sims.scenario.fields import Unacceptable

if TYPE_CHECKING:
    from attrs import Attribute

SEEDS = range(2**64)
"""What a run can begin with: its log has no larger numbers."""


def names_a_file(_: object, attribute: Attribute[Any], value: str) -> None:
    """attrs validator: a word or more, without /."""
    if not value or {"/", "\0", os.sep, os.altsep} & set(value):
        raise Unacceptable(attribute.name, value, "a word or more, without / (logs/NAME.jsonl)")


def names_a_path(_: object, attribute: Attribute[Any], value: str | None) -> None:
    """attrs validator: a path, or `none`."""
    if value is not None and (not value or "\0" in value):
        raise Unacceptable(attribute.name, value, "a path, or `none`")


def seeds(_: object, attribute: Attribute[Any], value: int) -> None:
    """attrs validator: 0 or above, below 2^64."""
    if value not in SEEDS:
        raise Unacceptable(attribute.name, value, "0 or above, below 2**64")


class Unit(enum.Enum):
    """What times are counted in."""

    S = "s"
    """Seconds."""
    SLOT = "slot"
    """Slots of a length of one's own."""


@frozen(kw_only=True)
class HeadSection:
    """The keys above the first section of every scenario file."""

    name: str = field(validator=names_a_file)
    """What the run is called, and by default its log."""
    seed: int = field(default=0, validator=seeds)
    """The run's one seed."""
    log: str | None = field(default=None, validator=names_a_path)
    """Where `holdfast run` writes the log, from the current folder; default: logs/NAME.jsonl;
    `none`: nowhere."""
    unit: Unit | None = None
    """Of every time in the file; default: `slot` where an enrolment policy decides, else `s`."""


@frozen
class Header:
    """The platform in a line."""

    kinds: tuple[str, ...]
    """Of the jobs."""
    policy: str
    processors: int
    """Size of the platform, in workers."""
    workers: tuple[str, ...]
    """Their names where they have some; empty for a numbered pool."""
    unit: str
    """Unit of every time: `s` or `slot`."""
