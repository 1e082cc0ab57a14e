"""What a scenario names of its user's code, and the same scenario without it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from actors.events import DeciderKind
from sims.scenario.platform import WorkerFields
from sims.scenario.policies import given, located
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import ConstantLaw, OwnLaw

STAND_INS: Mapping[DeciderKind, str] = {
    DeciderKind.QUEUE: "R-LIST-0",
    DeciderKind.ENROLMENT: "IE",
    DeciderKind.PACK: "none",
    DeciderKind.COPIES: "SRPT+R",
}
PARTS = ("name", "order", "allocation")
"""Keys of [policy] that may name code."""

Workers = TypeVar("Workers", bound=WorkerFields)


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
