"""From a scenario file to a scenario: TOML, overrides, and the class of all scenarios."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cattrs.errors import BaseValidationError

from sims.errors import InputError
from sims.scenario.jobs.section import KINDS
from sims.scenario.old import refuse_old
from sims.scenario.scenario import Scenario
from sims.scenario.strict import converter, first_problem

LARGEST = 16 * 2**20
"""Bytes of a scenario file: more is something else, or has no end."""

TOO_DEEP = "lists or tables nested hundreds deep"

__all__ = ["KINDS", "Scenario", "converter", "first_problem", "load", "read"]


def load(path: Path, overrides: Sequence[str] = (), seed: int | None = None) -> Scenario:
    """Read a scenario file; `overrides` are `dotted.key=value`, values as in TOML.

    Raises InputError, naming file, key, value and what would be accepted.
    """
    table = parse(path, overrides)
    if seed is not None:
        table["seed"] = seed
    return read(table, str(path))


def parse(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """A scenario file's table, overridden. Raises InputError for what is no table or override."""
    table = _parsed(path)
    for override in overrides:
        key, text = split_override(override)
        put(table, key, value_of(text))
    return table


def read(table: Mapping[str, Any], source: str) -> Scenario:
    """A scenario from its parsed table. Raises InputError."""
    job = table.get("job")
    kind = job.get("kind") if isinstance(job, Mapping) else None
    try:
        refuse_old(kind, table)
        if job is not None and not isinstance(job, Mapping):
            raise InputError(source, "job", f"{job!r} is not accepted", "a table")
        if job is None or kind is None:
            raise InputError(source, "job.kind", "missing", ", ".join(KINDS))
        if kind not in KINDS:
            raise InputError(source, "job.kind", f"{kind!r} is not accepted", ", ".join(KINDS))
        table = {**table, "job": _with_kinds(job)}
        scenario: Scenario = converter().structure(table, Scenario)
    except (BaseValidationError, InputError) as error:
        raise first_problem(error, source) from None
    return scenario


def _with_kinds(job: Mapping[str, Any]) -> dict[str, Any]:
    """Listed jobs are of the section's kind where they say no other."""
    listed = job.get("jobs")
    if not isinstance(listed, list):
        return dict(job)
    named = [{"kind": job["kind"], **it} if isinstance(it, dict) else it for it in listed]
    return {**job, "jobs": named}


def _parsed(path: Path) -> dict[str, Any]:
    if path == Path():  # which is what an empty name comes down to
        problem = "no file is named: '' and '.' are a directory, the current one"
        raise InputError("command line", "FILE", problem, "a scenario file")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(str(path), "", f"more than {LARGEST:,} bytes", "a scenario file")
        return tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise InputError(str(path), "", error.strerror or str(error), "a scenario file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), "", f"not TOML: {error}", "a scenario file") from None
    except RecursionError:
        raise InputError(str(path), "", TOO_DEEP, "a scenario file") from None


def split_override(
    override: str, option: str = "--set", accepted: str = "key=value"
) -> tuple[str, str]:
    """Key and text of `key=text`. Raises InputError, naming the option, for another word."""
    key, equals, text = override.partition("=")
    if not (key.strip() and equals):
        raise InputError("command line", option, f"{override!r} is no override", accepted)
    return key.strip(), text.strip()


def put(table: dict[str, Any], key: str, value: Any, option: str = "--set") -> None:
    """Set `dotted.key` in place. Raises InputError, naming the option, where it has no place."""
    *path, last = key.split(".")
    place: Any = table
    for step in path:
        place = _step(place, step, key, option)
    if isinstance(place, list) and last.isdigit() and int(last) < len(place):
        place[int(last)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise InputError("command line", option, f"{key}: no such place", "an existing key")


def _step(place: Any, step: str, key: str, option: str) -> Any:
    if isinstance(place, list) and step.isdigit() and int(step) < len(place):
        return place[int(step)]
    if isinstance(place, dict):
        return place.setdefault(step, {})
    raise InputError("command line", option, f"{key}: there is no {step!r}", "an existing key")


def value_of(text: str) -> Any:
    """A value as TOML writes it; what is no TOML is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError:
        raise InputError("command line", "a value", TOO_DEEP, "a value as in TOML") from None
