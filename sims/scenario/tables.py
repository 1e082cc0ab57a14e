"""A scenario file's table: what lies at its dotted keys, how these are changed, and what is checked
beside the sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sims.errors import COMMAND_LINE, InputError, unfit
from sims.tables.refusals import cut, not_accepted, shown

TOO_DEEP = "lists or tables nested hundreds deep"
"""Message about a table that is nested more deeply than Python reads."""

FAULTS, ON, OFF, NONE = "faults", "on", "off", "none"
"""Section that an override can turn on or off, the two words for it, and the value of the section
that is off."""

WIDEST = range(-(2**63), 2**64)
"""Whole numbers that a line of a log can hold."""

HALF = re.compile("[\ud800-\udfff]")
"""Pattern of a surrogate: half a character, which no file in UTF-8 has."""


def refuse_unloggable(table: Mapping[str, Any]) -> None:
    """Raise InputError where the table has a whole number or a text that no line of a log can hold,
    or is nested too deeply."""
    try:
        for key, value in leaves(table):
            if type(value) is int and value not in WIDEST:
                raise unfit(key, not_accepted(value), "a whole number that fits in 64 bits")
            for text in (key, value):
                if isinstance(text, str) and not text.isascii() and HALF.search(text):
                    raise unfit(key, not_accepted(text), "a text in UTF-8")
    except RecursionError:
        raise unfit("", TOO_DEEP, "a scenario file") from None


def refuse_seconds(table: Mapping[str, Any], time: str) -> None:
    """Raise InputError for `time`, a text with a unit of time that stands somewhere in the table:
    the file's unit is a slot, whose length nobody knows."""
    key = next(key for key, value in leaves(table) if value is time)
    problem = f"{not_accepted(time)}: the unit is a slot, and nothing says how long one lasts"
    raise unfit(key, problem, "a number of slots")


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value) of everything in a table or list, at any depth, that is no table
    and no list, or an empty one. Elements of lists have their number as the key; `key` is the
    dotted key of `value` itself."""
    inner = value.items() if isinstance(value, Mapping) else enumerate(value)
    for step, each in inner:
        place = f"{key}.{step}" if key else str(step)
        if isinstance(each, Mapping | list | tuple) and each:
            yield from leaves(each, place)
        else:
            yield place, each


def with_kinds(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table with the kind of `[job]` put into each entry of `job.jobs` that has no kind
    of its own."""
    job = table.get("job", {})
    if isinstance(job, Mapping) and "kind" in job and isinstance(job.get("jobs"), list):
        own = {"kind": job["kind"]}
        jobs = [own | it if isinstance(it, dict) else it for it in job["jobs"]]
        job = {**job, "jobs": jobs}
    return {**table, "job": job}


def with_listed(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario's table with the jobs of `[job]` as a list, as TOML has them."""
    job = table["job"]
    return {**table, "job": {**job, "jobs": list(job["jobs"])} if job.get("jobs") else job}


def put(table: dict[str, Any], key: str, value: Any, option: str = "--set") -> None:
    """Set the value at `key`, a dotted path, in `table`, in place; tables on the way are made where
    they are missing. `faults` may be set to `off`, or to `on`, which leaves the table's faults as
    they are.

    Raises InputError, naming `option`, where the path leads through a value that is no table, to an
    element that a list does not have, or turns faults on that the table does not have.
    """
    if key == FAULTS and value in (ON, OFF):
        if value == ON and table.get(FAULTS, NONE) == NONE:
            accepted = 'a file with [faults], or a table: { kind = "exponential", mtbf = 1000 }'
            raise InputError(COMMAND_LINE, option, f"{key}={value}: the file has none", accepted)
        value = table[FAULTS] if value == ON else NONE
    *path, last = key.split(".")
    place: Any = table
    for step in path:
        if isinstance(place, dict):
            place.setdefault(step, {})
        place = place[_index(place, step, option, f"{cut(key)}: there is no {shown(step)}")]
    place[_index(place, last, option, f"{cut(key)}: no such place")] = value


def put_all(table: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Set the value of each dotted key of a program's `changes` in `table`, in place.

    Raises InputError as `put` does, and for what maps no keys to values.
    """
    if not (isinstance(changes, Mapping) and all(isinstance(it, str) for it in changes)):
        accepted = 'dotted keys with values, such as {"platform.workers": 8}'
        raise InputError("call", "changes", f"{shown(repr(changes))} is none", accepted)
    for key, value in changes.items():
        put(table, key, value, "changes")


def _index(place: Any, step: str, option: str, problem: str) -> str | int:
    """Return what one step of a dotted path selects in `place`: a key of a table, present or not,
    or the element of a list, by its number or its `name`.

    Raises InputError, with `option` and `problem`, where a list has no such element, or `place` is
    neither.
    """
    if isinstance(place, dict):
        return step
    if isinstance(place, list) and step in map(str, range(len(place))):
        return int(step)
    if isinstance(place, list):
        named = (k for k, it in enumerate(place) if isinstance(it, dict) and it.get("name") == step)
        if (found := next(named, None)) is not None:
            return found
    raise InputError(COMMAND_LINE, option, problem, "an existing key")
