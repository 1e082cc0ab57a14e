"""Policies by name: the papers' own, or a user's `package.module:Name` with its parameters."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
from attrs import evolve

from actors.decisions import name_of
from sims.errors import InputError
from sims.scenario.policy import PolicySection
from sims.tables.refusals import told
from sims.tables.section import arguments_of

OURS = ("actors", "policies", "sims")
"""Names of Holdfast's own packages."""

KNOWN = ("policies", "sims.papers")
"""Modules of ours that a file may name."""

GROUP = "holdfast.policies"
"""Entry points by which installed packages declare that a file may name what is in them."""

OWN = "package.module:Name"
"""How a scenario file names a user's own."""


class GivenPolicies(PolicySection):
    """`[policy]` as a program may have it: what a file would name is there as an object."""

    given: Mapping[str, Any]
    """Key of `[policy]` -> the object; the key itself holds what logs and errors call it."""


def with_objects(section: PolicySection, objects: Mapping[str, Any]) -> PolicySection:
    """`section`, with policies of a program's own at some of its keys (`name`, `order` ...)."""
    named = {key: name_of(policy) for key, policy in objects.items()}
    return GivenPolicies.model_construct(**dict(section) | named, given=dict(objects))


def _given(section: PolicySection, key: str) -> Any:
    return section.given.get(key) if isinstance(section, GivenPolicies) else None


def load_policy(section: PolicySection, named: Callable[[str], Any], folder: Path) -> Any:
    """The policy object that `section` asks for.

    `named` makes the papers' own (ValueError, with what is accepted, for others); `folder` is
    where a user's module is looked for first. Raises InputError.
    """
    given = _given(section, "name")
    if given is not None:
        return given
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


def load_part(
    section: PolicySection, key: str, default: str, named: Callable[[str], Any], folder: Path
) -> Any:
    """As `load_policy`, for what `section` names at `key` beside the policy itself; it takes no
    parameters."""
    given = _given(section, key)
    if given is not None:
        return given
    try:
        return load_policy(PolicySection(name=getattr(section, key) or default), named, folder)
    except InputError as error:
        raise evolve(error, key=f"policy.{key}") from None


def _own(section: PolicySection, folder: Path) -> Any:
    policy, key = imported(section.name, folder, "policy.name"), "policy.parameters"
    if attrs.has(policy):
        return _called(policy, arguments_of(policy, section.parameters, "scenario", key))
    if isinstance(policy, type):
        return _called(policy, section.parameters)
    if section.parameters:
        raise InputError("scenario", key, f"{section.name} is a function", "none")
    return policy


def imported(name: str, folder: Path, key: str) -> Any:
    """What `package.module:Name` names: in `folder`, else in the current one, else in an installed
    package that declares itself by an entry point `holdfast.policies`, else of our own.

    A file of a stranger's may name anything: no other module is imported. Raises InputError at
    `key`.
    """
    module, _, attribute = name.partition(":")
    places = [folder, Path.cwd()]
    file = next(filter(None, (_file_in(place, module) for place in places)), None)
    if file is None and not _declared(module):
        accepted = f"{OWN}, in the scenario's folder, in the current one, or of an installed "
        accepted += f"package with an entry point {GROUP!r}"
        raise InputError("scenario", key, f"{name!r}: no such module there", accepted)
    paths = list(map(str, places))
    _beside_ours(module, name, paths, key)
    sys.path[:0] = paths
    try:
        found = importlib.import_module(module)
        value = getattr(found, attribute)
    except Exception as error:  # whatever a user's module raises while it is imported
        accepted = f"{OWN} that can be imported"
        problem = f"{name!r}: {type(error).__name__}: {error}"
        raise InputError("scenario", key, problem, accepted) from None
    finally:
        del sys.path[: len(paths)]
    if file is not None and _installed(found):
        where = getattr(found, "__file__", "built in")
        problem = f"{name!r}: {module} is an installed module, {where}"
        raise InputError("scenario", key, problem, "another name for yours")
    return value


def _file_in(folder: Path, module: str) -> Path | None:
    """The module's source below the folder, if it is there."""
    path = folder.joinpath(*module.split(".")).resolve()
    sources = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((source for source in sources if source.is_file()), None)


def _installed(module: ModuleType) -> bool:
    """Whether it came with Python or a package, and not from where it was sought: a file of its
    name opens no door to it."""
    file = getattr(module, "__file__", None)  # what is built in has none
    if file is None:
        return True
    homes = (sysconfig.get_path(it) for it in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(Path(file).resolve().is_relative_to(Path(it).resolve()) for it in homes)


def _declared(module: str) -> bool:
    """Whether it is of ours, or of a package that says that it has policies."""
    packages = [point.module for point in entry_points(group=GROUP)]
    return any(module == it or module.startswith(f"{it}.") for it in (*KNOWN, *packages))


def _beside_ours(module: str, name: str, places: Sequence[str], key: str) -> None:
    """A folder of the user's may be called as one of our packages, such as `policies`: what lies
    in it is found where ours has none of that name. Raises InputError where it has."""
    package, _, rest = module.partition(".")
    if package not in OURS or not rest:
        return
    ours = importlib.import_module(package).__path__
    hides = importlib.util.find_spec(f"{package}.{rest.partition('.')[0]}") is not None
    for folder in (Path(place, package).resolve() for place in places):
        added = str(folder) in ours
        theirs = _file_in(folder, rest)
        if theirs and hides and not added and str(folder) != ours[0]:
            problem = f"{name!r}: Holdfast has a module {module} of its own"
            raise InputError(
                "scenario", key, problem, "another name for your module, or its folder"
            )
        if theirs and not added:
            ours.append(str(folder))


def _called(policy: type, parameters: Mapping[str, Any]) -> Any:
    try:
        return policy(**parameters)
    except Exception as error:  # whatever a user's class makes of them
        problem = f"{type(error).__name__}: {error}"
        accepted = f"parameters of {policy.__name__}"
        raise InputError("scenario", "policy.parameters", problem, accepted) from None
