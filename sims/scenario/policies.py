"""Policies by name: the papers' own, or a user's `package.module:Name` with its parameters."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
from cattrs.errors import ClassValidationError

from sims.errors import InputError
from sims.scenario.policy import PolicySection
from sims.scenario.strict import told

OWN = "package.module:Name"
"""How a scenario file names a user's own."""


def load_policy(section: PolicySection, named: Callable[[str], Any], folder: Path) -> Any:
    """The policy object that `section` asks for.

    `named` makes the papers' own (ValueError, with what is accepted, for others); `folder` is
    where a user's module is looked for first. Raises InputError.
    """
    if ":" in section.name:
        return _own(section, folder)
    if section.parameters:
        problem = f"{section.name} takes none, not {', '.join(section.parameters)}"
        raise InputError("scenario", "policy.parameters", problem, "no parameters")
    try:
        return named(section.name)
    except ValueError as error:
        problem, accepted = told(error)
        known = accepted if OWN in accepted else ", ".join(filter(None, (accepted, OWN)))
        raise InputError("scenario", "policy.name", problem, known) from None


def load_part(key: str, name: str, named: Callable[[str], Any], folder: Path) -> Any:
    """As `load_policy`, for what `[policy]` names at `key` beside the policy itself; it takes no
    parameters."""
    try:
        return load_policy(PolicySection(name=name), named, folder)
    except InputError as error:
        raise attrs.evolve(error, key=f"policy.{key}") from None


def _own(section: PolicySection, folder: Path) -> Any:
    policy = imported(section.name, folder, "policy.name")
    if attrs.has(policy):
        return _structured(policy, section.parameters)
    if isinstance(policy, type):
        return _called(policy, section.parameters)
    if section.parameters:
        raise InputError("scenario", "policy.parameters", f"{section.name} is a function", "none")
    return policy


def imported(name: str, folder: Path, key: str) -> Any:
    """What `package.module:Name` names, sought in `folder` first. Raises InputError at `key`."""
    module, _, attribute = name.partition(":")
    places = [str(folder), str(Path.cwd())]
    sys.path[:0] = places
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever a user's module raises while it is imported
        accepted = f"{OWN}, importable from the scenario's folder or the current one"
        problem = f"{name!r}: {type(error).__name__}: {error}"
        raise InputError("scenario", key, problem, accepted) from None
    finally:
        del sys.path[: len(places)]


def _structured(policy: type, parameters: Mapping[str, Any]) -> Any:
    # Imported here: the loader imports this module for the section's class.
    from sims.scenario.loader import converter, first_problem

    try:
        return converter().structure(parameters, policy)
    except ClassValidationError as error:
        raise first_problem(error, "scenario", "policy.parameters") from None


def _called(policy: type, parameters: Mapping[str, Any]) -> Any:
    try:
        return policy(**parameters)
    except Exception as error:  # whatever a user's class makes of them
        problem = f"{type(error).__name__}: {error}"
        accepted = f"parameters of {policy.__name__}"
        raise InputError("scenario", "policy.parameters", problem, accepted) from None
