"""A scenario looked at without running it, nor any code that it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import field, frozen

from actors.events import DeciderKind
from actors.runtime import System
from sims.errors import InputError
from sims.scenario.build import populate
from sims.scenario.keys import sections, toml
from sims.scenario.own_code import located
from sims.scenario.policy import given
from sims.scenario.scenario import Scenario
from sims.scenario.workers import ConstantLaw, OwnLaw, WorkerFields
from sims.session import Source, folder_of, load
from sims.telling import counted

STAND_INS: Mapping[DeciderKind, str] = {
    DeciderKind.QUEUE: "R-LIST-0",
    DeciderKind.ENROLMENT: "IE",
    DeciderKind.PACK: "none",
    DeciderKind.COPIES: "SRPT+R",
}
PARTS = ("name", "order", "allocation")
"""Keys of [policy] that may name code."""

Workers = TypeVar("Workers", bound=WorkerFields)


@frozen
class Checked:
    """A scenario that can be run."""

    scenario: Scenario
    jobs: int
    code: Mapping[str, str] = field(factory=dict)
    """What it names of its user's: key -> `package.module:Name`."""
    loaded: bool = False
    """Whether that was loaded."""

    @property
    def understood(self) -> str:
        """The same scenario as a file that leaves nothing out."""
        return as_toml(self.scenario)

    def lines(self) -> list[str]:
        """For people."""
        it = self.scenario
        who = f"{counted(it.full_platform.size, 'worker')}, {' and '.join(it.kinds)} jobs"
        decided = f"{it.policy_name} decides ({it.decider.value})"
        told = [f"{it.name}: {who}; {decided}", f"  jobs        {self.jobs:,}"]
        how = "loaded" if self.loaded else "not loaded: it is where it is sought"
        told += [f"  code        {key} = {name} ({how})" for key, name in self.code.items()]
        told += [f"No effect: {key}: {why}." for key, why in it.idle()]
        return [*told, "", *self.understood.splitlines()]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def check(
    source: Source, changes: dict[str, Any] | None = None, *, load_code: bool = False
) -> Checked:
    """Look at all of a scenario but its running: files that it names included. Code that it names
    has to be there; `load_code`: to be what it is used as, too.

    Raises InputError as a run would, before its first event.
    """
    scenario, folder = load(source, changes), folder_of(source)
    try:
        code = code_of(scenario)
        bare = scenario if load_code else without_code(scenario, folder)
        jobs = populate(bare, System(scenario.seed, start=0), folder)
        return Checked(scenario, jobs, code, load_code)
    except InputError as error:
        named = isinstance(source, str | Path) and error.source == "scenario"
        raise (attrs.evolve(error, source=str(source)) if named else error) from None


# --- code that it names ---------------------------------------------------------------------------


def code_of(scenario: Scenario) -> dict[str, str]:
    """Key -> `package.module:Name`, of all that a run would load."""
    section, pool = scenario.policy, scenario.platform
    names = {f"policy.{it}": getattr(section, it) for it in PARTS if given(section, it) is None}
    workers = {f"workers.{k}": it for k, it in enumerate(scenario.workers)}
    for place, one in {**({"platform": pool} if pool else {}), **workers}.items():
        if isinstance(one.speed, OwnLaw):
            names[f"{place}.speed.name"] = one.speed.name
    return {key: name for key, name in names.items() if name and ":" in name}


def without_code(scenario: Scenario, folder: Path) -> Scenario:
    """With policies and laws of ours in its place. Raises InputError for code that is not where a
    run would load it from."""
    named = code_of(scenario)
    for key, name in named.items():
        located(name, folder, key)
    ours: dict[str, Any] = {it: None for it in PARTS if f"policy.{it}" in named}
    if "name" in ours:
        ours |= {"name": STAND_INS[scenario.decider], "parameters": {}}
    pool = scenario.platform
    return scenario.model_copy(
        update={
            "policy": scenario.policy.model_copy(update=ours | {"decider": scenario.decider}),
            "platform": pool and _steady(pool),
            "workers": tuple(map(_steady, scenario.workers)),
        }
    )


def _steady(section: Workers) -> Workers:
    law = isinstance(section.speed, OwnLaw)
    return section.model_copy(update={"speed": ConstantLaw()}) if law else section


# --- as TOML --------------------------------------------------------------------------------------


def as_toml(scenario: Scenario) -> str:
    """All that it says, defaults included; keys that are unset are left out."""
    table = scenario.model_dump(mode="json", exclude_none=True, warnings=False)
    lines, last = [], ""
    for _, heading, own in sections(table):
        if heading:
            lines += [heading] if heading == last else ["", heading]
        lines += [f"{key} = {toml(it)}" for key, it in own.items()]
        last = heading
    return "\n".join(lines) + "\n"
