"""A scenario looked at without running it: whether it can be, and what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from actors.runtime import System
from sims.errors import InputError
from sims.scenario.build import populate
from sims.scenario.idle import idle
from sims.scenario.scenario import Scenario
from sims.session import Source, folder_of, load
from sims.telling import counted


@frozen
class Checked:
    """A scenario that can be run."""

    scenario: Scenario
    jobs: int

    @property
    def understood(self) -> str:
        """The same scenario as a file that leaves nothing out."""
        return as_toml(self.scenario)

    def lines(self) -> list[str]:
        """For people."""
        header = self.scenario.header()
        who = f"{counted(header.processors, 'worker')}, {' and '.join(header.kinds)} jobs"
        decided = f"{header.policy} decides ({self.scenario.decider.value})"
        told = [f"{self.scenario.name}: {who}; {decided}", f"  jobs        {self.jobs:,}"]
        told += [f"No effect: {key}: {why}." for key, why in idle(self.scenario)]
        return [*told, "", *self.understood.splitlines()]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def check(source: Source, changes: dict[str, Any] | None = None) -> Checked:
    """Look at all of a scenario but its running: files that it names, and its policies, included.

    Raises InputError as a run would, before its first event.
    """
    scenario, folder = load(source, changes), folder_of(source)
    try:
        return Checked(scenario, populate(scenario, System(scenario.seed, start=0), folder))
    except InputError as error:
        named = isinstance(source, str | Path) and error.source == "scenario"
        raise (attrs.evolve(error, source=str(source)) if named else error) from None


# --- as TOML --------------------------------------------------------------------------------------


def as_toml(scenario: Scenario) -> str:
    """All that it says, defaults included; keys that are unset are left out."""
    table = scenario.model_dump(mode="json", exclude_none=True, warnings=False)
    heads = [f"{key} = {_inline(it)}" for key, it in table.items() if not _is_section(it)]
    sections = ("\n".join(_section(key, it)) for key, it in table.items() if _is_section(it))
    return "\n\n".join(["\n".join(heads), *sections]) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or _is_list_of_tables(value)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(it, dict) for it in value)


def _section(key: str, value: Any) -> Iterator[str]:
    for table in value if isinstance(value, list) else [value]:
        yield f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        within = {name: it for name, it in table.items() if _is_list_of_tables(it)}
        yield from (f"{name} = {_inline(it)}" for name, it in table.items() if name not in within)
        for name, tables in within.items():
            yield from ("", *_section(f"{key}.{name}", tables))


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_bare(key)} = {_inline(it)}' for key, it in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


def _bare(key: str) -> str:
    """A key as TOML wants it."""
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)
